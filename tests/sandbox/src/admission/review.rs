//! Defines `Review`: a write under admission, with its operation and its old and new object.

use serde_json::{Value, json};

use super::match_rules::MatchedKind;
use crate::{
    call::{DryRun, Verb},
    failure::Failure,
    object,
    request::ResourceRequest,
};

/// A write under admission.
pub(crate) struct Review<'a> {
    pub(crate) request: ResourceRequest<'a>,
    pub(crate) operation: Operation,
    /// The new state; null for a deletion.
    pub(crate) object: Value,
    pub(crate) old: Option<Value>,
    /// Whether a policy or a webhook has returned a new state of the object, even an equal one.
    pub(crate) reshaped: bool,
    /// Warnings for the client.
    pub(crate) warnings: Vec<String>,
}

/// The operation of an admission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    /// Returns the name of the operation as in admission rules and requests.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

impl<'a> Review<'a> {
    /// Creates the review of a create; adds the type to `object` if the request omits it.
    pub(crate) fn create(request: ResourceRequest<'a>, object: Value) -> Self {
        let object = with_type_meta(request, object);
        Self { request, operation: Operation::Create, object, old: None, reshaped: false, warnings: Vec::new() }
    }

    /// Creates the review of an update; adds the type to `object` if the request omits it.
    pub(crate) fn update(request: ResourceRequest<'a>, object: Value, old: Value) -> Self {
        let object = with_type_meta(request, object);
        Self { request, operation: Operation::Update, object, old: Some(old), reshaped: false, warnings: Vec::new() }
    }

    /// Creates the review of a deletion.
    pub(crate) fn delete(request: ResourceRequest<'a>, old: Value) -> Self {
        let object = Value::Null;
        Self { request, operation: Operation::Delete, object, old: Some(old), reshaped: false, warnings: Vec::new() }
    }

    /// Returns whether the write has this operation and concerns an object of a built-in kind itself, not a subresource of it.
    pub(crate) fn writes(&self, operation: Operation, group: &str, plural: &str) -> bool {
        self.operation == operation && self.request.subresource.is_none() && self.request.kind.is(group, plural)
    }

    /// Returns the name of the object, or its `generateName` if the name is not yet generated.
    pub(crate) fn name(&self) -> &str {
        let name_in_object = object::name(&self.object);
        let generate_name = object::text(&self.object, &["metadata", "generateName"]);
        [self.request.name, name_in_object, generate_name].into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// Returns the name of the object; empty if it is not yet generated.
    pub(crate) fn known_name(&self) -> &str {
        if self.request.name.is_empty() { object::name(&self.object) } else { self.request.name }
    }

    /// Returns the namespace of the object; for a Namespace its own name.
    pub(crate) fn namespace(&self) -> &str {
        if self.request.kind.is("", "namespaces") { self.known_name() } else { self.request.namespace }
    }

    /// Returns the `options` of the admission request: the query parameters of the request, or for a deletion its body, as `CreateOptions`,
    /// `UpdateOptions`, `PatchOptions` or `DeleteOptions`.
    pub(crate) fn options(&self) -> Value {
        let call = self.request.call;
        let kind = match (self.operation, call.verb) {
            (Operation::Create, _) => "CreateOptions",
            (Operation::Delete, _) => "DeleteOptions",
            (_, Verb::Patch) => "PatchOptions",
            _ => "UpdateOptions",
        };
        let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if self.operation == Operation::Delete {
            let body_options: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            if let (Value::Object(options), Value::Object(body_options)) = (&mut options, body_options) {
                options.extend(body_options.into_iter().filter(|(key, _)| key != "kind" && key != "apiVersion"));
            }
            return options;
        }
        if self.is_dry_run() {
            options["dryRun"] = json!(["All"]);
        }
        if let Some(force) = call.options.force.filter(|_| call.verb == Verb::Patch) {
            options["force"] = force.into();
        }
        if let Some(manager) = &call.options.field_manager {
            options["fieldManager"] = manager.clone().into();
        }
        if let Some(validation) = call.options.raw("fieldValidation") {
            options["fieldValidation"] = validation.into();
        }
        options
    }

    /// Returns the `request` of an `AdmissionReview` without `uid`, `object`, `oldObject` and empty fields. `kind` and `resource` name the
    /// version that the rules match, `requestKind` and `requestResource` the version of the request.
    pub(super) fn admission_request(&self, matched_kind: &MatchedKind) -> Value {
        let request = self.request;
        let user = &request.call.user;
        let mut fields = json!({
            "kind": {"group": matched_kind.kind.group, "version": matched_kind.kind.version, "kind": matched_kind.kind.kind},
            "resource": {"group": matched_kind.kind.group, "version": matched_kind.kind.version, "resource": matched_kind.kind.plural},
            "requestKind": {"group": request.kind.group, "version": request.kind.version, "kind": request.kind.kind},
            "requestResource": {"group": request.kind.group, "version": request.kind.version, "resource": request.kind.plural},
            "operation": self.operation.as_str(),
            "userInfo": {"username": user.name, "groups": user.groups},
            "dryRun": self.is_dry_run(),
            "options": self.options(),
        });
        let mut set = |key: &str, value: &str| {
            if !value.is_empty() {
                fields[key] = value.into();
            }
        };
        set("name", self.known_name());
        set("namespace", self.namespace());
        set("subResource", request.subresource.unwrap_or_default());
        set("requestSubResource", request.subresource.unwrap_or_default());
        if !user.uid.is_empty() {
            fields["userInfo"]["uid"] = user.uid.clone().into();
        }
        if !user.extra.is_empty() {
            fields["userInfo"]["extra"] = user
                .extra
                .iter()
                .cloned()
                .map(|(key, values)| (key, values.into()))
                .collect::<serde_json::Map<_, Value>>()
                .into();
        }
        fields
    }

    /// Returns the 403 error of a plugin.
    pub(crate) fn forbidden(&self, why: &str) -> Failure {
        Failure::forbidden(self.request.kind, self.name(), why)
    }

    /// Returns whether the write must not be stored (`dryRun=All`).
    pub(crate) fn is_dry_run(&self) -> bool {
        self.request.call.options.dry_run == DryRun::All
    }
}

/// Returns the object with `apiVersion` and `kind`, which a request may omit.
fn with_type_meta(request: ResourceRequest<'_>, mut object: Value) -> Value {
    if let Value::Object(map) = &mut object
        && (!map.contains_key("kind") || !map.contains_key("apiVersion"))
    {
        map.insert("apiVersion".into(), request.kind.api_version().into());
        map.insert("kind".into(), request.kind.kind.clone().into());
    }
    object
}
