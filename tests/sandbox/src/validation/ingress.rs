//! Validates Ingresses (rules, paths, backends and TLS) and the controllers of IngressClasses.

use serde_json::Value;

use super::{
    field::{Causes, Field},
    name::{self, NameRule, port_name_violations},
};

/// The types of paths, as the message about an unknown type lists them.
const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

/// Validates the spec of an Ingress (upstream: `ValidateIngressSpec`).
pub(super) fn validate_ingress(spec: &Field<'_>, causes: &mut Causes) {
    let (rules, default_backend) = (spec.child("rules"), spec.child("defaultBackend"));
    if rules.is_empty() && !default_backend.is_set() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        Field { path: spec.path.clone(), value: &Value::Null }.invalid(causes, detail);
    }
    if default_backend.is_set() {
        validate_backend(&default_backend, causes);
    }
    for rule in rules.items() {
        validate_ingress_rule(&rule, causes);
    }
    for tls in spec.child("tls").items() {
        for host in tls.child("hosts").items() {
            host.optional_name(causes, NameRule::Wildcard);
        }
        tls.child("secretName").optional_name(causes, NameRule::Subdomain);
    }
    spec.child("ingressClassName").optional_name(causes, NameRule::Subdomain);
}

/// Validates a rule of an Ingress: its host, and the paths and backends of HTTP.
fn validate_ingress_rule(rule: &Field<'_>, causes: &mut Causes) {
    let host = rule.child("host");
    if host.text().parse::<std::net::IpAddr>().is_ok() {
        host.invalid(causes, "must be a DNS name, not an IP address");
    } else {
        host.optional_name(causes, NameRule::Wildcard);
    }
    let http = rule.child("http");
    if !http.is_set() {
        return;
    }
    http.child("paths").require(causes, "");
    for path in http.child("paths").items() {
        validate_path(&path, causes);
        validate_backend(&path.child("backend"), causes);
    }
}

/// Validates the path of a rule by its `pathType` (upstream: `validateHTTPIngressPath`).
fn validate_path(rule_path: &Field<'_>, causes: &mut Causes) {
    let (type_, path) = (rule_path.child("pathType"), rule_path.child("path"));
    if type_.is_empty() {
        type_.required(causes, "pathType must be specified");
        return;
    }
    match type_.text() {
        "Exact" | "Prefix" if !path.text().starts_with('/') => path.invalid(causes, "must be an absolute path"),
        "Exact" | "Prefix" => {
            let bad = ["//", "/./", "/../", "%2f", "%2F"].into_iter().find(|bad| path.text().contains(bad));
            if let Some(bad) = bad {
                path.invalid(causes, &format!("must not contain '{bad}'"));
            }
            if let Some(bad) = ["/..", "/."].into_iter().find(|bad| path.text().ends_with(bad)) {
                path.invalid(causes, &format!("cannot end with '{bad}'"));
            }
        }
        "ImplementationSpecific" => {
            if !path.is_empty() && !path.text().starts_with('/') {
                path.invalid(causes, "must be an absolute path");
            }
        }
        _ => type_.unsupported(causes, &PATH_TYPES),
    }
}

/// Validates that a backend is either a Service or a resource (upstream: `validateIngressBackend`).
fn validate_backend(backend: &Field<'_>, causes: &mut Causes) {
    let (service, resource) = (backend.child("service"), backend.child("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => backend.invalid_part(causes, "", "cannot set both resource and service backends"),
        (false, false) => backend.invalid_part(causes, "", "resource or service backend is required"),
        (false, true) => {
            resource.child("kind").require(causes, "");
            resource.child("name").require(causes, "");
        }
        (true, false) => validate_service_backend(backend, &service, causes),
    }
}

/// Validates a backend that is a Service: its name, and a port by name or by number.
fn validate_service_backend(backend: &Field<'_>, service: &Field<'_>, causes: &mut Causes) {
    let service_name = service.child("name");
    if service_name.is_empty() {
        service_name.required(causes, "");
    } else if let Some(detail) = name::violation(NameRule::LetterLabel, service_name.text()) {
        service_name.invalid(causes, &detail);
    }
    let (port_name, number) = (service.nested(&["port", "name"]), service.nested(&["port", "number"]));
    let has_number = number.number().is_some_and(|number| number != 0);
    match (port_name.is_empty(), has_number) {
        (false, true) => backend.invalid_part(causes, "", "cannot set both port name & port number"),
        (true, false) => backend.required(causes, "port name or number is required"),
        (false, false) => {
            port_name_violations(port_name.text()).iter().for_each(|detail| port_name.invalid(causes, detail))
        }
        (true, true) => number.in_range(causes, 1, 65535),
    }
}

/// The longest name of a controller, in bytes.
const MAX_CONTROLLER_LENGTH: usize = 250;

/// Validates that an IngressClass names its controller by a path with a domain (upstream: `IsDomainPrefixedPath`).
pub(super) fn validate_ingress_class(spec: &Field<'_>, causes: &mut Causes) {
    let controller = spec.child("controller");
    if controller.text().len() > MAX_CONTROLLER_LENGTH {
        controller.too_long(causes, MAX_CONTROLLER_LENGTH);
    }
    if controller.is_empty() {
        return controller.required(causes, "");
    }
    let (domain, path) = controller.text().split_once('/').unwrap_or_default();
    if domain.is_empty() || path.is_empty() {
        return controller.invalid(causes, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
    if let Some(detail) = name::violation(NameRule::Subdomain, domain) {
        controller.invalid_part(causes, domain, &detail);
    }
    if !path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte)) {
        let detail = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
        controller.invalid_part(causes, path, detail);
    }
}
