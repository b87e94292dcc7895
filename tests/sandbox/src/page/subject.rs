//! Determines the object, kind or server that a timeline entry (a call, an event or a reconcile pass) concerns.

use std::collections::HashMap;

use crate::fault::{ObservedCall, ObservedEvent, ObservedPass, Timeline, TimelineEvent};

/// An object, a whole kind, or the server itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Subject {
    /// The resource, such as `deployments.apps`; empty for the server itself.
    pub(super) resource: String,
    /// Empty for cluster-scoped objects and for whole kinds.
    pub(super) namespace: String,
    /// Empty for whole kinds.
    pub(super) name: String,
}

impl Subject {
    /// Returns the subject of a call, from its path: an object, a whole kind, or the server for other paths. For a call of a key-value
    /// store, the name of the store stands for the kind, and the key for the name of the object.
    pub(super) fn of_call(call: &ObservedCall) -> Self {
        let path = call.path();
        if call.is_of_store() {
            let (store, key) = path.split_once('/').unwrap_or((path, ""));
            return Self { resource: store.to_owned(), namespace: String::new(), name: key.to_owned() };
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, rest) = match segments.as_slice() {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            // An external service.
            ["external", service, rest @ ..] => {
                let (resource, name) = ((*service).to_owned(), rest.first().copied().unwrap_or_default().to_owned());
                return Self { resource, name, ..Self::default() };
            }
            _ => return Self::default(),
        };
        let (namespace, rest) = match rest {
            // A subresource of a Namespace, not a resource in it.
            ["namespaces", _, "status" | "finalize"] => ("", rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            _ => ("", rest),
        };
        let Some(plural) = rest.first() else { return Self::default() };
        let resource = if group.is_empty() { (*plural).to_owned() } else { format!("{plural}.{group}") };
        match rest.get(1) {
            Some(name) => Self { resource, namespace: namespace.to_owned(), name: (*name).to_owned() },
            None => Self { resource, ..Self::default() },
        }
    }

    /// Returns the subject of an event of a watch of `resource`.
    fn of_event(resource: String, event: &ObservedEvent) -> Self {
        Self { resource, namespace: event.namespace.clone(), name: event.name.clone() }
    }

    /// Returns the subject of a reconcile pass.
    pub(super) fn of_pass(pass: &ObservedPass) -> Self {
        let ObservedPass { resource, namespace, name, .. } = pass;
        Self { resource: resource.clone(), namespace: namespace.clone(), name: name.clone() }
    }

    /// Returns the subject that stands for the whole kind of this subject.
    pub(super) fn kind(&self) -> Self {
        Self { resource: self.resource.clone(), ..Self::default() }
    }

    /// Returns whether the subject is a single object.
    pub(super) fn is_object(&self) -> bool {
        !self.name.is_empty()
    }

    /// Returns the name with the namespace in front.
    pub(super) fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }
}

/// The subjects of a timeline. An event has a kind and a call has a plural; the watch of the event connects them.
#[derive(Debug)]
pub(super) struct Subjects {
    /// The resource of each watch, by the number of its call.
    resources_of_watches: HashMap<u64, String>,
    /// The kind of each resource: `Deployment` by `deployments.apps`.
    kinds: HashMap<String, String>,
}

impl Subjects {
    /// Collects the resource of each watch from its call, and the kind of each resource from the events of its watches.
    pub(super) fn new(timeline: &Timeline) -> Self {
        let resources_of_watches: HashMap<u64, String> = timeline
            .calls()
            .filter(|call| call.is_watch())
            .map(|call| (call.number, Subject::of_call(call).resource))
            .collect();
        let mut kinds = HashMap::new();
        for entry in &timeline.entries {
            if let TimelineEvent::Event(event) = &entry.event
                && let Some(resource) = resources_of_watches.get(&event.watch)
                // A metadata watch does not report the kind.
                && !event.kind.is_empty() && event.kind != "PartialObjectMetadata"
            {
                kinds.entry(resource.clone()).or_insert_with(|| event.kind.clone());
            }
        }
        Self { resources_of_watches, kinds }
    }

    /// Returns the object that an event concerns. Its resource is the resource of the watch, or the kind if the timeline
    /// does not contain the call that began the watch.
    pub(super) fn of_event(&self, event: &ObservedEvent) -> Subject {
        let resource = self.resources_of_watches.get(&event.watch).cloned().unwrap_or_else(|| event.kind.clone());
        Subject::of_event(resource, event)
    }

    /// Returns the kind of a resource, or its plural if no event reported the kind.
    pub(super) fn kind_name<'a>(&'a self, resource: &'a str) -> &'a str {
        match self.kinds.get(resource) {
            Some(kind) => kind,
            None if resource.is_empty() => "the server",
            None => resource.split('.').next().unwrap_or(resource),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_call_determines_its_subject() {
        let subject = |uri: &str| {
            let call = ObservedCall { number: 1, method: "GET".into(), uri: uri.into(), code: None, fault: None };
            let Subject { resource, namespace, name } = Subject::of_call(&call);
            format!("{resource} {namespace} {name}")
        };
        assert_eq!(subject("/version"), "  ");
        assert_eq!(subject("/apis/apps/v1"), "  ");
        assert_eq!(subject("/apis/apps/v1/deployments?watch=true"), "deployments.apps  ");
        assert_eq!(subject("/apis/apps/v1/namespaces/a/deployments"), "deployments.apps  ");
        assert_eq!(subject("/apis/apps/v1/namespaces/a/deployments/b/status"), "deployments.apps a b");
        assert_eq!(subject("/api/v1/namespaces/a"), "namespaces  a");
        assert_eq!(subject("/api/v1/namespaces/a/finalize"), "namespaces  a");
        assert_eq!(subject("/api/v1/nodes/a"), "nodes  a");
    }
}
