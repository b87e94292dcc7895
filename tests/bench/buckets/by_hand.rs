//! The loop by hand: a watch of all keys, a cache of the values, a queue of keys, and workers that put statuses.

use std::{
    collections::{HashMap, HashSet},
    env,
    sync::{Arc, Mutex},
};

use async_nats::jetstream::{
    self,
    kv::{Operation, Store},
};
use bytes::Bytes;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::{Mutex as Turn, mpsc};

pub(crate) const BUCKET: &str = "units-by-hand";

/// The last value of each key with its revision.
type Cache = Arc<Mutex<HashMap<String, (Bytes, u64)>>>;

/// The keys in the queue.
type Queued = Arc<Mutex<HashSet<String>>>;

/// Runs until the process is ended.
pub(crate) async fn run() {
    let client = async_nats::connect(env::var("NATS_URL").unwrap()).await.unwrap();
    let store = jetstream::new(client).get_key_value(BUCKET).await.unwrap();
    let (cache, queued) = (Cache::default(), Queued::default());
    let (queue, keys) = mpsc::unbounded_channel();
    let keys = Arc::new(Turn::new(keys));
    for _ in 0..super::WORKERS {
        tokio::spawn(work(store.clone(), cache.clone(), queued.clone(), keys.clone()));
    }
    let mut changes = store.watch_with_history(">").await.unwrap();
    while let Some(entry) = changes.next().await {
        let entry = entry.unwrap();
        if entry.operation == Operation::Put {
            cache.lock().unwrap().insert(entry.key.clone(), (entry.value, entry.revision));
            if queued.lock().unwrap().insert(entry.key.clone()) {
                queue.send(entry.key).unwrap();
            }
        } else {
            cache.lock().unwrap().remove(&entry.key);
        }
    }
    panic!("the watch has ended");
}

/// Takes keys from the queue, and handles each with the value in the cache.
async fn work(store: Store, cache: Cache, queued: Queued, keys: Arc<Turn<mpsc::UnboundedReceiver<String>>>) {
    loop {
        let Some(key) = keys.lock().await.recv().await else { return };
        queued.lock().unwrap().remove(&key);
        let cached = cache.lock().unwrap().get(&key).cloned();
        if let Some((value, revision)) = cached {
            handle(&store, &key, &value, revision).await;
        }
    }
}

/// Puts the status of an entry that has none. The watch brings the key again if another client was faster.
async fn handle(store: &Store, key: &str, value: &[u8], revision: u64) {
    let mut object: Value = serde_json::from_slice(value).unwrap();
    if object["status"].is_null() {
        let condition = json!({"type": "Available", "status": "True", "reason": "Provisioned", "message": "handled"});
        object["status"] = json!({"conditions": [condition]});
        drop(store.update(key, object.to_string().into(), revision).await);
    }
}
