//! `Calls`: the API calls of a hand-written node, each with its permission in its signature.

use crate::{
    client::CallError,
    context::calls::{Client, Target, right::Right, strip_nulls},
    engine::pass::Core,
    error::{Error, Result},
    event::EventType,
    kind::Kind,
};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// The calls of a hand-written node; each asks for its permission at compile time.
///
/// Reads are live: they ask the API server. Namespaced kinds are meant in the owner's namespace, unless
/// [`Calls::in_namespace`] says another. Names and namespaces that a permission is limited to are values: a call beyond them
/// compiles, and is a terminal error before anything is sent.
///
/// None of them watches: a node never waits, and the loop comes back.
pub struct Calls<'a, P> {
    pub(super) core: &'a Core<'a>,
    pub(super) namespace: Option<String>,
    pub(super) node: PhantomData<fn() -> P>,
}

// The calls are boxed, so that a missing permission is one message of the compiler and not one for each use of the future.
impl<'a, P> Calls<'a, P> {
    pub(crate) fn new(core: &'a Core<'a>) -> Self {
        Self { core, namespace: core.owner.home().map(str::to_owned), node: PhantomData }
    }

    /// The same calls in another namespace, for permissions that say `in "that-namespace"`.
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        Self { core: self.core, namespace: Some(namespace.into()), node: PhantomData }
    }

    /// The namespace that the operator runs in.
    pub fn operator_namespace(&self) -> &'a str {
        &self.core.shared.namespace
    }

    /// The time, by the runtime's clock.
    pub fn now(&self) -> Timestamp {
        self.core.shared.environment.now()
    }

    /// Has the object looked at again after this time, although nothing may have changed: the poll of one object, with a period of
    /// its own. It holds for this pass, and in place of the controller's poll and requeue; of several the shortest holds. After an
    /// error the object is tried again as the controller says. Less than 5 ms is 5 ms.
    pub fn look_again(&self, after: Duration) {
        self.core.look_again_after(after);
    }

    /// Records an event about the object, where the controller has events on. Repeats are counted, not piled up.
    pub fn event(&self, type_: EventType, reason: &str, message: &str) {
        self.core.shared.recorder.record(&self.core.owner.regarding(), type_, reason, "Provision", message);
    }

    pub(super) fn manager(&self) -> &str {
        &self.core.shared.operator
    }

    pub(super) fn client(&self) -> &Client {
        &self.core.shared.client
    }

    /// Makes a call that writes an object: what a node writes again and again, with nobody asking for it, is slowed down.
    pub(super) async fn write_noted(
        &self,
        target: (Target<'_>, &str),
        sent: &Value,
        call: impl Future<Output = Result<Value, CallError>>,
    ) -> Result<Value, CallError> {
        self.core.write_by_hand(node_of::<P>(), target, sent, call).await
    }

    /// The object, if the node has these rights on it.
    pub(super) fn target<'t>(&'t self, kind: &'t Kind, name: &'t str, rights: &[Right]) -> Result<Target<'t>> {
        let namespace = self.namespace.as_deref().filter(|_| kind.namespaced);
        if kind.namespaced && namespace.is_none() {
            let message = format!("{kind} {name} needs a namespace; say which with `in_namespace`");
            return Err(Error::terminal("NoNamespace", message));
        }
        let target = Target { kind, namespace, name };
        match rights.iter().find(|right| !right.has(&target)) {
            Some(right) => {
                let elsewhere = namespace.filter(|namespace| Some(*namespace) != self.core.owner.home());
                Err(right.refused(&target, elsewhere, node_of::<P>()))
            }
            None => Ok(target),
        }
    }
}

/// The name of a node's type, as its user knows it.
pub(super) fn node_of<P>() -> &'static str {
    let node = type_name::<P>();
    node.rsplit("::").next().unwrap_or(node)
}

pub(super) fn named(kind: &Kind, mut object: Value) -> Value {
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.clone().into();
    strip_nulls(object)
}

pub(super) fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// A replacement without a version would undo what others have written in the meantime.
pub(super) fn versioned(kind: &Kind, object: &Value) -> Result<()> {
    if object["metadata"]["resourceVersion"].as_str().is_some_and(|version| !version.is_empty()) {
        return Ok(());
    }
    let message = format!("{kind} {} has no version; read it, edit it, and then replace it", name_of(object));
    Err(Error::terminal("NoVersion", message))
}

impl<P> fmt::Debug for Calls<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
