//! Subjects that clients may not use (core reference 1.11 and 2.4).

/// Nobody but the server publishes there.
pub(super) fn is_closed_to_publishers(subject: &[u8]) -> bool {
    matches!(subject.first(), Some(b'_' | b'$'))
        && [&b"_GR_."[..], b"$GR.", b"$NRG."].iter().any(|prefix| subject.starts_with(prefix))
}

/// Nobody but the server has answers sent there.
pub(super) fn is_reserved_reply(reply: &[u8]) -> bool {
    matches!(reply.first(), Some(b'_' | b'$'))
        && [&b"_R_."[..], b"$JS.ACK.", b"_GR_.", b"$GR."].iter().any(|prefix| reply.starts_with(prefix))
}

/// The queue group of the server's own services.
pub(super) const RESERVED_QUEUE: &[u8] = b"_sys_";
