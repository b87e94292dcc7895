//! Who asks for which rule.

use crate::{access::Rule, manifest::project::Project};
use serde_json::{Value, json};
use std::fmt;
use {
    super::{Asker, Grant, GrantReason, RuleScope},
    crate::manifest::rbac::grant::grants,
};

/// Every rule before rules are merged, and who asks for it: the loop, or a line of code.
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
            let scope = scope(project, &grant);
            text.push_str(&format!("  {}: {} ({scope})\n", subject(&grant.rule), grant.rule.verbs.join(", ")));
            text.push_str(&format!("    {}\n", grant.asker));
        }
    }
    text
}

/// As [`explain`], for programs: a list of rules.
pub fn explain_json(project: &Project) -> Value {
    by_kind(project).iter().flat_map(|(_, grants)| grants).map(|grant| grant_json(project, grant)).collect()
}

fn by_kind(project: &Project) -> Vec<(String, Vec<Grant>)> {
    let mut kinds: Vec<(String, Vec<Grant>)> = Vec::new();
    for grant in grants(project) {
        match kinds.iter_mut().find(|(kind, _)| *kind == grant.asker.kind) {
            Some((_, held)) => held.push(grant),
            None => kinds.push((grant.asker.kind.clone(), vec![grant])),
        }
    }
    kinds.sort_by(|(one, _), (other, _)| one.cmp(other));
    kinds
}

fn scope(project: &Project, grant: &Grant) -> String {
    match grant.scope {
        RuleScope::Own => format!("in namespace {}", project.namespace),
        RuleScope::In(namespace) => format!("in namespace {namespace}"),
        RuleScope::Cluster => "in all the cluster".to_owned(),
    }
}

fn grant_json(project: &Project, grant: &Grant) -> Value {
    let mut value = grant.rule.to_value();
    value["namespace"] = match grant.scope {
        RuleScope::Own => json!(project.namespace),
        RuleScope::In(namespace) => json!(namespace),
        RuleScope::Cluster => Value::Null,
    };
    value["askedBy"] = grant.asker.to_json();
    value
}

impl Asker {
    pub(super) fn to_json(&self) -> Value {
        let mut value = json!({"kind": self.kind});
        match &self.why {
            GrantReason::Loop(said) => value["loop"] = json!(said),
            GrantReason::Node { path, place } => {
                value["node"] = json!(path);
                if !place.file.is_empty() {
                    value["file"] = json!(place.file);
                    value["line"] = json!(place.line);
                }
            }
        }
        value
    }
}

/// `node workload/service, controller/src/widget.rs:21`, or what the loop does.
impl fmt::Display for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            GrantReason::Loop(said) => write!(f, "the loop {said}"),
            GrantReason::Node { path, place } => {
                if path.is_empty() {
                    f.write_str("the tree itself")?;
                } else {
                    write!(f, "node {path}")?;
                }
                if place.file.is_empty() { Ok(()) } else { write!(f, ", {}:{}", place.file, place.line) }
            }
        }
    }
}

/// What a rule is about: `deployments/scale of apps`, with the names of objects it is limited to.
fn subject(rule: &Rule) -> String {
    if !rule.urls.is_empty() {
        return rule.urls.join(", ");
    }
    let mut said = rule.resources.join(", ");
    let groups: Vec<_> = rule.groups.iter().filter(|group| !group.is_empty()).map(String::as_str).collect();
    for (word, list) in [("of", groups.join(", ")), ("named", rule.resource_names.join(", "))] {
        if !list.is_empty() {
            said.push_str(&format!(" {word} {list}"));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{every_term, fixture};

    #[test]
    fn every_rule_has_its_asker() {
        let expected = "\
Network
  networks of demo.example.com: list, patch, watch (in all the cluster)
    the loop follows its own kind, and keeps its finalizer on the objects
  networks/status of demo.example.com: update (in all the cluster)
    the loop writes the status
  configmaps: get, list, watch, patch, delete (in all the cluster)
    the tree itself

Widget
";
        let text = explain(&fixture::project());
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.contains(
                "  events of events.k8s.io: create, patch (in all the cluster)\n    the loop records events\n"
            )
        );
    }

    #[test]
    fn a_node_is_named_with_the_line_that_asks() {
        let mut project = every_term();
        project.namespaced = true;
        let text = explain(&project);
        for said in [
            "  configmaps: get, list, watch, create, patch, delete (in namespace shops-system)\n    node config, controller/src/shop.rs:12\n",
            "    node workload/service, controller/src/shop.rs:37\n",
            "  nodes: get (in all the cluster)\n    node backup, controller/src/shop.rs:70\n",
            "  deployments/scale of apps: patch, get (in namespace shops-system)\n",
        ] {
            assert!(text.contains(said), "`{said}` is not in\n{text}");
        }
        let json = explain_json(&project);
        let rules = json.as_array().map(Vec::as_slice).unwrap_or_default();
        let config = rules.iter().find(|rule| rule["askedBy"]["node"] == "config").cloned().unwrap_or_default();
        assert_eq!((&config["askedBy"]["line"], &config["namespace"]), (&json!(12), &json!("shops-system")));
        assert_eq!(config["resources"], json!(["configmaps"]));
    }
}
