//! Generates the operator's RBAC roles from the permissions that the nodes of its trees declare.

mod audit;
mod buckets;
mod explain;
mod grant;
mod verify;

use crate::{
    access::{Rule, merge},
    kind::Kind,
    manifest::rbac::grant::{grants, grants_without_certificates},
    shape::{AccessTarget, Node, NodeVisit, Verb},
};
use grant::{Grant, GrantReason, GrantSource, RuleScope};

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub use audit::AuditError;
pub(crate) use buckets::{BucketAccess, bucket_access};
pub use explain::{explain, explain_json};
pub use verify::{Comparison, verify};

use super::lint::{Finding, Findings};
use super::project::Project;

/// Returns the ServiceAccount of the operator, and its roles with their bindings. An operator that watches only its own namespace gets a
/// Role in it, and a ClusterRole for cluster-scoped kinds. Permissions that name another namespace become a Role in that namespace.
pub(crate) fn documents(project: &Project) -> Vec<Value> {
    documents_of(project, grants(project))
}

/// Returns the ServiceAccount, and the roles with their bindings, of an operator that does not make the certificate of its webhooks itself.
/// `opgen-testing` calls the webhooks without a certificate, so it installs these roles.
#[doc(hidden)]
pub fn documents_without_certificates(project: &Project) -> Vec<Value> {
    documents_of(project, grants_without_certificates(project))
}

/// The rules that a role doesn't need if somebody other than the operator, such as cert-manager, makes the certificate of the webhooks, and
/// the rules that replace them.
#[derive(Clone, Debug)]
pub(crate) struct RuleChange {
    pub(crate) kind: String,
    pub(crate) name: String,
    /// The namespace of a Role.
    pub(crate) namespace: Option<String>,
    /// The rules to remove, with their positions in the role, in ascending order.
    pub(crate) removed: Vec<(usize, Value)>,
    /// The rules to add.
    pub(crate) added: Vec<Value>,
}

impl RuleChange {
    /// Returns whether the document is the changed role.
    pub(crate) fn is_of(&self, document: &Value) -> bool {
        let namespace = document["metadata"]["namespace"].as_str();
        document["kind"] == *self.kind
            && document["metadata"]["name"] == *self.name
            && namespace == self.namespace.as_deref()
    }
}

/// Returns a change for each role of the operator that needs fewer rules if somebody else, such as cert-manager, makes the certificate of
/// the webhooks. Compares the generated roles with and without the rules for making certificates.
pub(crate) fn changes_without_certificates(project: &Project) -> Vec<RuleChange> {
    let reduced_documents = documents_without_certificates(project);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let identity = |role: &Value| [&role["kind"], &role["metadata"]["name"], &role["metadata"]["namespace"]].map(text);
    let rules = |role: &Value| role["rules"].as_array().cloned().unwrap_or_default();
    let change = |role: &Value| {
        let reduced_role = reduced_documents.iter().find(|reduced| identity(reduced) == identity(role));
        let reduced_rules = reduced_role.map(rules).unwrap_or_default();
        let (full_rules, [kind, name, namespace]) = (rules(role), identity(role));
        // A merged rule that also served the certificates is replaced by a smaller rule.
        let added: Vec<_> = reduced_rules.iter().filter(|rule| !full_rules.contains(rule)).cloned().collect();
        let removed: Vec<_> =
            full_rules.into_iter().enumerate().filter(|(_, rule)| !reduced_rules.contains(rule)).collect();
        let (kind, name) = (kind.unwrap_or_default(), name.unwrap_or_default());
        (!removed.is_empty()).then_some(RuleChange { kind, name, namespace, removed, added })
    };
    documents(project).iter().filter_map(change).collect()
}

/// Returns the ServiceAccount, and for each scope of `grants` a role with the merged rules of the scope, and its binding.
fn documents_of(project: &Project, grants: Vec<Grant>) -> Vec<Value> {
    let mut scopes: BTreeMap<RuleScope, Vec<Rule>> = BTreeMap::new();
    for grant in grants {
        scopes.entry(grant.scope).or_default().push(grant.rule);
    }
    let mut documents = vec![json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"labels": project.labels(), "name": project.name, "namespace": project.namespace},
    })];
    documents.extend(scopes.into_iter().flat_map(|(scope, rules)| role(project, &scope, &merge(rules))));
    documents
}

/// Returns the ClusterRole that the operator needs in other clusters, where the objects of its remote nodes are; `None` if it has no such
/// node. An administrator binds it there to the user of the kubeconfig with which the operator connects.
pub(crate) fn remote_role(project: &Project) -> Option<Value> {
    let rules: Vec<_> = merge(grant::remote_rules(project)).iter().map(Rule::to_value).collect();
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"labels": project.labels(), "name": format!("{}-remote", project.cluster_name())},
        "rules": rules,
    });
    (!rules.is_empty()).then_some(role)
}

/// Returns the RBAC rule on Leases that sharding needs in the namespace of the operator.
pub(crate) fn shard_rule() -> Value {
    grant::shard_rule().to_value()
}

/// Reports the permissions in the trees of the operator that can have no effect in the cluster, and missing declarations of role nodes.
pub(crate) fn findings(project: &Project) -> Vec<Finding> {
    let mut report = Vec::new();
    for controlled in &project.controllers {
        let mut findings = Findings::of(&*controlled.kind.kind);
        controlled.shape.walk(&mut |visit| check(&visit, &mut findings));
        report.extend(findings.into_vec());
    }
    report
}

/// Reports the errors in the permissions of one node: a reference to an object in another cluster, and a namespace on a cluster-scoped
/// kind. Warns about a node for a Role or ClusterRole that doesn't declare the rights that the role grants.
fn check(visit: &NodeVisit<'_>, findings: &mut Findings) {
    for access in visit.access() {
        if !visit.cluster.is_empty() && access.verbs.contains(&Verb::Reference) {
            let problem = format!("`{access}`: an object in another cluster can't be referenced");
            findings.error(visit.path, problem, "remove it, or reference the object outside of the remote node");
        }
        if let AccessTarget::Objects { kind, namespace: Some(namespace), .. } = access.target
            && !kind().namespaced
        {
            let problem = format!("`{access}`: {} is cluster-scoped", kind());
            findings.error(visit.path, problem, format!("remove `in \"{namespace}\"`"));
        }
    }
    let is_role = |kind: Kind| kind.group == "rbac.authorization.k8s.io" && kind.kind.ends_with("Role");
    let Some(edge) = visit.edge.filter(|edge| edge.access.is_empty() && !edge.resource.retired) else { return };
    if visit.shape.node == Node::Resource && visit.shape.kinds().any(is_role) {
        let fix = format!("declare them on the field `{}`: `resource(grants(...))`", edge.name);
        findings.warning(visit.path, "a role grants rights that the operator may not hold", fix);
    }
}

/// Returns a Role or ClusterRole with these rules, as the scope requires, and its binding to the operator's ServiceAccount.
fn role(project: &Project, scope: &RuleScope, rules: &[Rule]) -> [Value; 2] {
    let labels = project.labels();
    let (kind, metadata) = match scope {
        RuleScope::OperatorNamespace => {
            ("Role", json!({"labels": labels, "name": project.name, "namespace": project.namespace}))
        }
        // Operators with the same name in different namespaces may both have a Role in a third namespace.
        RuleScope::Namespace(namespace) => {
            ("Role", json!({"labels": labels, "name": project.cluster_name(), "namespace": namespace}))
        }
        RuleScope::Cluster => ("ClusterRole", json!({"labels": labels, "name": project.cluster_name()})),
    };
    let rules: Vec<_> = rules.iter().map(Rule::to_value).collect();
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "rules": rules,
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{kind}Binding"),
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": metadata["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": project.name, "namespace": project.namespace}],
    });
    [role, binding]
}

#[cfg(test)]
mod tests;
