//! What can be wrong with the text of a `.conf` file.

use super::value::Position;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file could not be parsed; the texts are the reference's.
#[derive(Debug, Error)]
pub enum ConfError {
    /// The text breaks the grammar.
    #[error("{}:{}:{}: Parse error on line {}: '{message}'", at.file, at.line, at.column, at.line)]
    Syntax {
        /// Where.
        at: Position,
        /// What was expected and what stood there.
        message: String,
    },
    /// `$name` is neither a key nor in the environment.
    #[error("{at}: variable reference for '{name}' on line {} can not be found", at.line)]
    UnknownVariable {
        /// Where.
        at: Position,
        /// The variable's name.
        name: String,
    },
    /// The environment's text for `$name` is no value.
    #[error("{at}: variable reference for '{name}' on line {} could not be parsed: {cause}", at.line)]
    BadVariable {
        /// Where.
        at: Position,
        /// The variable's name.
        name: String,
        /// What is wrong with the text.
        cause: Box<ConfError>,
    },
    /// Environment variables refer to each other in a circle.
    #[error("{at}: variable reference cycle for '{name}'")]
    VariableCycle {
        /// Where.
        at: Position,
        /// The variable's name.
        name: String,
    },
    /// An included file could not be read or parsed.
    #[error("{at}: error parsing include file '{path}', {cause}")]
    Include {
        /// Where.
        at: Position,
        /// The file as it was named.
        path: String,
        /// What is wrong with it.
        cause: Box<ConfError>,
    },
    /// A file could not be read.
    #[error("open {}: {}", path.display(), crate::settings::error::os_text(source))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Files, nesting or values beyond what any sane configuration has.
    #[error("{at}: {what}")]
    TooMuch {
        /// Where.
        at: Position,
        /// Of what.
        what: String,
    },
}
