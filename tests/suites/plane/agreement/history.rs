//! What every object of a namespace passes through, as watches show it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::StreamExt as _;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
    core::GroupVersionKind,
    runtime::watcher::{self, Event},
};
use opgen_tests::wait::{self, PATIENCE};
use serde_json::Value;
use tokio::task::JoinHandle;

/// Group, version and kind of what is followed. Events tell what controllers say.
const KINDS: [(&str, &str, &str); 17] = [
    ("", "v1", "ConfigMap"),
    ("", "v1", "Secret"),
    ("", "v1", "Service"),
    ("", "v1", "ServiceAccount"),
    ("", "v1", "Pod"),
    ("", "v1", "PersistentVolumeClaim"),
    ("", "v1", "Event"),
    ("apps", "v1", "Deployment"),
    ("apps", "v1", "ReplicaSet"),
    ("apps", "v1", "StatefulSet"),
    ("apps", "v1", "DaemonSet"),
    ("apps", "v1", "ControllerRevision"),
    ("batch", "v1", "Job"),
    ("batch", "v1", "CronJob"),
    ("discovery.k8s.io", "v1", "EndpointSlice"),
    ("policy", "v1", "PodDisruptionBudget"),
    ("networking.k8s.io", "v1", "Ingress"),
];

/// A state of an object, or its end.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) kind: String,
    pub(crate) uid: String,
    /// As it was, and for an end as it was last.
    pub(crate) object: Value,
    pub(crate) gone: bool,
}

/// Follows the built-in kinds of a namespace, and more, until it is dropped.
pub(crate) struct History {
    seen: Arc<Mutex<Vec<Seen>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl History {
    /// Begins. When it comes back, nothing that happens later is missed.
    pub(crate) async fn follow(client: &Client, namespace: &str, more: &[ApiResource]) -> Self {
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let mut history = Self { seen, tasks: Vec::new() };
        let kinds =
            KINDS.map(|(group, version, kind)| ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind)));
        let begun = Arc::<Mutex<usize>>::default();
        let kinds: Vec<_> = kinds.into_iter().chain(more.iter().cloned()).collect();
        for kind in &kinds {
            let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, kind);
            history.tasks.push(tokio::spawn(record(api, kind.kind.clone(), history.seen.clone(), begun.clone())));
        }
        wait::until("all watches have begun", PATIENCE, async || {
            let begun = *begun.lock().unwrap_or_else(PoisonError::into_inner);
            if begun == kinds.len() { Ok(()) } else { Err(format!("{begun} have")) }
        })
        .await;
        history
    }

    /// All that was seen up to now, in its order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until nothing has been seen for a while.
    pub(crate) async fn rests(&self) {
        let (mut length, mut same) = (usize::MAX, 0);
        wait::until("nothing happens any more", PATIENCE, async || {
            let now = self.seen.lock().unwrap_or_else(PoisonError::into_inner).len();
            same = if now == length { same + 1 } else { 0 };
            length = now;
            // Three seconds: controllers that were told late come a second later.
            if same >= 120 { Ok(()) } else { Err(format!("{now} states")) }
        })
        .await;
    }
}

impl Drop for History {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn record(api: Api<DynamicObject>, kind: String, seen: Arc<Mutex<Vec<Seen>>>, begun: Arc<Mutex<usize>>) {
    let mut events = watcher::watcher(api, watcher::Config::default()).boxed();
    let mut held = BTreeMap::<String, Value>::new();
    while let Some(event) = events.next().await {
        let (object, gone) = match event {
            Ok(Event::InitDone) => {
                *begun.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                continue;
            }
            Ok(Event::Apply(object) | Event::InitApply(object)) => (object, false),
            Ok(Event::Delete(object)) => (object, true),
            Ok(Event::Init) => continue,
            Err(error) => panic!("the watch of {kind} broke: {error}"),
        };
        let uid = object.metadata.uid.clone().unwrap_or_default();
        let object = serde_json::to_value(&object).unwrap_or_default();
        if !gone && held.insert(uid.clone(), object.clone()).as_ref() == Some(&object) {
            continue;
        }
        let state = Seen { kind: kind.clone(), uid, object, gone };
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(state);
    }
}
