//! `Target`: the object, or all objects of a namespace or of the cluster, that a request is for.

use crate::{
    client::{CallError, segment},
    kind::Kind,
    shape::Verb,
};
use kube::core::Request as Requests;

/// The subresource of a request for the object itself.
pub(super) const NO_SUBRESOURCE: &str = "";

/// The kind, namespace and name of a request. An empty name stands for all objects of the scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
}

impl Target<'_> {
    /// Returns the name, encoded as a segment of a URL path.
    pub(super) fn segment(&self) -> std::borrow::Cow<'_, str> {
        segment::segment(self.name)
    }

    /// Returns a builder of requests for the URL path of the kind in the namespace. A cluster-scoped kind has a path without a namespace.
    pub(crate) fn requests(&self) -> Requests {
        let (kind, namespace) = (self.kind, self.namespace.filter(|_| self.kind.namespaced));
        let prefix = if kind.group.is_empty() { "/api" } else { "/apis" };
        let namespace = namespace.map_or(String::new(), |name| format!("/namespaces/{}", segment::segment(name)));
        Requests::new(format!("{prefix}/{}{namespace}/{}", kind.api_version(), kind.plural))
    }

    /// Returns the error of a failed call: `source` with the verb, and with the object or the objects that the call was for.
    pub(crate) fn call_error(&self, verb: Verb, subresource: &'static str, source: kube::Error) -> CallError {
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
