//! Gives a Pod its node, as a scheduler does.

use serde_json::{Value, json};

use crate::{
    answer::Answer,
    call::DryRun,
    failure::{Cause, Failure},
    object,
    store::Expect,
    verb::Asked,
};

pub(super) async fn bind(asked: Asked<'_>) -> Result<Answer, Failure> {
    let binding = asked.parse()?;
    if object::name(&binding) != asked.name {
        return Err(Failure::bad_request("name in URL does not match name in Binding object"));
    }
    let node = object::text(&binding, &["target", "name"]);
    check(&binding, node)?;
    loop {
        let held = asked.held()?;
        let mut pod = held.object(asked.kind);
        check_pod(asked, &binding, &pod)?;
        object::map_at(&mut pod, &["spec"]).insert("nodeName".into(), node.into());
        if let Some(annotations) = object::at(&binding, &["metadata", "annotations"]).and_then(Value::as_object) {
            object::map_at(&mut pod, &["metadata", "annotations"]).extend(annotations.clone());
        }
        let now = asked.server.environment.time();
        let scheduled =
            json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
        let conditions = object::map_at(&mut pod, &["status"]).entry("conditions").or_insert_with(|| json!([]));
        if let Some(conditions) = conditions.as_array_mut() {
            conditions.retain(|condition| condition["type"] != "PodScheduled");
            conditions.push(scheduled);
        }
        if asked.call.options.dry_run == DryRun::All {
            return Ok(super::done());
        }
        let at = (asked.namespace, asked.name);
        let expected = Expect::Version(held.version);
        if asked.server.store.commit(&asked.kind.shelf, at, expected, Some(pod), &held.api_version).is_ok() {
            return Ok(super::done());
        }
    }
}

/// A Pod is bound to a node, which has a name. Kubernetes words the refusal as if it were its own fault.
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

fn check_pod(asked: Asked<'_>, binding: &Value, pod: &Value) -> Result<(), Failure> {
    let refused = |why: String| {
        let mut failure = Failure::conflict(asked.kind, asked.name, &why);
        failure.message = format!("Operation cannot be fulfilled on pods/binding {:?}: {why}", asked.name);
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
        return Err(refused(format!("pod {} is being deleted, cannot be assigned to a host", asked.name)));
    }
    let held = object::text(pod, &["spec", "nodeName"]);
    if !held.is_empty() {
        return Err(refused(format!("pod {} is already assigned to node {held:?}", asked.name)));
    }
    Ok(())
}
