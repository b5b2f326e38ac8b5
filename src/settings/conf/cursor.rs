//! A place in a text that moves forward by characters and knows its line.

use super::error::ConfError;
use super::value::Position;
use std::sync::Arc;

/// Reads a text character by character.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
    file: Arc<str>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, file: Arc<str>) -> Self {
        Self { text, at: 0, line: 1, column: 1, file }
    }

    /// The next character, or `None` at the end.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    /// The text up to the first character that is not wanted.
    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
        &rest[..rest.len() - self.rest().len()]
    }

    /// Steps over `len` bytes, which the caller knows to end between characters.
    pub(super) fn advance(&mut self, len: usize) {
        let end = self.at + len;
        while self.at < end && self.next().is_some() {}
    }

    pub(super) fn position(&self) -> Position {
        Position { file: self.file.clone(), line: self.line, column: self.column }
    }

    /// A grammar error here.
    pub(super) fn error(&self, message: impl Into<String>) -> ConfError {
        ConfError::Syntax { at: self.position(), message: message.into() }
    }

    /// The same, about the character that comes next.
    pub(super) fn expected(&self, what: &str) -> ConfError {
        let found = match self.peek() {
            Some(c) => format!("'{c}'"),
            None => "the end of the file".into(),
        };
        self.error(format!("Expected {what}, but got {found} instead."))
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take_while(is_blank);
    }

    /// Steps over blanks, line ends and comments.
    pub(super) fn skip_space_and_comments(&mut self) {
        loop {
            self.take_while(|c| is_blank(c) || is_line_end(c));
            if !self.skip_comment() {
                return;
            }
        }
    }

    /// Steps over one comment, up to its line end.
    pub(super) fn skip_comment(&mut self) -> bool {
        let is_comment = self.rest().starts_with('#') || self.rest().starts_with("//");
        if is_comment {
            self.take_while(|c| !is_line_end(c));
        }
        is_comment
    }
}

pub(super) fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

pub(super) fn is_line_end(c: char) -> bool {
    c == '\n' || c == '\r'
}

/// Whether a bare word ends before `c`.
pub(super) fn ends_word(c: char) -> bool {
    is_blank(c) || is_line_end(c) || matches!(c, ',' | ';' | ']' | '}')
}
