//! Generates the MutatingAdmissionPolicy that adds the operator's finalizer to new objects.
//!
//! The policy saves a write per object and closes the gap between creation and the operator's first pass. It has a file of its
//! own for two reasons: servers older than Kubernetes 1.36 don't know the kind, and the administrator of a namespace may not
//! create it. The binding takes a ConfigMap of the operator's namespace as its parameter. If the namespace with the operator is
//! deleted, the parameter is gone and the policy no longer makes new objects undeletable.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::project::{KindDescription, Project};

/// Returns the ConfigMap that is the policy's parameter, the policy and its binding; nothing if the policy applies to no kind.
///
/// The policy doesn't apply to foreign kinds: their objects exist without the operator, too, and the API server would evaluate the policy
/// at every creation. Nor does it apply to kinds that the operator selects by labels: nothing would remove the finalizer from the objects
/// that are not selected.
///
/// The parameter comes first, so that an uninstallation also deletes it first. A kube-apiserver (up to 1.36 at least) stops watching
/// ConfigMaps for good when the last binding that names a ConfigMap is deleted, and keeps the last state that it saw until it restarts. If
/// the server has seen the deletion of the parameter, a later policy does nothing; otherwise a later policy outlives its operator.
pub(crate) fn documents(project: &Project) -> Vec<Value> {
    if controlled_kinds(project).next().is_none() {
        return Vec::new();
    }
    let name = format!("{}-finalizer-policy", project.cluster_name());
    let parameter = format!("{}-finalizer-policy", project.name);
    vec![
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"labels": project.labels(), "name": parameter, "namespace": project.namespace},
        }),
        policy(project, &name),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"labels": project.labels(), "name": name},
            "spec": {
                "paramRef": {"name": parameter, "namespace": project.namespace, "parameterNotFoundAction": "Allow"},
                "policyName": name,
            },
        }),
    ]
}

/// Returns the kinds that the policy applies to: the operator defines them in Kubernetes, gives all their objects a finalizer, and selects
/// no objects by labels or fields.
fn controlled_kinds(project: &Project) -> impl Iterator<Item = &KindDescription> {
    let has_policy = |controlled: &&KindDescription| {
        !controlled.is_foreign()
            && controlled.bucket.is_none()
            && !controlled.finalizer.is_empty()
            && !controlled.selects
    };
    project.controllers.iter().filter(has_policy)
}

/// Returns the MutatingAdmissionPolicy that adds the operator's finalizers to new objects of its kinds.
fn policy(project: &Project, name: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"labels": project.labels(), "name": name},
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": constraints(project),
            "mutations": [{"applyConfiguration": {"expression": expression(project)}, "patchType": "ApplyConfiguration"}],
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "reinvocationPolicy": "Never",
        },
    })
}

/// Returns the match constraints: creation of the controlled kinds in every version. If the operator watches only its own namespace, they
/// match this namespace only, since nothing would remove the finalizer elsewhere.
fn constraints(project: &Project) -> Value {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for controlled in controlled_kinds(project) {
        groups.entry(&controlled.kind.group).or_default().insert(&controlled.kind.plural);
    }
    let rules = groups.iter().map(|(group, plurals)| {
        json!({"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": plurals})
    });
    let mut constraints = json!({"resourceRules": rules.collect::<Vec<_>>()});
    if project.namespaced {
        constraints["namespaceSelector"] = json!({"matchLabels": {"kubernetes.io/metadata.name": project.namespace}});
    }
    constraints
}

/// Returns the CEL expression of an apply configuration that contains only the finalizers. `metadata.finalizers` is a set, so applying it
/// keeps the finalizers of other controllers. One policy serves all kinds, so the expression looks the finalizers up by the resource of
/// the request.
fn expression(project: &Project) -> String {
    let mut kinds: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for controlled in controlled_kinds(project) {
        kinds.entry(controlled.kind.full_name()).or_default().insert(&controlled.finalizer);
    }
    let entry = |(kind, finalizers): (&String, &BTreeSet<&str>)| format!("  {}: {}", json!(kind), json!(finalizers));
    let entries: Vec<_> = kinds.iter().map(entry).collect();
    let finalizers = format!("{{\n{}\n}}", entries.join(",\n"));
    format!(
        "Object{{metadata: Object.metadata{{finalizers: {finalizers}[request.resource.resource + \".\" + request.resource.group]}}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn one_policy_gives_each_kind_its_finalizers() {
        let mut project = fixture::project();
        let mut second = project.controllers[0].clone();
        second.finalizer = "backup.example.com/finalizer".into();
        project.controllers.push(second);
        let policy = &documents(&project)[1];
        let rules = json!([{
            "apiGroups": ["demo.example.com"],
            "apiVersions": ["*"],
            "operations": ["CREATE"],
            "resources": ["networks", "widgets"],
        }]);
        assert_eq!(policy["spec"]["matchConstraints"]["resourceRules"], rules);
        let expected = r#"Object{metadata: Object.metadata{finalizers: {
  "networks.demo.example.com": ["demo.example.com/network"],
  "widgets.demo.example.com": ["backup.example.com/finalizer","demo.example.com/widget"]
}[request.resource.resource + "." + request.resource.group]}}"#;
        assert_eq!(policy["spec"]["mutations"][0]["applyConfiguration"]["expression"], expected);
        assert_eq!(policy["spec"]["failurePolicy"], "Ignore");
    }

    #[test]
    fn the_policy_does_nothing_after_its_parameter_is_deleted() {
        let documents = documents(&fixture::project());
        let kinds: Vec<_> = documents.iter().map(|document| document["kind"].clone()).collect();
        assert_eq!(kinds, ["ConfigMap", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"]);
        let reference = &documents[2]["spec"]["paramRef"];
        assert_eq!(reference["parameterNotFoundAction"], "Allow");
        assert_eq!(reference["namespace"], documents[0]["metadata"]["namespace"]);
        assert_eq!(reference["name"], documents[0]["metadata"]["name"]);
    }

    #[test]
    fn an_operator_of_one_namespace_adds_finalizers_in_this_namespace_only() {
        let mut project = fixture::project();
        project.namespaced = true;
        let documents = documents(&project);
        let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": "demo-system"}});
        assert_eq!(documents[1]["spec"]["matchConstraints"]["namespaceSelector"], selector);
        assert_eq!(documents[1]["metadata"]["name"], "demo-system-demo-finalizer-policy");
    }

    #[test]
    fn an_operator_without_suitable_kinds_has_no_policy() {
        let mut project = fixture::project();
        project.controllers.iter_mut().for_each(|controlled| controlled.selects = true);
        assert!(documents(&project).is_empty());
        project.controllers.clear();
        assert!(documents(&project).is_empty());
    }
}
