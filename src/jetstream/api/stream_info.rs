//! `STREAM.INFO.<stream>` (streams reference 1.2, 4).

use super::answer::kinds;
use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::messages::ApiRequest;
use crate::jetstream::stream::actor::Stream;
use crate::jetstream::stream::info::{Details, Shown, SubjectPage};
use crate::subject::Filter;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Subjects in one answer.
const SUBJECTS: usize = 100_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InfoRequest {
    offset: i64,
    deleted_details: bool,
    subjects_filter: String,
}

impl Decode for InfoRequest {
    const SCHEMA: &'static Schema = &Schema {
        name: "JSApiStreamInfoRequest",
        members: &[&[
            Member::new("offset", Kind::Int),
            Member::new("deleted_details", Kind::Bool),
            Member::new("subjects_filter", Kind::String),
        ]],
    };
}

impl Stream {
    pub(in crate::jetstream) fn stream_info(&mut self, request: ApiRequest) {
        let asked = match json::is_jsonish(&request.body) {
            true => json::request::<InfoRequest>(&request.body, self.setting.limits.strict),
            false => Ok(InfoRequest::default()),
        };
        match asked {
            Ok(asked) => {
                let subjects = match asked.subjects_filter.is_empty() {
                    true => None,
                    false => self.subject_page(&asked.subjects_filter, asked.offset),
                };
                let info = self.detailed_info(Shown::Asked, Details { deleted: asked.deleted_details, subjects });
                self.answer(request, kinds::STREAM_INFO, &info);
            }
            Err(error) => self.refuse(request, kinds::STREAM_INFO, &error),
        }
    }

    /// A page of the subjects that match; `None` if there are none.
    fn subject_page(&self, filter: &str, offset: i64) -> Option<SubjectPage> {
        let mut counts = BTreeMap::new();
        self.contents.each_matching(&Filter::new([filter]), &mut |_, slot| {
            counts.insert(String::from_utf8_lossy(&slot.name).into_owned(), slot.seqs.len());
        });
        if counts.is_empty() {
            return None;
        }
        let (total, offset) = (counts.len(), usize::try_from(offset).unwrap_or(0));
        let counts = counts.into_iter().skip(offset).take(SUBJECTS).collect();
        Some(SubjectPage { counts, total, offset, limit: SUBJECTS })
    }
}
