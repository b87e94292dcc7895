//! `Target`: the object, or the objects of a scope, that a request is for.

use crate::{
    client::{CallError, segment},
    kind::Kind,
    shape::Verb,
};
use kube::core::Request as Requests;

/// One object, or all of a scope, as a request needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
}

impl Target<'_> {
    /// The name as a URL has it.
    pub(super) fn segment(&self) -> std::borrow::Cow<'_, str> {
        segment::segment(self.name)
    }

    pub(crate) fn requests(&self) -> Requests {
        let (kind, namespace) = (self.kind, self.namespace.filter(|_| self.kind.namespaced));
        let prefix = if kind.group.is_empty() { "/api" } else { "/apis" };
        let namespace = namespace.map_or(String::new(), |name| format!("/namespaces/{}", segment::segment(name)));
        Requests::new(format!("{prefix}/{}{namespace}/{}", kind.api_version(), kind.plural))
    }

    pub(crate) fn failed(&self, verb: Verb, subresource: &'static str, source: kube::Error) -> CallError {
        CallError {
            verb,
            kind: self.kind.clone(),
            subresource,
            namespace: self.namespace.filter(|_| self.kind.namespaced).map(str::to_owned),
            name: self.name.to_owned(),
            source: Box::new(source),
        }
    }
}
