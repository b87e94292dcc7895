//! Defines `Calls`, the API calls of a hand-written node, each of which requires a declared permission.

use crate::{
    client::CallError,
    context::calls::{Client, Target, permission::Permission, strip_nulls},
    engine::pass::PassCore,
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

/// The API calls of a hand-written node. A call compiles only if the node declares the permission for it.
///
/// Reads are live: they ask the API server. Namespaced objects are in the owner's namespace, or in that of
/// [`Calls::in_namespace`]. Names and namespaces that a permission is limited to are values: a call outside them compiles, and
/// returns a terminal error before a request is sent.
///
/// No call watches or waits: a node yields, and the loop calls it again in a later pass.
pub struct Calls<'a, P> {
    pub(super) core: &'a PassCore<'a>,
    pub(super) namespace: Option<String>,
    pub(super) node: PhantomData<fn() -> P>,
}

impl<'a, P> Calls<'a, P> {
    /// Returns the calls of a node in a pass. Namespaced objects are in the default namespace of the owner.
    pub(crate) fn new(core: &'a PassCore<'a>) -> Self {
        Self { core, namespace: core.owner.default_namespace().map(str::to_owned), node: PhantomData }
    }

    /// Returns the same calls in another namespace, for permissions with `in "that-namespace"`.
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        Self { core: self.core, namespace: Some(namespace.into()), node: PhantomData }
    }

    /// Returns the namespace that the operator runs in.
    pub fn operator_namespace(&self) -> &'a str {
        &self.core.shared.namespace
    }

    /// Returns the current time by the runtime's clock, which tests can set.
    pub fn now(&self) -> Timestamp {
        self.core.shared.environment.now()
    }

    /// Requests another pass over the object after this time, even if nothing changes: a poll of one object, with a period of its
    /// own. The request is valid for this pass and replaces the poll and requeue intervals of the controller; the shortest of
    /// several requests wins. After an error, the backoff of the controller applies. The minimum is 5 ms.
    pub fn look_again(&self, after: Duration) {
        self.core.side_effects().requeue.request_after(after);
    }

    /// Records an event about the object, if the controller records events. A repeated event increases the count of the first.
    pub fn event(&self, type_: EventType, reason: &str, message: &str) {
        self.core.shared.recorder.record(&self.core.regarding(), type_, reason, "Provision", message);
    }

    /// Returns the field manager of the operator.
    pub(super) fn manager(&self) -> &str {
        &self.core.shared.operator
    }

    pub(super) fn client(&self) -> &Client {
        &self.core.shared.client
    }

    /// Awaits `call`, which writes `sent` to the object or subresource `target`, and records the write for the pass: a node that repeats
    /// the same write in every pass is slowed down.
    pub(super) async fn tracked_write(
        &self,
        target: (Target<'_>, &str),
        sent: &Value,
        call: impl Future<Output = Result<Value, CallError>>,
    ) -> Result<Value, CallError> {
        self.core.write_from_node(node_type_name::<P>(), target, sent, call).await
    }

    /// Returns the target of a call: the object `name`, or all objects if it is empty, in the namespace of these calls if the kind is
    /// namespaced.
    ///
    /// # Errors
    /// A terminal error if a namespaced kind has no namespace, or if one of the permissions does not allow the target.
    pub(super) fn target<'t>(
        &'t self,
        kind: &'t Kind,
        name: &'t str,
        permissions: &[Permission],
    ) -> Result<Target<'t>> {
        let namespace = self.namespace.as_deref().filter(|_| kind.namespaced);
        if kind.namespaced && namespace.is_none() {
            let message = format!("{kind} {name} needs a namespace; set it with `in_namespace`");
            return Err(Error::terminal("NoNamespace", message));
        }
        self.target_in(namespace, kind, name, permissions)
    }

    /// Returns the target of a call in `namespace`, which is `None` for all namespaces and for cluster-scoped objects.
    ///
    /// # Errors
    /// A terminal error if one of the permissions does not allow the target. It names the declaration that the node lacks.
    pub(super) fn target_in<'t>(
        &self,
        namespace: Option<&'t str>,
        kind: &'t Kind,
        name: &'t str,
        permissions: &[Permission],
    ) -> Result<Target<'t>> {
        let target = Target { kind, namespace, name };
        match permissions.iter().find(|permission| !permission.allows(&target)) {
            Some(permission) => {
                let other_namespace =
                    namespace.filter(|namespace| Some(*namespace) != self.core.owner.default_namespace());
                Err(permission.denial_error(&target, other_namespace, node_type_name::<P>()))
            }
            None => Ok(target),
        }
    }
}

/// Returns the name of a node's type without its modules and generic arguments.
pub(crate) fn node_type_name<P>() -> &'static str {
    let path = type_name::<P>();
    // The generic arguments are cut off first, since they contain `::`, too: `a::Node<b::Argument>`.
    let path = if path.ends_with('>') { path.split('<').next().unwrap_or(path) } else { path };
    path.rsplit("::").next().unwrap_or(path)
}

/// Returns the JSON of an object with `apiVersion` and `kind` set, and without null fields.
pub(super) fn with_type_meta(kind: &Kind, mut object: Value) -> Value {
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.clone().into();
    strip_nulls(object)
}

/// Returns the name in the metadata of an object; empty without a name.
pub(super) fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Checks that an object has a resourceVersion. Without it, the API server would replace an object that other clients have changed.
///
/// # Errors
/// A terminal error if the resourceVersion is missing.
pub(super) fn require_version(kind: &Kind, object: &Value) -> Result<()> {
    if object["metadata"]["resourceVersion"].as_str().is_some_and(|version| !version.is_empty()) {
        return Ok(());
    }
    let message = format!("{kind} {} has no resourceVersion; read the object before replacing it", name_of(object));
    Err(Error::terminal("NoVersion", message))
}

impl<P> fmt::Debug for Calls<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_node_has_neither_modules_nor_generic_arguments() {
        assert_eq!(node_type_name::<Duration>(), "Duration");
        assert_eq!(node_type_name::<Option<Duration>>(), "Option");
        assert_eq!(node_type_name::<Option<Option<Duration>>>(), "Option");
    }
}
