//! Buckets in NATS JetStream: the connection, and buckets that implement [`Bucket`](crate::bucket::Bucket).
//!
//! ```no_run
//! # async fn open() -> Result<(), opgen::nats::NatsError> {
//! use opgen::{bucket::BucketDefinition, nats::{NatsBuckets, NatsConnection, NatsOptions}};
//!
//! let options = NatsOptions::new(["nats://nats.messaging:4222"]).credentials_file("/etc/nats/operator.creds");
//! let connection = NatsConnection::connect(options).await?;
//! let buckets = NatsBuckets::new(connection).create_missing(true);
//! let machines = buckets.open(&BucketDefinition::new("machines").replicas(3)).await?;
//! # drop(machines);
//! # Ok(())
//! # }
//! ```
//!
//! A bucket is the stream `KV_<bucket>`, as in all clients of NATS. opgen calls the API of JetStream itself, since it needs more than
//! a usual client gives: reads from the leader, watches that list again whenever a change may have been lost, and errors that
//! name the missing permission. It needs nats-server 2.10 or newer, and 2.11 for buckets with a [maximum
//! age](crate::bucket::BucketDefinition::max_age).

mod authentication;
mod backoff;
mod bucket;
mod bucket_name;
mod buckets;
mod connection;
mod connection_event;
mod consumer;
mod definition;
mod error;
mod jetstream;
mod known_revisions;
mod options;
mod permissions;
mod single_connection;
mod tombstone;
mod tracked_keys;
mod watch;

pub use bucket::NatsBucket;
pub use buckets::NatsBuckets;
pub use connection::NatsConnection;
pub use error::NatsError;
pub use options::NatsOptions;
pub use permissions::NatsPermissions;
