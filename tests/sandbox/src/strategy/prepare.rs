//! Prepares objects for a create or an update, kind by kind: status, generation and fields that the server sets.

use serde_json::Value;

use super::{
    daemon_set, generation, job, namespace, normalize, pod, service, service_address, signing_request, status,
};
use crate::{kind::definition, object, request::ResourceRequest};

/// Prepares a new object: resets its status, and sets its generation and fields that the server owns (upstream:
/// `PrepareForCreate`).
pub(crate) fn prepare_create(request: ResourceRequest<'_>, object: &mut Value) {
    let kind = request.kind;
    normalize::null_empty_lists(kind, object);
    status::reset_status(request, object);
    generation::set_initial(kind, object);
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => {}
        "certificatesigningrequests" => signing_request::set_requester(object, &request.call.user),
        "daemonsets" => daemon_set::set_initial_template_generation(object),
        "jobs" => job::generate_selector(object),
        // Mutating admission may have set the ServiceAccount.
        "pods" => pod::default_spec(object::map_at(object, &["spec"])),
        "namespaces" => namespace::prepare_create(object),
        "services" => service_address::allocate(request.server, object),
        _ => {}
    }
    if definition::is_crd(request.kind) {
        definition::prepare_create(object);
    }
}

/// Prepares an update: a write of the object itself keeps the old status, a write of the status subresource keeps all other
/// fields, and a changed spec increments the generation (upstream: `PrepareForUpdate`).
pub(crate) fn prepare_update(request: ResourceRequest<'_>, new: &mut Value, old: &Value) {
    let kind = request.kind;
    crate::verb::restore_unwritten(request, new, old);
    normalize::null_empty_lists(kind, new);
    if request.subresource == Some("status") {
        status::keep_all_but_status(kind, new, old);
        return;
    }
    if let (Value::Object(fields), Value::Object(old_fields)) = (&mut *new, old) {
        status::keep_status(kind, fields, old_fields);
    }
    if definition::is_crd(kind) {
        definition::prepare_update(new);
    }
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => {}
        "certificatesigningrequests" => signing_request::keep_spec(new, old),
        "daemonsets" => daemon_set::update_template_generation(new, old),
        // Only the subresource `finalize` changes the finalizers in the spec.
        "namespaces" if request.subresource != Some("finalize") => {
            let finalizers = object::at(old, &["spec", "finalizers"]).cloned();
            object::set(object::map_at(new, &["spec"]), "finalizers", finalizers);
        }
        "services" => {
            service::prepare_update(new, old);
            service_address::allocate(request.server, new);
        }
        _ => {}
    }
    generation::increment_if_changed(kind, new, old);
}
