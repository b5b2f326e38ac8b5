/// What a client did wrong on the wire. Each ends the connection (core reference 1.2 and 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A verb, a byte or the end of a payload that cannot be. Told with an `-ERR`.
    UnknownOperation,
    /// Wrong number of arguments, a size that is none, headers nobody agreed on. Closed without a word.
    Argument,
    /// A control line over the limit. Told with an `-ERR`.
    ControlLine,
    /// More headers and payload than allowed; noticed before they arrive. Told with an `-ERR`.
    MaxPayload,
}
