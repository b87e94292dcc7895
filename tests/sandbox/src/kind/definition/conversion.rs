//! Validates `spec.conversion` of a CustomResourceDefinition: its strategy and its webhook.

use serde_json::Value;

use super::names::{LABEL, is_label};
use crate::{
    failure::Cause,
    object::{at, text},
};

/// Validates `spec.conversion`: with the strategy `Webhook` its webhook, with `None` that no webhook is set. Returns the
/// errors; none if it is valid.
pub(super) fn validate_conversion(conversion: &Value) -> Vec<Cause> {
    let client = at(conversion, &["webhook", "clientConfig"]);
    let review_versions = at(conversion, &["webhook", "conversionReviewVersions"]).and_then(Value::as_array);
    let review_versions = review_versions.map(Vec::as_slice).unwrap_or_default();
    let mut causes = match text(conversion, &["strategy"]) {
        "Webhook" => {
            let mut causes = validate_client_config(client);
            causes.extend(validate_review_versions(review_versions));
            return causes;
        }
        "None" => Vec::new(),
        "" => vec![Cause::required("spec.conversion.strategy", "")],
        other => vec![Cause::unsupported("spec.conversion.strategy", &other.into(), &["None", "Webhook"])],
    };
    let why = "should not be set when strategy is not set to Webhook";
    if client.is_some() {
        causes.push(Cause::forbidden("spec.conversion.webhookClientConfig", why));
    }
    if !review_versions.is_empty() {
        causes.push(Cause::forbidden("spec.conversion.conversionReviewVersions", why));
    }
    causes
}

/// Validates the client configuration of a conversion webhook: exactly one of a URL and a Service with name and
/// namespace. Returns the errors; none if it is valid.
fn validate_client_config(client: Option<&Value>) -> Vec<Cause> {
    let field_path = "spec.conversion.webhookClientConfig";
    let Some(client) = client else {
        return vec![Cause::required(field_path, "required when strategy is set to Webhook")];
    };
    match (client["url"].as_str(), at(client, &["service"])) {
        (Some(url), None) => validate_url(url, &format!("{field_path}.url")),
        (None, Some(service)) => {
            let missing = ["name", "namespace"].into_iter().filter(|key| text(service, &[key]).is_empty());
            missing
                .map(|key| {
                    Cause::required(format!("{field_path}.service.{key}"), &format!("service {key} is required"))
                })
                .collect()
        }
        _ => vec![Cause::required(field_path, "exactly one of url or service is required")],
    }
}

/// Validates the URL of a webhook: `https`, a host, and no user information (upstream: `ValidateWebhookURL`).
fn validate_url(url: &str, field_path: &str) -> Vec<Cause> {
    let format_hint = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let mut causes = Vec::new();
    let mut add_error =
        |value: &str, why: &str| causes.push(Cause::invalid(field_path, &value.into(), &format!("{why}{format_hint}")));
    if scheme != "https" {
        add_error(scheme, "'https' is the only allowed URL scheme");
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        add_error(host, "host must be specified");
    }
    if host.contains('@') {
        add_error(host, "user information is not permitted in the URL");
    }
    causes
}

/// Validates `conversionReviewVersions`: distinct labels, with at least one version that the server supports.
fn validate_review_versions(versions: &[Value]) -> Vec<Cause> {
    let field_path = "spec.conversion.conversionReviewVersions";
    if versions.is_empty() {
        return vec![Cause::required(field_path, "")];
    }
    let mut causes = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        if versions[..index].contains(version) {
            causes.push(Cause::invalid(format!("{field_path}[{index}]"), version, "duplicate version"));
        } else if !version.as_str().is_some_and(is_label) {
            causes.push(Cause::invalid(format!("{field_path}[{index}]"), version, LABEL));
        }
    }
    if !versions.iter().any(|version| version == "v1" || version == "v1beta1") {
        causes.push(Cause::invalid(field_path, &versions.to_vec().into(), "must include at least one of v1, v1beta1"));
    }
    causes
}
