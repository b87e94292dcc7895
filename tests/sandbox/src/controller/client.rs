//! `ControllerClient`: the client of the controllers, which reads from the store and writes through the API.

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

/// A client that reads from the store and writes through the API, so that admission and validation apply to the writes.
#[derive(Clone, Debug)]
pub(crate) struct ControllerClient {
    pub(crate) server: Arc<Server>,
    user: User,
    /// The `User-Agent` of the requests, from which the server derives the field manager.
    user_agent: &'static str,
}

/// The error of a request: the server refused it, or it could not be sent (code 0).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code} {message}")]
pub(crate) struct ApiError {
    /// The HTTP status code; 0 if there is no response.
    pub(crate) code: u16,
    pub(crate) message: String,
    /// The `Status` of the response; null if there is no response.
    pub(crate) status: Value,
}

impl ApiError {
    /// Returns whether the object, or its resource, does not exist (404).
    pub(crate) fn is_not_found(&self) -> bool {
        self.code == 404
    }

    /// Returns whether the request was refused because its namespace is terminating (the cause `NamespaceTerminating`).
    pub(crate) fn is_namespace_terminating(&self) -> bool {
        let mut causes = self.status["details"]["causes"].as_array().into_iter().flatten();
        causes.any(|cause| cause["reason"] == "NamespaceTerminating")
    }

    /// Returns whether a create was refused because an object of that name exists (409 `AlreadyExists`).
    pub(crate) fn is_already_exists(&self) -> bool {
        self.code == 409 && self.status["reason"] == "AlreadyExists"
    }
}

impl ControllerClient {
    /// Returns the client of a controller of kube-controller-manager, with a ServiceAccount of its own.
    pub(crate) fn controller(server: &Arc<Server>, account: &str) -> Self {
        let mut user = User::service_account("kube-system", account, "");
        user.groups.push(MASTERS.to_owned());
        Self { server: server.clone(), user, user_agent: "kube-controller-manager" }
    }

    /// Returns the client of a component that has its own user, such as `system:kube-scheduler` or `system:node:NAME`.
    pub(crate) fn component(server: &Arc<Server>, user: &str, user_agent: &'static str) -> Self {
        Self { server: server.clone(), user: User::admin(user), user_agent }
    }

    /// Returns the kind of a group resource in its first served version; `None` if it is not served.
    pub(crate) fn kind(&self, group_resource: &str) -> Option<Arc<Kind>> {
        self.server.kinds.of_group_resource(group_resource)
    }

    /// Returns the kind of a group resource in its first served version.
    ///
    /// # Errors
    /// If it is not served.
    pub(crate) fn served_kind(&self, group_resource: &str) -> Result<Arc<Kind>, ApiError> {
        let unknown = || ApiError { code: 0, message: format!("{group_resource} are not served"), status: Value::Null };
        self.kind(group_resource).ok_or_else(unknown)
    }

    /// Returns the stored object in the version of the kind; `None` if it does not exist.
    pub(crate) fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Value> {
        self.server.store.get(&kind.group_resource, namespace, name).map(|stored| stored.object(kind))
    }

    /// Returns the stored objects of a kind, in one namespace or in all.
    pub(crate) fn list(&self, kind: &Kind, namespace: Option<&str>) -> Vec<Value> {
        let (_, items) = self.server.store.list(&kind.group_resource, namespace);
        items.iter().map(|item| item.object(kind)).collect()
    }

    /// Creates an object in the namespace that its metadata names.
    pub(crate) async fn create(&self, kind: &Kind, object: &Value) -> Result<Value, ApiError> {
        let path = request_path(kind, object::namespace(object), "", "");
        self.send(Method::POST, path, "application/json", object).await
    }

    /// Creates a subresource of the object that `object` names, such as the `binding` of a Pod.
    pub(crate) async fn create_subresource(
        &self,
        kind: &Kind,
        subresource: &str,
        object: &Value,
    ) -> Result<Value, ApiError> {
        let path = request_path(kind, object::namespace(object), object::name(object), subresource);
        self.send(Method::POST, path, "application/json", object).await
    }

    /// Replaces an object (PUT), or its `subresource` unless that is empty.
    pub(crate) async fn replace(&self, kind: &Kind, subresource: &str, object: &Value) -> Result<Value, ApiError> {
        let path = request_path(kind, object::namespace(object), object::name(object), subresource);
        self.send(Method::PUT, path, "application/json", object).await
    }

    /// Applies an object, or its `subresource` unless that is empty, with a forced server-side apply.
    pub(crate) async fn apply(&self, kind: &Kind, subresource: &str, object: &Value) -> Result<Value, ApiError> {
        let path = request_path(kind, object::namespace(object), object::name(object), subresource);
        let path = format!("{path}?force=true&fieldManager={}", self.user_agent);
        self.send(Method::PATCH, path, "application/apply-patch+yaml", object).await
    }

    /// Sends a JSON merge patch of an object, or of its `subresource` unless that is empty.
    pub(crate) async fn merge_patch(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        subresource: &str,
        patch: &Value,
    ) -> Result<Value, ApiError> {
        let path = request_path(kind, namespace, name, subresource);
        self.send(Method::PATCH, path, "application/merge-patch+json", patch).await
    }

    /// Removes a finalizer from an object, on condition that the object has not changed since it was read. Succeeds if the object does not
    /// exist any more.
    pub(crate) async fn remove_finalizer(&self, kind: &Kind, object: &Value, finalizer: &str) -> Result<(), ApiError> {
        let mut remaining = object::finalizers(object);
        remaining.retain(|other| *other != finalizer);
        let remaining = if remaining.is_empty() { Value::Null } else { remaining.into() };
        let (uid, version) = (object::uid(object), object::version(object));
        let patch = json!({"metadata": {"uid": uid, "resourceVersion": version, "finalizers": remaining}});
        let key = (object::namespace(object), object::name(object));
        match self.merge_patch(kind, key, "", &patch).await {
            Err(refused) if !refused.is_not_found() => Err(refused),
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
        self.send(Method::DELETE, request_path(kind, namespace, name, ""), "application/json", options).await
    }

    /// Sends a request to the server as the user of this client.
    ///
    /// # Errors
    /// If the server refuses the request, or if the response is a stream.
    async fn send(&self, method: Method, path: String, media: &str, body: &Value) -> Result<Value, ApiError> {
        // A reconcile may make any number of calls, and none of them blocks; therefore yield to other tasks in between.
        tokio::task::consume_budget().await;
        let request = Request::builder().method(method).uri(path).header("content-type", media);
        let request = request.header("user-agent", self.user_agent).body(Bytes::from(body.to_string()));
        let failure = |message: String| ApiError { code: 0, message, status: Value::Null };
        let request = request.map_err(|error| failure(error.to_string()))?;
        // The future of a response is as large as the futures of all verbs; boxing it keeps the controllers' own
        // futures small.
        let response = Box::pin(self.server.answer(self.user.clone(), request)).await;
        let Content::Whole(text) = response.content else { return Err(failure("a stream is no response".into())) };
        let response_body: Value = serde_json::from_slice(&text).map_err(|error| failure(error.to_string()))?;
        if response.code.is_success() {
            return Ok(response_body);
        }
        Err(ApiError {
            code: response.code.as_u16(),
            message: object::text(&response_body, &["message"]).to_owned(),
            status: response_body,
        })
    }
}

/// Returns the request path of a collection, an object or a subresource. A collection has an empty `name`, an object an empty
/// `subresource`.
fn request_path(kind: &Kind, namespace: &str, name: &str, subresource: &str) -> String {
    let mut path = if kind.group.is_empty() {
        format!("/api/{}", kind.version)
    } else {
        format!("/apis/{}/{}", kind.group, kind.version)
    };
    let mut push = |segment: &str| {
        if !segment.is_empty() {
            path.push('/');
            path.extend(percent_encoding::utf8_percent_encode(segment, percent_encoding::NON_ALPHANUMERIC));
        }
    };
    if kind.namespaced {
        push("namespaces");
        push(namespace);
    }
    [kind.plural.as_str(), name, subresource].into_iter().for_each(push);
    path
}
