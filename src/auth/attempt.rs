//! One judgement, ready to be made.

use super::identity::{Denied, Identity};
use super::password::Password;

/// Everything needed to judge one CONNECT; owns what it needs, so that it can run on another thread.
#[derive(Debug)]
pub struct Attempt {
    verdict: Verdict,
}

#[derive(Debug)]
enum Verdict {
    Known(Result<Identity, Denied>),
    Compare { password: Password, given: Given, right: Identity, wrong: Denied },
}

/// What the client says is the secret.
struct Given(String);

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[REDACTED]")
    }
}

impl Attempt {
    pub(super) fn decided(result: Result<Identity, Denied>) -> Self {
        Self { verdict: Verdict::Known(result) }
    }

    pub(super) fn compare(password: &Password, given: &str, right: Identity, wrong: Denied) -> Self {
        let (password, given) = (password.clone(), Given(given.to_owned()));
        Self { verdict: Verdict::Compare { password, given, right, wrong } }
    }

    /// Whether [`run`](Self::run) takes tens of milliseconds: then it does not belong on a network thread.
    pub fn is_bcrypt(&self) -> bool {
        matches!(&self.verdict, Verdict::Compare { password, .. } if password.is_bcrypt())
    }

    /// Judges.
    pub fn run(self) -> Result<Identity, Denied> {
        match self.verdict {
            Verdict::Known(result) => result,
            Verdict::Compare { password, given, right, wrong } => {
                if password.is(&given.0) {
                    Ok(right)
                } else {
                    Err(wrong)
                }
            }
        }
    }
}
