//! Push consumers: interest in the deliver subject, heartbeats, flow control.

pub mod flow;
mod interest;

use super::ConsumerConfig;
use crate::jetstream::messages::ApiRequest;
use flow::Flow;

/// What only push consumers have.
#[derive(Debug, Default)]
pub struct Push {
    is_active: bool,
    /// Whether somebody listens has been told.
    is_known: bool,
    /// Create requests that are answered when it has.
    unanswered: Vec<ApiRequest>,
    flow: Flow,
}

impl Push {
    pub fn new(config: &ConsumerConfig) -> Self {
        Self { flow: Flow::new(config.flow_control), ..Self::default() }
    }

    /// Somebody listens on the deliver subject.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Keeps a request if it is too early to answer it; gives it back if not.
    pub fn hold(&mut self, request: ApiRequest) -> Option<ApiRequest> {
        if self.is_known {
            return Some(request);
        }
        self.unanswered.push(request);
        None
    }

    /// A delivery found nobody.
    pub fn lost_interest(&mut self) {
        self.is_active = false;
    }

    /// The client has not kept up.
    pub fn is_stalled(&self) -> bool {
        self.flow.is_stalled()
    }
}
