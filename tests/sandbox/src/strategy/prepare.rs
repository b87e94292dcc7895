//! Prepares objects for a create or an update, kind by kind: status, generation and fields that the server sets.

use serde_json::Value;

use super::{daemon_set, generation, job, namespace, pod, service, service_address, signing_request, status, written};
use crate::{failure::Failure, kind::definition, object, request::ResourceRequest};

/// Prepares a new object: resets its status, and sets its first generation and fields that the server owns.
pub(crate) fn prepare_create(request: ResourceRequest<'_>, object: &mut Value) -> Result<(), Failure> {
    let kind = request.kind;
    written::forget_empty(kind, object);
    status::begin(request, object);
    generation::begin(kind, object);
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => {}
        "certificatesigningrequests" => signing_request::begin(object, &request.call.user),
        "daemonsets" => daemon_set::begin(object),
        "jobs" => job::select_pods(object),
        // Admission may have set the account.
        "pods" => pod::default_spec(object::map_at(object, &["spec"])),
        "namespaces" => namespace::prepare_create(object),
        "services" => service_address::allocate(request.server, object),
        _ => {}
    }
    if definition::is(request.kind) {
        definition::prepare_create(object);
    }
    Ok(())
}

/// Prepares an update: an object write keeps the status, a status write keeps the rest, and a new spec gets a new
/// generation.
pub(crate) fn prepare_update(request: ResourceRequest<'_>, new: &mut Value, old: &Value) -> Result<(), Failure> {
    let kind = request.kind;
    crate::verb::restore_unwritten(request, new, old);
    written::forget_empty(kind, new);
    if request.subresource == Some("status") {
        status::only(kind, new, old);
        return Ok(());
    }
    if let (Value::Object(fields), Value::Object(held)) = (&mut *new, old) {
        status::keep(kind, fields, held);
    }
    if definition::is(kind) {
        definition::prepare_update(new);
    }
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => {}
        "certificatesigningrequests" => signing_request::keep(new, old),
        "daemonsets" => daemon_set::count(new, old),
        "namespaces" if request.subresource != Some("finalize") => {
            let held = object::at(old, &["spec", "finalizers"]).cloned();
            object::set(object::map_at(new, &["spec"]), "finalizers", held);
        }
        "services" => {
            service::prepare_update(new, old);
            service_address::allocate(request.server, new);
        }
        _ => {}
    }
    generation::count(kind, new, old);
    Ok(())
}
