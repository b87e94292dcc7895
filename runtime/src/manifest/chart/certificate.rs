//! Generates the parts of the Helm chart that depend on whether cert-manager makes the certificate of the webhooks: Issuers, Certificates,
//! annotations, volumes and RBAC rules.

use super::{placeholder::Placeholders, template::Template};
use crate::manifest::{cert_manager, project::Project, rbac::RuleChange};
use serde_json::{Value, json};

/// Returns the condition under which cert-manager makes the certificate.
pub(super) fn condition(placeholders: &Placeholders<'_>) -> String {
    placeholders.include("certManager")
}

/// Returns the Issuers and the Certificates.
pub(super) fn objects(release: &Project, placeholders: &Placeholders<'_>) -> Vec<Template> {
    let template = |document| Template::when(&condition(placeholders), placeholders.relabel(document));
    cert_manager::documents(release).into_iter().map(template).collect()
}

/// Returns a webhook configuration with the annotation by which cert-manager writes the authority to it.
pub(super) fn configuration(object: Value, release: &Project, placeholders: &Placeholders<'_>) -> Template {
    let mut template = Template::from(placeholders.relabel(object));
    let annotations = json!({cert_manager::INJECT_ANNOTATION: cert_manager::injected_from(release)});
    template.set(&["metadata", "annotations"], Template::when(&condition(placeholders), annotations));
    template
}

/// Adds that annotation to a definition, beside the resource policy, which depends on a value as well.
pub(super) fn annotate(template: &mut Template, release: &Project, placeholders: &Placeholders<'_>) {
    let source = json!(cert_manager::injected_from(release));
    let annotation = ["metadata", "annotations", cert_manager::INJECT_ANNOTATION];
    template.set(&annotation, Template::when(&condition(placeholders), source));
}

/// Mounts the certificate in the Pod and the container at these paths.
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

/// Makes the rules of a role depend on who makes the certificate.
pub(super) fn restrict_rules(template: &mut Template, change: &RuleChange, placeholders: &Placeholders<'_>) {
    let condition = condition(placeholders);
    for (position, _) in &change.removed {
        template.restrict(&["rules", &position.to_string()], &format!("not ({condition})"));
    }
    for rule in &change.added {
        template.push(&["rules"], Template::when(&condition, rule.clone()));
    }
}
