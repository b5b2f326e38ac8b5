//! Where a new consumer begins (consumers reference 2.5).

use super::actor::Stream;
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::consumer::birth::Start;
use crate::jetstream::consumer::config::DeliverPolicy;
use crate::protocol::Timestamp;
use crate::subject::Filter;

impl Stream {
    /// Counted as of what is durable; news of the commits under way follow.
    pub(super) fn start_of(&self, config: &ConsumerConfig, filter: &Filter) -> Start {
        let (first, last) = (self.contents.first(), self.contents.last());
        let mut last_per_subject = None;
        let next = match config.deliver_policy {
            DeliverPolicy::All => first,
            DeliverPolicy::New => last + 1,
            DeliverPolicy::ByStartSequence => config.opt_start_seq.max(first),
            DeliverPolicy::ByStartTime => self.first_since(config.opt_start_time.as_deref()).unwrap_or(last + 1),
            DeliverPolicy::Last if filter.is_everything() => last.max(first),
            DeliverPolicy::Last => self.contents.last_matching(filter, u64::MAX).unwrap_or(first),
            DeliverPolicy::LastPerSubject if self.config.max_msgs_per_subject == 1 => first,
            DeliverPolicy::LastPerSubject => {
                let seqs = self.contents.last_of_each(filter, u64::MAX);
                match seqs.first() {
                    // Exactly these, and then what comes.
                    Some(_) => {
                        last_per_subject = Some(seqs);
                        last + 1
                    }
                    None => last.max(1),
                }
            }
        };
        let upto = self.pipeline.durable_last;
        let pending = match &last_per_subject {
            Some(seqs) => seqs.len() as u64,
            None => self.durable_count(filter, next),
        };
        Start { next, pending, upto, last_per_subject, stream_last: last }
    }

    /// The first message at or after a time as configurations give it.
    fn first_since(&self, time: Option<&str>) -> Option<u64> {
        let time: Timestamp = time?.parse().ok()?;
        self.contents.index.first_since(time.0).map(|(seq, _)| seq)
    }
}
