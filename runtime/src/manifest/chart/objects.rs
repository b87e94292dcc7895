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

/// Returns the documents of each file below the folder of templates.
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

/// Returns a definition as a template: unlike those in the folder `crds` of a chart, it changes with `helm upgrade`. Values decide
/// whether it has the annotation of Helm that keeps it at an uninstallation, and that of cert-manager if the operator converts its objects.
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

/// Returns the Service of the webhooks and their configurations, if the operator has webhooks.
fn webhook_objects(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let configuration = |object| certificate::configuration(object, release, placeholders);
    let service = webhooks::service(release).map(|object| Template::from(placeholders.relabel(object)));
    let objects = service.into_iter().chain(webhooks::configurations(release).into_iter().map(configuration));
    objects.map(|object| Template::when(&placeholders.include("webhookPort"), object)).collect()
}

/// Returns the ServiceAccount, and the roles of the operator with their bindings.
fn rights(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let changes = rbac::changes_without_certificates(release);
    let template = |document: Value| {
        let change = changes.iter().find(|change| change.is_of(&document));
        let is_account = document["kind"] == "ServiceAccount";
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
        if has_leases && !release.shards {
            template.push(&["rules"], Template::when(".Values.config.shards", rbac::shard_rule()));
        }
        Template::when(".Values.rbac.create", template)
    };
    rbac::documents(release).into_iter().map(template).collect()
}

/// Returns the roles of users. Those of the kinds are named after the kinds, so they belong to the release with the definitions.
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

/// Returns the objects of the Prometheus operator, and the dashboard in a ConfigMap.
fn monitoring(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let template = |value: &str, document: Value| {
        let mut template = Template::from(placeholders.relabel(document));
        let labels = format!(".Values.monitoring.{value}.labels");
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

/// Returns the finalizer policy. It applies to the namespaces that the release watches, since nothing would remove the finalizer in
/// others.
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
