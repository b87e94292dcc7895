//! `NatsError`: the errors of a connection to NATS, and of opening buckets.

use crate::bucket::BucketError;
use std::path::PathBuf;

/// The error of [`NatsConnection::connect`](super::NatsConnection::connect) and of
/// [`NatsBuckets::open`](super::NatsBuckets::open).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// The options name no server.
    #[error("no NATS server is named; pass a URL such as nats://nats.messaging:4222")]
    NoServer,
    /// The URL of a server has a user or a password, which the client would not send.
    #[error(
        "a NATS URL has a user or a password; remove it, and pass a user and password, a token or a credentials file"
    )]
    CredentialsInUrl,
    /// The prefix of the API or of the inboxes, or the domain in it, is no part of a subject.
    #[error("{prefix:?} can't be a prefix of subjects; use words with dots between them, without spaces, `*` and `>`")]
    #[non_exhaustive]
    InvalidPrefix {
        /// The prefix.
        prefix: String,
    },
    /// A file with credentials or certificates can't be read, or its contents are not those of its type.
    #[error("the NATS {file_type} {} can't be used: {message}", .path.display())]
    #[non_exhaustive]
    File {
        /// The type of the file: `credentials file`, `seed file`, `certificate authority`, `client certificate` or `client key`.
        file_type: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The server refused the credentials.
    #[error(
        "the NATS server at {servers} refused the credentials: {message}; check the user, the token or the credentials file"
    )]
    #[non_exhaustive]
    Unauthorized {
        /// The URLs of the servers.
        servers: String,
        /// The message of the client.
        message: String,
    },
    /// No server answered.
    #[error("no connection to a NATS server at {servers}: {message}")]
    #[non_exhaustive]
    Unreachable {
        /// The URLs of the servers.
        servers: String,
        /// The message of the client.
        message: String,
    },
    /// The name of a bucket has other characters than `a-zA-Z0-9_-`.
    #[error("{bucket:?} is no name of a bucket; use letters, digits, `-` and `_`")]
    #[non_exhaustive]
    InvalidBucketName {
        /// The name.
        bucket: String,
    },
    /// The server refused to create a bucket.
    #[error("bucket {bucket:?} can't be created: {message}")]
    #[non_exhaustive]
    NotCreated {
        /// The name of the bucket.
        bucket: String,
        /// The message of the server.
        message: String,
    },
    /// A stream of the bucket's name exists whose settings opgen can't work with.
    #[error("bucket {bucket:?} can't be used: {message}")]
    #[non_exhaustive]
    Unusable {
        /// The name of the bucket.
        bucket: String,
        /// Which setting of the stream is wrong.
        message: String,
    },
    /// The bucket doesn't exist, or its server doesn't answer.
    #[error(transparent)]
    Bucket(#[from] BucketError),
}

impl NatsError {
    /// Converts the error of opening a bucket to a [`BucketError`]. The variant decides whether the operator tries again: it does after
    /// errors that may end by themselves or by a change of the bucket, and not after wrong settings or refused credentials.
    pub(crate) fn of_bucket(self, bucket: &str) -> BucketError {
        match self {
            Self::Bucket(BucketError::Forbidden { operation, message, .. }) if operation == "create" => {
                BucketError::not_created(bucket, message)
            }
            Self::Bucket(error) => error,
            Self::NotCreated { message, .. } => BucketError::not_created(bucket, message),
            Self::Unusable { message, .. } => BucketError::unavailable(bucket, message),
            Self::Unreachable { .. } => BucketError::unavailable(bucket, self.to_string()),
            Self::Unauthorized { .. } => BucketError::forbidden(bucket, "connect", self.to_string()),
            Self::NoServer
            | Self::CredentialsInUrl
            | Self::InvalidPrefix { .. }
            | Self::File { .. }
            | Self::InvalidBucketName { .. } => BucketError::invalid(bucket, self.to_string()),
        }
    }

    /// Returns [`File`](Self::File).
    pub(super) fn file(file_type: &'static str, path: impl Into<PathBuf>, message: impl ToString) -> Self {
        Self::File { file_type, path: path.into(), message: message.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_are_an_invalid_request_and_refused_credentials_are_forbidden() {
        let [bucket, message] = ["units".to_owned(), "it is sealed".to_owned()];
        let unusable = NatsError::Unusable { bucket, message }.of_bucket("units");
        assert_eq!(unusable.to_string(), "bucket \"units\" is unavailable: it is sealed");
        for error in [NatsError::NoServer, NatsError::CredentialsInUrl, NatsError::file("seed file", "a.nk", "empty")] {
            let message = error.to_string();
            assert_eq!(error.of_bucket("units"), BucketError::invalid("units", message));
        }
        let [servers, message] = ["nats://a", "wrong password"].map(str::to_owned);
        let refused = NatsError::Unauthorized { servers, message }.of_bucket("units");
        assert!(matches!(refused, BucketError::Forbidden { .. }), "{refused}");
    }
}
