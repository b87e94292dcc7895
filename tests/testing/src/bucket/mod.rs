//! A conformance suite for buckets (key-value stores): it checks that a type which implements [`Bucket`](opgen::bucket::Bucket) keeps the
//! rules of that trait.
//!
//! The author of the type implements [`BucketSubject`], which makes buckets, and [`SubjectBucket`], which returns clients of a bucket
//! and disturbs it:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use futures::future::BoxFuture;
//! use opgen::bucket::{Bucket, MemoryBucket as MyBucket};
//! use opgen_testing::bucket::{BucketSubject, SubjectBucket, conformance};
//!
//! struct MySubject;
//!
//! impl BucketSubject for MySubject {
//!     fn create(&self) -> BoxFuture<'_, Result<Arc<dyn SubjectBucket>, String>> {
//!         Box::pin(async { Ok(Arc::new(MyStore(MyBucket::new("test"))) as Arc<dyn SubjectBucket>) })
//!     }
//! }
//!
//! struct MyStore(MyBucket);
//!
//! impl SubjectBucket for MyStore {
//!     fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Bucket>, String>> {
//!         Box::pin(async { Ok(Arc::new(self.0.clone()) as Arc<dyn Bucket>) })
//!     }
//! }
//!
//! #[tokio::test]
//! async fn my_bucket_conforms() {
//!     conformance(MySubject).await.assert();
//! }
//! ```
//!
//! Each statement has a check of its own, with new buckets. A check ends after 10 s at the latest, also if a call never returns; see
//! [`BucketConformance::deadline`]. A finding says what was expected and what was seen.
//!
//! Some statements need a [disturbance](BucketDisturbance), such as a deletion by another client or an interruption. If the subject has
//! none, they are skipped, and the report says so; [`BucketReport::assert_complete`] allows no skipped statement.
//!
//! # Statements
//!
//! Keys:
//!
//! - B1: A key may have each of the characters `-/_=.a-zA-Z0-9`
//! - B2: A key may have 1 to 1,024 characters
//! - B3: A key may begin with any allowed character but a dot
//! - B4: An empty key is refused with `InvalidKey`
//! - B5: A key with a dot at its start, at its end or beside another dot is refused with `InvalidKey`
//! - B6: A key with any other character is refused with `InvalidKey`
//! - B7: A key of more than 1,024 characters is refused with `InvalidKey`
//! - B8: A call with an invalid key has no effect
//! - B9: Keys that differ in the case of letters only are different keys
//! - B10: A key that is the beginning of another key is a different key
//! - B11: A key with slashes and dots is no path: it is a different key than its parts
//!
//! Values:
//!
//! - B12: An empty value is an entry
//! - B13: A value keeps all its bytes, also those that are no text
//! - B14: A value of Unicode text or JSON keeps its form
//! - B15: A value may have 512 KiB
//! - B16: A new value replaces the whole value before it
//! - B17: The same value again is a new revision
//! - B18: A value above the limit of the store is refused with `TooLarge` and has no effect
//!
//! Revisions:
//!
//! - B19: The first revision of a bucket is positive
//! - B20: Each write has a greater revision than all writes before it, over all keys
//! - B21: A removal has a greater revision than all writes before it
//! - B22: The revisions increase over all clients
//! - B23: `get` returns the revision that `put` returned
//! - B24: `list` returns the revision that `put` returned
//! - B25: A watch delivers the revisions that `put` and `remove` returned
//! - B26: The writes of other keys do not change the revision of an entry
//! - B27: No two concurrent writes have the same revision
//!
//! Conditional writes:
//!
//! - B28: `put` with `Absent` creates an entry
//! - B29: `put` with `Absent` is a conflict if the key has an entry, which stays
//! - B30: `put` with `Absent` creates an entry after a removal
//! - B31: `put` with `Absent` creates an entry after another client has deleted the key
//! - B32: `put` with `Absent` creates an entry after another client has purged the key
//! - B33: `put` with the revision of the entry replaces it
//! - B34: `put` with an older revision is a conflict, and the entry stays
//! - B35: `put` with a revision that no write has yet is a conflict, and the entry stays
//! - B36: `put` with the revision of another key is a conflict, and both entries stay
//! - B37: `put` with any revision, also 0, is a conflict for a key that was never written
//! - B38: `put` with the revision of a removed entry or of its removal is a conflict
//! - B39: `put` with a revision is a conflict after another client has deleted or purged the key
//! - B40: `put` with a revision is a conflict after another client has written the key
//! - B41: A conflict makes no revision and no event of a watch
//! - B42: Writes of other keys are no conflict
//!
//! Concurrent writes:
//!
//! - B43: Of many concurrent creations of a key, one succeeds and all others are conflicts
//! - B44: Of many concurrent writes with one revision, one succeeds and all others are conflicts
//! - B45: Of a concurrent write and removal with one revision, one succeeds
//! - B46: A hundred concurrent increments of a number, each repeated after conflicts, add up
//! - B47: Concurrent writes of different keys all succeed
//!
//! Removals:
//!
//! - B48: A removed key has no entry
//! - B49: `remove` with another revision than that of the entry is a conflict, and the entry stays
//! - B50: A second `remove` is a conflict
//! - B51: `remove` of a key that was never written is a conflict with any revision, also 0
//! - B52: `remove` changes no other key
//! - B53: A key can be created and removed many times
//! - B54: A key that another client has deleted or purged has no entry
//! - B55: `remove` is a conflict after another client has deleted or purged the key
//!
//! Reads:
//!
//! - B56: `get` of a key without an entry returns `None`
//! - B57: `get` includes all writes of each client that ended before
//! - B58: `list` includes all writes of each client that ended before
//! - B59: Reads do not go back while another client writes
//! - B60: The list of an empty bucket is empty
//! - B61: A list has the keys as they were written
//! - B62: A list has the last value of each key
//! - B63: A list has no removed keys
//! - B64: A list of 2,000 entries is complete
//! - B65: A list during writes misses no entry that exists all the time
//!
//! Lists of watches:
//!
//! - B66: A watch begins with `ListStarted`
//! - B67: The watch of an empty bucket delivers `ListStarted` and `ListEnded`
//! - B68: The list of a watch has each entry once, and ends with `ListEnded`
//! - B69: The list of a watch has the last value of each key
//! - B70: The list of a watch has no removed keys
//! - B71: The list of a watch includes all writes of each client that ended before
//! - B72: The list of a watch is complete with 2,000 entries
//! - B73: A watch of a bucket without removed entries delivers nothing after its list until a change
//!
//! Changes of watches:
//!
//! - B74: A watch delivers the writes of other clients
//! - B75: A watch delivers the writes of its own client
//! - B76: A watch delivers the changes of different keys in the order of their revisions
//! - B77: A watch delivers removals by its own client and by others
//! - B78: A watch delivers deletions and purges by other clients, whatever the revision is
//! - B79: A watch delivers writes by other clients, whatever the revision is
//! - B80: A key that is created again after its removal is delivered again
//! - B81: The last of many quick changes of a key is delivered
//! - B82: A removal after many quick changes of a key is delivered
//!
//! Watches and writes:
//!
//! - B83: Each of several watches of one client delivers all changes
//! - B84: A dropped watch does not disturb others, nor the calls of its client
//! - B85: A watch that is read late delivers the last state
//! - B86: A watch that is never read does not hold up writes or other watches
//! - B87: No write between the list of a watch and its changes is lost
//! - B88: No removal between the list of a watch and its changes is lost
//! - B89: A watch during the writes of many clients ends with their last state
//! - B90: A watch goes on in another thread after the client that made it is dropped
//!
//! Interruptions, dropped tombstones and restarts:
//!
//! - B91: A watch goes on by itself after an interruption
//! - B92: A write during an interruption is in the watch after it
//! - B93: A removal during an interruption is known to the watch after it
//! - B94: A deletion and a creation during an interruption leave the last state
//! - B95: A watch survives an interruption during its list
//! - B96: Each watch survives many interruptions during writes
//! - B97: Calls succeed again after an interruption, with the same entries
//! - B98: A removal that the store has forgotten is known to a watch that was interrupted
//! - B99: A key whose removal is forgotten has no entry, and can be created but not replaced
//! - B100: Revisions increase after the removals are forgotten
//! - B101: Entries and their revisions survive a restart
//! - B102: Writes after a restart have greater revisions than those before
//! - B103: A watch survives a restart
//!
//! Several buckets:
//!
//! - B104: The entries of a bucket are in no other bucket
//! - B105: A watch delivers no changes of another bucket
//! - B106: Conditions depend on no other bucket
//! - B107: A bucket has a name, which is the same for each client
//!
//! Errors and debug forms:
//!
//! - B108: `Conflict` names the key of the call
//! - B109: `InvalidKey` names the key of the call
//! - B110: The text of an error is one line
//! - B111: No error has a value in its text or in its debug form
//! - B112: The debug form of a bucket has no value
//!
//! Dropped calls:
//!
//! - B113: A dropped `put` leaves the old or the new value, and the key can be written again
//! - B114: A dropped `remove` leaves the entry or none, and the key can be written again
//! - B115: A dropped creation leaves the value or no entry, and the key can be created again
//! - B116: A dropped `get` or `list` disturbs no later call
//! - B117: A dropped wait for the next event of a watch loses no event
//!
//! # An implementation
//! A bucket that is a folder: a journal has a line for each write, and each entry has a file. It conforms to all statements.
//!
//! ```
#![doc = include_str!("../../tests/bucket/folder.rs")]
//! ```

mod catalog;
mod client;
mod concurrency;
mod condition;
mod conformance;
mod deadline;
mod dropped_call;
mod error_text;
mod follower;
mod interruption;
mod isolation;
mod key;
mod read;
mod removal;
mod report;
mod revision;
mod statement;
mod subject;
mod thread;
mod value;
mod watch_change;
mod watch_life;
mod watch_list;

pub use conformance::{BucketConformance, conformance};
pub use report::{BucketFinding, BucketReport, SkippedStatement};
pub use subject::{BucketDisturbance, BucketSubject, SubjectBucket};
