//! A write that admission looks at.

use serde_json::{Value, json};

use super::matching::Hit;
use crate::{
    call::{DryRun, Verb},
    failure::Failure,
    object,
    verb::Asked,
};

/// A write that is looked at.
pub(crate) struct Review<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) operation: Operation,
    /// The new state; null of a deletion.
    pub(crate) object: Value,
    pub(crate) old: Option<Value>,
    /// Whether somebody outside has changed the object, a policy or a webhook.
    pub(crate) reshaped: bool,
    /// What the client is told beside the answer.
    pub(crate) warnings: Vec<String>,
}

/// As admission names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    /// In the words of rules.
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
    pub(crate) fn create(asked: Asked<'a>, object: Value) -> Self {
        let object = typed(asked, object);
        Self { asked, operation: Operation::Create, object, old: None, reshaped: false, warnings: Vec::new() }
    }

    pub(crate) fn update(asked: Asked<'a>, object: Value, old: Value) -> Self {
        let object = typed(asked, object);
        Self { asked, operation: Operation::Update, object, old: Some(old), reshaped: false, warnings: Vec::new() }
    }

    pub(crate) fn delete(asked: Asked<'a>, old: Value) -> Self {
        let object = Value::Null;
        Self { asked, operation: Operation::Delete, object, old: Some(old), reshaped: false, warnings: Vec::new() }
    }

    /// Whether it is a write of the object itself, not of a part behind its path, and of this kind of the table.
    pub(crate) fn writes(&self, operation: Operation, group: &str, plural: &str) -> bool {
        self.operation == operation && self.asked.subresource.is_none() && self.asked.kind.is(group, plural)
    }

    /// The name of the object; of one that has only the beginning of a name, that.
    pub(crate) fn name(&self) -> &str {
        let own = object::name(&self.object);
        let begin = object::text(&self.object, &["metadata", "generateName"]);
        [self.asked.name, own, begin].into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// The name that is known already: a generated one is not.
    pub(crate) fn known_name(&self) -> &str {
        if self.asked.name.is_empty() { object::name(&self.object) } else { self.asked.name }
    }

    /// The namespace; of a namespace its own name.
    pub(crate) fn namespace(&self) -> &str {
        if self.asked.kind.is("", "namespaces") { self.known_name() } else { self.asked.namespace }
    }

    /// The options of the request, as the kinds of `meta.k8s.io/v1` have them.
    pub(crate) fn options(&self) -> Value {
        let call = self.asked.call;
        let kind = match (self.operation, call.verb) {
            (Operation::Create, _) => "CreateOptions",
            (Operation::Delete, _) => "DeleteOptions",
            (_, Verb::Patch) => "PatchOptions",
            _ => "UpdateOptions",
        };
        let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if self.operation == Operation::Delete {
            let given: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            if let (Value::Object(options), Value::Object(given)) = (&mut options, given) {
                options.extend(given.into_iter().filter(|(key, _)| key != "kind" && key != "apiVersion"));
            }
            return options;
        }
        if self.is_dry() {
            options["dryRun"] = json!(["All"]);
        }
        if let Some(force) = call.options.force.filter(|_| call.verb == Verb::Patch) {
            options["force"] = force.into();
        }
        if let Some(manager) = &call.options.field_manager {
            options["fieldManager"] = manager.clone().into();
        }
        if let Some(validation) = call.options.other("fieldValidation") {
            options["fieldValidation"] = validation.into();
        }
        options
    }

    /// The request, as `admission.k8s.io/v1` has it; what is empty is not there.
    pub(super) fn request(&self, hit: &Hit) -> Value {
        let asked = self.asked;
        let user = &asked.call.user;
        let mut request = json!({
            "kind": {"group": hit.kind.group, "version": hit.kind.version, "kind": hit.kind.kind},
            "resource": {"group": hit.kind.group, "version": hit.kind.version, "resource": hit.kind.plural},
            "requestKind": {"group": asked.kind.group, "version": asked.kind.version, "kind": asked.kind.kind},
            "requestResource": {"group": asked.kind.group, "version": asked.kind.version, "resource": asked.kind.plural},
            "operation": self.operation.as_str(),
            "userInfo": {"username": user.name, "groups": user.groups},
            "dryRun": self.is_dry(),
            "options": self.options(),
        });
        let mut set = |key: &str, word: &str| {
            if !word.is_empty() {
                request[key] = word.into();
            }
        };
        set("name", self.known_name());
        set("namespace", self.namespace());
        set("subResource", asked.subresource.unwrap_or_default());
        set("requestSubResource", asked.subresource.unwrap_or_default());
        if !user.uid.is_empty() {
            request["userInfo"]["uid"] = user.uid.clone().into();
        }
        if !user.extra.is_empty() {
            request["userInfo"]["extra"] = user
                .extra
                .iter()
                .cloned()
                .map(|(key, words)| (key, words.into()))
                .collect::<serde_json::Map<_, Value>>()
                .into();
        }
        request
    }

    /// 403, as a plugin refuses.
    pub(crate) fn forbidden(&self, why: &str) -> Failure {
        Failure::forbidden(self.asked.kind, self.name(), why)
    }

    pub(crate) fn is_dry(&self) -> bool {
        self.asked.call.options.dry_run == DryRun::All
    }
}

/// The object with its type, which a request may leave out.
fn typed(asked: Asked<'_>, mut object: Value) -> Value {
    if let Value::Object(map) = &mut object
        && (!map.contains_key("kind") || !map.contains_key("apiVersion"))
    {
        map.insert("apiVersion".into(), asked.kind.api_version().into());
        map.insert("kind".into(), asked.kind.kind.clone().into());
    }
    object
}
