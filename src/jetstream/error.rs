//! Every error of the JetStream API: code, HTTP-like code and text (streams reference 11, consumers reference 10).
//! Nothing else in the project spells a code.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// An error as it stands in an answer: `{"code":404,"err_code":10059,"description":"stream not found"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// In the manner of HTTP: 400, 404, 500, 503...
    pub code: u16,
    /// One of [`ErrCode`].
    pub err_code: u16,
    pub description: String,
}

impl ApiError {
    pub fn is(&self, code: ErrCode) -> bool {
        self.err_code == code.err_code()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.description, self.err_code)
    }
}

impl std::error::Error for ApiError {}

impl From<ErrCode> for ApiError {
    fn from(code: ErrCode) -> Self {
        code.api()
    }
}

impl ErrCode {
    /// The error of a row whose text has no placeholder.
    pub fn api(self) -> ApiError {
        debug_assert!(self.placeholders().next().is_none(), "{self:?} wants its placeholders filled");
        self.described(self.description().into())
    }

    /// The error of a row with named placeholders: `with(&[("prefix", prefix), ("subject", subject)])`.
    pub fn with(self, values: &[(&str, &str)]) -> ApiError {
        self.described(self.fill(|name| {
            let value = values.iter().find(|(known, _)| *known == name);
            debug_assert!(value.is_some(), "{self:?} wants {{{name}}}");
            value.map(|(_, value)| Cow::from(*value))
        }))
    }

    /// The error of a row with one placeholder, mostly `{err}`, filled with this.
    pub fn text(self, text: impl fmt::Display) -> ApiError {
        debug_assert_eq!(self.placeholders().count(), 1, "{self:?} has not exactly one placeholder");
        self.described(self.fill(|_| Some(Cow::from(text.to_string()))))
    }

    /// The row of a number, as read from somebody else's answer.
    pub fn from_err_code(err_code: u16) -> Option<Self> {
        let place = Self::ALL.binary_search_by_key(&err_code, |code| code.err_code()).ok()?;
        Self::ALL.get(place).copied()
    }

    fn described(self, description: String) -> ApiError {
        ApiError { code: self.code(), err_code: self.err_code(), description }
    }

    /// Replaces each `{name}` by what `value` gives for it, in one pass: a value may hold braces of its own.
    fn fill<'v>(self, mut value: impl FnMut(&str) -> Option<Cow<'v, str>>) -> String {
        let mut text = String::new();
        let mut rest = self.description();
        while let Some((before, name, after)) = next_placeholder(rest) {
            text.push_str(before);
            text.push_str(value(name).as_deref().unwrap_or(""));
            rest = after;
        }
        text.push_str(rest);
        text
    }

    fn placeholders(self) -> impl Iterator<Item = &'static str> {
        let mut rest = self.description();
        std::iter::from_fn(move || {
            let (_, name, after) = next_placeholder(rest)?;
            rest = after;
            Some(name)
        })
    }
}

/// What is before, inside and after the first pair of braces.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

macro_rules! codes {
    ($($name:ident = $err_code:literal, $code:literal, $description:literal;)*) => {
        /// A row of the table. Rows marked in the reference as for clusters only are here too, so that what another
        /// server says can be told.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum ErrCode {
            $(#[doc = $description] $name = $err_code,)*
        }

        impl ErrCode {
            /// All rows, by number.
            pub const ALL: &[ErrCode] = &[$(ErrCode::$name,)*];

            /// The number clients look at.
            pub const fn err_code(self) -> u16 {
                self as u16
            }

            /// The class, in the manner of HTTP.
            pub const fn code(self) -> u16 {
                match self {
                    $(ErrCode::$name => $code,)*
                }
            }

            /// The text, with its placeholders.
            pub const fn description(self) -> &'static str {
                match self {
                    $(ErrCode::$name => $description,)*
                }
            }
        }
    };
}

codes! {
    AccountResourcesExceeded = 10002, 400, "resource limits exceeded for account";
    BadRequest = 10003, 400, "bad request";
    ClusterIncomplete = 10004, 503, "incomplete results";
    ClusterNoPeers = 10005, 400, "{err}";
    ClusterNotActive = 10006, 500, "JetStream not in clustered mode";
    ClusterNotAssigned = 10007, 500, "JetStream cluster not assigned to this server";
    ClusterNotAvailable = 10008, 503, "JetStream system temporarily unavailable";
    ClusterNotLeader = 10009, 500, "JetStream cluster can not handle request";
    ClusterRequired = 10010, 503, "JetStream clustering support required";
    ClusterTags = 10011, 400, "tags placement not supported for operation";
    ConsumerCreate = 10012, 500, "{err}";
    ConsumerNameExists = 10013, 400, "consumer name already in use";
    ConsumerNotFound = 10014, 404, "consumer not found";
    SnapshotDeliverSubjectInvalid = 10015, 400, "deliver subject not valid";
    ConsumerDurableNameNotInSubject = 10016, 400, "consumer expected to be durable but no durable name set in subject";
    ConsumerDurableNameNotMatchSubject = 10017, 400, "consumer name in subject does not match durable name in request";
    ConsumerDurableNameNotSet = 10018, 400, "consumer expected to be durable but a durable name was not set";
    ConsumerEphemeralWithDurableInSubject = 10019, 400, "consumer expected to be ephemeral but detected a durable name set in subject";
    ConsumerEphemeralWithDurableName = 10020, 400, "consumer expected to be ephemeral but a durable name was set in request";
    StreamExternalApiOverlap = 10021, 400, "stream external api prefix {prefix} must not overlap with {subject}";
    StreamExternalDeliverOverlap = 10022, 400, "stream external delivery prefix {prefix} overlaps with stream subject {subject}";
    InsufficientResources = 10023, 503, "insufficient resources";
    StreamExternalDeliverInvalid = 10024, 400, "stream external delivery prefix {prefix} must not contain wildcards";
    InvalidJson = 10025, 400, "invalid JSON: {err}";
    MaximumConsumersLimit = 10026, 400, "maximum consumers limit reached";
    MaximumStreamsLimit = 10027, 400, "maximum number of streams reached";
    MemoryResourcesExceeded = 10028, 500, "insufficient memory resources available";
    MirrorConsumerSetupFailed = 10029, 500, "{err}";
    MirrorMaxMessageSizeTooSmall = 10030, 400, "stream mirror must have max message size >= source";
    MirrorWithSources = 10031, 400, "stream mirrors can not also contain other sources";
    MirrorWithStartSequenceAndTime = 10032, 400, "stream mirrors can not have both start seq and start time configured";
    MirrorWithSubjectFilters = 10033, 400, "stream mirrors can not contain filtered subjects";
    MirrorWithSubjects = 10034, 400, "stream mirrors can not contain subjects";
    NoAccount = 10035, 503, "account not found";
    ClusterUnsupportedFeature = 10036, 503, "not currently supported in clustered mode";
    NoMessageFound = 10037, 404, "no message found";
    NotEmptyRequest = 10038, 400, "expected an empty request payload";
    NotEnabledForAccount = 10039, 503, "JetStream not enabled for account";
    ClusterPeerNotMember = 10040, 400, "peer not a member";
    RaftGeneral = 10041, 500, "{err}";
    RestoreSubscribeFailed = 10042, 500, "JetStream unable to subscribe to restore snapshot {subject}: {err}";
    SequenceNotFound = 10043, 400, "sequence {seq} not found";
    ClusterServerNotMember = 10044, 400, "server is not a member of the cluster";
    SourceConsumerSetupFailed = 10045, 500, "{err}";
    SourceMaxMessageSizeTooSmall = 10046, 400, "stream source must have max message size >= target";
    StorageResourcesExceeded = 10047, 500, "insufficient storage resources available";
    StreamAssignment = 10048, 500, "{err}";
    StreamCreate = 10049, 500, "{err}";
    StreamDelete = 10050, 500, "{err}";
    StreamGeneral = 10051, 500, "{err}";
    StreamInvalidConfig = 10052, 500, "{err}";
    StreamLimits = 10053, 500, "{err}";
    StreamMessageExceedsMaximum = 10054, 400, "message size exceeds maximum allowed";
    StreamMirrorNotUpdatable = 10055, 400, "stream mirror configuration can not be updated";
    StreamMismatch = 10056, 400, "stream name in subject does not match request";
    StreamMessageDeleteFailed = 10057, 500, "{err}";
    StreamNameExists = 10058, 400, "stream name already in use with a different configuration";
    StreamNotFound = 10059, 404, "stream not found";
    StreamNotMatch = 10060, 400, "expected stream does not match";
    StreamReplicasNotUpdatable = 10061, 400, "Replicas configuration can not be updated";
    StreamRestore = 10062, 500, "restore failed: {err}";
    StreamSequenceNotMatch = 10063, 503, "expected stream sequence does not match";
    StreamSnapshot = 10064, 500, "snapshot failed: {err}";
    StreamSubjectOverlap = 10065, 400, "subjects overlap with an existing stream";
    StreamTemplateCreate = 10066, 500, "{err}";
    StreamTemplateDelete = 10067, 500, "{err}";
    StreamTemplateNotFound = 10068, 404, "template not found";
    StreamUpdate = 10069, 500, "{err}";
    StreamWrongLastMessageId = 10070, 400, "wrong last msg ID: {id}";
    StreamWrongLastSequence = 10071, 400, "wrong last sequence: {seq}";
    TempStorageFailed = 10072, 500, "JetStream unable to open temp storage for restore";
    TemplateNameNotMatchSubject = 10073, 400, "template name in subject does not match request";
    StreamReplicasNotSupported = 10074, 500, "replicas > 1 not supported in non-clustered mode";
    PeerRemap = 10075, 503, "peer remap failed";
    NotEnabled = 10076, 503, "JetStream not enabled";
    StreamStoreFailed = 10077, 503, "{err}";
    ConsumerConfigRequired = 10078, 400, "consumer config required";
    ConsumerDeliverToWildcards = 10079, 400, "consumer deliver subject has wildcards";
    ConsumerPushMaxWaiting = 10080, 400, "consumer in push mode can not set max waiting";
    ConsumerDeliverCycle = 10081, 400, "consumer deliver subject forms a cycle";
    ConsumerMaxAckPendingRequiresAckPolicy = 10082, 400, "consumer requires ack policy for max ack pending";
    ConsumerSmallHeartbeat = 10083, 400, "consumer idle heartbeat needs to be >= 100ms";
    ConsumerPullRequiresAck = 10084, 400, "consumer in pull mode requires explicit ack policy on workqueue stream";
    ConsumerPullNotDurable = 10085, 400, "consumer in pull mode requires a durable name";
    ConsumerPullWithRateLimit = 10086, 400, "consumer in pull mode can not have rate limit set";
    ConsumerMaxWaitingNegative = 10087, 400, "consumer max waiting needs to be positive";
    ConsumerHeartbeatRequiresPush = 10088, 400, "consumer idle heartbeat requires a push based consumer";
    ConsumerFlowControlRequiresPush = 10089, 400, "consumer flow control requires a push based consumer";
    ConsumerDirectRequiresPush = 10090, 400, "consumer direct requires a push based consumer";
    ConsumerDirectRequiresEphemeral = 10091, 400, "consumer direct requires an ephemeral consumer";
    ConsumerOnMapped = 10092, 400, "consumer direct on a mapped consumer";
    ConsumerFilterNotSubset = 10093, 400, "consumer filter subject is not a valid subset of the interest subjects";
    ConsumerInvalidPolicy = 10094, 400, "{err}";
    ConsumerInvalidSampling = 10095, 400, "failed to parse consumer sampling configuration: {err}";
    StreamInvalid = 10096, 500, "stream not valid";
    StreamHeaderExceedsMaximum = 10097, 400, "header size exceeds maximum allowed of 64k";
    ConsumerWorkQueueRequiresExplicitAck = 10098, 400, "workqueue stream requires explicit ack";
    ConsumerWorkQueueMultipleUnfiltered = 10099, 400, "multiple non-filtered consumers not allowed on workqueue stream";
    ConsumerWorkQueueNotUnique = 10100, 400, "filtered consumer not unique on workqueue stream";
    ConsumerWorkQueueNotDeliverAll = 10101, 400, "consumer must be deliver all on workqueue stream";
    ConsumerNameTooLong = 10102, 400, "consumer name is too long, maximum allowed is {max}";
    ConsumerBadDurableName = 10103, 400, "durable name can not contain '.', '*', '>'";
    ConsumerStoreFailed = 10104, 500, "error creating store for consumer: {err}";
    ConsumerExistingActive = 10105, 400, "consumer already exists and is still active";
    ConsumerReplacementDiffers = 10106, 400, "consumer replacement durable config not the same";
    ConsumerDescriptionTooLong = 10107, 400, "consumer description is too long, maximum allowed is {max}";
    ConsumerFlowControlNeedsHeartbeats = 10108, 400, "consumer with flow control also needs heartbeats";
    StreamSealed = 10109, 400, "invalid operation on sealed stream";
    StreamPurgeFailed = 10110, 500, "{err}";
    StreamRollupFailed = 10111, 500, "{err}";
    ConsumerInvalidDeliverSubject = 10112, 400, "invalid push consumer deliver subject";
    StreamMaxBytesRequired = 10113, 400, "account requires a stream config to have max bytes set";
    ConsumerMaxRequestBatchNegative = 10114, 400, "consumer max request batch needs to be > 0";
    ConsumerMaxRequestExpiresTooSmall = 10115, 400, "consumer max request expires needs to be >= 1ms";
    ConsumerMaxDeliverBackoff = 10116, 400, "max deliver is required to be > length of backoff values";
    StreamInfoMaxSubjects = 10117, 500, "subject details would exceed maximum allowed";
    StreamOffline = 10118, 500, "stream is offline";
    ConsumerOffline = 10119, 500, "consumer is offline";
    NoLimits = 10120, 400, "no JetStream default or applicable tiered limit present";
    ConsumerMaxAckPendingExcess = 10121, 400, "consumer max ack pending exceeds system limit of {limit}";
    StreamMaxStreamBytesExceeded = 10122, 400, "stream max bytes exceeds account limit max stream bytes";
    StreamMoveAndScale = 10123, 400, "can not move and scale a stream in a single update";
    StreamMoveInProgress = 10124, 400, "stream move already in progress";
    ConsumerMaxRequestBatchExceeded = 10125, 400, "consumer max request batch exceeds server limit of {limit}";
    ConsumerReplicasExceedsStream = 10126, 400, "consumer config replica count exceeds parent stream";
    ConsumerNameContainsPathSeparators = 10127, 400, "Consumer name can not contain path separators";
    StreamNameContainsPathSeparators = 10128, 400, "Stream name can not contain path separators";
    StreamMoveNotInProgress = 10129, 400, "stream reconfiguration not in progress";
    StreamNameExistsRestoreFailed = 10130, 400, "stream name already in use, cannot restore";
    ConsumerCreateFilterSubjectMismatch = 10131, 400, "Consumer create request did not match filtered subject from create subject";
    ConsumerCreateDurableAndNameMismatch = 10132, 400, "Consumer Durable and Name have to be equal if both are provided";
    ReplicasCountNegative = 10133, 400, "replicas count cannot be negative";
    ConsumerReplicasShouldMatchStream = 10134, 400, "consumer config replicas must match interest retention stream's replicas";
    ConsumerMetadataLength = 10135, 400, "consumer metadata exceeds maximum size of {limit}";
    ConsumerDuplicateFilterSubjects = 10136, 400, "consumer cannot have both FilterSubject and FilterSubjects specified";
    ConsumerMultipleFiltersNotAllowed = 10137, 400, "consumer with multiple subject filters cannot use subject based API";
    ConsumerOverlappingSubjectFilters = 10138, 400, "consumer subject filters cannot overlap";
    ConsumerEmptyFilter = 10139, 400, "consumer filter in FilterSubjects cannot be empty";
    SourceDuplicateDetected = 10140, 400, "duplicate source configuration detected";
    SourceInvalidStreamName = 10141, 400, "sourced stream name is invalid";
    MirrorInvalidStreamName = 10142, 400, "mirrored stream name is invalid";
    MirrorWithFirstSequence = 10143, 400, "stream mirrors can not have first sequence configured";
    SourceMultipleFiltersNotAllowed = 10144, 400, "source with multiple subject transforms cannot also have a single subject filter";
    SourceInvalidSubjectFilter = 10145, 400, "source transform source: {err}";
    SourceInvalidTransformDestination = 10146, 400, "source transform: {err}";
    SourceOverlappingSubjectFilters = 10147, 400, "source filters can not overlap";
    ConsumerAlreadyExists = 10148, 400, "consumer already exists";
    ConsumerDoesNotExist = 10149, 400, "consumer does not exist";
    MirrorMultipleFiltersNotAllowed = 10150, 400, "mirror with multiple subject transforms cannot also have a single subject filter";
    MirrorInvalidSubjectFilter = 10151, 400, "mirror transform source: {err}";
    MirrorOverlappingSubjectFilters = 10152, 400, "mirror subject filters can not overlap";
    ConsumerInactiveThresholdExcess = 10153, 400, "consumer inactive threshold exceeds system limit of {limit}";
    MirrorInvalidTransformDestination = 10154, 400, "mirror transform: {err}";
    StreamTransformInvalidSource = 10155, 400, "stream transform source: {err}";
    StreamTransformInvalidDestination = 10156, 400, "stream transform: {err}";
    Pedantic = 10157, 400, "pedantic mode: {err}";
    StreamDuplicateMessageConflict = 10158, 409, "duplicate message id is in process";
    ConsumerPriorityPolicyWithoutGroup = 10159, 400, "Setting PriorityPolicy requires at least one PriorityGroup to be set";
    ConsumerInvalidPriorityGroup = 10160, 400, "Provided priority group does not exist for this consumer";
    ConsumerEmptyGroupName = 10161, 400, "Group name cannot be an empty string";
    ConsumerInvalidGroupName = 10162, 400, "Valid priority group name must match A-Z, a-z, 0-9, -_/=)+ and may not exceed 16 characters";
    StreamExpectedLastSequencePerSubjectNotReady = 10163, 503, "expected last sequence per subject temporarily unavailable";
    StreamWrongLastSequenceConstant = 10164, 400, "wrong last sequence";
    MessageTtlInvalid = 10165, 400, "invalid per-message TTL";
    MessageTtlDisabled = 10166, 400, "per-message TTL is disabled";
    StreamTooManyRequests = 10167, 429, "too many requests";
    MessageCounterDisabled = 10168, 400, "message counters is disabled";
    MessageCounterMissing = 10169, 400, "message counter increment is missing";
    MessageCounterPayload = 10170, 400, "message counter has payload";
    MessageCounterInvalid = 10171, 400, "message counter increment is invalid";
    MessageCounterBroken = 10172, 400, "message counter is broken";
    MirrorWithCounters = 10173, 400, "stream mirrors can not also calculate counters";
    AtomicPublishDisabled = 10174, 400, "atomic publish is disabled";
    AtomicPublishMissingSequence = 10175, 400, "atomic publish sequence is missing";
    AtomicPublishIncompleteBatch = 10176, 400, "atomic publish batch is incomplete";
    AtomicPublishUnsupportedHeader = 10177, 400, "atomic publish unsupported header used: {header}";
    ConsumerPushWithPriorityGroup = 10178, 400, "priority groups can not be used with push consumers";
    AtomicPublishInvalidBatchId = 10179, 400, "atomic publish batch ID is invalid";
    StreamMinLastSequence = 10180, 412, "min last sequence";
    ConsumerAckPolicyInvalid = 10181, 400, "consumer ack policy invalid";
    ConsumerReplayPolicyInvalid = 10182, 400, "consumer replay policy invalid";
    ConsumerAckWaitNegative = 10183, 400, "consumer ack wait needs to be positive";
    ConsumerBackoffNegative = 10184, 400, "consumer backoff needs to be positive";
    RequiredApiLevel = 10185, 412, "JetStream minimum api level required";
    MirrorWithMessageSchedules = 10186, 400, "stream mirrors can not also schedule messages";
    SourceWithMessageSchedules = 10187, 400, "stream source can not also schedule messages";
    MessageSchedulesDisabled = 10188, 400, "message schedules is disabled";
    MessageSchedulesPatternInvalid = 10189, 400, "message schedules pattern is invalid";
    MessageSchedulesTargetInvalid = 10190, 400, "message schedules target is invalid";
    MessageSchedulesTtlInvalid = 10191, 400, "message schedules invalid per-message TTL";
    MessageSchedulesRollupInvalid = 10192, 400, "message schedules invalid rollup";
    StreamExpectedLastSequencePerSubjectInvalid = 10193, 400, "missing sequence for expected last sequence per subject";
    StreamOfflineReason = 10194, 500, "stream is offline: {err}";
    ConsumerOfflineReason = 10195, 500, "consumer is offline: {err}";
    ConsumerPriorityGroupWithPolicyNone = 10196, 400, "consumer can not have priority groups when policy is none";
    ConsumerPinnedTtlWithPolicyNone = 10197, 400, "PinnedTTL cannot be set when PriorityPolicy is none";
    MirrorWithAtomicPublish = 10198, 400, "stream mirrors can not also use atomic publishing";
    AtomicPublishTooLargeBatch = 10199, 400, "atomic publish batch is too large: {size}";
    AtomicPublishInvalidBatchCommit = 10200, 400, "atomic publish batch commit is invalid";
    AtomicPublishDuplicateMessage = 10201, 400, "atomic publish batch contains duplicate message id";
    ClusterServerMemberChangeInFlight = 10202, 400, "cluster member change is in progress";
    MessageSchedulesSourceInvalid = 10203, 400, "message schedules source is invalid";
    ConsumerInvalidReset = 10204, 400, "invalid reset: {err}";
    BatchPublishDisabled = 10205, 400, "batch publish is disabled";
    BatchPublishInvalidPattern = 10206, 400, "batch publish pattern is invalid";
    BatchPublishInvalidBatchId = 10207, 400, "batch publish ID is invalid";
    BatchPublishUnknownBatchId = 10208, 400, "batch publish ID unknown";
    MirrorWithBatchPublish = 10209, 400, "stream mirrors can not also use batch publishing";
    AtomicPublishTooManyInFlight = 10210, 429, "atomic publish too many inflight";
    BatchPublishTooManyInFlight = 10211, 429, "batch publish too many inflight";
    MessageSchedulesSchedulerInvalid = 10212, 400, "message schedules invalid scheduler";
    MirrorConsumerInvalid = 10213, 400, "stream mirror consumer config is invalid";
    MirrorConsumerRequiresFlowControlAck = 10214, 400, "stream mirror consumer requires flow control ack policy";
    SourceConsumerInvalid = 10215, 400, "stream source consumer config is invalid";
    SourceConsumerDuplicate = 10216, 400, "duplicate stream source consumer detected";
    SourceConsumerRequiresFlowControlAck = 10217, 400, "stream source consumer requires flow control ack policy";
    ConsumerFlowControlAckRequiresPush = 10218, 400, "flow control ack policy requires a push based consumer";
    ConsumerFlowControlAckRequiresFlowControl = 10219, 400, "flow control ack policy requires flow control";
    ConsumerFlowControlAckRequiresMaxAckPending = 10220, 400, "flow control ack policy requires max ack pending";
    ConsumerFlowControlAckRequiresNoAckWait = 10221, 400, "flow control ack policy requires unset ack wait";
    ConsumerFlowControlAckRequiresNoMaxDeliver = 10222, 400, "flow control ack policy requires unset max deliver";
    MessageSchedulesTimeZoneInvalid = 10223, 400, "message schedules time zone is invalid";
    ClusterRescueNotApplied = 10224, 400, "JetStream system rescue not applied: {err}";
    ConsumerStreamIdentityMismatch = 10225, 400, "consumer's stream identity does not match: {msg}";
    StreamReconfigurationInProgress = 10226, 400, "stream reconfiguration already in progress";
    MessageStreamSourceNotAllowed = 10227, 400, "message stream source header is not allowed";
    SourceConsumerStalled = 10228, 500, "stream source consumer stalled on flow control";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_in_order() {
        assert_eq!(ErrCode::ALL.len(), 227);
        assert!(ErrCode::ALL.windows(2).all(|pair| pair[0].err_code() < pair[1].err_code()));
        assert_eq!((ErrCode::ALL[0].err_code(), ErrCode::ALL[226].err_code()), (10002, 10228));
        assert!(ErrCode::ALL.iter().all(|code| ErrCode::from_err_code(code.err_code()) == Some(*code)));
        assert_eq!(ErrCode::from_err_code(10001), None);
        assert_eq!(ErrCode::from_err_code(9), None);
    }

    #[test]
    fn the_wire_order_is_code_err_code_description() {
        let json = serde_json::to_string(&ErrCode::StreamNotFound.api()).expect("plain data");
        assert_eq!(json, r#"{"code":404,"err_code":10059,"description":"stream not found"}"#);
    }

    #[test]
    fn placeholders_are_filled_once() {
        let error = ErrCode::StreamExternalApiOverlap.with(&[("prefix", "{subject}"), ("subject", "b")]);
        assert_eq!(error.description, "stream external api prefix {subject} must not overlap with b");
        assert_eq!(ErrCode::StreamWrongLastSequence.text(7).description, "wrong last sequence: 7");
        assert_eq!(ErrCode::StreamInvalidConfig.text("no {way}").description, "no {way}");
        assert_eq!(ErrCode::StreamWrongLastMessageId.text("").description, "wrong last msg ID: ");
        assert!(error.is(ErrCode::StreamExternalApiOverlap));
    }

    #[test]
    fn no_brace_is_left_open() {
        for code in ErrCode::ALL {
            let text = code.description();
            assert_eq!(text.matches('{').count(), code.placeholders().count(), "{text}");
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
        }
    }
}
