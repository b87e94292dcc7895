//! `ResourceRequest`: a request for an API resource, with the parsed HTTP call, the kind that serves the resource, and the namespace, name
//! and subresource from the path.

use std::sync::Arc;

use crate::{
    call::{Call, ResourceTarget, Verb},
    failure::Failure,
    kind::Kind,
    server::Server,
    store::Stored,
};

/// A request for a served resource.
#[derive(Clone, Copy)]
pub(crate) struct ResourceRequest<'a> {
    pub(crate) server: &'a Server,
    pub(crate) call: &'a Call,
    pub(crate) kind: &'a Arc<Kind>,
    /// The namespace; empty for all namespaces and for cluster-scoped kinds.
    pub(crate) namespace: &'a str,
    /// The name; empty for a collection.
    pub(crate) name: &'a str,
    /// The subresource; `None` for the object itself.
    pub(crate) subresource: Option<&'a str>,
}

impl<'a> ResourceRequest<'a> {
    /// Returns the request for a target that was parsed from a path. The target of a Namespace itself has its name as
    /// namespace, too.
    ///
    /// # Errors
    /// If the path does not fit the scope of the kind: `MethodNotAllowed` for a write to the collection of all
    /// namespaces, otherwise `NotFound`.
    pub(crate) fn new(
        server: &'a Server,
        call: &'a Call,
        kind: &'a Arc<Kind>,
        target: &'a ResourceTarget,
    ) -> Result<Self, Failure> {
        let namespace = if kind.namespaced { target.namespace.as_str() } else { "" };
        let name = target.name.as_deref().unwrap_or_default();
        // A path without a namespace fits a namespaced kind only to list or watch all namespaces. A path with a namespace
        // does not fit a cluster-scoped kind.
        let wrong_scope = if kind.namespaced {
            namespace.is_empty() && !(name.is_empty() && matches!(call.verb, Verb::List | Verb::Watch))
        } else {
            !target.namespace.is_empty() && target.plural != "namespaces"
        };
        if wrong_scope {
            let is_collection_of_all_namespaces = kind.namespaced && name.is_empty();
            return Err(if is_collection_of_all_namespaces {
                Failure::method_not_allowed()
            } else {
                Failure::no_such_resource()
            });
        }
        Ok(Self { server, call, kind, namespace, name, subresource: target.subresource.as_deref() })
    }

    /// Returns the stored object that the path names.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub(crate) fn stored_object(&self) -> Result<Arc<Stored>, Failure> {
        let stored = self.server.store.get(&self.kind.group_resource, self.namespace, self.name);
        stored.ok_or_else(|| Failure::not_found(self.kind, self.name))
    }
}
