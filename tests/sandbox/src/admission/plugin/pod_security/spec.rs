//! `Spec`, the parts of a Pod that the Pod Security rules check, and `Offenders`, the Pod and the containers that break a rule.

use serde_json::Value;

use crate::object;

/// The spec of a Pod, or of the pod template of a workload.
pub(super) struct Spec<'a> {
    pub(super) pod: &'a Value,
    pub(super) annotations: &'a Value,
    /// The containers: init containers first, ephemeral containers last.
    pub(super) containers: Vec<&'a Value>,
}

/// The Pod and containers that break a rule.
#[derive(Default)]
pub(super) struct Offenders<'a> {
    pub(super) pod: bool,
    pub(super) containers: Vec<&'a str>,
}

impl<'a> Spec<'a> {
    /// Collects the containers of a Pod spec: init containers, containers and ephemeral containers.
    pub(super) fn new(pod: &'a Value, annotations: &'a Value) -> Self {
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        let containers = lists.iter().flat_map(|list| list_items(pod, list)).collect();
        Self { pod, annotations, containers }
    }

    /// Returns the names of the containers that satisfy the predicate.
    pub(super) fn containers_where(&self, predicate: impl Fn(&Value) -> bool) -> Vec<&'a str> {
        let found = self.containers.iter().filter(|container| predicate(container));
        found.map(|container| container["name"].as_str().unwrap_or_default()).collect()
    }

    /// Returns whether the `securityContext` of the Pod satisfies the predicate, and the names of the containers whose own
    /// `securityContext` satisfies it.
    pub(super) fn offenders(&self, predicate: impl Fn(&Value) -> bool) -> Offenders<'a> {
        let containers = self.containers_where(|container| predicate(&container["securityContext"]));
        Offenders { pod: predicate(&self.pod["securityContext"]), containers }
    }

    /// Returns whether the Pod runs on Windows nodes.
    pub(super) fn is_for_windows(&self) -> bool {
        object::text(self.pod, &["os", "name"]) == "windows"
    }

    /// Returns whether the Pod has its own user namespace.
    pub(super) fn has_own_users(&self) -> bool {
        self.pod["hostUsers"] == false
    }
}

impl Offenders<'_> {
    /// Returns whether the Pod or a container breaks the rule.
    pub(super) fn exist(&self) -> bool {
        self.pod || !self.containers.is_empty()
    }

    /// Formats the Pod and the containers that break a rule for a message: `pod and containers "a", "b"`.
    pub(super) fn describe(&self) -> String {
        match (self.pod, self.containers.is_empty()) {
            (true, true) => "pod".to_owned(),
            (true, false) => format!("pod and {}", container_names(&self.containers)),
            (false, _) => container_names(&self.containers),
        }
    }
}

/// Returns the items of a list field; no items if the field is missing.
pub(super) fn list_items<'a>(value: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// Formats container names: `container "a"` or `containers "a", "b"`.
pub(super) fn container_names(names: &[&str]) -> String {
    noun_and_names("container", names)
}

/// Formats names after their noun, in the plural for several: `type "a"` or `types "a", "b"`.
pub(super) fn noun_and_names<T: AsRef<str>>(noun: &str, names: &[T]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", quoted(names))
}

/// Formats names in quotes: `"a", "b"`.
pub(super) fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| format!("\"{}\"", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Sorts names and removes duplicates.
pub(super) fn sort_unique(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A rule: returns the violation of a Pod that breaks it; `None` if the Pod complies.
pub(super) type PodRule = fn(&Spec<'_>) -> Option<String>;
