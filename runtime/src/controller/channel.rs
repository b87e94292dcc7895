//! `Channel` enqueues primaries for events that come from outside Kubernetes.

use crate::{cache::ObjectKey, reference::NamespacedName};
use parking_lot::Mutex;
use std::{collections::BTreeSet, fmt, sync::Arc};
use tokio::sync::Notify;

/// A source of events outside Kubernetes: a called webhook, a message of a queue, a timer. The code that holds a clone pushes the
/// names of primaries; every controller that [listens](crate::Controller::channel) to the channel enqueues the primaries of its
/// kind.
///
/// A name has one pass, however often it is pushed before that pass. A name that is pushed before the operator runs waits for it;
/// a name that is pushed before any controller listens is lost.
///
/// ```
/// # use opgen::{Channel, Foreign, NamespacedName, Operator, prelude::*};
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
/// # #[derive(Provisioner)]
/// # #[provisioner(serial, owner = Foreign<Namespace>)]
/// # struct Tree {
/// #     #[provisioner(resource)]
/// #     settings: ConfigMap,
/// # }
/// # impl Tree {
/// #     fn settings(_: &Namespace) -> ConfigMap { ConfigMap::default() }
/// # }
/// let channel = Channel::new();
/// let operator = Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| c.channel(&channel));
/// // Anywhere, any time:
/// channel.push(NamespacedName::cluster("blue"));
/// # let _ = operator;
/// ```
#[derive(Clone, Default)]
pub struct Channel {
    receivers: Arc<Mutex<Vec<Arc<ChannelReceiver>>>>,
}

impl Channel {
    /// Creates a channel without listeners.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enqueues a primary. A controller of a cluster-scoped kind ignores the namespace of the name.
    pub fn push(&self, name: NamespacedName) {
        let key = ObjectKey::new(name.namespace.as_deref(), &name.name);
        self.receivers.lock().iter().for_each(|receiver| receiver.push(key.clone()));
    }

    /// Adds a receiver, through which one more controller gets the keys that are pushed from now on.
    pub(super) fn subscribe(&self) -> Arc<ChannelReceiver> {
        let receiver = Arc::<ChannelReceiver>::default();
        self.receivers.lock().push(receiver.clone());
        receiver
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("listeners", &self.receivers.lock().len()).finish()
    }
}

/// The pushed keys of a channel that one controller has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct ChannelReceiver {
    keys: Mutex<BTreeSet<ObjectKey>>,
    pushed: Notify,
}

impl ChannelReceiver {
    /// Adds a key, and wakes the receiver if the key is new.
    fn push(&self, key: ObjectKey) {
        if self.keys.lock().insert(key) {
            self.pushed.notify_one();
        }
    }

    /// Takes the keys that were pushed since the last call; if there are none, waits until a key is pushed.
    pub(crate) async fn next(&self) -> BTreeSet<ObjectKey> {
        loop {
            let keys = std::mem::take(&mut *self.keys.lock());
            if !keys.is_empty() {
                return keys;
            }
            // `Notify` stores a wake-up, so that a key pushed before this line ends the wait at once.
            self.pushed.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> NamespacedName {
        NamespacedName::in_namespace("shop", name)
    }

    #[tokio::test]
    async fn a_channel_holds_each_key_once_for_every_listener() {
        let channel = Channel::new();
        channel.push(name("lost"));
        let (prompt, late) = (channel.subscribe(), channel.subscribe());
        for pushed in ["a", "b", "a"] {
            channel.clone().push(name(pushed));
        }
        let keys = ["a", "b"].map(|name| ObjectKey::namespaced("shop", name));
        assert_eq!(prompt.next().await, keys.clone().into());
        channel.push(name("c"));
        assert_eq!(prompt.next().await, [ObjectKey::namespaced("shop", "c")].into());
        assert_eq!(late.next().await.len(), 3);
    }

    #[tokio::test]
    async fn a_listener_that_waits_is_woken() {
        let channel = Channel::new();
        let receiver = channel.subscribe();
        let (keys, ()) = tokio::join!(receiver.next(), async { channel.push(name("a")) });
        assert_eq!(keys.len(), 1);
    }
}
