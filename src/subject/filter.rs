//! A set of patterns, prepared for many questions.

use super::matching::matches;
use super::{SubjectIndex, is_literal};
use std::sync::Arc;

/// Up to so many patterns are compared one by one; more are put into an index.
const FEW: usize = 8;

/// Which subjects somebody wants: no pattern at all means everything. Cloning shares.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `None` when everything is wanted.
    set: Option<Arc<Set>>,
}

#[derive(Debug)]
struct Set {
    patterns: Box<[Box<[u8]>]>,
    index: Option<SubjectIndex<()>>,
    everything: bool,
    literal: bool,
}

impl Filter {
    /// Wants every subject.
    pub fn everything() -> Self {
        Self { set: None }
    }

    /// Wants what any of these patterns matches; everything, if there is none. Empty patterns are left out, as an
    /// empty `filter_subject` means that none is given.
    pub fn new<P: AsRef<[u8]>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let given = patterns.into_iter();
        let patterns: Box<[Box<[u8]>]> =
            given.filter(|pattern| !pattern.as_ref().is_empty()).map(|pattern| pattern.as_ref().into()).collect();
        if patterns.is_empty() {
            return Self::everything();
        }
        let index = (patterns.len() > FEW).then(|| {
            let mut index = SubjectIndex::new();
            patterns.iter().for_each(|pattern| index.insert(pattern, ()));
            index
        });
        let everything = patterns.iter().any(|pattern| &pattern[..] == b">");
        let literal = patterns.len() == 1 && is_literal(&patterns[0]);
        Self { set: Some(Arc::new(Set { patterns, index, everything, literal })) }
    }

    /// Whether a stored or published subject is wanted.
    pub fn matches(&self, literal: &[u8]) -> bool {
        match &self.set {
            None => true,
            Some(set) if set.everything => true,
            Some(set) => match &set.index {
                Some(index) => index.has_match(literal),
                None => set.patterns.iter().any(|pattern| matches(pattern, literal)),
            },
        }
    }

    /// Whether every subject is wanted: no pattern, or `>` among them.
    pub fn is_everything(&self) -> bool {
        self.set.as_ref().is_none_or(|set| set.everything)
    }

    /// The one subject wanted, if the filter is exactly one literal.
    pub fn literal(&self) -> Option<&[u8]> {
        let set = self.set.as_ref().filter(|set| set.literal)?;
        set.patterns.first().map(|pattern| &pattern[..])
    }

    /// The patterns as given; none for everything.
    pub fn patterns(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.set.as_ref().map_or(&[][..], |set| &set.patterns[..]).iter().map(|pattern| &pattern[..])
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.patterns().eq(other.patterns())
    }
}

impl Eq for Filter {}
