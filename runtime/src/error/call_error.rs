//! `CallError`: a failed request to the API server, and the classification of its causes.

use super::not_leading::NotLeading;
use crate::{client::MissingRule, kind::Kind, shape::Verb};

/// A failed request to the API server: the verb, the object, and the cause.
#[derive(Debug, thiserror::Error)]
#[error("failed to {} {}", verb.as_str(), self.object())]
#[non_exhaustive]
pub struct CallError {
    /// The verb of the request.
    pub verb: Verb,
    /// The kind of the object.
    pub kind: Kind,
    /// The subresource; empty for the object itself.
    pub subresource: &'static str,
    /// The namespace, if any.
    pub namespace: Option<String>,
    /// The name of the object; empty for a request for all objects.
    pub name: String,
    /// The error of the client or of the API server.
    #[source]
    pub source: Box<kube::Error>,
}

impl CallError {
    /// Returns the Status object of the response; `None` if the API server did not answer with one.
    pub(crate) fn status(&self) -> Option<&kube::core::Status> {
        match self.source.as_ref() {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }

    pub(crate) fn code(&self) -> u16 {
        self.status().map_or(0, |status| status.code)
    }

    /// Returns whether the call failed because of another writer. The object has changed, or was created again, since it was read (409, or
    /// a JSON patch that doesn't apply, to which the API server does not respond with 409), or this replica is no longer the leader.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(|status| status.code == 409 && status.reason == "Conflict")
            || self.is_failed_json_patch()
            || NotLeading::is_cause_of(&self.source)
    }

    /// Returns whether an object could not be created because another object has its name.
    pub(crate) fn is_name_taken(&self) -> bool {
        self.status().is_some_and(|status| status.code == 409 && status.reason == "AlreadyExists")
    }

    /// Returns whether a JSON patch did not apply, because a test failed or its path does not exist.
    ///
    /// The API server applies a patch before it compares the resourceVersion that the patch names. So a finalizer whose index has
    /// changed causes 422 and not 409. This 422 names neither an object nor a field, unlike a 422 for an invalid value.
    fn is_failed_json_patch(&self) -> bool {
        let Some(status) = self.status().filter(|status| status.code == 422) else { return false };
        let is_unspecific =
            |details: &kube::core::response::StatusDetails| details.name.is_empty() && details.causes.is_empty();
        self.verb == Verb::Patch && status.details.as_ref().is_none_or(is_unspecific)
    }

    /// Returns whether the object or its kind does not exist.
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// Returns whether the operator's role does not allow the call. Admission (a quota, a policy, a webhook) also answers with
    /// 403, and no role helps there; only the message of the authorizer names a verb and a resource.
    pub fn is_forbidden(&self) -> bool {
        let message = self.status().map_or("", |status| status.message.as_str());
        self.code() == 403 && message.contains(" cannot ") && message.contains(" resource \"")
    }

    /// Returns whether the API server was unreachable or overloaded, or failed, so that the next call may succeed. A write that was not
    /// sent because this replica does not lead is no outage.
    pub(crate) fn is_outage(&self) -> bool {
        match self.source.as_ref() {
            kube::Error::Api(status) => status.code == 429 || status.code >= 500,
            kube::Error::Service(_) | kube::Error::HyperError(_) => !NotLeading::is_cause_of(&self.source),
            _ => false,
        }
    }

    /// Returns whether the API server did not respond, or not with a whole response. A write that was not sent because this replica is not
    /// the leader doesn't count.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.source.as_ref(), kube::Error::Service(_) | kube::Error::HyperError(_))
            && !NotLeading::is_cause_of(&self.source)
    }

    /// Returns the paths of the fields that a 422 response reports as duplicate or missing (`spec.ports[1].name`); none for another
    /// error. The API server reports two list items with the same key, or an item without a key, in this way.
    pub(crate) fn duplicate_or_required_fields(&self) -> Vec<&str> {
        let status = self.status().filter(|status| status.code == 422);
        let causes = status.and_then(|status| status.details.as_ref()).map(|details| details.causes.as_slice());
        let is_relevant = |reason: &str| matches!(reason, "FieldValueDuplicate" | "FieldValueRequired");
        let relevant = causes.unwrap_or_default().iter().filter(|cause| is_relevant(&cause.reason));
        relevant.map(|cause| cause.field.as_str()).collect()
    }

    /// Returns whether the namespace is being deleted, so that nothing can be created there. The API server answers with 403.
    pub fn is_in_ending_namespace(&self) -> bool {
        let causes = self.status().and_then(|status| status.details.as_ref()).map(|details| details.causes.as_slice());
        causes.unwrap_or_default().iter().any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Returns whether the namespace does not exist.
    pub(crate) fn is_in_missing_namespace(&self) -> bool {
        let details = self.status().filter(|status| status.code == 404).and_then(|status| status.details.as_ref());
        self.namespace.is_some() && details.is_some_and(|details| details.kind == "namespaces")
    }

    /// Returns whether the call may have failed because the CustomResourceDefinition of the kind is being deleted or was deleted: a 403
    /// with the message of the API server for this case, or any 404 except for a missing namespace.
    pub(crate) fn is_api_going(&self) -> bool {
        let Some(status) = self.status() else { return false };
        let is_about_namespace = status.details.as_ref().is_some_and(|details| details.kind == "namespaces");
        let is_terminating = status.message.contains("custom resource definition is terminating");
        status.code == 404 && !is_about_namespace || status.code == 403 && is_terminating
    }

    /// Describes the object of the request, with its subresource, for messages: `Deployment/scale shop/web`.
    fn object(&self) -> String {
        let kind = if self.subresource.is_empty() {
            self.kind.kind.to_string()
        } else {
            format!("{}/{}", self.kind.kind, self.subresource)
        };
        match &self.namespace {
            Some(namespace) => format!("{kind} {namespace}/{}", self.name),
            None => format!("{kind} {}", self.name),
        }
    }

    /// Returns the RBAC rule that the role lacks: group, resource, verb and scope.
    pub fn missing_rule(&self) -> MissingRule {
        let resource = match self.subresource {
            "" => self.kind.plural.to_string(),
            sub => format!("{}/{sub}", self.kind.plural),
        };
        let (group, verb) = (self.kind.group.to_string(), self.missing_verb());
        MissingRule { group, resource, verb, namespace: self.namespace.clone() }
    }

    /// Returns the verb that the role lacks. An apply that would create the object also needs `create`; only the message of the
    /// API server shows which of the two is missing.
    fn missing_verb(&self) -> Verb {
        let message = self.status().map_or("", |status| status.message.as_str());
        if self.verb == Verb::Patch && message.contains("cannot create resource") { Verb::Create } else { self.verb }
    }
}
