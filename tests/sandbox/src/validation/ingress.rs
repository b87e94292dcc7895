//! Validates Ingresses and IngressClasses.

use serde_json::Value;

use super::{
    at::{At, Causes},
    name::{self, NameRule, port_faults},
};

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

pub(super) fn ingress(spec: &At<'_>, causes: &mut Causes) {
    let (rules, default) = (spec.child("rules"), spec.child("defaultBackend"));
    if rules.is_empty() && !default.is_set() {
        let why = "either `defaultBackend` or `rules` must be specified";
        At { path: spec.path.clone(), value: &Value::Null }.invalid(causes, why);
    }
    if default.is_set() {
        backend(&default, causes);
    }
    for rule in rules.items() {
        self::rule(&rule, causes);
    }
    for tls in spec.child("tls").items() {
        for host in tls.child("hosts").items() {
            host.if_named(causes, NameRule::Wildcard);
        }
        tls.child("secretName").if_named(causes, NameRule::Subdomain);
    }
    spec.child("ingressClassName").if_named(causes, NameRule::Subdomain);
}

fn rule(rule: &At<'_>, causes: &mut Causes) {
    let host = rule.child("host");
    if host.text().parse::<std::net::IpAddr>().is_ok() {
        host.invalid(causes, "must be a DNS name, not an IP address");
    } else {
        host.if_named(causes, NameRule::Wildcard);
    }
    let http = rule.child("http");
    if !http.is_set() {
        return;
    }
    http.child("paths").demand(causes, "");
    for path in http.child("paths").items() {
        path_type(&path, causes);
        backend(&path.child("backend"), causes);
    }
}

fn path_type(at: &At<'_>, causes: &mut Causes) {
    let (type_, path) = (at.child("pathType"), at.child("path"));
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

fn backend(backend: &At<'_>, causes: &mut Causes) {
    let (service, resource) = (backend.child("service"), backend.child("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => backend.invalid_part(causes, "", "cannot set both resource and service backends"),
        (false, false) => backend.invalid_part(causes, "", "resource or service backend is required"),
        (false, true) => {
            resource.child("kind").demand(causes, "");
            resource.child("name").demand(causes, "");
        }
        (true, false) => service_backend(backend, &service, causes),
    }
}

fn service_backend(backend: &At<'_>, service: &At<'_>, causes: &mut Causes) {
    let named = service.child("name");
    if named.is_empty() {
        named.required(causes, "");
    } else if let Some(why) = name::fault(NameRule::LetterLabel, named.text()) {
        named.invalid(causes, &why);
    }
    let (name, number) = (service.at(&["port", "name"]), service.at(&["port", "number"]));
    let numbered = number.number().is_some_and(|number| number != 0);
    match (name.is_empty(), numbered) {
        (false, true) => backend.invalid_part(causes, "", "cannot set both port name & port number"),
        (true, false) => backend.required(causes, "port name or number is required"),
        (false, false) => port_faults(name.text()).iter().for_each(|why| name.invalid(causes, why)),
        (true, true) => number.within(causes, 1, 65535),
    }
}

pub(super) fn class(spec: &At<'_>, causes: &mut Causes) {
    let controller = spec.child("controller");
    if controller.is_empty() {
        controller.required(causes, "");
    } else if !controller.text().contains('/') {
        controller.invalid(causes, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
}
