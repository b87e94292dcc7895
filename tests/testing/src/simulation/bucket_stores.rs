//! `BucketStores`: the buckets (key-value stores) of a test run, which outlive the operator's process, and the entries of other clients in
//! them, which must not change.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::FutureExt as _;
use opgen::{
    bucket::{Bucket, BucketEntry, MemoryBucket, MemoryBuckets},
    queue::{Jitter as _, Seeded},
    testing::bucket_client,
};
use opgen_sandbox::{Sandbox, fault::Faults};
use serde_json::{Value, json};

use super::{outcome::Failure, run_clock::RunClock};
use crate::{
    api_server::ApiServer,
    footprint::{FOREIGN_NAMESPACE, Footprint},
    stored_kind::{StoredKind, claim_key},
    target::Target,
    variant,
};

/// The name of the entries of other clients.
const NAME: &str = "of-somebody-else";

/// The seed of the UIDs of objects that the administrator creates in buckets.
const ADMIN_SEED: u64 = 0x6f_7067_656e;

/// A key that no object can have.
const INVALID_KEY: &str = "Of_Somebody_Else";

/// The buckets of a run. Clones share them.
#[derive(Clone)]
pub(crate) struct BucketStores {
    buckets: MemoryBuckets,
    kinds: Arc<Vec<StoredKind>>,
    state: Arc<Mutex<BucketsState>>,
}

/// What the run knows of its buckets.
#[derive(Default)]
struct BucketsState {
    /// The last revision of each bucket before the samples were created.
    base: BTreeMap<String, u64>,
    /// The entries of other clients by bucket and key, which have to stay as they are.
    foreign: BTreeMap<(String, String), (Vec<u8>, u64)>,
}

impl BucketStores {
    /// Returns empty buckets (key-value stores) for the kinds among the installed manifests whose objects are in buckets.
    pub(super) fn new(installed: &[Value]) -> Self {
        let kinds = Arc::new(StoredKind::all(installed));
        Self { buckets: MemoryBuckets::default(), kinds, state: Arc::default() }
    }

    /// Returns the API server for the requests of the test's administrator. It serves the kinds in buckets from these, without faults, and
    /// all others from the sandbox.
    pub(super) fn server(&self, sandbox: &Sandbox, clock: RunClock) -> ApiServer {
        if self.kinds.is_empty() {
            return ApiServer::of(sandbox.clone());
        }
        let definitions = self.kinds.iter().filter_map(|kind| {
            let bucket: Arc<dyn Bucket> = Arc::new(self.bucket(&kind.bucket));
            // Leaves out an invalid definition: then the creation of a sample of its kind fails, which the run reports.
            Some((serde_json::from_value(kind.definition.clone()).ok()?, bucket))
        });
        let random = Seeded::new(ADMIN_SEED);
        let client = bucket_client(definitions, clock.environment(&Faults::none(), move || random.bits()));
        ApiServer::with_buckets(sandbox.clone(), self.kinds.to_vec(), client)
    }

    /// Returns the kinds whose objects are in the buckets.
    pub(crate) fn kinds(&self) -> &[StoredKind] {
        &self.kinds
    }

    /// Returns a bucket by its name, without faults.
    pub(super) fn bucket(&self, name: &str) -> MemoryBucket {
        self.buckets.bucket(name)
    }

    /// Returns the kind of an object if objects of this kind are in a bucket.
    pub(super) fn kind_of(&self, object: &Value) -> Option<&StoredKind> {
        self.kinds.iter().find(|kind| kind.is_kind_of(object))
    }

    /// Writes entries of other clients into the buckets, which the program must not change: into each bucket some that are no valid
    /// objects, and for each kind that the program does not control and that has no sample, an object into each namespace with objects of
    /// the program.
    pub(super) fn add_foreign_entries(&self, target: &Target) {
        let samples = &target.manifests.samples;
        let footprint = target.footprint.get().cloned().unwrap_or_else(|| Footprint::of_samples(samples));
        for kind in self.kinds.iter() {
            let invalid: [(String, Vec<u8>); 4] = [
                (kind.key_of(FOREIGN_NAMESPACE, "text"), b"no JSON".to_vec()),
                (kind.key_of(FOREIGN_NAMESPACE, "list"), b"[]".to_vec()),
                (kind.key_of(FOREIGN_NAMESPACE, "number"), br#"{"spec": 7}"#.to_vec()),
                (INVALID_KEY.to_owned(), br#"{"spec": {}}"#.to_vec()),
            ];
            for (key, value) in invalid {
                self.put_foreign(kind, &key, value);
            }
            let is_sample = samples.iter().any(|sample| kind.is_kind_of(sample));
            let Some(spec) = variant::example(kind.spec_schema()).filter(|_| !kind.is_controlled && !is_sample) else {
                continue;
            };
            for namespace in &footprint.namespaces {
                self.put_foreign(kind, &kind.key_of(namespace, NAME), json!({"spec": spec}).to_string().into_bytes());
            }
        }
    }

    /// Writes an entry as another client. From then on, [`Self::check_foreign_entries`] reports a change of it.
    pub(super) fn put_foreign(&self, kind: &StoredKind, key: &str, value: Vec<u8>) {
        let revision = self.bucket(&kind.bucket).put_raw(key, value.clone());
        self.state().foreign.insert((kind.bucket.clone(), key.to_owned()), (value, revision));
    }

    /// Makes [`Self::check_foreign_entries`] ignore an entry of another client from now on, since the test itself changes it.
    pub(super) fn forget_foreign(&self, kind: &StoredKind, key: &str) {
        self.state().foreign.remove(&(kind.bucket.clone(), key.to_owned()));
    }

    /// Checks that the entries of other clients still have the same bytes and the same revision. `phase` names the phase of the run for the
    /// message.
    ///
    /// # Errors
    /// If an entry was changed, written again or deleted.
    pub(super) fn check_foreign_entries(&self, phase: &'static str) -> Result<(), Failure> {
        let foreign = self.state().foreign.clone();
        for ((bucket, key), (value, revision)) in foreign {
            let change = match self.entry(&bucket, &key) {
                None => "was deleted",
                Some(entry) if entry.value != value => "was changed",
                Some(entry) if entry.revision != revision => "was written again",
                Some(_) => continue,
            };
            return Err(Failure::ChangedForeignObject(format!(
                "entry {bucket}/{key} of another client {change} after {phase}"
            )));
        }
        Ok(())
    }

    /// Stores the last revision of each bucket: [`Self::objects`] returns the entries that are written later.
    pub(super) fn set_base_revisions(&self) {
        for kind in self.kinds.iter() {
            let last = self.entries(&kind.bucket).iter().map(|entry| entry.revision).max().unwrap_or_default();
            self.state().base.insert(kind.bucket.clone(), last);
        }
    }

    /// Returns the bucket entries that were written since [`Self::set_base_revisions`], as objects of a snapshot. An entry with an invalid
    /// value is the last valid object, if its claim has one, or else an object that holds the value as text.
    pub(super) fn objects(&self) -> Vec<Value> {
        let entries = self.entries_since_base();
        let objects = entries.iter().map(|(kind, entry)| {
            let mut object = kind.snapshot_object(&entry.key, &entry.value);
            if let Some(claim) = self.entry(&kind.bucket, &claim_key(&entry.key)) {
                // The claim of an entry, which the operator writes beside it, has a copy of the last valid object.
                if kind.object(&entry.key, &entry.value).is_none() {
                    object = kind.snapshot_object(&entry.key, &claim.value);
                }
                complete_by_claim(&mut object, &claim.value);
            }
            // A field in which opgen stores its own data, and which the API of a bucket removes from each response.
            if let Some(fields) = object.as_object_mut() {
                fields.remove("opgen");
            }
            object
        });
        objects.collect()
    }

    /// Returns the entries that were written after the base revisions, each with the kind of its bucket.
    pub(super) fn entries_since_base(&self) -> Vec<(&StoredKind, BucketEntry)> {
        let base = self.state().base.clone();
        let entries = self.kinds.iter().flat_map(|kind| {
            let base = base.get(&kind.bucket).copied().unwrap_or_default();
            let entries = self.entries(&kind.bucket).into_iter().filter(move |entry| entry.revision > base);
            entries.map(move |entry| (kind, entry))
        });
        entries.collect()
    }

    /// Returns the entry of a bucket with a key; `None` if there is none or if it is deleted.
    pub(super) fn entry(&self, bucket: &str, key: &str) -> Option<BucketEntry> {
        // A bucket in memory answers at once, without waiting.
        self.bucket(bucket).get(key).now_or_never()?.ok()?
    }

    /// Returns whether the object with a key has a claim, an entry of the operator beside it with a copy of the last valid object.
    pub(super) fn has_claim(&self, kind: &StoredKind, key: &str) -> bool {
        self.entry(&kind.bucket, &claim_key(key)).is_some()
    }

    /// Returns the entries of a bucket, without deleted ones.
    fn entries(&self, bucket: &str) -> Vec<BucketEntry> {
        self.bucket(bucket).list().now_or_never().and_then(Result::ok).unwrap_or_default().into_iter().collect()
    }

    fn state(&self) -> MutexGuard<'_, BucketsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the metadata and the status in its claim to an object without a uid, which another client has put as a bare spec. The API of the
/// bucket does the same. The claim is an entry of the operator with a copy of the object; it changes no field that the object has.
fn complete_by_claim(object: &mut Value, claim: &[u8]) {
    if object["metadata"]["uid"].is_string() {
        return;
    }
    let claim: Value = serde_json::from_slice(claim).unwrap_or_default();
    for (field, value) in claim["metadata"].as_object().into_iter().flatten() {
        if object["metadata"][field].is_null() {
            object["metadata"][field] = value.clone();
        }
    }
    if object["status"].is_null() && claim["status"].is_object() {
        object["status"] = claim["status"].clone();
    }
}
