use super::report::ActorReport;
use serde::{Deserialize, Serialize};

/// Reports in one answer, if the request does not say; and at most.
pub const DEFAULT_LIMIT: usize = 256;
pub const MAX_LIMIT: usize = 1024;

/// The body of a request on `$SYS.REQ.ACTORS`. Empty means all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    pub kind: Option<String>,
    pub name: Option<String>,
    pub sort: Sort,
    pub limit: Option<usize>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    #[default]
    Name,
    /// The deepest mailbox now.
    Depth,
    /// The longest 99th percentile of handling times.
    Time,
}

/// The answer: the reports, or what was wrong with the request.
#[derive(Debug, Serialize)]
pub struct Answer {
    pub v: u32,
    pub server: String,
    /// Actors that the query matches; `actors` may hold fewer.
    pub total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub actors: Vec<ActorReport>,
}

impl Query {
    pub fn parse(body: &[u8]) -> Result<Self, String> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        serde_json::from_slice(body).map_err(|error| format!("invalid request: {error}"))
    }

    pub fn wants(&self, kind: &str, name: &str) -> bool {
        self.kind.as_deref().is_none_or(|k| k == kind) && self.name.as_deref().is_none_or(|n| n == name)
    }

    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT)
    }

    /// Brings the reports into the order asked for and keeps as many as asked for.
    pub fn arrange(&self, reports: &mut Vec<ActorReport>) {
        match self.sort {
            Sort::Name => reports.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name))),
            Sort::Depth => reports.sort_by_key(|r| std::cmp::Reverse(r.measures.depth)),
            Sort::Time => reports.sort_by_key(|r| std::cmp::Reverse(r.measures.p99_ns)),
        }
        reports.truncate(self.limit());
    }
}
