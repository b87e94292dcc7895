//! `CallError`: a request that failed, and what may be said of it.

use crate::{client::MissingRule, kind::Kind, shape::Verb};

/// A request that failed: what was tried on which object, and the cause.
#[derive(Debug, thiserror::Error)]
#[error("failed to {} {}", verb.as_str(), self.object())]
#[non_exhaustive]
pub struct CallError {
    /// What was tried.
    pub verb: Verb,
    /// On which kind.
    pub kind: Kind,
    /// On which subresource; empty for the object itself.
    pub subresource: &'static str,
    /// In which namespace, if any.
    pub namespace: Option<String>,
    /// On which object; empty where all were meant.
    pub name: String,
    /// What the client or the server said.
    #[source]
    pub source: Box<kube::Error>,
}

impl CallError {
    pub(crate) fn status(&self) -> Option<&kube::core::Status> {
        match self.source.as_ref() {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }

    pub(crate) fn code(&self) -> u16 {
        self.status().map_or(0, |status| status.code)
    }

    /// The object was changed, or made anew, since it was read; or a JSON patch does not fit it, which is no 409.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(|status| status.code == 409 && status.reason == "Conflict") || self.is_unmet_patch()
    }

    /// A JSON patch did not find what it tests for, or the place that it changes. The server carries a patch out before it looks
    /// at the version that the patch names, so that a finalizer whose place has moved is this, and no 409. It names neither an
    /// object nor a field, as it does where a value is refused.
    fn is_unmet_patch(&self) -> bool {
        let Some(status) = self.status().filter(|status| status.code == 422) else { return false };
        let nothing =
            |details: &kube::core::response::StatusDetails| details.name.is_empty() && details.causes.is_empty();
        self.verb == Verb::Patch && status.details.as_ref().is_none_or(nothing)
    }

    /// There is no such object, or no such kind.
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// The role doesn't allow it. Admission (a quota, a policy, a webhook) refuses with the same code, and no role helps there;
    /// only an authorizer's words name a verb and a resource.
    pub fn is_forbidden(&self) -> bool {
        let said = self.status().map_or("", |status| status.message.as_str());
        self.code() == 403 && said.contains(" cannot ") && said.contains(" resource \"")
    }

    /// The API server could not be reached, or had no time or no answer: the next call may work.
    pub(crate) fn is_outage(&self) -> bool {
        match self.source.as_ref() {
            kube::Error::Api(status) => status.code == 429 || status.code >= 500,
            kube::Error::Service(_) | kube::Error::HyperError(_) => true,
            _ => false,
        }
    }

    /// The fields of list items for which the server refuses an object, since two items have the same value or neither has one.
    pub(crate) fn colliding_fields(&self) -> Vec<&str> {
        let status = self.status().filter(|status| status.code == 422);
        let causes = status.and_then(|status| status.details.as_ref()).map(|details| details.causes.as_slice());
        let is_meant = |reason: &str| matches!(reason, "FieldValueDuplicate" | "FieldValueRequired");
        let meant = causes.unwrap_or_default().iter().filter(|cause| is_meant(&cause.reason));
        meant.map(|cause| cause.field.as_str()).collect()
    }

    /// Nothing can be made in a namespace that is being deleted; the server says so with the code of a missing permission.
    pub fn is_in_ending_namespace(&self) -> bool {
        let causes = self.status().and_then(|status| status.details.as_ref()).map(|details| details.causes.as_slice());
        causes.unwrap_or_default().iter().any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Nothing can be made in a namespace that does not exist.
    pub(crate) fn is_in_missing_namespace(&self) -> bool {
        let details = self.status().filter(|status| status.code == 404).and_then(|status| status.details.as_ref());
        self.namespace.is_some() && details.is_some_and(|details| details.kind == "namespaces")
    }

    /// The kind is going, or has just gone: its definition lets nothing new in, or there is nobody who would.
    pub(crate) fn is_api_going(&self) -> bool {
        let Some(status) = self.status() else { return false };
        let of_namespace = status.details.as_ref().is_some_and(|details| details.kind == "namespaces");
        let ends = status.message.contains("custom resource definition is terminating");
        status.code == 404 && !of_namespace || status.code == 403 && ends
    }

    fn object(&self) -> String {
        let what = if self.subresource.is_empty() {
            self.kind.kind.to_string()
        } else {
            format!("{}/{}", self.kind.kind, self.subresource)
        };
        match &self.namespace {
            Some(namespace) => format!("{what} {namespace}/{}", self.name),
            None => format!("{what} {}", self.name),
        }
    }

    /// The rule that a role lacks, in the role's words: kind, verb and scope.
    pub fn missing_rule(&self) -> MissingRule {
        let resource = match self.subresource {
            "" => self.kind.plural.to_string(),
            sub => format!("{}/{sub}", self.kind.plural),
        };
        let (group, verb) = (self.kind.group.to_string(), self.lacking());
        MissingRule { group, resource, verb, namespace: self.namespace.clone() }
    }

    /// An apply that would make the object asks for `create`, too; only the server's words say which of the two is lacking.
    fn lacking(&self) -> Verb {
        let said = self.status().map_or("", |status| status.message.as_str());
        if self.verb == Verb::Patch && said.contains("cannot create resource") { Verb::Create } else { self.verb }
    }
}
