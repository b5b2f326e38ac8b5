use rand::Rng;

/// What may be outstanding at first, and at most, in bytes.
const FIRST_WINDOW: usize = MAX_WINDOW / 16;
const MAX_WINDOW: usize = 32 << 20;

/// Random characters at the end of a flow-control subject.
const TOKEN: usize = 4;

/// Flow control of a push consumer (consumers reference, section 5.4): bytes sent since the client last answered.
#[derive(Debug, Default)]
pub struct Flow {
    window: usize,
    outstanding: usize,
    /// The subject on which an answer is awaited, and the bytes that it confirms.
    asked: Option<(Vec<u8>, usize)>,
}

impl Flow {
    pub fn new(enabled: bool) -> Self {
        Self { window: if enabled { FIRST_WINDOW } else { 0 }, ..Self::default() }
    }

    pub fn is_stalled(&self) -> bool {
        self.window > 0 && self.outstanding > self.window
    }

    /// A message of so many bytes was sent. Returns whether the client is to be asked now.
    pub fn sent(&mut self, bytes: usize) -> bool {
        if self.window == 0 {
            return false;
        }
        self.outstanding += bytes;
        match &mut self.asked {
            None => self.outstanding > self.window / 2,
            Some((_, confirmed)) => {
                if self.outstanding.saturating_sub(*confirmed) >= self.window {
                    *confirmed += bytes;
                }
                false
            }
        }
    }

    /// Makes the subject on which the client is to answer; `prefix` goes up to the random end.
    pub fn ask(&mut self, prefix: &str) -> &[u8] {
        let mut random = rand::rng();
        let mut subject = prefix.as_bytes().to_vec();
        subject.extend((0..TOKEN).map(|_| random.sample(rand::distr::Alphanumeric)));
        let (subject, _) = self.asked.insert((subject, self.outstanding));
        subject
    }

    /// The subject on which an answer is awaited.
    pub fn asked(&self) -> Option<&[u8]> {
        self.asked.as_ref().map(|(subject, _)| &subject[..])
    }

    /// An answer came. Returns whether it was the one awaited.
    pub fn answered(&mut self, subject: &[u8]) -> bool {
        match self.asked.take_if(|(asked, _)| asked == subject) {
            Some((_, confirmed)) => {
                self.outstanding = self.outstanding.saturating_sub(confirmed);
                self.window = (self.window * 2).min(MAX_WINDOW);
                true
            }
            None => false,
        }
    }
}
