//! Validates probes and lifecycle hooks of containers.

use super::{
    field::{Causes, Field},
    name::port_name_violations,
};

/// Validates a probe of a container, if it is set. `restarts` is whether its failure restarts the container, as for
/// liveness and startup probes; then its success threshold must be 1.
pub(super) fn validate_probe(probe: &Field<'_>, restarts: bool, causes: &mut Causes) {
    if !probe.is_set() {
        return;
    }
    validate_handler(probe, causes);
    for number in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        probe.child(number).non_negative(causes);
    }
    let successes = probe.child("successThreshold");
    if restarts && successes.number().is_some_and(|number| number != 1) {
        successes.invalid(causes, "must be 1");
    }
}

/// Validates that a probe or a lifecycle hook has exactly one handler (upstream: `validateHandler`).
pub(super) fn validate_handler(parent: &Field<'_>, causes: &mut Causes) {
    let mut handlers = 0;
    for handler_type in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let handler = parent.child(handler_type);
        if !handler.is_set() {
            continue;
        }
        handlers += 1;
        if handlers > 1 {
            handler.forbidden(causes, "may not specify more than 1 handler type");
            continue;
        }
        match handler_type {
            "exec" => handler.child("command").require(causes, ""),
            "httpGet" => validate_http_get(&handler, causes),
            "tcpSocket" => validate_port(&handler.child("port"), causes),
            "grpc" => handler.child("port").in_range(causes, 1, 65535),
            _ => {}
        }
    }
    if handlers == 0 {
        parent.required(causes, "must specify a handler type");
    }
}

/// Validates an HTTP request of a handler: path, port and scheme.
fn validate_http_get(get: &Field<'_>, causes: &mut Causes) {
    get.child("path").require(causes, "");
    validate_port(&get.child("port"), causes);
    get.child("scheme").optional_enum(causes, &["HTTP", "HTTPS"]);
}

/// Validates a port that is given by number or by name (upstream: `ValidatePortNumOrName`).
pub(super) fn validate_port(port: &Field<'_>, causes: &mut Causes) {
    if port.value.is_string() {
        for detail in port_name_violations(port.text()) {
            port.invalid(causes, &detail);
        }
    } else {
        port.in_range(causes, 1, 65535);
    }
}
