//! Validation of built-in objects and of CustomResourceDefinitions.

use serde_json::Value;

use self::at::{At, Causes};
use crate::{
    failure::Cause,
    kind::{Kind, definition},
    object,
    request::ResourceRequest,
};

mod at;
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

/// What is wrong with a new object.
pub(crate) fn create(request: ResourceRequest<'_>, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let top = At::top(object);
    metadata::create(request.kind, &top.child("metadata"), &mut causes);
    if definition::is(request.kind) {
        causes.extend(definition::validate(object, None));
        return causes;
    }
    if request.kind.custom().is_some() {
        causes.extend(crate::schema::validate(request.kind, object, None, None));
        return causes;
    }
    whole(request, &top, &mut causes);
    match request.kind.plural.as_str() {
        "pods" => pod::create(&top, &mut causes),
        "jobs" => {
            metadata::without_labels_of(&top.child("metadata"), &top.at(&["spec", "template"]), &mut causes);
            job::job(&top.child("metadata"), &top.child("spec"), &mut causes);
        }
        "services" if causes.is_empty() => service::new_address(request.server, &top.child("spec"), &mut causes),
        "events" if request.kind.group.is_empty() => event::old_form(&top, &mut causes),
        "events" => event::new_form(&top, &mut causes),
        _ => {}
    }
    causes
}

/// What is wrong with a new state of an object.
pub(crate) fn update(request: ResourceRequest<'_>, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (given, held) = (new, old);
    let (new, old) = (At::top(new), At::top(old));
    metadata::update(request.kind, &new.child("metadata"), &old.child("metadata"), &mut causes);
    if definition::is(request.kind) {
        let judged = request.subresource.is_none().then(|| definition::validate(given, Some(held)));
        causes.extend(judged.into_iter().flatten());
        return causes;
    }
    if request.kind.custom().is_some() {
        causes.extend(crate::schema::validate(request.kind, given, Some(held), request.subresource));
        return causes;
    }
    match request.subresource {
        None => {
            whole(request, &new, &mut causes);
            changed(request, &new, &old, &mut causes);
        }
        Some("status") if request.kind.is("apps", "deployments") => {
            workload::deployment_status(&new.child("status"), &mut causes);
        }
        Some("status") if request.kind.is("storage.k8s.io", "volumeattachments") => {
            attachment::status(&new.child("status"), &mut causes);
        }
        Some(_) => {}
    }
    causes
}

/// What else is wrong with an object whose uid is not its own.
pub(crate) fn foreign_uid(kind: &Kind, object: &Value) -> Vec<Cause> {
    let (mut causes, top) = (Vec::new(), At::top(object));
    if kind.is("batch", "jobs") {
        job::generated_selector(&top.child("metadata"), &top.child("spec"), &mut causes);
    }
    causes
}

/// What holds of a new object and of each of its later states.
fn whole(request: ResourceRequest<'_>, top: &At<'_>, causes: &mut Causes) {
    let (kind, spec) = (request.kind, top.child("spec"));
    let in_namespace = kind.namespaced;
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "configmaps") => contents::config_map(top, causes),
        ("", "secrets") => contents::secret(top, causes),
        ("", "services") => service::service(&spec, causes),
        ("", "persistentvolumeclaims") => claim::claim(&spec, causes),
        ("", "persistentvolumes") => claim::volume(&spec, causes),
        ("", "podtemplates") => pod::template(&top.child("template"), causes),
        ("", "resourcequotas") => quota::quota(&spec, causes),
        ("", "limitranges") => quota::limits(&spec, causes),
        ("", "endpoints") => endpoints::endpoints(top, causes),
        ("apps", "deployments") => workload::deployment(&spec, causes),
        ("apps", "replicasets") => workload::replica_set(&spec, causes),
        ("apps", "daemonsets") => workload::daemon_set(&spec, causes),
        ("apps", "statefulsets") => workload::stateful_set(&spec, causes),
        ("batch", "cronjobs") => job::cron_job(&spec, causes),
        ("autoscaling", _) => autoscaling::autoscaler(&spec, causes),
        ("policy", _) => disruption::budget(&spec, causes),
        ("networking.k8s.io", "ingresses") => ingress::ingress(&spec, causes),
        ("networking.k8s.io", "ingressclasses") => ingress::class(&spec, causes),
        ("networking.k8s.io", "networkpolicies") => network_policy::policy(&spec, causes),
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => {
            rbac::rules(top, in_namespace, causes);
            rbac::aggregation(top, causes);
        }
        ("rbac.authorization.k8s.io", _) => rbac::binding(top, in_namespace, causes),
        ("coordination.k8s.io", "leases") => event::lease(&spec, causes),
        ("discovery.k8s.io", _) => endpoints::slice(top, causes),
        ("storage.k8s.io", "storageclasses") => class::storage(top, causes),
        ("storage.k8s.io", "volumeattachments") => attachment::attachment(&spec, causes),
        ("scheduling.k8s.io", "priorityclasses") => class::priority(top, causes),
        ("admissionregistration.k8s.io", plural) => admission(plural, top, causes),
        _ => {}
    }
}

fn admission(plural: &str, top: &At<'_>, causes: &mut Causes) {
    let spec = top.child("spec");
    match plural {
        "validatingadmissionpolicies" => policy::validating(&spec, causes),
        "mutatingadmissionpolicies" => policy::mutating(&spec, causes),
        "validatingadmissionpolicybindings" => policy::binding(&spec, true, causes),
        "mutatingadmissionpolicybindings" => policy::binding(&spec, false, causes),
        _ => webhook::webhooks(&top.child("webhooks"), causes),
    }
}

/// What may not change.
fn changed(request: ResourceRequest<'_>, new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    let (spec, held) = (new.child("spec"), old.child("spec"));
    match (request.kind.group.as_str(), request.kind.plural.as_str()) {
        ("", "configmaps") => contents::update(new, old, &["data", "binaryData"], causes),
        ("", "secrets") => {
            new.child("type").immutable(causes, &old.child("type"));
            contents::update(new, old, &["data"], causes);
        }
        ("", "services") => service::update(&spec, old.value, causes),
        ("", "pods") => {
            pod::spec(&spec, causes);
            pod_update::update(&spec, &held, causes);
        }
        ("", "persistentvolumeclaims") => {
            let bound = object::text(old.value, &["status", "phase"]) == "Bound";
            claim::claim_update(&spec, &held, bound, causes);
        }
        ("apps", "deployments" | "replicasets" | "daemonsets") => workload::keeps_selector(&spec, &held, causes),
        ("apps", "statefulsets") => workload::stateful_update(&spec, &held, causes),
        ("batch", "jobs") => {
            job::job(&new.child("metadata"), &spec, causes);
            job::update(&spec, &held, causes);
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            rbac::keeps_role(&new.child("roleRef"), &old.child("roleRef"), causes);
        }
        ("storage.k8s.io", "storageclasses") => class::storage_update(new, old, causes),
        ("storage.k8s.io", "volumeattachments") => spec.immutable(causes, &held),
        ("scheduling.k8s.io", "priorityclasses") => class::priority_update(new, old, causes),
        ("discovery.k8s.io", _) => new.child("addressType").immutable(causes, &old.child("addressType")),
        _ => {}
    }
}
