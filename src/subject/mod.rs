//! Subjects: validity, matching, and the two tables everything else is built on. No I/O, no actors.
//!
//! A subject is bytes, split into tokens at `.`. Nothing here needs UTF-8. In a *pattern*, a token that is exactly `*`
//! stands for one token, and a last token that is exactly `>` for one or more; `foo*` is an ordinary token. A *literal*
//! is a subject as published: its `*` and `>` are ordinary tokens, and if one of its tokens is empty it matches nothing.
//!
//! [`SubjectIndex`] maps patterns to values and finds by literal: the router's table. [`SubjectTree`] maps literals to
//! values and finds by pattern: a stream's table of what it holds. Both stand on the same trie.

mod filter;
mod index;
mod matching;
mod tree;
mod trie;
mod valid;

#[cfg(test)]
mod tests;

pub use filter::Filter;
pub use index::SubjectIndex;
pub use matching::{collides, is_subset, matches};
pub use tree::SubjectTree;
pub use valid::{
    MAX_SUBJECT_BYTES, MAX_TOKENS, has_empty_token, is_literal, is_publishable, is_valid_config_subject,
    is_valid_subscription, tokens,
};
