//! `NatsPermissions`: the subjects that the operator's user in NATS may publish and subscribe to.

use super::{jetstream::stream_name, options::NatsOptions};
use std::{collections::BTreeSet, fmt};

/// The subjects that a user must be allowed to publish and to subscribe to, for its buckets and nothing else.
///
/// [`Display`](fmt::Display) writes it as the value of `permissions` in the configuration of nats-server.
///
/// ```
/// use opgen::nats::{NatsOptions, NatsPermissions};
///
/// let options = NatsOptions::new(["nats://nats:4222"]).inbox_prefix("_INBOX_operator");
/// let permissions = NatsPermissions::new(&options).bucket("machines");
/// assert!(permissions.publish().contains("$KV.machines.>"));
/// assert!(permissions.subscribe().contains("_INBOX_operator.>"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsPermissions {
    api_prefix: String,
    write_prefix: String,
    publish: BTreeSet<String>,
    subscribe: BTreeSet<String>,
}

impl NatsPermissions {
    /// Returns the permissions of a user without buckets: it may only subscribe to the inboxes, on which answers arrive.
    #[must_use]
    pub fn new(options: &NatsOptions) -> Self {
        Self {
            api_prefix: options.prefix_of_api().to_owned(),
            write_prefix: options.prefix_of_writes(),
            publish: BTreeSet::new(),
            subscribe: [format!("{}.>", options.prefix_of_inboxes())].into(),
        }
    }

    /// Adds reads, writes and watches of an existing bucket.
    #[must_use]
    pub fn bucket(self, name: &str) -> Self {
        let mut permissions = self.read_only_bucket(name);
        let writes = format!("{}$KV.{name}.>", permissions.write_prefix);
        permissions.publish.insert(writes);
        permissions
    }

    /// Adds reads and watches of an existing bucket, and no writes.
    ///
    /// ```
    /// use opgen::nats::{NatsOptions, NatsPermissions};
    ///
    /// let permissions = NatsPermissions::new(&NatsOptions::new(["nats://nats:4222"])).read_only_bucket("machines");
    /// assert!(!permissions.publish().contains("$KV.machines.>"));
    /// ```
    #[must_use]
    pub fn read_only_bucket(mut self, name: &str) -> Self {
        let (stream, api) = (stream_name(name), &self.api_prefix);
        self.publish.extend([
            format!("{api}.STREAM.INFO.{stream}"),
            format!("{api}.STREAM.MSG.GET.{stream}"),
            // The subject ends with the name of the consumer and its filter.
            format!("{api}.CONSUMER.CREATE.{stream}.>"),
            format!("$JS.FC.{stream}.>"),
        ]);
        self
    }

    /// Adds the permission to create the stream of a bucket.
    #[must_use]
    pub fn creation(mut self, name: &str) -> Self {
        self.publish.insert(format!("{}.STREAM.CREATE.{}", self.api_prefix, stream_name(name)));
        self
    }

    /// Returns the subjects to publish to.
    #[must_use]
    pub fn publish(&self) -> &BTreeSet<String> {
        &self.publish
    }

    /// Returns the subjects to subscribe to.
    #[must_use]
    pub fn subscribe(&self) -> &BTreeSet<String> {
        &self.subscribe
    }
}

impl fmt::Display for NatsPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{ publish: {:?}, subscribe: {:?} }}", Subjects(&self.publish), Subjects(&self.subscribe))
    }
}

/// Formats subjects as a list.
struct Subjects<'a>(&'a BTreeSet<String>);

impl fmt::Debug for Subjects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_name_only_the_streams_of_the_buckets() {
        let permissions = NatsPermissions::new(&NatsOptions::new(["a"])).bucket("b").creation("b");
        let expected = "{ publish: [\"$JS.API.CONSUMER.CREATE.KV_b.>\", \"$JS.API.STREAM.CREATE.KV_b\", \"$JS.API.STREAM.INFO.KV_b\", \
                        \"$JS.API.STREAM.MSG.GET.KV_b\", \"$JS.FC.KV_b.>\", \"$KV.b.>\"], subscribe: [\"_INBOX.>\"] }";
        assert_eq!(permissions.to_string(), expected);
    }

    #[test]
    fn a_bucket_that_is_only_read_has_no_subject_of_writes() {
        let options = NatsOptions::new(["a"]).domain("leaf");
        let read = NatsPermissions::new(&options).read_only_bucket("b");
        let written = NatsPermissions::new(&options).bucket("b");
        let writes: Vec<_> = written.publish().difference(read.publish()).collect();
        assert_eq!(writes, ["$JS.leaf.API.$KV.b.>"]);
        assert!(read.publish().is_subset(written.publish()));
    }
}
