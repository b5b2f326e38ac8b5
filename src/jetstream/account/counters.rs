use serde::Serialize;

/// The requests of an account since the server's start (streams reference, section 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ApiCounters {
    /// Requests answered.
    pub total: u64,
    /// Those of them answered with an error.
    pub errors: u64,
}

impl ApiCounters {
    pub fn count(&mut self, is_error: bool) {
        self.total += 1;
        self.errors += u64::from(is_error);
    }
}
