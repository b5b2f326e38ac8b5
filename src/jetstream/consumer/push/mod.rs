//! Push consumers: interest in the deliver subject, heartbeats, flow control.

pub mod flow;
mod interest;

use super::ConsumerConfig;
use flow::Flow;

/// What only push consumers have.
#[derive(Debug, Default)]
pub struct Push {
    is_active: bool,
    flow: Flow,
}

impl Push {
    pub fn new(config: &ConsumerConfig) -> Self {
        Self { is_active: false, flow: Flow::new(config.flow_control) }
    }

    /// Somebody listens on the deliver subject.
    pub fn is_active(&self) -> bool {
        self.is_active
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
