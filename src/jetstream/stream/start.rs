//! Where a new consumer begins (consumers reference 2.5).

use super::actor::Stream;
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::consumer::birth::Start;
use crate::jetstream::consumer::config::DeliverPolicy;
use crate::protocol::Timestamp;
use crate::subject::Filter;

impl Stream {
    /// As of what is durable: news of the commits under way follow.
    pub(super) fn start_of(&self, config: &ConsumerConfig, filter: &Filter) -> Start {
        let (first, last) = (self.contents.first(), self.pipeline.durable_last);
        let mut last_per_subject = None;
        let next = match config.deliver_policy {
            DeliverPolicy::All => first,
            DeliverPolicy::New => last + 1,
            DeliverPolicy::ByStartSequence => config.opt_start_seq.max(first),
            DeliverPolicy::ByStartTime => self.earliest_of(config).max(first),
            DeliverPolicy::Last if filter.is_everything() => last.max(first),
            DeliverPolicy::Last => self.contents.last_matching(filter, last).unwrap_or(first),
            DeliverPolicy::LastPerSubject if self.config.max_msgs_per_subject == 1 => first,
            DeliverPolicy::LastPerSubject => {
                let seqs = self.contents.last_of_each(filter, last);
                match seqs.first().copied() {
                    // Exactly these, and then what comes.
                    Some(listed) => {
                        last_per_subject = Some(seqs);
                        listed
                    }
                    None if self.contents.messages() == 0 => first,
                    None => last.max(1),
                }
            }
        };
        let pending = match &last_per_subject {
            Some(seqs) => seqs.len() as u64,
            None => self.durable_count(filter, next),
        };
        Start { next, pending, upto: last, last_per_subject, stream_last: last, earliest: self.earliest_of(config) }
    }

    /// The first sequence at or after the time that the configuration gives, the next one to be if there is none; 0
    /// if it gives no time.
    pub(super) fn earliest_of(&self, config: &ConsumerConfig) -> u64 {
        match config.deliver_policy {
            DeliverPolicy::ByStartTime => {
                let next = self.pipeline.durable_last + 1;
                self.first_since(config.opt_start_time.as_deref()).map_or(next, |seq| seq.min(next))
            }
            _ => 0,
        }
    }

    /// The first message at or after a time as configurations give it.
    fn first_since(&self, time: Option<&str>) -> Option<u64> {
        let time: Timestamp = time?.parse().ok()?;
        self.contents.index.first_since(time.0).map(|(seq, _)| seq)
    }
}
