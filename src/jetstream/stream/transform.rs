//! Subject transforms: another subject made of the tokens of one (streams reference 2.6).

use crate::subject::{is_valid_config_subject, matches, tokens};

/// The rule by which a subject becomes another.
#[derive(Clone, Debug)]
pub struct Transform {
    source: Vec<u8>,
    parts: Vec<Part>,
    /// Tokens before the tail that is copied, if one is.
    tail_at: Option<usize>,
}

/// What becomes one token, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    /// The token at this place of the subject, as for all below.
    Token(usize),
    /// A number by the hash of these tokens; of the whole subject if there are none.
    Partition {
        of: u32,
        places: Vec<usize>,
    },
    Random {
        of: u32,
    },
    Split {
        place: usize,
        by: Vec<u8>,
    },
    Cut {
        place: usize,
        size: usize,
        how: Cut,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    SplitFromLeft,
    SplitFromRight,
    SliceFromLeft,
    SliceFromRight,
    Left,
    Right,
}

/// Why there is no such transform, in the reference's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransformError {
    #[error("invalid subject")]
    Subject,
    #[error("invalid mapping destination: {0}")]
    Destination(String),
}

/// A function of a destination, as it is written.
struct Call<'a> {
    /// With its braces: errors tell it.
    text: &'a str,
    args: Vec<&'a str>,
}

impl Transform {
    /// An empty source is everything; with an empty destination there is nothing to transform.
    pub fn new(source: &str, destination: &str) -> Result<Option<Self>, TransformError> {
        if destination.is_empty() {
            return Ok(None);
        }
        let source = if source.is_empty() { ">" } else { source };
        check_tokens(destination)?;
        let has_tail = |subject: &str| subject == ">" || subject.ends_with(".>");
        let has_star = destination.split('.').any(|token| token == "*");
        if !is_valid_config_subject(source.as_bytes()) || has_star || has_tail(source) != has_tail(destination) {
            return Err(TransformError::Subject);
        }
        let wildcards: Vec<usize> =
            source.split('.').enumerate().filter(|(_, token)| *token == "*").map(|(place, _)| place).collect();
        let tail_at = has_tail(source).then(|| source.split('.').count() - 1);
        let written = destination.split('.').filter(|token| *token != ">");
        let parts = written.map(|token| part(token, &wildcards)).collect::<Result<_, _>>()?;
        Ok(Some(Self { source: source.as_bytes().to_vec(), parts, tail_at }))
    }

    /// The new subject; `None` if the transform does not concern this one.
    pub fn apply(&self, subject: &[u8]) -> Option<Vec<u8>> {
        if self.source != b">" && !matches(&self.source, subject) {
            return None;
        }
        let found: Vec<&[u8]> = tokens(subject).collect();
        let mut made = Vec::with_capacity(subject.len() + 16);
        for part in &self.parts {
            separate(&mut made);
            part.write(subject, &found, &mut made);
        }
        for token in found.iter().skip(self.tail_at.unwrap_or(found.len())) {
            separate(&mut made);
            made.extend_from_slice(token);
        }
        Some(made)
    }
}

fn separate(made: &mut Vec<u8>) {
    if !made.is_empty() {
        made.push(b'.');
    }
}

impl Part {
    fn write(&self, subject: &[u8], found: &[&[u8]], made: &mut Vec<u8>) {
        let token = |place: &usize| found.get(*place).copied().unwrap_or_default();
        match self {
            Self::Text(text) => made.extend_from_slice(text),
            Self::Token(place) => made.extend_from_slice(token(place)),
            Self::Partition { of, places } => {
                let hash = match places.is_empty() {
                    true => fnv1a(subject.iter()),
                    false => fnv1a(places.iter().flat_map(token)),
                };
                made.extend_from_slice(hash.checked_rem(*of).unwrap_or(0).to_string().as_bytes());
            }
            Self::Random { of } => {
                let number = rand::random::<u32>().checked_rem(*of).unwrap_or(0);
                made.extend_from_slice(number.to_string().as_bytes());
            }
            Self::Split { place, by } => join(split(token(place), by), token(place), made),
            Self::Cut { place, size, how } => how.write(token(place), *size, made),
        }
    }
}

impl Cut {
    /// A token that is not longer than `size` stays as it is.
    fn write(self, token: &[u8], size: usize, made: &mut Vec<u8>) {
        if size == 0 || size >= token.len() {
            return made.extend_from_slice(token);
        }
        let (left, right) = (token.split_at(size), token.split_at(token.len() - size));
        match self {
            Self::Left => made.extend_from_slice(left.0),
            Self::Right => made.extend_from_slice(right.1),
            Self::SplitFromLeft => join([left.0, left.1], token, made),
            Self::SplitFromRight => join([right.0, right.1], token, made),
            Self::SliceFromLeft => join(token.chunks(size), token, made),
            Self::SliceFromRight => {
                let (rest, even) = token.split_at(token.len() % size);
                let rest = Some(rest).filter(|rest| !rest.is_empty());
                join(rest.into_iter().chain(even.chunks(size)), token, made);
            }
        }
    }
}

/// The pieces as tokens; the token itself if there are none, for an empty one would make no subject.
fn join<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, token: &[u8], made: &mut Vec<u8>) {
    let start = made.len();
    for piece in pieces {
        if made.len() > start {
            made.push(b'.');
        }
        made.extend_from_slice(piece);
    }
    if made.len() == start {
        made.extend_from_slice(token);
    }
}

fn split<'a>(token: &'a [u8], by: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(token);
    let pieces = std::iter::from_fn(move || {
        let here = rest?;
        let found = if by.is_empty() { None } else { memchr::memmem::find(here, by) };
        let (piece, after) = match found {
            Some(at) => (&here[..at], Some(&here[at + by.len()..])),
            None => (here, None),
        };
        rest = after;
        Some(piece)
    });
    pieces.filter(|piece| !piece.is_empty())
}

fn fnv1a<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

// ---- reading destinations

/// What must hold of each token, whatever the source.
fn check_tokens(destination: &str) -> Result<(), TransformError> {
    let mut has_ended = false;
    for token in destination.split('.') {
        if token.is_empty() {
            return Err(destination_error("invalid transform"));
        }
        if has_ended {
            return Err(destination_error(format!("invalid transform in {token}")));
        }
        if call(token).is_some_and(|(name, _)| !is_function(&name)) {
            return Err(destination_error(format!("unknown function in {token}")));
        }
        if call(token).is_none() && token.contains([' ', '\t', '\n', '\x0c', '\r']) {
            return Err(destination_error("invalid transform"));
        }
        has_ended = token == ">";
    }
    Ok(())
}

fn destination_error(text: impl Into<String>) -> TransformError {
    TransformError::Destination(text.into())
}

fn is_function(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "wildcard",
        "partition",
        "random",
        "split",
        "splitfromleft",
        "splitfromright",
        "slicefromleft",
        "slicefromright",
        "left",
        "right",
    ];
    NAMES.contains(&name)
}

/// The function that a token calls, if it looks like a call: its name in lower case, and its arguments.
fn call(token: &str) -> Option<(String, Call<'_>)> {
    let inside = token.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let called = inside.strip_suffix(')').and_then(|inside| inside.split_once('('));
    let Some((name, args)) = called else { return Some((String::new(), Call { text: token, args: Vec::new() })) };
    Some((name.trim().to_ascii_lowercase(), Call { text: token, args: args.split(',').map(str::trim).collect() }))
}

/// `wildcards`: where in a subject the tokens are that `*` stands for.
fn part(token: &str, wildcards: &[usize]) -> Result<Part, TransformError> {
    if let Some(index) = token.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok()) {
        return Ok(Part::Token(place(index, token, wildcards)?));
    }
    let Some((name, call)) = call(token) else { return Ok(Part::Text(token.as_bytes().to_vec())) };
    let cut = |how| {
        let (place, size) = (call.two()?, call.number(1)?);
        Ok(Part::Cut { place: call.place(place, wildcards)?, size: size as usize, how })
    };
    match &*name {
        "wildcard" => {
            let index = call.one()?;
            Ok(Part::Token(call.place(index, wildcards)?))
        }
        "partition" => {
            let of = call.number(0)?;
            let indexes = (1..call.args.len()).map(|at| call.number(at)).collect::<Result<Vec<_>, _>>()?;
            let places = indexes.into_iter().map(|index| place(index as usize, call.text, wildcards));
            Ok(Part::Partition { of, places: places.collect::<Result<_, _>>()? })
        }
        "random" => Ok(Part::Random { of: call.one()? }),
        "split" => {
            let index = call.two()?;
            let by = call.args[1].as_bytes().to_vec();
            Ok(Part::Split { place: call.place(index, wildcards)?, by })
        }
        "splitfromleft" => cut(Cut::SplitFromLeft),
        "splitfromright" => cut(Cut::SplitFromRight),
        "slicefromleft" => cut(Cut::SliceFromLeft),
        "slicefromright" => cut(Cut::SliceFromRight),
        "left" => cut(Cut::Left),
        "right" => cut(Cut::Right),
        _ => Err(destination_error(format!("unknown function in {token}"))),
    }
}

/// The place in the subject of the wildcard with this number. Number 0 is the first token.
fn place(index: usize, text: &str, wildcards: &[usize]) -> Result<usize, TransformError> {
    match wildcards.get(index.wrapping_sub(1)) {
        Some(place) => Ok(*place),
        None if wildcards.is_empty() => Err(destination_error(format!("wildcard index out of range in {text}"))),
        None if index == 0 => Ok(0),
        None => Err(destination_error(format!("wildcard index out of range in {text}: [{index}]"))),
    }
}

impl Call<'_> {
    fn place(&self, index: u32, wildcards: &[usize]) -> Result<usize, TransformError> {
        place(index as usize, self.text, wildcards)
    }

    /// The only argument, a number.
    fn one(&self) -> Result<u32, TransformError> {
        if self.args.len() == 1 && self.args[0].is_empty() {
            return Err(self.not_enough());
        }
        self.count(1)?;
        self.number(0)
    }

    /// The first of two arguments, a number.
    fn two(&self) -> Result<u32, TransformError> {
        self.count(2)?;
        self.number(0)
    }

    fn count(&self, wanted: usize) -> Result<(), TransformError> {
        match self.args.len() {
            given if given > wanted => {
                Err(destination_error(format!("too many arguments passed to the function in {}", self.text)))
            }
            given if given < wanted => Err(self.not_enough()),
            _ => Ok(()),
        }
    }

    fn number(&self, at: usize) -> Result<u32, TransformError> {
        let digits = self.args.get(at).copied().unwrap_or_default();
        let number = digits.parse::<i32>().ok().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| {
            destination_error(format!("function argument is invalid or in the wrong format in {}", self.text))
        })
    }

    fn not_enough(&self) -> TransformError {
        destination_error(format!("not enough arguments passed to the function in {}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(source: &str, destination: &str, subject: &str) -> Option<String> {
        let transform = Transform::new(source, destination).expect("valid").expect("there is one");
        transform.apply(subject.as_bytes()).map(|made| String::from_utf8(made).expect("text"))
    }

    #[test]
    fn tokens_are_moved_and_tails_copied() {
        for (source, destination, subject, expected) in [
            ("a.*.*", "x.$2.{{ Wildcard( 1 ) }}", "a.b.c", Some("x.c.b")),
            ("a.>", "x.y.>", "a.b.c", Some("x.y.b.c")),
            ("", ">", "a.b", Some("a.b")),
            (">", "copy.>", "a.b", Some("copy.a.b")),
            ("a.*", "x", "b.c", None),
            ("a.*", "{{wildcard(0)}}.$x.{{wildcard(1)", "a.b", Some("a.$x.{{wildcard(1)")),
        ] {
            assert_eq!(apply(source, destination, subject).as_deref(), expected, "{source} -> {destination}");
        }
    }

    #[test]
    fn functions_do_what_was_measured() {
        for (function, token, expected) in [
            ("partition(5,1)", "a", "0"),
            ("partition(5,1)", "b", "2"),
            ("partition(5,1)", "foo", "3"),
            ("partition(5,1)", "bar", "2"),
            ("partition(0,1)", "a", "0"),
            ("partition(3)", "a", "0"),
            ("random(1)", "a", "0"),
            ("splitfromleft(1,3)", "abcdef", "abc.def"),
            ("SplitFromLeft(1,9)", "abcdef", "abcdef"),
            ("splitfromright(1,2)", "abcdef", "abcd.ef"),
            ("slicefromleft(1,3)", "abcdefgh", "abc.def.gh"),
            ("slicefromright(1,3)", "abcdefgh", "ab.cde.fgh"),
            ("split(1,-)", "-a-b--c-", "a.b.c"),
            ("split(1,-)", "-", "-"),
            ("left(1,2)", "abcdef", "ab"),
            ("right(1, 2)", "abcdef", "ef"),
        ] {
            let made = apply("t.*", &format!("{{{{{function}}}}}"), &format!("t.{token}"));
            assert_eq!(made.as_deref(), Some(expected), "{function} of {token}");
        }
        assert_eq!(apply("t.*.*", "{{partition(10,1,2)}}", "t.a.b").as_deref(), Some("6"));
        assert_eq!(apply("t.*.*", "{{partition(10,1,2)}}", "t.foo.bar").as_deref(), Some("0"));
        assert_eq!(apply("t.*.*", "{{partition(10)}}", "t.foo.bar").as_deref(), Some("8"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (source, destination, text) in [
            ("a.*", "x.*", "invalid subject"),
            ("a.>", "x", "invalid subject"),
            ("a.*", "x..", "invalid mapping destination: invalid transform"),
            ("a.>", "x.>.y", "invalid mapping destination: invalid transform in y"),
            ("a.*", "x.$2", "invalid mapping destination: wildcard index out of range in $2: [2]"),
            ("a.b", "x.$1", "invalid mapping destination: wildcard index out of range in $1"),
            ("a.*", "{{foo(1)}}", "invalid mapping destination: unknown function in {{foo(1)}}"),
        ] {
            let error = Transform::new(source, destination).expect_err("it cannot be");
            assert_eq!(error.to_string(), text, "{source} -> {destination}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(source in "[a*>.]{0,6}", destination in "[a*>.${}(),0-9lLeft ]{0,24}", subject in "[ab.]{1,8}") {
            if let Ok(Some(transform)) = Transform::new(&source, &destination) {
                transform.apply(subject.as_bytes());
            }
        }
    }
}
