//! `AdmissionHarness` calls the webhooks of an operator in a test, through the code of the server.

use super::{
    conversion::Converter,
    denied::Denied,
    dispatch::Dispatcher,
    handler::AdmissionHandler,
    review::{AdmissionAnswer, Operation, review},
    settings::{Mode, WebhookDescription},
};
use crate::{
    client::Client,
    kind::{Kind, Typed},
    manager::operator::Operator,
    policy::{Constraints, PolicyAction},
};
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A write that a test sends to the webhooks of an operator, as the API server does.
///
/// The defaulting webhooks of the kind run first, in the order of their names, and each sees the changes of those before it. Then the
/// rules of types in validating policies are checked, and the validating webhooks run. Match conditions, selectors and expressions are
/// the business of the API server, so they are not evaluated.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// use opgen::{prelude::*, testing::AdmissionHarness, webhook::{Admission, Denied}};
///
/// fn check(request: &Admission<ConfigMap>) -> Result<(), Denied> {
///     if request.object().immutable == Some(true) { Ok(()) } else { Err(Denied::required("immutable", "set it to true")) }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let operator = Operator::new("settings").validates(check);
/// let denied = AdmissionHarness::create(&ConfigMap::default()).call(&operator).await.denied.unwrap();
/// assert_eq!(denied.to_string(), "immutable: set it to true");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AdmissionHarness {
    kind: Kind,
    request: Value,
    object: Value,
    client: Option<Client>,
}

/// The answer of the webhooks to a write.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdmissionOutcome {
    /// The refusal; `None` if the write is allowed. A webhook that fails is a refusal with the code 500.
    pub denied: Option<Denied>,
    /// The object as it would be stored; null for a deletion.
    pub object: Value,
    /// The warnings of all webhooks that were called.
    pub warnings: Vec<String>,
}

impl AdmissionOutcome {
    /// Decodes the object that would be stored.
    ///
    /// # Errors
    /// Fails if the object can't be decoded as `K`.
    pub fn object_as<K: DeserializeOwned>(&self) -> serde_json::Result<K> {
        serde_json::from_value(self.object.clone())
    }
}

impl AdmissionHarness {
    /// Creates an object.
    pub fn create<K: Typed + Serialize>(object: &K) -> Self {
        Self::new::<K>(Operation::Create, json_of(object), Value::Null)
    }

    /// Replaces the stored object `old` with `new`.
    pub fn update<K: Typed + Serialize>(old: &K, new: &K) -> Self {
        Self::new::<K>(Operation::Update, json_of(new), json_of(old))
    }

    /// Deletes an object.
    pub fn delete<K: Typed + Serialize>(object: &K) -> Self {
        Self::new::<K>(Operation::Delete, Value::Null, json_of(object))
    }

    /// Creates the request of a write to an object of the kind `K`, by the user `harness`. The name and namespace are those of the new
    /// object, or of the old object for a deletion.
    fn new<K: Typed>(operation: Operation, object: Value, old_object: Value) -> Self {
        let source = if object.is_null() { &old_object } else { &object };
        let metadata = &source["metadata"];
        let request = json!({
            "uid": "00000000-0000-4000-8000-000000000000",
            "name": metadata["name"].as_str().unwrap_or_default(),
            "namespace": metadata["namespace"].as_str(),
            "operation": operation.as_str(),
            "userInfo": {"username": "harness", "groups": ["system:authenticated"]},
            "oldObject": old_object,
            "dryRun": false,
        });
        Self { kind: K::names(), request, object, client: None }
    }

    /// Sends the new object as this JSON, for example with fields that the type doesn't have.
    #[must_use]
    pub fn json(mut self, object: Value) -> Self {
        self.object = object;
        self
    }

    /// Sends the request as this user. Default: `harness`.
    #[must_use]
    pub fn user(mut self, name: &str) -> Self {
        self.request["userInfo"]["username"] = json!(name);
        self
    }

    /// Writes a subresource. Default: the object itself.
    #[must_use]
    pub fn subresource(mut self, name: &str) -> Self {
        self.request["subResource"] = json!(name);
        self
    }

    /// Sends a request that stores nothing. Default: no.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.request["dryRun"] = json!(true);
        self
    }

    /// Gives webhooks that read other objects a client, for example that of a sandbox. Without one, they fail.
    #[must_use]
    pub fn client(mut self, client: kube::Client) -> Self {
        self.client = Some(Client::new(client));
        self
    }

    /// Calls the webhooks of the operator that are for this kind, operation and subresource, and checks its policies: first the defaulting
    /// webhooks, then the policies, then the validating webhooks. Stops at the first step that denies the write.
    pub async fn call(self, operator: &Operator) -> AdmissionOutcome {
        let mut outcome = AdmissionOutcome { denied: None, object: self.object.clone(), warnings: Vec::new() };
        self.call_webhooks(operator, Mode::Default, &mut outcome).await;
        if outcome.denied.is_none() {
            self.check_policies(operator, &mut outcome);
        }
        if outcome.denied.is_none() {
            self.call_webhooks(operator, Mode::Validate, &mut outcome).await;
        }
        outcome
    }

    /// Calls the webhooks of one mode (defaulting or validating) for this request, in the order of their names, until one denies the write.
    /// Applies their patches and adds their warnings and the refusal to `outcome`.
    async fn call_webhooks(&self, operator: &Operator, mode: Mode, outcome: &mut AdmissionOutcome) {
        let is_called = |handler: &&AdmissionHandler| {
            let WebhookDescription { kind, webhook, .. } = &handler.description;
            handler.description.mode == mode && self.concerns(kind, &webhook.operations, &webhook.subresources)
        };
        let mut handlers: Vec<_> = operator.extensions.webhooks.iter().filter(is_called).cloned().collect();
        handlers.sort_by_key(|handler| handler.description.name());
        let dispatcher =
            Dispatcher::new(handlers.iter().cloned(), Converter::default(), operator.counters(), self.client.clone());
        for handler in &handlers {
            let answer = self.answer(&dispatcher, handler, &outcome.object).await.unwrap_or_else(failed);
            outcome.warnings.extend(answer.warnings);
            outcome.denied = answer.denied;
            if let Some(patch) = &answer.patch
                && let Err(error) = json_patch::patch(&mut outcome.object, patch)
            {
                outcome.denied = Some(Denied::unexpected(error));
            }
            if outcome.denied.is_some() {
                return;
            }
        }
    }

    /// Checks the object against the validation rules of the operator's validating policies that are for this request. By the action of the
    /// policy, a violation denies the write, becomes a warning, or (`Audit`) has no effect.
    fn check_policies(&self, operator: &Operator, outcome: &mut AdmissionOutcome) {
        let old = Some(&self.request["oldObject"]).filter(|old| !old.is_null());
        for policy in &operator.extensions.policies.validating {
            let Constraints { kind, operations, .. } = &policy.constraints;
            if !self.concerns(kind, operations, &BTreeSet::new()) {
                continue;
            }
            let violations = policy.check(&outcome.object, old);
            match policy.action {
                PolicyAction::Deny => {
                    let refusals =
                        violations.iter().map(|violation| Denied::invalid(&violation.path, &violation.message));
                    outcome.denied = outcome.denied.take().into_iter().chain(refusals).reduce(Denied::and);
                }
                PolicyAction::Warn => outcome.warnings.extend(violations.iter().map(ToString::to_string)),
                PolicyAction::Audit => {}
            }
        }
    }

    /// Returns whether a webhook or policy with this kind and these operations and subresources is for this request.
    fn concerns(&self, kind: &Kind, operations: &BTreeSet<Operation>, subresources: &BTreeSet<String>) -> bool {
        let is_operation = operations.iter().any(|operation| self.request["operation"] == operation.as_str());
        let is_resource = self.request["subResource"].as_str().is_none_or(|name| subresources.contains(name));
        *kind == self.kind && is_operation && is_resource
    }

    /// Sends an `AdmissionReview` with `object` as the new object to one webhook, through the code of the HTTP server, and returns the
    /// answer.
    ///
    /// # Errors
    /// The text of the HTTP error, if the webhook fails.
    async fn answer(
        &self,
        dispatcher: &Dispatcher,
        handler: &AdmissionHandler,
        object: &Value,
    ) -> Result<AdmissionAnswer, String> {
        let mut content = self.request.clone();
        content["object"] = object.clone();
        let request = Request::post(handler.description.path())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(review(content).to_string())))
            .map_err(|error| error.to_string())?;
        let (head, body) = dispatcher.respond(request).await.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        if head.status != StatusCode::OK {
            return Err(String::from_utf8_lossy(&body).trim_end().to_owned());
        }
        let review = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        AdmissionAnswer::from_review(&review).map_err(|error| error.to_string())
    }
}

/// Returns an answer that denies the write with the code 500, in place of the answer of a webhook that failed.
fn failed(problem: String) -> AdmissionAnswer {
    AdmissionAnswer { denied: Some(Denied::unexpected(problem)), ..AdmissionAnswer::default() }
}

/// Returns an object in the form of the API; null if it can't be encoded, which the webhooks refuse.
fn json_of<K: Typed + Serialize>(object: &K) -> Value {
    let mut json = serde_json::to_value(object).unwrap_or_default();
    if json.is_object() {
        let kind = K::names();
        json["apiVersion"] = json!(kind.api_version());
        json["kind"] = json!(kind.kind);
    }
    json
}
