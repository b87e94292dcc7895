//! Generates the templates of a Helm chart from the documents of the other generated manifests.

use super::{
    certificate, operator,
    placeholder::{Placeholders, SERVICE_ACCOUNT},
    template::Template,
};
use crate::manifest::{
    crd::definition::Definition, dashboard, finalizer_policy, json, metrics, policies, project::Project, rbac, roles,
    rules, webhooks,
};
use serde_json::{Value, json};

/// Returns the files of the chart's folder `templates`, each as its name and the templates of its YAML documents.
pub(super) fn templates(
    project: &Project,
    placeholders: &Placeholders<'_>,
    definitions: &[Definition],
) -> Vec<(String, Vec<Template>)> {
    let release = placeholders.release();
    let mut files: Vec<(String, Vec<Template>)> = definitions
        .iter()
        .map(|definition| (definition.file_path(), vec![crd(definition, &release, placeholders)]))
        .collect();
    files.extend(
        operator::templates(&release, placeholders)
            .into_iter()
            .map(|(file, template)| (file.to_owned(), vec![template])),
    );
    files.push(("monitoring.yaml".to_owned(), monitoring(&release, placeholders)));
    files.push(("rbac.yaml".to_owned(), rights(&release, placeholders)));
    files.push(("roles.yaml".to_owned(), user_roles(&release, placeholders, definitions)));
    let webhooks = webhook_objects(&release, placeholders);
    if !webhooks.is_empty() {
        files.push(("webhooks.yaml".to_owned(), webhooks));
        files.push(("cert-manager.yaml".to_owned(), certificate::objects(&release, placeholders)));
    }
    let policies = policies::documents(&release);
    if !policies.is_empty() {
        let template = |document| Template::from(placeholders.relabel(document));
        files.push(("policies.yaml".to_owned(), policies.into_iter().map(template).collect()));
    }
    let policy = finalizer_policy(project, &release, placeholders);
    if !policy.is_empty() {
        files.push(("finalizer-policy.yaml".to_owned(), policy));
    }
    files
}

/// Returns a CustomResourceDefinition as a template, which `helm upgrade` updates, unlike a file in the folder `crds` of a chart. The value
/// `crds.keep` decides whether Helm keeps the definition at an uninstallation (annotation `helm.sh/resource-policy`). A definition with a
/// conversion webhook also gets cert-manager's annotation if cert-manager makes the certificate.
fn crd(definition: &Definition, release: &Project, placeholders: &Placeholders<'_>) -> Template {
    let mut value = definition.value.clone();
    if value["spec"]["conversion"].is_object() {
        value["spec"]["conversion"] = webhooks::conversion(release);
    }
    let mut template = Template::from(placeholders.relabel(value));
    let policy = ["metadata", "annotations", "helm.sh/resource-policy"];
    if definition.value["spec"]["conversion"].is_object() {
        certificate::annotate(&mut template, release, placeholders);
        template.set(&policy, Template::when(".Values.crds.keep", json!("keep")));
        // Without one of the two annotations, the definition must have no empty key `annotations`.
        if !definition.value["metadata"]["annotations"].is_object() {
            let condition = format!("or .Values.crds.keep ({})", certificate::condition(placeholders));
            template.restrict(&policy[..2], &condition);
        }
    } else if definition.value["metadata"]["annotations"].is_object() {
        template.set(&policy, Template::when(".Values.crds.keep", json!("keep")));
    } else {
        let annotations = json!({"helm.sh/resource-policy": "keep"});
        template.set(&policy[..2], Template::when(".Values.crds.keep", annotations));
    }
    Template::when(".Values.crds.install", template)
}

/// Returns the templates of the webhooks' Service and of the webhook configurations; none for an operator without webhooks.
fn webhook_objects(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let configuration = |object| certificate::configuration(object, release, placeholders);
    let service = webhooks::service(release).map(|object| Template::from(placeholders.relabel(object)));
    let objects = service.into_iter().chain(webhooks::configurations(release).into_iter().map(configuration));
    objects.map(|object| Template::when(&placeholders.include("webhookPort"), object)).collect()
}

/// Returns the templates of the ServiceAccount, and of the operator's roles with their bindings.
fn rights(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let changes = rbac::changes_without_certificates(release);
    let template = |document: Value| {
        let change = changes.iter().find(|change| change.is_of(&document));
        let is_account = document["kind"] == "ServiceAccount";
        // The Role in the operator's namespace allows the Lease of leader election.
        let has_leases = document["kind"] == "Role" && document["metadata"]["namespace"] == release.namespace;
        let is_binding = document["subjects"].is_array();
        let mut template = Template::from(placeholders.relabel(document));
        if is_account {
            template.set(&["metadata", "name"], json!(SERVICE_ACCOUNT));
            template.set(&["metadata", "annotations"], Template::With(".Values.serviceAccount.annotations".to_owned()));
            return Template::when(".Values.serviceAccount.create", template);
        }
        if is_binding {
            template.set(&["subjects", "0", "name"], json!(SERVICE_ACCOUNT));
        }
        if let Some(change) = change {
            certificate::restrict_rules(&mut template, change, placeholders);
        }
        // A release can turn on sharding by a value, which needs more verbs on Leases.
        if has_leases && !release.shards {
            template.push(&["rules"], Template::when(".Values.config.shards", rbac::shard_rule()));
        }
        Template::when(".Values.rbac.create", template)
    };
    rbac::documents(release).into_iter().map(template).collect()
}

/// Returns the templates of the ClusterRoles for users: the roles for each kind, and the reader of the metrics with its binding. A role for
/// a kind is named after the kind, so only the release that installs the definitions creates it.
fn user_roles(release: &Project, placeholders: &Placeholders<'_>, definitions: &[Definition]) -> Vec<Template> {
    let reader = metrics::reader_role(release);
    let (reader_name, reader_labels) = (reader["metadata"]["name"].clone(), reader["metadata"]["labels"].clone());
    let template = |document: Value| {
        let condition = match document["metadata"]["name"] == reader_name {
            true => placeholders.include("metricsPort"),
            false => "and .Values.crds.install .Values.rbac.aggregate".to_owned(),
        };
        Template::when(&condition, placeholders.relabel(document))
    };
    let mut templates: Vec<_> = roles::documents(release, definitions).into_iter().map(template).collect();
    let mut binding = Template::from(placeholders.relabel(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"labels": reader_labels, "name": reader_name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": reader_name},
    })));
    binding.set(&["subjects"], Template::Block(".Values.monitoring.metricsReader".to_owned()));
    let condition = format!("and ({}) .Values.monitoring.metricsReader", placeholders.include("metricsPort"));
    templates.push(Template::when(&condition, binding));
    templates
}

/// Returns the templates of the ServiceMonitor and the PrometheusRule, and of a ConfigMap with the Grafana dashboard. Each exists if its
/// value `enabled` below `monitoring` is true.
fn monitoring(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let template = |value: &str, document: Value| {
        let mut template = Template::from(placeholders.relabel(document));
        let labels = format!(".Values.monitoring.{value}.labels");
        // The labels of the value are written in place of the key `more`.
        template.set(&["metadata", "labels", "more"], Template::Entries(labels));
        template
    };
    let enabled =
        |value: &str, template: Template| Template::when(&format!(".Values.monitoring.{value}.enabled"), template);
    let mut monitor = template("serviceMonitor", metrics::service_monitor(release));
    let scheme = Template::expression(placeholders.include("metricsScheme"));
    monitor.set(&["spec", "endpoints", "0", "scheme"], scheme);
    let text = json::render(placeholders.identify(dashboard::document(release)));
    let dashboard = json!({
        "apiVersion": "v1",
        "data": {"dashboard.json": text},
        "kind": "ConfigMap",
        "metadata": {"labels": release.labels(), "name": placeholders.name("-dashboard"), "namespace": release.namespace},
    });
    vec![
        enabled("serviceMonitor", monitor),
        enabled("prometheusRule", template("prometheusRule", rules::prometheus_rule(release))),
        enabled("dashboard", template("dashboard", dashboard)),
    ]
}

/// Returns the templates of the admission policy that adds the finalizer to new objects, and of its binding. The policy applies only to the
/// namespaces that the release watches, since no operator would remove the finalizer in other namespaces.
fn finalizer_policy(project: &Project, release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let template = |document: Value| {
        let is_policy = document["kind"] == "MutatingAdmissionPolicy";
        let mut template = Template::from(placeholders.relabel(document));
        if is_policy && !project.namespaced {
            let mut expression = Template::from(json!({"key": "kubernetes.io/metadata.name", "operator": "In"}));
            expression.set(&["values"], Template::Block(".Values.config.namespaces".to_owned()));
            let mut selector = Template::from(json!({}));
            selector.set(&["matchExpressions"], Template::List(vec![expression]));
            let selector = Template::when(".Values.config.namespaces", selector);
            template.set(&["spec", "matchConstraints", "namespaceSelector"], selector);
        }
        Template::when(".Values.finalizerPolicy.enabled", template)
    };
    finalizer_policy::documents(release).into_iter().map(template).collect()
}
