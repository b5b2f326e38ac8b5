//! How a consumer ends.

use super::Consumer;
use super::info::Inquiry;
use super::pull::status;
use crate::actor::Ctx;
use crate::jetstream::api::answer::kinds;
use crate::jetstream::error::ErrCode;

impl Consumer {
    /// It is deleted: who waits is told, and whoever wants to know.
    pub(super) fn deleted(&mut self, ctx: &mut Ctx<Self>) {
        for request in self.pulls.take(|_| true) {
            status::plain(self.posts.via(request.via), &request.reply, status::CONSUMER_DELETED);
        }
        for inquiry in std::mem::take(&mut self.inquiries) {
            if let Inquiry::Info(request) = inquiry {
                self.refuse(request, kinds::CONSUMER_INFO, &ErrCode::ConsumerNotFound.api());
            }
        }
        let now = self.now();
        self.news.deleted(now);
        self.end(ctx);
    }

    /// The server shuts down: who waits is told; what was acknowledged is saved.
    pub(super) fn shut_down(&mut self, ctx: &mut Ctx<Self>) {
        for request in self.pulls.take(|_| true) {
            status::with_rest(self.posts.via(request.via), &request, status::SERVER_SHUTDOWN);
        }
        self.save();
        self.end(ctx);
    }
}
