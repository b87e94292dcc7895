//! Generates the chart templates of the Deployment, its ConfigMap, NetworkPolicy, PodDisruptionBudget and metrics Service.

use super::{certificate, nats, placeholder::Placeholders, template::Template};
use crate::manifest::{
    deployment::{self, TemporaryFolder},
    disruption_budget, metrics, network_policy,
    project::Project,
};
use serde_json::json;

/// The folder of the configuration file in the container.
const FOLDER: &str = "/etc/opgen";
const FILE: &str = "config.yaml";

const POD: [&str; 3] = ["spec", "template", "spec"];
const CONTAINER: [&str; 5] = ["spec", "template", "spec", "containers", "0"];

/// Returns the templates of the objects that run the operator, each with the name of its file.
pub(super) fn templates(release: &Project, placeholders: &Placeholders<'_>) -> Vec<(&'static str, Template)> {
    vec![
        ("configmap.yaml", configuration(release, placeholders)),
        ("deployment.yaml", operator(release, placeholders)),
        ("network-policy.yaml", network(release, placeholders)),
        (
            "pod-disruption-budget.yaml",
            Template::when(
                ".Values.podDisruptionBudget.enabled",
                placeholders.relabel(disruption_budget::document(release)),
            ),
        ),
        (
            "service.yaml",
            Template::when(&placeholders.include("metricsPort"), placeholders.relabel(metrics::service(release))),
        ),
    ]
}

/// Returns the template of the ConfigMap with the operator's configuration file.
fn configuration(release: &Project, placeholders: &Placeholders<'_>) -> Template {
    let mut template = Template::from(placeholders.relabel(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"labels": release.labels(), "name": placeholders.name("-config"), "namespace": release.namespace},
    })));
    template.set(&["data", FILE], Template::Text(placeholders.include("config")));
    template
}

/// Returns the template of the Deployment. The chart's values set the fields of its Pods. A digest of the options that need a restart is an
/// annotation of the Pods, so that a change of such an option replaces the Pods.
fn operator(release: &Project, placeholders: &Placeholders<'_>) -> Template {
    let mut template = Template::from(placeholders.relabel(deployment::deployment(release)));
    template.set(&["spec", "replicas"], Template::expression(".Values.replicas"));
    let metadata = |field: &'static str, entry: &'static str| ["spec", "template", "metadata", field, entry];
    let digest = Template::expression(placeholders.include("configDigest"));
    template.set(&metadata("annotations", "checksum/config"), digest);
    template.set(&metadata("annotations", "more"), Template::Entries(".Values.podAnnotations".to_owned()));
    template.set(&metadata("labels", "more"), Template::Entries(".Values.podLabels".to_owned()));
    set_pod(&mut template, placeholders);
    set_container(&mut template, placeholders, release.has_webhooks());
    if release.has_webhooks() {
        certificate::mount(&mut template, release, placeholders, (&POD, &CONTAINER));
    }
    if !release.buckets().is_empty() {
        nats::connect(&mut template, (&POD, &CONTAINER));
    }
    let at = |part: &[&'static str], field: &'static str| [part, &[field]].concat();
    if let Some(TemporaryFolder { volume, mount }) = TemporaryFolder::of(release) {
        template.push(&at(&POD, "volumes"), volume);
        template.push(&at(&CONTAINER, "volumeMounts"), mount);
    }
    template.push(&at(&POD, "volumes"), Template::Items(".Values.volumes".to_owned()));
    template.push(&at(&CONTAINER, "volumeMounts"), Template::Items(".Values.volumeMounts".to_owned()));
    template
}

/// Sets the fields of the Pod spec that depend on the chart's values.
fn set_pod(template: &mut Template, placeholders: &Placeholders<'_>) {
    let at = |field: &'static str| [&POD[..], &[field]].concat();
    for field in ["affinity", "imagePullSecrets", "nodeSelector", "tolerations"] {
        template.set(&at(field), Template::With(format!(".Values.{field}")));
    }
    let class = Template::expression(".Values.priorityClassName | quote");
    template.set(&at("priorityClassName"), Template::when(".Values.priorityClassName", class));
    template.set(&at("securityContext"), Template::Block(".Values.podSecurityContext".to_owned()));
    template.set(&at("serviceAccountName"), Template::expression(placeholders.include("serviceAccountName")));
    let grace = ".Values.terminationGracePeriodSeconds";
    template.set(&at("terminationGracePeriodSeconds"), Template::expression(grace));
    template.restrict(&at("topologySpreadConstraints"), ".Values.topologySpread.enabled");
    template.set(&at("volumes"), json!([{"configMap": {"name": placeholders.name("-config")}, "name": "config"}]));
}

/// Sets the fields of the container that depend on the chart's values. For a port that the configuration turns off, the named template of
/// the port returns an empty text, which is false as a condition, so the container has neither the port nor the probes that use it.
fn set_container(template: &mut Template, placeholders: &Placeholders<'_>, has_webhooks: bool) {
    let at = |field: &'static str| [&CONTAINER[..], &[field]].concat();
    template.set(&at("args"), json!(["run", format!("--config={FOLDER}/{FILE}")]));
    template.push(&at("args"), Template::Items(".Values.args".to_owned()));
    template.push(&at("env"), Template::Items(".Values.env".to_owned()));
    template.set(&at("image"), Template::expression(format!("{} | quote", placeholders.include("image"))));
    template.set(&at("imagePullPolicy"), Template::expression(".Values.image.pullPolicy"));
    let webhook_port = has_webhooks.then_some("webhookPort");
    for (position, port) in ["probePort", "metricsPort"].into_iter().chain(webhook_port).enumerate() {
        let (position, port) = (position.to_string(), placeholders.include(port));
        let number = [&at("ports")[..], &[position.as_str(), "containerPort"]].concat();
        template.set(&number, Template::expression(port.clone()));
        template.restrict(&[&at("ports")[..], &[position.as_str()]].concat(), &port);
    }
    for probe in ["livenessProbe", "readinessProbe"] {
        template.restrict(&at(probe), &placeholders.include("probePort"));
    }
    template.set(&at("resources"), Template::Block(".Values.resources".to_owned()));
    template.set(&at("securityContext"), Template::Block(".Values.securityContext".to_owned()));
    template.set(&at("volumeMounts"), json!([{"mountPath": FOLDER, "name": "config", "readOnly": true}]));
}

/// Returns the template of the NetworkPolicy. An ingress rule, for the metrics or the webhooks, exists only if its port is turned on.
fn network(release: &Project, placeholders: &Placeholders<'_>) -> Template {
    let mut template = Template::from(placeholders.relabel(network_policy::document(release)));
    let port = placeholders.include("metricsPort");
    template.set(&["spec", "ingress", "0", "ports", "0", "port"], Template::expression(port.clone()));
    template.set(&["spec", "ingress", "0", "from"], Template::With(".Values.networkPolicy.metricsFrom".to_owned()));
    if !release.has_webhooks() {
        template.restrict(&["spec", "ingress"], &port);
    } else {
        let webhooks = placeholders.include("webhookPort");
        template.set(&["spec", "ingress", "1", "ports", "0", "port"], Template::expression(webhooks.clone()));
        template.restrict(&["spec", "ingress", "0"], &port);
        template.restrict(&["spec", "ingress", "1"], &webhooks);
    }
    template.push(&["spec", "egress"], Template::Items(".Values.networkPolicy.egress".to_owned()));
    Template::when(".Values.networkPolicy.enabled", template)
}
