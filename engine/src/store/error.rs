//! What can go wrong on the road to storage, told by what to do about it.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;

use super::request::RequestKind;
use super::url::KNOWN_SCHEMES;
use crate::error::{Classify, ErrorKind};
use crate::ids::Seq;

/// Why the storage of a graph could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The scheme of the URI is not one of those known.
    #[error("`{uri}` names a kind of storage that is not known")]
    UnknownScheme {
        /// What was given.
        uri: String,
    },
    /// The URI is of a known scheme, but says too little or too much.
    #[error("`{uri}` is not a usable address: {reason}")]
    InvalidUri {
        /// What was given.
        uri: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A setting of the store, from the environment or from the options, cannot be used.
    #[error("the storage setting `{name}` cannot be used: {reason}")]
    InvalidOption {
        /// The setting. Its value may be a secret, so it is not told.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such local folder, and it was not to be created.
    #[error("there is no folder `{folder}`")]
    NoFolder {
        /// Its absolute path.
        folder: String,
    },
    /// The operating system refused something about a local folder.
    #[error("the folder `{folder}` could not be {action}")]
    Folder {
        /// Its path.
        folder: String,
        /// In the passive voice: created, synced.
        action: &'static str,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// No credentials are set for a store that needs them.
    #[error("there are no credentials for {place}")]
    NoCredentials {
        /// The store's URI.
        place: String,
    },
    /// The bucket does not exist at this endpoint.
    #[error("the bucket of {place} does not exist")]
    NoBucket {
        /// The store's URI.
        place: String,
        /// What the store said.
        #[source]
        source: Box<object_store::Error>,
    },
    /// The store knows us and refuses, or does not know us.
    #[error("{place} refused a {kind} of `{path}`")]
    Denied {
        /// The store's URI.
        place: String,
        /// What was asked for.
        kind: RequestKind,
        /// The object.
        path: String,
        /// What the store said.
        #[source]
        source: Box<object_store::Error>,
    },
    /// The store takes no request from this machine, since their clocks are too far apart.
    #[error("the clock of this machine is too far from that of {place}")]
    ClockSkew {
        /// The store's URI.
        place: String,
        /// What the store said.
        #[source]
        source: Box<object_store::Error>,
    },
    /// No connection could be made: nothing was sent.
    #[error("{place} cannot be reached")]
    Unreachable {
        /// The store's URI.
        place: String,
        /// What the client said.
        #[source]
        source: Box<object_store::Error>,
    },
    /// A request was sent and not answered in time.
    #[error("{place} did not answer a {kind} of `{path}` in time")]
    Unanswered {
        /// The store's URI.
        place: String,
        /// What was asked for.
        kind: RequestKind,
        /// The object.
        path: String,
        /// Our own limit, when it was that which ended the wait.
        limit: Option<Duration>,
        /// What the client said, when it was its limit.
        #[source]
        source: Option<Box<object_store::Error>>,
    },
    /// The store cannot do what a commit point needs.
    #[error("{place} does not offer put-if-absent")]
    NoConditionalPut {
        /// The store's URI.
        place: String,
        /// What the store said.
        #[source]
        source: Box<object_store::Error>,
    },
    /// An object that must be there is not.
    #[error("`{path}` is missing from {place}")]
    Missing {
        /// The store's URI.
        place: String,
        /// The object.
        path: String,
    },
    /// The store turned a put-if-absent away again and again, and yet nothing is at the key.
    #[error("{place} kept turning away a put of `{path}`, where nothing is")]
    TurnedAway {
        /// The store's URI.
        place: String,
        /// The object.
        path: String,
    },
    /// Any other failed request.
    #[error("a {kind} of `{path}` failed at {place}")]
    Request {
        /// The store's URI.
        place: String,
        /// What was asked for.
        kind: RequestKind,
        /// The object or prefix.
        path: String,
        /// What the store said.
        #[source]
        source: Box<object_store::Error>,
    },
    /// A file that a publish would name did not become durable.
    #[error("the staged file `{path}` could not be written")]
    Staging {
        /// The file.
        path: String,
        /// What the store said.
        #[source]
        source: Arc<object_store::Error>,
    },
    /// A publish would name a file that was never staged here.
    #[error("the file `{path}` was not staged by this process")]
    NotStaged {
        /// The file.
        path: String,
    },
    /// An entry at or above the head of a log was to be overwritten.
    #[error("entry {seq} of `{log}` is not below the head of the log")]
    NotBelowHead {
        /// The log's folder.
        log: String,
        /// The entry.
        seq: Seq,
    },
}

impl StoreError {
    /// Whether asking again cannot help: the store refused for good, and nothing was changed.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Denied { .. } | Self::ClockSkew { .. } | Self::NoBucket { .. })
    }

    /// Tells a failed request by what can be done about it.
    pub(crate) fn of(place: &str, kind: RequestKind, path: &Path, source: object_store::Error) -> Self {
        let (place, path) = (place.to_owned(), path.to_string());
        let cause = Cause::of(&source);
        let source = Box::new(source);
        match cause {
            Cause::NoBucket => Self::NoBucket { place, source },
            Cause::Denied => Self::Denied { place, kind, path, source },
            Cause::ClockSkew => Self::ClockSkew { place, source },
            Cause::NotSent => Self::Unreachable { place, source },
            Cause::Unanswered => Self::Unanswered { place, kind, path, limit: None, source: Some(source) },
            Cause::Unsupported if kind == RequestKind::Create => Self::NoConditionalPut { place, source },
            Cause::Unsupported | Cause::Exists | Cause::Other => Self::Request { place, kind, path, source },
        }
    }
}

impl Classify for StoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownScheme { .. }
            | Self::InvalidUri { .. }
            | Self::InvalidOption { .. }
            | Self::NoCredentials { .. }
            | Self::NoConditionalPut { .. } => ErrorKind::Invalid,
            Self::NoFolder { .. } | Self::NoBucket { .. } => ErrorKind::NotFound,
            Self::Folder { .. }
            | Self::Denied { .. }
            | Self::ClockSkew { .. }
            | Self::Unreachable { .. }
            | Self::Unanswered { .. }
            | Self::TurnedAway { .. }
            | Self::Request { .. }
            | Self::Staging { .. } => ErrorKind::Unavailable,
            Self::Missing { .. } => ErrorKind::Data,
            Self::NotStaged { .. } | Self::NotBelowHead { .. } => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::UnknownScheme { .. } => "unknown-scheme",
            Self::InvalidUri { .. } => "invalid-uri",
            Self::InvalidOption { .. } => "invalid-store-option",
            Self::NoFolder { .. } => "folder-not-found",
            Self::Folder { .. } => "folder-failed",
            Self::NoCredentials { .. } => "no-credentials",
            Self::NoBucket { .. } => "bucket-not-found",
            Self::Denied { .. } => "access-denied",
            Self::ClockSkew { .. } => "clock-skew",
            Self::Unreachable { .. } => "store-unreachable",
            Self::Unanswered { .. } => "store-timeout",
            Self::NoConditionalPut { .. } => "no-conditional-put",
            Self::Missing { .. } => "missing-object",
            Self::TurnedAway { .. } => "store-busy",
            Self::Request { .. } => "store-request-failed",
            Self::Staging { .. } => "staging-failed",
            Self::NotStaged { .. } => "not-staged",
            Self::NotBelowHead { .. } => "not-below-head",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownScheme { .. } => format!("use one of {KNOWN_SCHEMES}, or the path of a folder"),
            Self::InvalidUri { .. } | Self::NotStaged { .. } | Self::NotBelowHead { .. } => return None,
            Self::InvalidOption { .. } => "set it anew, or leave it out for the default".to_owned(),
            Self::NoFolder { .. } => "check the path; `pleach init` makes a new graph there".to_owned(),
            Self::Folder { .. } => "check the owner, the permissions and the free space of the folder".to_owned(),
            Self::NoCredentials { .. } => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (profiles in ~/.aws are not read)".to_owned(),
            Self::NoBucket { .. } => "check the spelling and AWS_ENDPOINT_URL; Pleach does not create buckets".to_owned(),
            Self::Denied { .. } => "check the credentials, AWS_REGION, and that they allow GetObject, PutObject, DeleteObject and ListBucket here".to_owned(),
            Self::ClockSkew { .. } => "set the clock of this machine, then try again; nothing was changed".to_owned(),
            Self::Unreachable { .. } => "check AWS_ENDPOINT_URL, the network and that the server runs; nothing was sent".to_owned(),
            Self::Unanswered { .. } | Self::TurnedAway { .. } => "try again".to_owned(),
            Self::NoConditionalPut { .. } => "use a store with conditional writes (If-None-Match), and leave AWS_CONDITIONAL_PUT unset".to_owned(),
            Self::Missing { .. } => "run `pleach fsck` to see what else is affected".to_owned(),
            Self::Request { .. } => "try again; if it persists, check the endpoint and the region of the store".to_owned(),
            Self::Staging { .. } => "nothing was published; try again".to_owned(),
        })
    }
}

/// What a store refuses a request for: raised by our HTTP service where the S3 client would not let it be told. A missing
/// bucket would pass for the absence of one object, and absence is what proves a head; a forbidden LIST, or expired
/// credentials, for a failure that may have had an effect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the store answered NoSuchBucket")]
    NoSuchBucket,
    #[error("the store answered {code}")]
    Denied { code: String },
    #[error("the store answered {code}")]
    ClockSkew { code: String },
    #[error("the store answered {code}")]
    Unsupported { code: String },
    /// No refusal at all: a "404" that somebody before the store may have given.
    #[error("the store answered {code}, which does not say that the object is absent")]
    NoProof { code: String },
}

/// What a failed request says about its effect and its cure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Something is at the key (412), or a rival request was under way (409): this request had no effect.
    Exists,
    /// No connection: not sent.
    NotSent,
    /// Refused for who we are: no effect.
    Denied,
    /// Refused for when we think it is: no effect.
    ClockSkew,
    /// Refused for what it is: no effect.
    Unsupported,
    /// Refused since there is no bucket: no effect.
    NoBucket,
    /// Sent and not answered in time: may have, or may yet take, effect.
    Unanswered,
    /// Anything else: may have, or may yet take, effect.
    Other,
}

impl Cause {
    pub(crate) fn of(error: &object_store::Error) -> Self {
        use object_store::Error as E;
        match error {
            E::AlreadyExists { .. } | E::Precondition { .. } => return Self::Exists,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => return Self::Denied,
            E::NotImplemented { .. } | E::NotSupported { .. } | E::InvalidPath { .. } => return Self::Unsupported,
            _ => {}
        }
        let mut link: Option<&(dyn StdError + 'static)> = Some(error);
        while let Some(current) = link {
            match current.downcast_ref::<Refusal>() {
                Some(Refusal::NoSuchBucket) => return Self::NoBucket,
                Some(Refusal::Denied { .. }) => return Self::Denied,
                Some(Refusal::ClockSkew { .. }) => return Self::ClockSkew,
                Some(Refusal::Unsupported { .. }) => return Self::Unsupported,
                Some(Refusal::NoProof { .. }) => return Self::Other,
                None => {}
            }
            if let Some(http) = current.downcast_ref::<HttpError>() {
                match http.kind() {
                    HttpErrorKind::Connect => return Self::NotSent,
                    HttpErrorKind::Timeout => return Self::Unanswered,
                    _ => {}
                }
            }
            link = current.source();
        }
        Self::Other
    }
}
