//! Defines the client of the controllers, which reads the store and writes through the API.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::{
    kind::Kind,
    object,
    response::Content,
    server::Server,
    user::{MASTERS, User},
};

/// A client that reads the store and writes through the API.
#[derive(Clone, Debug)]
pub(crate) struct ControllerClient {
    pub(crate) server: Arc<Server>,
    user: User,
    /// The user agent, which is also the manager of the fields that it writes.
    agent: &'static str,
}

/// The error of a refused request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code} {message}")]
pub(crate) struct ApiError {
    pub(crate) code: u16,
    pub(crate) message: String,
    /// The `Status` of the response.
    pub(crate) status: Value,
}

impl ApiError {
    pub(crate) fn is_gone(&self) -> bool {
        self.code == 404
    }

    /// Whether the namespace is terminating, so that nothing can be created in it.
    pub(crate) fn is_in_ending_namespace(&self) -> bool {
        let mut causes = self.status["details"]["causes"].as_array().into_iter().flatten();
        causes.any(|cause| cause["reason"] == "NamespaceTerminating")
    }

    pub(crate) fn is_there_already(&self) -> bool {
        self.code == 409 && self.status["reason"] == "AlreadyExists"
    }
}

impl ControllerClient {
    /// Returns the client of a controller of kube-controller-manager, with a ServiceAccount of its own.
    pub(crate) fn controller(server: &Arc<Server>, account: &str) -> Self {
        let mut user = User::service_account("kube-system", account, "");
        user.groups.push(MASTERS.to_owned());
        Self { server: server.clone(), user, agent: "kube-controller-manager" }
    }

    /// Returns the client of a component with a user of its own: `system:kube-scheduler`, `system:node:NAME`.
    pub(crate) fn component(server: &Arc<Server>, user: &str, agent: &'static str) -> Self {
        Self { server: server.clone(), user: User::admin(user), agent }
    }

    /// Returns the kind of a group resource in the first served version.
    pub(crate) fn kind(&self, group_resource: &str) -> Option<Arc<Kind>> {
        self.server.kinds.of_group_resource(group_resource)
    }

    /// Returns the kind of a group resource; an error if it is not served.
    pub(crate) fn known(&self, group_resource: &str) -> Result<Arc<Kind>, ApiError> {
        let unknown = || ApiError { code: 0, message: format!("{group_resource} are not served"), status: Value::Null };
        self.kind(group_resource).ok_or_else(unknown)
    }

    pub(crate) fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Value> {
        self.server.store.get(&kind.group_resource, namespace, name).map(|held| held.object(kind))
    }

    pub(crate) fn list(&self, kind: &Kind, namespace: Option<&str>) -> Vec<Value> {
        let (_, items) = self.server.store.list(&kind.group_resource, namespace);
        items.iter().map(|item| item.object(kind)).collect()
    }

    pub(crate) async fn create(&self, kind: &Kind, object: &Value) -> Result<Value, ApiError> {
        let path = path(kind, object::namespace(object), "", "");
        self.send(Method::POST, path, "application/json", object).await
    }

    pub(crate) async fn create_subresource(
        &self,
        kind: &Kind,
        subresource: &str,
        object: &Value,
    ) -> Result<Value, ApiError> {
        let path = path(kind, object::namespace(object), object::name(object), subresource);
        self.send(Method::POST, path, "application/json", object).await
    }

    /// Replaces an object, or its `subresource` unless that is empty.
    pub(crate) async fn replace(&self, kind: &Kind, subresource: &str, object: &Value) -> Result<Value, ApiError> {
        let path = path(kind, object::namespace(object), object::name(object), subresource);
        self.send(Method::PUT, path, "application/json", object).await
    }

    /// Applies an object or its subresource by force (server-side apply).
    pub(crate) async fn apply(&self, kind: &Kind, subresource: &str, object: &Value) -> Result<Value, ApiError> {
        let path = path(kind, object::namespace(object), object::name(object), subresource);
        let path = format!("{path}?force=true&fieldManager={}", self.agent);
        self.send(Method::PATCH, path, "application/apply-patch+yaml", object).await
    }

    pub(crate) async fn merge(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        subresource: &str,
        patch: &Value,
    ) -> Result<Value, ApiError> {
        self.send(Method::PATCH, path(kind, namespace, name, subresource), "application/merge-patch+json", patch).await
    }

    /// Removes a finalizer from an object, on condition that its version is still the one read.
    pub(crate) async fn release(&self, kind: &Kind, object: &Value, finalizer: &str) -> Result<(), ApiError> {
        let mut kept = object::finalizers(object);
        kept.retain(|own| *own != finalizer);
        let kept = if kept.is_empty() { Value::Null } else { kept.into() };
        let (uid, version) = (object::uid(object), object::version(object));
        let patch = json!({"metadata": {"uid": uid, "resourceVersion": version, "finalizers": kept}});
        let at = (object::namespace(object), object::name(object));
        match self.merge(kind, at, "", &patch).await {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(()),
        }
    }

    /// Deletes an object, or all objects of a namespace if the name is empty.
    pub(crate) async fn delete(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        options: &Value,
    ) -> Result<Value, ApiError> {
        self.send(Method::DELETE, path(kind, namespace, name, ""), "application/json", options).await
    }

    async fn send(&self, method: Method, path: String, media: &str, body: &Value) -> Result<Value, ApiError> {
        // A reconcile may make any number of calls, and none of them blocks; therefore yield to other tasks in between.
        tokio::task::consume_budget().await;
        let request = Request::builder().method(method).uri(path).header("content-type", media);
        let request = request.header("user-agent", self.agent).body(Bytes::from(body.to_string()));
        let unsent = |message: String| ApiError { code: 0, message, status: Value::Null };
        let request = request.map_err(|error| unsent(error.to_string()))?;
        // The future of a response is as large as the futures of all verbs; boxing it keeps the controllers' own
        // futures small.
        let answer = Box::pin(self.server.answer(self.user.clone(), request)).await;
        let Content::Whole(text) = answer.content else { return Err(unsent("a stream is no answer".into())) };
        let body_read: Value = serde_json::from_slice(&text).map_err(|error| unsent(error.to_string()))?;
        if answer.code.is_success() {
            return Ok(body_read);
        }
        Err(ApiError {
            code: answer.code.as_u16(),
            message: object::text(&body_read, &["message"]).to_owned(),
            status: body_read,
        })
    }
}

fn path(kind: &Kind, namespace: &str, name: &str, subresource: &str) -> String {
    let mut path = if kind.group.is_empty() {
        format!("/api/{}", kind.version)
    } else {
        format!("/apis/{}/{}", kind.group, kind.version)
    };
    let mut push = |word: &str| {
        if !word.is_empty() {
            path.push('/');
            path.extend(percent_encoding::utf8_percent_encode(word, percent_encoding::NON_ALPHANUMERIC));
        }
    };
    if kind.namespaced {
        push("namespaces");
        push(namespace);
    }
    [kind.plural.as_str(), name, subresource].into_iter().for_each(push);
    path
}
