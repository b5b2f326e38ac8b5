//! What a server answers when it must refuse, and why it closes (core reference 1.11 and 1.12).

use bytes::Bytes;
use std::fmt;

/// The text of an `-ERR`. Clients compare these, so they are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    UnknownProtocolOperation,
    AuthorizationViolation,
    AuthenticationTimeout,
    UserAuthenticationExpired,
    UserAuthenticationRevoked,
    AccountAuthenticationExpired,
    StaleConnection,
    MaximumPayloadViolation,
    MaximumControlLineExceeded,
    MaximumConnectionsExceeded,
    MaximumAccountConnectionsExceeded,
    /// Said of one SUB; when a reload lowers the limit the connection is closed with it too.
    MaximumSubscriptionsExceeded,
    InvalidSubject,
    InvalidPublishSubject,
    PublishViolation {
        subject: Bytes,
    },
    ReplyViolation {
        reply: Bytes,
    },
    SubscriptionViolation {
        subject: Bytes,
    },
    QueueSubscriptionViolation {
        subject: Bytes,
        queue: Bytes,
    },
    /// A reload took the permission of a subscription that is there.
    SubscriptionRemoved {
        subject: Bytes,
        sid: Bytes,
    },
    TooManyTokens {
        subject: Bytes,
    },
    TlsRequired,
    InvalidClientProtocol,
    NoRespondersRequiresHeaders,
    FailedAccountRegistration,
    ConnectionThrottling,
    ConnectedToRoutePort,
    ConnectedToLeafPort,
    ConnectedToGatewayPort,
}

impl ProtocolError {
    /// Whether the connection is closed after it.
    pub fn closes(&self) -> bool {
        use ProtocolError::*;
        !matches!(
            self,
            MaximumSubscriptionsExceeded
                | InvalidSubject
                | InvalidPublishSubject
                | PublishViolation { .. }
                | ReplyViolation { .. }
                | SubscriptionViolation { .. }
                | QueueSubscriptionViolation { .. }
                | SubscriptionRemoved { .. }
                | TooManyTokens { .. }
        )
    }

    /// The reason shown for a connection that was closed with this text.
    pub fn reason(&self) -> CloseReason {
        use ProtocolError::*;
        match self {
            AuthorizationViolation => CloseReason::AuthenticationFailure,
            AuthenticationTimeout => CloseReason::AuthenticationTimeout,
            UserAuthenticationExpired | AccountAuthenticationExpired => CloseReason::AuthenticationExpired,
            UserAuthenticationRevoked => CloseReason::CredentialsRevoked,
            StaleConnection => CloseReason::StaleConnection,
            MaximumPayloadViolation => CloseReason::MaximumPayloadExceeded,
            MaximumControlLineExceeded => CloseReason::MaximumControlLineExceeded,
            MaximumConnectionsExceeded | ConnectionThrottling => CloseReason::MaximumConnectionsExceeded,
            MaximumAccountConnectionsExceeded => CloseReason::MaximumAccountConnectionsExceeded,
            MaximumSubscriptionsExceeded => CloseReason::MaximumSubscriptionsExceeded,
            TlsRequired => CloseReason::TlsHandshakeFailure,
            InvalidClientProtocol => CloseReason::BadClientProtocolVersion,
            NoRespondersRequiresHeaders => CloseReason::NoRespondersRequiresHeaders,
            FailedAccountRegistration => CloseReason::MissingAccount,
            ConnectedToRoutePort | ConnectedToLeafPort | ConnectedToGatewayPort => CloseReason::IncorrectPort,
            UnknownProtocolOperation
            | InvalidSubject
            | InvalidPublishSubject
            | PublishViolation { .. }
            | ReplyViolation { .. }
            | SubscriptionViolation { .. }
            | QueueSubscriptionViolation { .. }
            | SubscriptionRemoved { .. }
            | TooManyTokens { .. } => CloseReason::ProtocolViolation,
        }
    }

    /// The whole line: `-ERR '<text>'` and its end.
    pub fn line(&self) -> Vec<u8> {
        format!("-ERR '{self}'\r\n").into_bytes()
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ProtocolError::*;
        let text = match self {
            UnknownProtocolOperation => "Unknown Protocol Operation",
            AuthorizationViolation => "Authorization Violation",
            AuthenticationTimeout => "Authentication Timeout",
            UserAuthenticationExpired => "User Authentication Expired",
            UserAuthenticationRevoked => "User Authentication Revoked",
            AccountAuthenticationExpired => "Account Authentication Expired",
            StaleConnection => "Stale Connection",
            MaximumPayloadViolation => "Maximum Payload Violation",
            MaximumControlLineExceeded => "maximum control line exceeded",
            MaximumConnectionsExceeded => "maximum connections exceeded",
            MaximumAccountConnectionsExceeded => "maximum account active connections exceeded",
            MaximumSubscriptionsExceeded => "maximum subscriptions exceeded",
            InvalidSubject => "Invalid Subject",
            InvalidPublishSubject => "Invalid Publish Subject",
            PublishViolation { subject } => {
                return write!(f, "Permissions Violation for Publish to {}", quote(subject));
            }
            ReplyViolation { reply } => {
                return write!(f, "Permissions Violation for Publish with Reply of {}", quote(reply));
            }
            SubscriptionViolation { subject } => {
                return write!(f, "Permissions Violation for Subscription to {}", quote(subject));
            }
            QueueSubscriptionViolation { subject, queue } => {
                let (subject, queue) = (quote(subject), quote(queue));
                return write!(f, "Permissions Violation for Subscription to {subject} using queue {queue}");
            }
            SubscriptionRemoved { subject, sid } => {
                let (subject, sid) = (quote(subject), quote(sid));
                return write!(f, "Permissions Violation for Subscription to {subject} (sid {sid})");
            }
            TooManyTokens { subject } => {
                return write!(f, "Permissions Violation for Subscription to {}, too many tokens", quote(subject));
            }
            TlsRequired => "Secure Connection - TLS Required",
            InvalidClientProtocol => "invalid client protocol",
            NoRespondersRequiresHeaders => "no responders requires headers support",
            FailedAccountRegistration => "Failed Account Registration",
            ConnectionThrottling => "Connection throttling is active. Please try again later.",
            ConnectedToRoutePort => "attempted to connect to route port",
            ConnectedToLeafPort => "attempted to connect to leaf node port",
            ConnectedToGatewayPort => "attempted to connect to gateway port",
        };
        f.write_str(text)
    }
}

/// Bytes between double quotes; what would end the quotes or the line, or is not UTF-8, is escaped as Go does.
pub fn quote(bytes: &[u8]) -> String {
    use fmt::Write;
    let mut quoted = String::with_capacity(bytes.len() + 2);
    quoted.push('"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => quoted.extend(['\\', character]),
                '\u{7}' => quoted.push_str("\\a"),
                '\u{8}' => quoted.push_str("\\b"),
                '\t' => quoted.push_str("\\t"),
                '\n' => quoted.push_str("\\n"),
                '\u{b}' => quoted.push_str("\\v"),
                '\u{c}' => quoted.push_str("\\f"),
                '\r' => quoted.push_str("\\r"),
                '\0'..=' ' | '\u{7f}' if character != ' ' => {
                    let _ = write!(quoted, "\\x{:02x}", u32::from(character));
                }
                _ if is_invisible(character) => {
                    let _ = write!(quoted, "\\u{:04x}", u32::from(character));
                }
                _ => quoted.push(character),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(quoted, "\\x{byte:02x}");
        }
    }
    quoted.push('"');
    quoted
}

/// Beyond ASCII: controls, odd blanks and what steers the direction of text.
fn is_invisible(character: char) -> bool {
    let steers =
        matches!(character, '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}');
    character.is_control() || steers || matches!(character, '\u{a0}' | '\u{3000}' | '\u{feff}')
}

macro_rules! reasons {
    ($($name:ident = $text:literal,)*) => {
        /// Why a connection was closed, as monitoring, events and logs show it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CloseReason {
            $(#[doc = $text] $name,)*
        }

        impl fmt::Display for CloseReason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(CloseReason::$name => $text,)*
                })
            }
        }
    };
}

reasons! {
    ClientClosed = "Client Closed",
    AuthenticationTimeout = "Authentication Timeout",
    AuthenticationFailure = "Authentication Failure",
    TlsHandshakeFailure = "TLS Handshake Failure",
    SlowConsumerPendingBytes = "Slow Consumer (Pending Bytes)",
    SlowConsumerWriteDeadline = "Slow Consumer (Write Deadline)",
    WriteError = "Write Error",
    ReadError = "Read Error",
    ParseError = "Parse Error",
    StaleConnection = "Stale Connection",
    ProtocolViolation = "Protocol Violation",
    BadClientProtocolVersion = "Bad Client Protocol Version",
    IncorrectPort = "Incorrect Port",
    MaximumConnectionsExceeded = "Maximum Connections Exceeded",
    MaximumAccountConnectionsExceeded = "Maximum Account Connections Exceeded",
    MaximumPayloadExceeded = "Maximum Message Payload Exceeded",
    MaximumControlLineExceeded = "Maximum Control Line Exceeded",
    MaximumSubscriptionsExceeded = "Maximum Subscriptions Exceeded",
    DuplicateRoute = "Duplicate Route",
    RouteRemoved = "Route Removed",
    ServerShutdown = "Server Shutdown",
    AuthenticationExpired = "Authentication Expired",
    WrongGateway = "Wrong Gateway",
    MissingAccount = "Missing Account",
    CredentialsRevoked = "Credentials Revoked",
    InternalClient = "Internal Client",
    MessageHeaderViolation = "Message Header Violation",
    NoRespondersRequiresHeaders = "No Responders Requires Headers",
    ClusterNameConflict = "Cluster Name Conflict",
    DuplicateRemoteLeafNode = "Duplicate Remote LeafNode Connection",
    DuplicateClientId = "Duplicate Client ID",
    DuplicateServerName = "Duplicate Server Name",
    MinimumVersionRequired = "Minimum Version Required",
    ClusterNamesIdentical = "Cluster Names Identical",
    Kicked = "Kicked",
    ProxyNotTrusted = "Proxy Not Trusted",
    ProxyRequired = "Proxy Required",
}
