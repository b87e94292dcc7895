//! Validates probes and lifecycle hooks of containers.

use super::{
    at::{At, Causes},
    name::port_faults,
};

/// A probe. One that kills must not ask for more than one success.
pub(super) fn probe(probe: &At<'_>, kills: bool, causes: &mut Causes) {
    if !probe.is_set() {
        return;
    }
    action(probe, causes);
    for number in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        probe.child(number).natural(causes);
    }
    let successes = probe.child("successThreshold");
    if kills && successes.number().is_some_and(|number| number != 1) {
        successes.invalid(causes, "must be 1");
    }
}

/// What a probe or a hook does: one thing.
pub(super) fn action(action: &At<'_>, causes: &mut Causes) {
    let mut found = 0;
    for way in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let at = action.child(way);
        if !at.is_set() {
            continue;
        }
        found += 1;
        if found > 1 {
            at.forbidden(causes, "may not specify more than 1 handler type");
            continue;
        }
        match way {
            "exec" => at.child("command").demand(causes, ""),
            "httpGet" => http(&at, causes),
            "tcpSocket" => port(&at.child("port"), causes),
            "grpc" => at.child("port").within(causes, 1, 65535),
            _ => {}
        }
    }
    if found == 0 {
        action.required(causes, "must specify a handler type");
    }
}

fn http(get: &At<'_>, causes: &mut Causes) {
    get.child("path").demand(causes, "");
    port(&get.child("port"), causes);
    get.child("scheme").if_one_of(causes, &["HTTP", "HTTPS"]);
}

/// A port by number or by name.
pub(super) fn port(port: &At<'_>, causes: &mut Causes) {
    if port.value.is_string() {
        for why in port_faults(port.text()) {
            port.invalid(causes, &why);
        }
    } else {
        port.within(causes, 1, 65535);
    }
}
