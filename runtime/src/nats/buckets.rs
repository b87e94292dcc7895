//! `NatsBuckets`: opens NATS key-value buckets, and creates missing ones if that is enabled.

use super::{
    bucket::NatsBucket,
    bucket_name::is_bucket_name,
    connection::NatsConnection,
    definition::{differences, obstacle, stream_of},
    error::NatsError,
    jetstream::{JetStreamFailure, StreamApi, StreamReport},
};
use crate::bucket::{Bucket, BucketDefinition, BucketError, OpenBuckets};
use futures::{FutureExt, future::BoxFuture};
use std::sync::Arc;

/// Opens the buckets of a connection.
#[derive(Clone, Debug)]
pub struct NatsBuckets {
    connection: NatsConnection,
    create_missing: bool,
}

impl NatsBuckets {
    /// Returns the buckets of the account of a connection. They must exist; see [`create_missing`](Self::create_missing).
    #[must_use]
    pub fn new(connection: NatsConnection) -> Self {
        Self { connection, create_missing: false }
    }

    /// Creates buckets that don't exist. The default is `false`.
    #[must_use]
    pub fn create_missing(mut self, create: bool) -> Self {
        self.create_missing = create;
        self
    }

    /// Opens a bucket. Settings of an existing bucket are not changed; each one that differs from the definition is named in a warning
    /// and by [`NatsBucket::differences`].
    ///
    /// # Errors
    /// Fails with [`BucketError::NoBucket`](crate::bucket::BucketError::NoBucket) if the bucket is missing and not to be created, and
    /// if the server doesn't answer, refuses the creation, or has a stream of that name that is no bucket.
    pub async fn open(&self, definition: &BucketDefinition) -> Result<NatsBucket, NatsError> {
        let name = &*definition.name;
        if !is_bucket_name(name) {
            return Err(NatsError::InvalidBucketName { bucket: name.to_owned() });
        }
        let api = StreamApi::new(self.connection.clone(), name);
        let report = match api.report().await {
            Err(failure) if failure.is_no_bucket() && self.create_missing => create(&api, definition).await?,
            report => report.map_err(|failure| failed(&api, name, "open", failure))?,
        };
        if let Some(message) = obstacle(name, &report.config) {
            return Err(NatsError::Unusable { bucket: name.to_owned(), message });
        }
        let differences = differences(definition, &report.config);
        for difference in &differences {
            tracing::warn!(bucket = name, "the bucket exists with another setting: {difference}");
        }
        Ok(NatsBucket::new(api, name, &report.config, differences))
    }
}

impl OpenBuckets for NatsBuckets {
    /// Opens the bucket like [`NatsBuckets::open`], with the error converted to a [`BucketError`].
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        async move {
            let opened = NatsBuckets::open(self, definition).await;
            let bucket = opened.map_err(|error| error.of_bucket(&definition.name))?;
            Ok(Arc::new(bucket) as Arc<dyn Bucket>)
        }
        .boxed()
    }
}

/// Creates the stream of a bucket, and returns its settings and state. If another client has created the stream meanwhile, returns those of
/// that stream.
async fn create(api: &StreamApi, definition: &BucketDefinition) -> Result<StreamReport, NatsError> {
    let name = &*definition.name;
    match api.create(&stream_of(definition)).await {
        Ok(report) => {
            tracing::info!(bucket = name, "created the bucket");
            Ok(report)
        }
        // Another client has created the stream meanwhile, with other settings.
        Err(failure) if failure.is_name_in_use() => {
            api.report().await.map_err(|failure| failed(api, name, "open", failure))
        }
        Err(failure) => Err(match failure.refusal() {
            Some(message) => NatsError::NotCreated { bucket: name.to_owned(), message: message.to_owned() },
            None => failed(api, name, "create", failure),
        }),
    }
}

/// Converts the failure of an operation on a bucket to the error of opening it.
fn failed(api: &StreamApi, bucket: &str, operation: &str, failure: JetStreamFailure) -> NatsError {
    failure.into_error(bucket, operation, api.connection().options().prefix_of_api()).into()
}
