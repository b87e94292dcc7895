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

/// Handles the creation of a binding: sets the node of the Pod, copies the annotations of the binding, and sets the condition
/// `PodScheduled`. Repeats this after a conflict. Returns an error if the target is invalid, or if the Pod is terminating, bound already or
/// has another uid.
pub(super) async fn bind(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let binding = request.parse()?;
    if object::name(&binding) != request.name {
        return Err(Failure::bad_request("name in URL does not match name in Binding object"));
    }
    let node = object::text(&binding, &["target", "name"]);
    check_target(&binding, node)?;
    loop {
        let stored = request.stored_object()?;
        let mut pod = stored.object(request.kind);
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
        let key = (request.namespace, request.name);
        let expected = Expect::Version(stored.version);
        if request
            .server
            .store
            .commit(&request.kind.group_resource, key, expected, Some(pod), &stored.api_version)
            .is_ok()
        {
            return Ok(ApiResponse::created());
        }
    }
}

/// Checks that the target of the binding is a node with a name. As Kubernetes, returns a 500 error for an invalid target.
fn check_target(binding: &Value, node: &str) -> Result<(), Failure> {
    let target_kind = object::text(binding, &["target", "kind"]);
    let cause = if !matches!(target_kind, "" | "Node") {
        Cause::unsupported("target.kind", &target_kind.into(), &["Node", "<empty>"])
    } else if node.is_empty() {
        Cause::required("target.name", "")
    } else {
        return Ok(());
    };
    let mut failure = Failure::internal(format!("{}: {}", cause.field, cause.message));
    failure.reason = "";
    Err(failure)
}

/// Returns a 409 error if the Pod is terminating or bound already, or if its uid differs from the uid that the binding requires.
fn check_pod(request: ResourceRequest<'_>, binding: &Value, pod: &Value) -> Result<(), Failure> {
    let conflict = |why: String| {
        let mut failure = Failure::conflict(request.kind, request.name, &why);
        failure.message = format!("Operation cannot be fulfilled on pods/binding {:?}: {why}", request.name);
        failure.details.insert("kind".into(), "pods/binding".into());
        failure
    };
    let (requested, uid) = (object::uid(binding), object::uid(pod));
    if !requested.is_empty() && requested != uid {
        let why = "The object might have been deleted and then recreated";
        return Err(conflict(format!(
            "the UID in the precondition ({requested}) does not match the UID in record ({uid}). {why}"
        )));
    }
    if object::is_deleting(pod) {
        return Err(conflict(format!("pod {} is being deleted, cannot be assigned to a host", request.name)));
    }
    let node = object::text(pod, &["spec", "nodeName"]);
    if !node.is_empty() {
        return Err(conflict(format!("pod {} is already assigned to node {node:?}", request.name)));
    }
    Ok(())
}
