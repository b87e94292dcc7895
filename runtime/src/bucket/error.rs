//! `BucketError`: the reasons why a call of a key-value bucket fails.

/// The error of a call of a [`Bucket`](super::Bucket).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BucketError {
    /// The key is in another state than the call expects: another client has written it.
    #[error("key {key:?} has changed")]
    #[non_exhaustive]
    Conflict {
        /// The key.
        key: String,
    },
    /// The key breaks the rules of [`BucketEntry::key`](super::BucketEntry::key): it has one to 1,024 characters of `-/_=.a-zA-Z0-9`,
    /// and no dot at its start or end or beside another dot.
    #[error("invalid key {key:?}")]
    #[non_exhaustive]
    InvalidKey {
        /// The key.
        key: String,
    },
    /// The value has more bytes than the store takes.
    #[error("the value of key {key:?} has {size} bytes; the bucket takes at most {limit}")]
    #[non_exhaustive]
    TooLarge {
        /// The key.
        key: String,
        /// The size of the value in bytes.
        size: usize,
        /// The limit of the store in bytes.
        limit: usize,
    },
    /// The account of the operator may not make the call.
    #[error("no permission for {operation} in bucket {bucket:?}: {message}")]
    #[non_exhaustive]
    Forbidden {
        /// The name of the bucket.
        bucket: String,
        /// What the call does, as a verb.
        operation: String,
        /// The message of the store.
        message: String,
    },
    /// The bucket doesn't exist.
    #[error("bucket {bucket:?} does not exist{}", of_creation(.refusal.as_deref()))]
    #[non_exhaustive]
    NoBucket {
        /// The name of the bucket.
        bucket: String,
        /// Why the bucket was not created; `None` if that was not tried.
        refusal: Option<String>,
    },
    /// The request can't succeed, however often it is sent: the store refuses it, or the settings of the connection are wrong.
    #[error("invalid request for bucket {bucket:?}: {message}")]
    #[non_exhaustive]
    Invalid {
        /// The name of the bucket.
        bucket: String,
        /// What is wrong with the request or the settings.
        message: String,
    },
    /// The store did not answer, or not in time, or can't serve the request at the moment. A write may have happened.
    #[error("bucket {bucket:?} is unavailable: {message}")]
    #[non_exhaustive]
    Unavailable {
        /// The name of the bucket.
        bucket: String,
        /// What went wrong.
        message: String,
    },
}

impl BucketError {
    /// Returns [`Conflict`](Self::Conflict).
    pub fn conflict(key: impl Into<String>) -> Self {
        Self::Conflict { key: key.into() }
    }

    /// Returns [`InvalidKey`](Self::InvalidKey).
    pub fn invalid_key(key: impl Into<String>) -> Self {
        Self::InvalidKey { key: key.into() }
    }

    /// Returns [`TooLarge`](Self::TooLarge).
    pub fn too_large(key: impl Into<String>, size: usize, limit: usize) -> Self {
        Self::TooLarge { key: key.into(), size, limit }
    }

    /// Returns [`Forbidden`](Self::Forbidden).
    pub fn forbidden(bucket: impl Into<String>, operation: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Forbidden { bucket: bucket.into(), operation: operation.into(), message: message.into() }
    }

    /// Returns [`NoBucket`](Self::NoBucket).
    pub fn no_bucket(bucket: impl Into<String>) -> Self {
        Self::NoBucket { bucket: bucket.into(), refusal: None }
    }

    /// Returns [`NoBucket`](Self::NoBucket) for a bucket whose creation was refused with this message.
    pub fn not_created(bucket: impl Into<String>, refusal: impl Into<String>) -> Self {
        Self::NoBucket { bucket: bucket.into(), refusal: Some(refusal.into()) }
    }

    /// Returns [`Invalid`](Self::Invalid).
    pub fn invalid(bucket: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { bucket: bucket.into(), message: message.into() }
    }

    /// Returns [`Unavailable`](Self::Unavailable).
    pub fn unavailable(bucket: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Unavailable { bucket: bucket.into(), message: message.into() }
    }
}

/// Returns the end of a message about a missing bucket: why it was not created.
fn of_creation(refusal: Option<&str>) -> String {
    refusal.map(|refusal| format!(", and can't be created: {refusal}")).unwrap_or_default()
}
