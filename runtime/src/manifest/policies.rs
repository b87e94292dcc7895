//! Generates the admission policies of an operator with their bindings.

use super::{
    admission::{failure_policy, is_own, set_match_conditions, set_selectors},
    lint::{Finding, Findings},
    project::Project,
};
use crate::{
    policy::{Constraints, MutatingPolicy, ValidatingPolicy},
    versions::CONVERSION_DATA_ANNOTATION,
};
use k8s_openapi::api::admissionregistration::v1::MatchCondition;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The last part of the name of the policy of conversions.
const CONVERSION_DATA_POLICY: &str = "conversion-data";

const API_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Returns the admission policies of the operator with their bindings, sorted by name: the declared policies, and the policy that protects
/// the data of conversions.
pub(crate) fn documents(project: &Project) -> Vec<Value> {
    let validating = project.policies.validating.iter().flat_map(|policy| validating_policy(project, policy));
    let mutating = project.policies.mutating.iter().flat_map(|policy| mutating_policy(project, policy));
    let mut documents: Vec<_> = validating.chain(mutating).chain(conversion_data_policy(project)).collect();
    documents.sort_by_key(|document| (document["metadata"]["name"].to_string(), document["kind"].to_string()));
    documents
}

/// Returns a ValidatingAdmissionPolicy with the CEL rules of `policy`, and its binding. Its rules don't apply to a write that removes
/// finalizers of an object in deletion.
fn validating_policy(project: &Project, policy: &ValidatingPolicy) -> [Value; 2] {
    let name = name(project, &policy.constraints);
    let rules: Vec<_> =
        policy.rules.iter().map(|rule| json!({"expression": rule.expression, "message": rule.message})).collect();
    let mut conditions = policy.constraints.match_conditions.clone();
    conditions.push(is_no_removal_of_finalizers());
    let mut spec = spec(project, &policy.constraints, &conditions);
    spec["validations"] = rules.into();
    let binding = json!({"policyName": name, "validationActions": [policy.action.as_str()]});
    [
        document(project, "ValidatingAdmissionPolicy", &name, spec),
        document(project, "ValidatingAdmissionPolicyBinding", &name, binding),
    ]
}

/// Returns a MutatingAdmissionPolicy with the apply configurations of `policy`, and its binding.
fn mutating_policy(project: &Project, policy: &MutatingPolicy) -> [Value; 2] {
    let name = name(project, &policy.constraints);
    let mutation = |expression: &String| json!({"applyConfiguration": {"expression": expression}, "patchType": "ApplyConfiguration"});
    let mut spec = spec(project, &policy.constraints, &policy.constraints.match_conditions);
    spec["mutations"] = policy.applied.iter().map(mutation).collect();
    spec["reinvocationPolicy"] = json!(if policy.reinvokes { "IfNeeded" } else { "Never" });
    [
        document(project, "MutatingAdmissionPolicy", &name, spec),
        document(project, "MutatingAdmissionPolicyBinding", &name, json!({"policyName": name})),
    ]
}

/// Returns the ValidatingAdmissionPolicy, and its binding, that protects the annotation in which the conversion webhook keeps fields that
/// one version of a kind doesn't have. The annotation can set any field of the object in another version, also fields of the status, so
/// only clients that may update the status can set it. Clients that write an object back as they read it leave the annotation unchanged.
fn conversion_data_policy(project: &Project) -> Vec<Value> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for controlled in project.controllers.iter().filter(|controlled| controlled.is_converted()) {
        groups.entry(&controlled.kind.group).or_default().insert(&controlled.kind.plural);
    }
    if groups.is_empty() {
        return Vec::new();
    }
    let name = format!("{}-{CONVERSION_DATA_POLICY}", project.cluster_name());
    let rules = groups.iter().map(|(group, plurals)| {
        json!({"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": plurals})
    });
    let annotation_value = |object: &str| {
        format!(
            "{object} != null && has({object}.metadata.annotations) && \
             '{CONVERSION_DATA_ANNOTATION}' in {object}.metadata.annotations \
             ? {object}.metadata.annotations['{CONVERSION_DATA_ANNOTATION}'] : ''"
        )
    };
    let may_update_status = "authorizer.group(request.resource.group).resource(request.resource.resource)\
                             .subresource('status').namespace(has(request.namespace) ? request.namespace : '')\
                             .check('update').allowed()";
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules.collect::<Vec<_>>()},
        "validations": [{
            "expression": format!("variables.data == '' || variables.data == variables.oldData || {may_update_status}"),
            "message": format!(
                "the annotation {CONVERSION_DATA_ANNOTATION} can set the status, so only clients that may update the status can set it"
            ),
            "reason": "Forbidden",
        }],
        "variables": [
            {"expression": annotation_value("object"), "name": "data"},
            {"expression": annotation_value("oldObject"), "name": "oldData"},
        ],
    });
    let binding = json!({"policyName": name, "validationActions": ["Deny"]});
    vec![
        document(project, "ValidatingAdmissionPolicy", &name, spec),
        document(project, "ValidatingAdmissionPolicyBinding", &name, binding),
    ]
}

/// Returns a cluster-scoped object of `admissionregistration.k8s.io` with the operator's labels: a policy or a binding.
fn document(project: &Project, kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"labels": project.labels(), "name": name},
        "spec": spec,
    })
}

/// Returns the name of a policy in the cluster.
fn name(project: &Project, constraints: &Constraints) -> String {
    format!("{}-{}", project.cluster_name(), constraints.name)
}

/// Returns the spec of an admission policy with its failure policy, match constraints and match conditions; the caller adds the validations
/// or mutations.
fn spec(project: &Project, constraints: &Constraints, match_conditions: &[MatchCondition]) -> Value {
    let Constraints { kind, operations, object_selector, namespace_selector, .. } = constraints;
    let mut matched = json!({"resourceRules": [{
        "apiGroups": [kind.group],
        "apiVersions": [kind.version],
        "operations": operations.iter().map(|operation| operation.as_str()).collect::<Vec<_>>(),
        "resources": [kind.plural],
    }]});
    set_selectors(&mut matched, (project, kind), namespace_selector, object_selector);
    let failure_policy = failure_policy(project, kind, constraints.failure_policy);
    let mut spec = json!({"failurePolicy": failure_policy, "matchConstraints": matched});
    set_match_conditions(&mut spec, match_conditions);
    spec
}

/// Returns the match condition that excludes a write which removes finalizers of an object in deletion from a policy, so that no rule
/// blocks the end of the deletion.
fn is_no_removal_of_finalizers() -> MatchCondition {
    let count = |object: &str| format!("(has({object}.metadata.finalizers) ? size({object}.metadata.finalizers) : 0)");
    let (new, old) = (count("object"), count("oldObject"));
    MatchCondition {
        name: "is-no-removal-of-finalizers".to_owned(),
        expression: format!(
            "request.operation != 'UPDATE' || !has(object.metadata.deletionTimestamp) || {new} >= {old}"
        ),
    }
}

/// Reports admission policies that the API server would refuse, whose names are not unique, or that have no effect.
pub(crate) fn findings(project: &Project) -> Vec<Finding> {
    let mut findings = Findings::of(&project.name);
    let mut names = BTreeSet::new();
    for (constraints, is_empty) in project.policies.constraints() {
        let path = format!("policy {}", constraints.name);
        if let Some((problem, fix)) = constraints.problem() {
            findings.error(&path, problem, fix);
        }
        if is_empty {
            findings.error(&path, "it has no rule and no change", "add one, or remove the policy");
        }
        if !names.insert(constraints.name.as_str()) || constraints.name == CONVERSION_DATA_POLICY {
            findings.error(&path, "another policy has this name", "rename one");
        }
        if project.namespaced && !is_own(project, &constraints.kind) {
            let problem = format!(
                "{} is a kind that the operator doesn't define, and only its own namespace is watched",
                constraints.kind
            );
            findings.error(&path, problem, "remove the policy, or `Operator::namespaced`");
        }
    }
    for policy in &project.policies.validating {
        for problem in &policy.problems {
            let path = format!("policy {}: {}", policy.constraints.name, problem.path);
            findings.error(&path, problem.problem.clone(), problem.fix.clone());
        }
    }
    findings.into_vec()
}

#[cfg(test)]
mod tests;
