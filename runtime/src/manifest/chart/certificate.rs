//! Generates the parts of the Helm chart that depend on whether cert-manager makes the certificate of the webhooks: Issuers, Certificates,
//! annotations, volumes and RBAC rules.

use super::{placeholder::Placeholders, template::Template};
use crate::manifest::{cert_manager, project::Project, rbac::RuleChange};
use serde_json::{Value, json};

/// Returns the Helm expression that is true if cert-manager makes the certificate of the webhooks.
pub(super) fn condition(placeholders: &Placeholders<'_>) -> String {
    placeholders.include("certManager")
}

/// Returns the templates of the Issuers and Certificates, which exist in a release where cert-manager makes the certificate.
pub(super) fn objects(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let template = |document| Template::when(&condition(placeholders), placeholders.relabel(document));
    cert_manager::documents(release).into_iter().map(template).collect()
}

/// Returns the template of a webhook configuration. Where cert-manager makes the certificate, the configuration has the annotation by which
/// cert-manager writes the CA bundle to it.
pub(super) fn configuration(object: Value, release: &Project, placeholders: &Placeholders<'_>) -> Template {
    let mut template = Template::from(placeholders.relabel(object));
    let annotations = json!({cert_manager::INJECT_ANNOTATION: cert_manager::injected_from(release)});
    template.set(&["metadata", "annotations"], Template::when(&condition(placeholders), annotations));
    template
}

/// Adds an annotation to the template of a CustomResourceDefinition for releases where cert-manager makes the certificate. It tells
/// cert-manager to write the CA bundle of the conversion webhook to the definition.
pub(super) fn annotate(template: &mut Template, release: &Project, placeholders: &Placeholders<'_>) {
    let source = json!(cert_manager::injected_from(release));
    let annotation = ["metadata", "annotations", cert_manager::INJECT_ANNOTATION];
    template.set(&annotation, Template::when(&condition(placeholders), source));
}

/// Mounts the certificate that cert-manager makes: adds its volume to the Pod spec at the path `pod` of the template, and its mount to the
/// container at the path `container`.
pub(super) fn mount(
    template: &mut Template,
    release: &Project,
    placeholders: &Placeholders<'_>,
    (pod, container): (&[&str], &[&str]),
) {
    let condition = condition(placeholders);
    template.push(&[pod, &["volumes"]].concat(), Template::when(&condition, cert_manager::volume(release)));
    template.push(&[container, &["volumeMounts"]].concat(), Template::when(&condition, cert_manager::volume_mount()));
}

/// Makes the rules of a role's template depend on who makes the certificate: where cert-manager does, the rules `change.removed` are left
/// out, since the operator writes no certificates then, and the rules `change.added` replace them.
pub(super) fn restrict_rules(template: &mut Template, change: &RuleChange, placeholders: &Placeholders<'_>) {
    let condition = condition(placeholders);
    for (position, _) in &change.removed {
        template.restrict(&["rules", &position.to_string()], &format!("not ({condition})"));
    }
    for rule in &change.added {
        template.push(&["rules"], Template::when(&condition, rule.clone()));
    }
}
