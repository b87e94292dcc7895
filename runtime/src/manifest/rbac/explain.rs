//! Lists each generated RBAC rule with the tree node or the part of the control loop that needs the rule.

use crate::{access::Rule, manifest::project::Project};
use serde_json::{Value, json};
use std::fmt;
use {
    super::{Grant, GrantReason, GrantSource, RuleScope},
    crate::manifest::rbac::grant::grants,
};

/// Lists every rule, before rules are merged, and its source: the control loop, or a line of code.
///
/// ```text
/// Widget
///   configmaps              get, list, watch, create, patch, delete
///     node config, controller/src/widget.rs:21
/// ```
pub fn explain(project: &Project) -> String {
    let mut text = String::new();
    for (kind, grants) in by_kind(project) {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&format!("{kind}\n"));
        for grant in grants {
            let scope = describe_scope(project, &grant);
            text.push_str(&format!("  {}: {} ({scope})\n", subject(&grant.rule), grant.rule.verbs.join(", ")));
            text.push_str(&format!("    {}\n", grant.source));
        }
    }
    text
}

/// Returns every rule with its scope and its source as JSON, like [`explain`] does as text.
pub fn explain_json(project: &Project) -> Value {
    by_kind(project).iter().flat_map(|(_, grants)| grants).map(|grant| grant_json(project, grant)).collect()
}

/// Groups the rules by the kind of the controller that needs them. Returns each kind with its rules, sorted by kind.
fn by_kind(project: &Project) -> Vec<(String, Vec<Grant>)> {
    let mut kinds: Vec<(String, Vec<Grant>)> = Vec::new();
    for grant in grants(project) {
        match kinds.iter_mut().find(|(kind, _)| *kind == grant.source.kind) {
            Some((_, grants_of_kind)) => grants_of_kind.push(grant),
            None => kinds.push((grant.source.kind.clone(), vec![grant])),
        }
    }
    kinds.sort_by(|(one, _), (other, _)| one.cmp(other));
    kinds
}

/// Returns a phrase that says where a grant applies.
fn describe_scope(project: &Project, grant: &Grant) -> String {
    match grant.scope {
        RuleScope::OperatorNamespace => format!("in namespace {}", project.namespace),
        RuleScope::Namespace(namespace) => format!("in namespace {namespace}"),
        RuleScope::Cluster => "in the whole cluster".to_owned(),
    }
}

/// Returns a rule as JSON, with its namespace (null for the whole cluster) and its source.
fn grant_json(project: &Project, grant: &Grant) -> Value {
    let mut value = grant.rule.to_value();
    value["namespace"] = match grant.scope {
        RuleScope::OperatorNamespace => json!(project.namespace),
        RuleScope::Namespace(namespace) => json!(namespace),
        RuleScope::Cluster => Value::Null,
    };
    value["askedBy"] = grant.source.to_json();
    value
}

impl GrantSource {
    /// Returns the source of a rule as JSON: the controller's kind with the action of the reconcile loop or the process, or with the node
    /// and the line of code that declares the permission.
    pub(super) fn to_json(&self) -> Value {
        let mut value = json!({"kind": self.kind});
        match &self.reason {
            GrantReason::Loop(text) => value["loop"] = json!(text),
            GrantReason::Process(text) => value["process"] = json!(text),
            GrantReason::Node { path, location } => {
                value["node"] = json!(path);
                if !location.file.is_empty() {
                    value["file"] = json!(location.file);
                    value["line"] = json!(location.line);
                }
            }
        }
        value
    }
}

impl fmt::Display for GrantSource {
    /// Writes `node workload/service, controller/src/widget.rs:21`, or the action of the reconcile loop or the process that needs the rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            GrantReason::Loop(text) => write!(f, "the reconcile loop {text}"),
            GrantReason::Process(text) => write!(f, "the process {text}"),
            GrantReason::Node { path, location } => {
                if path.is_empty() {
                    f.write_str("the tree itself")?;
                } else {
                    write!(f, "node {path}")?;
                }
                if location.file.is_empty() { Ok(()) } else { write!(f, ", {}:{}", location.file, location.line) }
            }
        }
    }
}

/// Describes the objects of a rule: its resources, groups and resource names, for example `leases of coordination.k8s.io named demo`, or
/// its non-resource URLs.
fn subject(rule: &Rule) -> String {
    if !rule.urls.is_empty() {
        return rule.urls.join(", ");
    }
    let mut text = rule.resources.join(", ");
    let groups: Vec<_> = rule.groups.iter().filter(|group| !group.is_empty()).map(String::as_str).collect();
    for (word, list) in [("of", groups.join(", ")), ("named", rule.resource_names.join(", "))] {
        if !list.is_empty() {
            text.push_str(&format!(" {word} {list}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{example_project, fixture};

    #[test]
    fn every_rule_is_listed_with_its_source() {
        let expected = "\
Network
  networks of demo.example.com: list, patch, watch (in the whole cluster)
    the reconcile loop watches its own kind and sets its finalizer
  networks/status of demo.example.com: update (in the whole cluster)
    the reconcile loop writes the status
  configmaps: get, list, watch, patch, delete (in the whole cluster)
    the tree itself

Operator
  tokenreviews of authentication.k8s.io: create (in the whole cluster)
    the process authenticates the clients of /metrics
  subjectaccessreviews of authorization.k8s.io: create (in the whole cluster)
    the process authorizes the clients of /metrics
  leases of coordination.k8s.io named demo.opgen.dev: get, update, watch (in namespace demo-system)
    the process elects a leader
  leases of coordination.k8s.io: create (in namespace demo-system)
    the process elects a leader

Widget
";
        let text = explain(&fixture::project());
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains(
            "  events of events.k8s.io: create, patch (in the whole cluster)\n    the reconcile loop records events\n"
        ));
    }

    #[test]
    fn the_source_of_a_node_contains_the_line_that_declares_the_permission() {
        let mut project = example_project();
        project.namespaced = true;
        let text = explain(&project);
        for line in [
            "  configmaps: get, list, watch, create, patch, delete (in namespace shops-system)\n    node config, controller/src/shop.rs:12\n",
            "    node workload/service, controller/src/shop.rs:37\n",
            "  nodes: get (in the whole cluster)\n    node backup, controller/src/shop.rs:70\n",
            "  deployments/scale of apps: patch, get (in namespace shops-system)\n",
        ] {
            assert!(text.contains(line), "`{line}` is not in\n{text}");
        }
        let json = explain_json(&project);
        let rules = json.as_array().map(Vec::as_slice).unwrap_or_default();
        let config = rules.iter().find(|rule| rule["askedBy"]["node"] == "config").cloned().unwrap_or_default();
        assert_eq!((&config["askedBy"]["line"], &config["namespace"]), (&json!(12), &json!("shops-system")));
        assert_eq!(config["resources"], json!(["configmaps"]));
    }
}
