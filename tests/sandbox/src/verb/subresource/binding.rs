//! Implements `pods/binding`: binds a Pod to a node.

use serde_json::{Value, json};

use crate::{
    call::DryRun,
    failure::{Cause, Failure},
    object,
    request::ResourceRequest,
    response::ApiResponse,
    store::Expect,
};

pub(super) async fn bind(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let binding = request.parse()?;
    if object::name(&binding) != request.name {
        return Err(Failure::bad_request("name in URL does not match name in Binding object"));
    }
    let node = object::text(&binding, &["target", "name"]);
    check(&binding, node)?;
    loop {
        let held = request.stored_object()?;
        let mut pod = held.object(request.kind);
        check_pod(request, &binding, &pod)?;
        object::map_at(&mut pod, &["spec"]).insert("nodeName".into(), node.into());
        if let Some(annotations) = object::at(&binding, &["metadata", "annotations"]).and_then(Value::as_object) {
            object::map_at(&mut pod, &["metadata", "annotations"]).extend(annotations.clone());
        }
        let now = request.server.environment.time();
        let scheduled =
            json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
        let conditions = object::map_at(&mut pod, &["status"]).entry("conditions").or_insert_with(|| json!([]));
        if let Some(conditions) = conditions.as_array_mut() {
            conditions.retain(|condition| condition["type"] != "PodScheduled");
            conditions.push(scheduled);
        }
        if request.call.options.dry_run == DryRun::All {
            return Ok(ApiResponse::created());
        }
        let at = (request.namespace, request.name);
        let expected = Expect::Version(held.version);
        if request.server.store.commit(&request.kind.group_resource, at, expected, Some(pod), &held.api_version).is_ok()
        {
            return Ok(ApiResponse::created());
        }
    }
}

/// Checks that the binding names a node. Kubernetes refuses an invalid one as an internal error.
fn check(binding: &Value, node: &str) -> Result<(), Failure> {
    let target = object::text(binding, &["target", "kind"]);
    let cause = if !matches!(target, "" | "Node") {
        Cause::unsupported("target.kind", &target.into(), &["Node", "<empty>"])
    } else if node.is_empty() {
        Cause::required("target.name", "")
    } else {
        return Ok(());
    };
    let mut failure = Failure::internal(format!("{}: {}", cause.field, cause.message));
    failure.reason = "";
    Err(failure)
}

fn check_pod(request: ResourceRequest<'_>, binding: &Value, pod: &Value) -> Result<(), Failure> {
    let refused = |why: String| {
        let mut failure = Failure::conflict(request.kind, request.name, &why);
        failure.message = format!("Operation cannot be fulfilled on pods/binding {:?}: {why}", request.name);
        failure.details.insert("kind".into(), "pods/binding".into());
        failure
    };
    let (wanted, uid) = (object::uid(binding), object::uid(pod));
    if !wanted.is_empty() && wanted != uid {
        let why = "The object might have been deleted and then recreated";
        return Err(refused(format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). {why}"
        )));
    }
    if object::is_deleting(pod) {
        return Err(refused(format!("pod {} is being deleted, cannot be assigned to a host", request.name)));
    }
    let held = object::text(pod, &["spec", "nodeName"]);
    if !held.is_empty() {
        return Err(refused(format!("pod {} is already assigned to node {held:?}", request.name)));
    }
    Ok(())
}
