use crate::jetstream::Limits;
use crate::jetstream::stream::StreamConfig;

/// What the checks of a consumer's configuration must know of its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct StreamContext<'a> {
    pub config: &'a StreamConfig,
    pub limits: &'a Limits,
}
