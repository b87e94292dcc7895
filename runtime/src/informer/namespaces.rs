//! `Namespaces`: the namespaces that an operator watches.

use serde::Deserialize;
use std::{borrow::Cow, sync::Arc};

/// The watched namespaces; none of them stands for all namespaces of the cluster.
///
/// A single namespace is watched with requests for it. Several are watched with requests for all namespaces, and objects of other
/// namespaces are dropped as they arrive: a cache that is fed by one watch has one version up to which it is current.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Namespaces(Arc<[String]>);

impl Namespaces {
    /// Returns these namespaces, each once. Empty names count as absent.
    pub(crate) fn new(mut names: Vec<String>) -> Self {
        names.retain(|name| !name.is_empty());
        names.sort();
        names.dedup();
        Self(names.into())
    }

    /// Returns whether all namespaces are watched.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the namespace of list and watch requests; `None` if they are for all namespaces.
    pub(crate) fn request_namespace(&self) -> Option<&str> {
        match &*self.0 {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns whether objects of a namespace are watched.
    pub(crate) fn contains(&self, namespace: &str) -> bool {
        self.is_all() || self.0.iter().any(|name| name == namespace)
    }

    /// Returns whether an object of a response, as JSON, is in a watched namespace or cluster-scoped.
    pub(crate) fn contains_object(&self, json: &[u8]) -> bool {
        // A request for one namespace has no other objects.
        if self.0.len() < 2 {
            return true;
        }
        let object: Result<NamespacedObject<'_>, _> = serde_json::from_slice(json);
        // An object that can't be decoded passes, so that the store reports it.
        object.map_or(true, |object| object.metadata.namespace.is_none_or(|namespace| self.contains(&namespace)))
    }
}

/// The part of an object that says where it is.
#[derive(Deserialize)]
struct NamespacedObject<'a> {
    #[serde(borrow)]
    metadata: NamespaceOnly<'a>,
}

#[derive(Deserialize)]
struct NamespaceOnly<'a> {
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Namespaces {
        Namespaces::new(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn one_namespace_is_requested_and_several_are_filtered() {
        let object = |namespace: &str| format!(r#"{{"metadata":{{"namespace":"{namespace}","name":"a"}}}}"#);
        let (none, one, two) = (of(&[""]), of(&["web", "web"]), of(&["web", "shop"]));
        let namespaces = [&none, &one, &two].map(Namespaces::request_namespace);
        assert_eq!(namespaces, [None, Some("web"), None]);
        assert!(none.is_all() && none.contains("any") && none.contains_object(object("any").as_bytes()));
        assert!(one.contains("web") && !one.contains("shop"));
        for (namespace, is_watched) in [("web", true), ("shop", true), ("other", false)] {
            assert_eq!(two.contains_object(object(namespace).as_bytes()), is_watched, "{namespace}");
        }
        assert!(two.contains_object(br#"{"metadata":{"name":"node"}}"#));
    }
}
