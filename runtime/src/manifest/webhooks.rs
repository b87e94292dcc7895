//! Generates the Service and the webhook configurations of an operator with admission webhooks.

use super::{
    admission::{failure_policy, is_own, set_match_conditions, set_selectors},
    lint::{Finding, Findings},
    project::Project,
};
use crate::webhook::{Mode, WebhookDescription, conversion::CONVERSION_PATH, names::WebhookNames};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The port of the webhooks in the container.
pub(crate) const WEBHOOK_PORT: u16 = 9443;

/// Returns the names of the objects that serve the webhooks: the Service, the Secret of the certificates and the configurations.
pub(crate) fn names(project: &Project) -> WebhookNames {
    WebhookNames::new(&project.name, &project.cluster_name())
}

/// Returns the Service through which API servers call the operator's webhooks; `None` for an operator without webhooks.
pub(crate) fn service(project: &Project) -> Option<Value> {
    let mut labels = project.labels();
    labels["app.kubernetes.io/component"] = json!("webhook");
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"labels": labels, "name": names(project).service, "namespace": project.namespace},
        "spec": {
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "webhook"}],
            "selector": project.selector(),
        },
    });
    project.has_webhooks().then_some(service)
}

/// Returns a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration, each only if the operator has such webhooks. They have no
/// `caBundle`: the operator, or cert-manager, adds it in the cluster.
pub(crate) fn configurations(project: &Project) -> Vec<Value> {
    let kinds = [(Mode::Default, "MutatingWebhookConfiguration"), (Mode::Validate, "ValidatingWebhookConfiguration")];
    let configuration = |(mode, kind)| {
        let mut webhooks: Vec<_> = project.webhooks.iter().filter(|webhook| webhook.mode == mode).collect();
        webhooks.sort_by_key(|webhook| webhook.name());
        let document = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"labels": project.labels(), "name": names(project).configuration},
            "webhooks": webhooks.iter().map(|webhook| entry(project, webhook)).collect::<Vec<_>>(),
        });
        (!webhooks.is_empty()).then_some(document)
    };
    kinds.into_iter().filter_map(configuration).collect()
}

/// Returns the field `spec.conversion` of a CustomResourceDefinition whose objects the operator converts. It has no `caBundle`: the
/// operator, or cert-manager, adds it in the cluster.
pub(crate) fn conversion(project: &Project) -> Value {
    let service = json!({
        "name": names(project).service,
        "namespace": project.namespace,
        "path": CONVERSION_PATH,
        "port": 443,
    });
    json!({
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]},
    })
}

/// Returns the names of the CustomResourceDefinitions whose objects the operator converts between versions.
pub(crate) fn converted_definitions(project: &Project) -> BTreeSet<String> {
    let converted = project.controllers.iter().filter(|controlled| controlled.is_converted());
    converted.map(|controlled| controlled.kind.full_name()).collect()
}

/// Returns the Secret in which the operator keeps the certificates of its webhooks, with kind, name and namespace only; `None` for an
/// operator without webhooks.
pub(crate) fn secret(project: &Project) -> Option<Value> {
    let metadata = json!({"name": names(project).secret, "namespace": project.namespace});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata});
    project.has_webhooks().then_some(secret)
}

/// Returns the item of the list `webhooks` in a webhook configuration for one webhook.
fn entry(project: &Project, description: &WebhookDescription) -> Value {
    let (kind, webhook) = (&description.kind, &description.webhook);
    let subresources = webhook.subresources.iter().map(|name| format!("{}/{name}", kind.plural));
    let resources: Vec<_> = [kind.plural.to_string()].into_iter().chain(subresources).collect();
    let names = names(project);
    let service =
        json!({"name": names.service, "namespace": project.namespace, "path": description.path(), "port": 443});
    let mut entry = json!({
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "failurePolicy": failure_policy(project, kind, webhook.failure_policy),
        "matchPolicy": "Equivalent",
        "name": description.name(),
        "rules": [{
            "apiGroups": [kind.group],
            "apiVersions": [kind.version],
            "operations": webhook.operations.iter().map(|operation| operation.as_str()).collect::<Vec<_>>(),
            "resources": resources,
            "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        }],
        "sideEffects": "None",
        "timeoutSeconds": webhook.timeout.as_secs(),
    });
    set_match_conditions(&mut entry, &webhook.match_conditions);
    set_selectors(&mut entry, (project, kind), &webhook.namespace_selector, &webhook.object_selector);
    entry
}

/// Reports admission webhooks that the API server would refuse, or, in an operator that watches only its own namespace, would not call for
/// objects in this namespace.
pub(crate) fn findings(project: &Project) -> Vec<Finding> {
    let mut findings = Findings::of(&project.name);
    if let Err(error) = WebhookDescription::check_all(&project.webhooks) {
        findings.error("webhooks", error.to_string(), "change the setting where the webhook is added to the operator");
    }
    for webhook in project.webhooks.iter().filter(|_| project.namespaced) {
        if !is_own(project, &webhook.kind) {
            let problem = format!(
                "{} is for a kind that the operator doesn't define, and is not called in the operator's own namespace",
                webhook.name()
            );
            findings.error("webhooks", problem, "remove the webhook, or `Operator::namespaced`");
        }
    }
    findings.into_vec()
}

#[cfg(test)]
mod tests;
