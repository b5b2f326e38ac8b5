//! One table of all JetStream error codes.

use serde::Serialize;

/// An error as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiError {
    pub code: u16,
    pub err_code: u16,
    pub description: String,
}
