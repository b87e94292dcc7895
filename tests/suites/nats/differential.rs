//! The same random calls of a bucket in NATS and of one in memory have the same results, and their watches tell the same.

use fastrand::Rng;
use opgen::bucket::{Bucket, BucketError, Expected, MemoryBucket};

use crate::{
    case::Scene,
    watched::{Watched, listed},
};

/// How many scripts are run, each with its own seed and bucket, and how many calls each has.
const SCRIPTS: u64 = 8;
const CALLS: usize = 250;

const KEYS: [&str; 6] = ["a", "a.b", "a.b.c", "ns.name", "_claim.ns.name", "B/c=d-e"];

pub(crate) async fn random_calls() {
    let seed = std::env::var("OPGEN_NATS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seed.map_or_else(|| (0..SCRIPTS).collect(), |seed: u64| vec![seed]);
    for seed in seeds {
        Script::start(seed).await.run().await;
    }
}

/// A revision that both buckets have made by the same call.
#[derive(Clone, Copy, Debug)]
struct Pair {
    key: &'static str,
    nats: u64,
    memory: u64,
}

struct Script {
    seed: u64,
    rng: Rng,
    scene: Scene,
    memory: MemoryBucket,
    pairs: Vec<Pair>,
    watches: [Watched; 2],
}

impl Script {
    async fn start(seed: u64) -> Self {
        let (scene, memory) = (Scene::start().await, MemoryBucket::new("things"));
        let watches = [Watched::follow(&*scene.bucket), Watched::follow(&memory)];
        Self { seed, rng: Rng::with_seed(seed), scene, memory, pairs: Vec::new(), watches }
    }

    async fn run(mut self) {
        for call in 0..CALLS {
            let what = self.call().await;
            let key = self.key();
            let read = self.scene.bucket.get(key).await.map(|entry| entry.map(|entry| entry.value));
            let expected = self.memory.get(key).await.map(|entry| entry.map(|entry| entry.value));
            assert_eq!(read, expected, "seed {}, call {call}: get {key} after {what}", self.seed);
            if call % 25 == 24 {
                self.compare().await;
            }
        }
    }

    /// Makes one call of both buckets, and says which.
    async fn call(&mut self) -> String {
        let (key, value) = (self.key(), format!("value {}", self.rng.u32(..)).into_bytes());
        match self.rng.u32(..12) {
            0..=3 => {
                let nats = self.scene.bucket.put(key, value.clone(), Expected::Absent).await;
                let memory = self.memory.put(key, value, Expected::Absent).await;
                self.settle(key, nats, memory, "put Absent")
            }
            4..=6 => {
                let pair = self.pair(key);
                let nats = self.scene.bucket.put(key, value.clone(), Expected::Revision(pair.nats)).await;
                let memory = self.memory.put(key, value, Expected::Revision(pair.memory)).await;
                self.settle(key, nats, memory, "put Revision")
            }
            7..=8 => {
                let pair = self.pair(key);
                let nats = self.scene.bucket.remove(key, pair.nats).await;
                let memory = self.memory.remove(key, pair.memory).await;
                self.settle(key, nats, memory, "remove")
            }
            9 => {
                let nats = self.scene.foreign.put(key, &value).await;
                let memory = self.memory.put_raw(key, value);
                self.settle(key, Ok(nats), Ok(memory), "put by another client")
            }
            10 => {
                let (nats, memory) = (self.scene.foreign.delete(key).await, self.memory.delete_raw(key));
                self.settle(key, Ok(nats), Ok(memory), "delete by another client")
            }
            _ => {
                let (nats, memory) = (self.scene.foreign.purge(key).await, self.memory.purge_raw(key));
                self.settle(key, Ok(nats), Ok(memory), "purge by another client")
            }
        }
    }

    fn key(&mut self) -> &'static str {
        KEYS[self.rng.usize(..KEYS.len())]
    }

    /// Returns a revision to expect of a key: mostly its last one, else an older one, one of another key, or none that exists.
    fn pair(&mut self, key: &'static str) -> Pair {
        let unknown = Pair { key, nats: 1_000_000, memory: 1_000_000 };
        let of_key: Vec<_> = self.pairs.iter().filter(|pair| pair.key == key).copied().collect();
        match self.rng.u32(..10) {
            0 => unknown,
            1 => Pair { key, nats: 0, memory: 0 },
            2 => self.rng.choice(&self.pairs).copied().unwrap_or(unknown),
            3 => self.rng.choice(&of_key).copied().unwrap_or(unknown),
            _ => of_key.last().copied().unwrap_or(unknown),
        }
    }

    /// Compares the results of a call.
    fn settle(
        &mut self,
        key: &'static str,
        nats: Result<u64, BucketError>,
        memory: Result<u64, BucketError>,
        what: &str,
    ) -> String {
        let what = format!("{what} of {key}");
        match (nats, memory) {
            (Ok(nats), Ok(memory)) => self.pairs.push(Pair { key, nats, memory }),
            (nats, memory) => {
                assert_eq!(nats.map(drop), memory.map(drop), "seed {}: {what}: NATS, memory", self.seed);
            }
        }
        what
    }

    /// Compares the lists, the revisions, and what the watches have told.
    async fn compare(&self) {
        let entries = listed(&self.memory).await;
        assert_eq!(listed(&*self.scene.bucket).await, entries, "seed {}", self.seed);
        for watch in &self.watches {
            watch.until_equal(&entries).await;
        }
        for entry in self.scene.bucket.list().await.expect("a list") {
            let last = self.pairs.iter().rev().find(|pair| pair.key == entry.key).map(|pair| pair.nats);
            assert_eq!(Some(entry.revision), last, "seed {}: {}", self.seed, entry.key);
        }
    }
}
