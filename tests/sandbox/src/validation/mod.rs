//! Validates built-in objects and CustomResourceDefinitions.

use serde_json::Value;

use self::field::{Causes, Field};
use crate::{
    failure::Cause,
    kind::{Kind, definition},
    object,
    request::ResourceRequest,
};

mod attachment;
mod autoscaling;
mod claim;
mod class;
mod container;
mod contents;
mod disruption;
mod endpoints;
mod environment;
mod event;
mod field;
mod ingress;
mod job;
mod metadata;
pub(crate) mod name;
mod network_policy;
mod pod;
mod pod_update;
mod policy;
mod probe;
mod quota;
mod rbac;
mod resources;
mod scheduling;
mod selector;
mod service;
mod volume;
mod webhook;
mod workload;

/// Validates a new object. Returns the validation errors; none if it is valid.
pub(crate) fn create(request: ResourceRequest<'_>, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let top = Field::top(object);
    metadata::validate_create(request.kind, &top.child("metadata"), &mut causes);
    if definition::is_crd(request.kind) {
        causes.extend(definition::validate(object, None));
        return causes;
    }
    if request.kind.custom().is_some() {
        causes.extend(crate::schema::validate(request.kind, object, None, None));
        return causes;
    }
    validate_object(request, &top, &mut causes);
    match request.kind.plural.as_str() {
        "pods" => pod::validate_new_pod(&top, &mut causes),
        "jobs" => {
            metadata::drop_template_label_causes(
                &top.child("metadata"),
                &top.nested(&["spec", "template"]),
                &mut causes,
            );
            job::validate_job(&top.child("metadata"), &top.child("spec"), &mut causes);
        }
        // Reports an unavailable cluster IP only if there are no other errors.
        "services" if causes.is_empty() => {
            service::validate_requested_address(request.server, &top.child("spec"), &mut causes)
        }
        "events" if request.kind.group.is_empty() => event::validate_core_event(&top, &mut causes),
        "events" => event::validate_event(&top, &mut causes),
        _ => {}
    }
    causes
}

/// Validates an update of an object or of its subresource. Returns the validation errors; none if it is valid.
pub(crate) fn update(request: ResourceRequest<'_>, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (new_field, old_field) = (Field::top(new), Field::top(old));
    let old_metadata = old_field.child("metadata");
    metadata::validate_update(request.kind, &new_field.child("metadata"), &old_metadata, &mut causes);
    if definition::is_crd(request.kind) {
        let definition_causes = request.subresource.is_none().then(|| definition::validate(new, Some(old)));
        causes.extend(definition_causes.into_iter().flatten());
        return causes;
    }
    if request.kind.custom().is_some() {
        causes.extend(crate::schema::validate(request.kind, new, Some(old), request.subresource));
        return causes;
    }
    match request.subresource {
        None => {
            validate_object(request, &new_field, &mut causes);
            validate_object_update(request, &new_field, &old_field, &mut causes);
        }
        Some("status") if request.kind.is("apps", "deployments") => {
            workload::validate_deployment_status(&new_field.child("status"), &mut causes);
        }
        Some("status") if request.kind.is("storage.k8s.io", "volumeattachments") => {
            attachment::validate_attachment_status(&new_field.child("status"), &mut causes);
        }
        Some(_) => {}
    }
    causes
}

/// Returns further validation errors of an update whose uid differs from that of the stored object: labels and selector of a Job contain
/// the uid.
pub(crate) fn foreign_uid(kind: &Kind, object: &Value) -> Vec<Cause> {
    let (mut causes, top) = (Vec::new(), Field::top(object));
    if kind.is("batch", "jobs") {
        job::validate_generated_selector(&top.child("metadata"), &top.child("spec"), &mut causes);
    }
    causes
}

/// Validates a built-in object by the rules that hold for a create and for an update.
fn validate_object(request: ResourceRequest<'_>, top: &Field<'_>, causes: &mut Causes) {
    let (kind, spec) = (request.kind, top.child("spec"));
    let in_namespace = kind.namespaced;
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "configmaps") => contents::validate_config_map(top, causes),
        ("", "secrets") => contents::validate_secret(top, causes),
        ("", "services") => service::validate_service(&spec, causes),
        ("", "persistentvolumeclaims") => claim::validate_claim(&spec, causes),
        ("", "persistentvolumes") => claim::validate_volume(&spec, causes),
        ("", "podtemplates") => pod::validate_template(&top.child("template"), causes),
        ("", "resourcequotas") => quota::validate_quota(&spec, causes),
        ("", "limitranges") => quota::validate_limit_range(&spec, causes),
        ("", "endpoints") => endpoints::validate_endpoints(top, causes),
        ("apps", "deployments") => workload::validate_deployment(&spec, causes),
        ("apps", "replicasets") => workload::validate_replica_set(&spec, causes),
        ("apps", "daemonsets") => workload::validate_daemon_set(&spec, causes),
        ("apps", "statefulsets") => workload::validate_stateful_set(&spec, causes),
        ("batch", "cronjobs") => job::validate_cron_job(&spec, causes),
        ("autoscaling", _) => autoscaling::validate_autoscaler(&spec, causes),
        ("policy", _) => disruption::validate_disruption_budget(&spec, causes),
        ("networking.k8s.io", "ingresses") => ingress::validate_ingress(&spec, causes),
        ("networking.k8s.io", "ingressclasses") => ingress::validate_ingress_class(&spec, causes),
        ("networking.k8s.io", "networkpolicies") => network_policy::validate_network_policy(&spec, causes),
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => {
            rbac::validate_policy_rules(top, in_namespace, causes);
            rbac::validate_aggregation_rule(top, causes);
        }
        ("rbac.authorization.k8s.io", _) => rbac::validate_binding(top, in_namespace, causes),
        ("coordination.k8s.io", "leases") => event::validate_lease(&spec, causes),
        ("discovery.k8s.io", _) => endpoints::validate_endpoint_slice(top, causes),
        ("storage.k8s.io", "storageclasses") => class::validate_storage_class(top, causes),
        ("storage.k8s.io", "volumeattachments") => attachment::validate_attachment_spec(&spec, causes),
        ("scheduling.k8s.io", "priorityclasses") => class::validate_priority_class(top, causes),
        ("admissionregistration.k8s.io", plural) => validate_admission_config(plural, top, causes),
        _ => {}
    }
}

/// Validates an object of `admissionregistration.k8s.io`: a policy, a binding or a webhook configuration.
fn validate_admission_config(plural: &str, top: &Field<'_>, causes: &mut Causes) {
    let spec = top.child("spec");
    match plural {
        "validatingadmissionpolicies" => policy::validate_validating_policy(&spec, causes),
        "mutatingadmissionpolicies" => policy::validate_mutating_policy(&spec, causes),
        "validatingadmissionpolicybindings" => policy::validate_policy_binding(&spec, true, causes),
        "mutatingadmissionpolicybindings" => policy::validate_policy_binding(&spec, false, causes),
        _ => webhook::validate_webhooks(&top.child("webhooks"), causes),
    }
}

/// Validates an update of a built-in object by the rules that hold for updates only: mostly that it changes no
/// immutable field.
fn validate_object_update(request: ResourceRequest<'_>, new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    match (request.kind.group.as_str(), request.kind.plural.as_str()) {
        ("", "configmaps") => contents::validate_immutable_data(new, old, &["data", "binaryData"], causes),
        ("", "secrets") => {
            new.child("type").immutable(causes, &old.child("type"));
            contents::validate_immutable_data(new, old, &["data"], causes);
        }
        ("", "services") => service::validate_service_update(&spec, old.value, causes),
        ("", "pods") => {
            pod::validate_spec(&spec, causes);
            pod_update::validate_pod_update(&spec, &old_spec, causes);
        }
        ("", "persistentvolumeclaims") => {
            let bound = object::text(old.value, &["status", "phase"]) == "Bound";
            claim::validate_claim_update(&spec, &old_spec, bound, causes);
        }
        ("apps", "deployments" | "replicasets" | "daemonsets") => {
            workload::validate_selector_immutable(&spec, &old_spec, causes)
        }
        ("apps", "statefulsets") => workload::validate_stateful_set_update(&spec, &old_spec, causes),
        ("batch", "jobs") => {
            job::validate_job(&new.child("metadata"), &spec, causes);
            job::validate_job_update(&spec, &old_spec, causes);
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            rbac::validate_role_ref_immutable(&new.child("roleRef"), &old.child("roleRef"), causes);
        }
        ("storage.k8s.io", "storageclasses") => class::validate_storage_class_update(new, old, causes),
        ("storage.k8s.io", "volumeattachments") => spec.immutable(causes, &old_spec),
        ("scheduling.k8s.io", "priorityclasses") => class::validate_priority_class_update(new, old, causes),
        ("networking.k8s.io", "ingressclasses") => {
            spec.child("controller").immutable(causes, &old_spec.child("controller"));
        }
        ("discovery.k8s.io", _) => new.child("addressType").immutable(causes, &old.child("addressType")),
        _ => {}
    }
}
