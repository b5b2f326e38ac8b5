use crate::actor::Outlet;

/// Asks who a client is. Whoever knows somebody nearer to the client passes it on; it is answered in any case, also by
/// being dropped on the way: then nobody knows.
#[derive(Debug)]
pub struct WhoIs {
    pub client: u64,
    token: u64,
    to: Outlet<ThisIs>,
    is_answered: bool,
}

/// The answer to [`WhoIs`].
#[derive(Debug)]
pub struct ThisIs {
    /// The one of the question.
    pub token: u64,
    /// None if the client has gone.
    pub who: Option<Who>,
}

/// What a client said about itself, and what its connection knows. A text that is not given is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// Empty for a client that needed no name.
    pub user: String,
    pub account: String,
    /// The address it comes from, without the port.
    pub host: String,
    pub name: String,
    pub lang: String,
    pub version: String,
    /// When it came, in nanoseconds since 1970.
    pub start: i64,
    /// Nanoseconds of a round trip; 0 if none was measured.
    pub rtt: u64,
}

impl WhoIs {
    /// `token` comes back with the answer.
    pub fn new(client: u64, token: u64, to: Outlet<ThisIs>) -> Self {
        Self { client, token, to, is_answered: false }
    }

    pub fn answer(mut self, who: Who) {
        self.is_answered = true;
        self.to.send(ThisIs { token: self.token, who: Some(who) });
    }
}

impl Drop for WhoIs {
    fn drop(&mut self) {
        if !self.is_answered {
            self.to.send(ThisIs { token: self.token, who: None });
        }
    }
}
