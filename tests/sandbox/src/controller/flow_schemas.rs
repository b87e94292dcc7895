//! Sets the condition `Dangling` on FlowSchemas, as kube-apiserver does itself.

use serde_json::json;

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::object::{self, text};

const SCHEMAS: &str = "flowschemas.flowcontrol.apiserver.k8s.io";
const LEVELS: &str = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

/// The user agent that writes the condition, which is also its field manager.
pub(super) const AGENT: &str = "api-priority-and-fairness-config-consumer-v1";

/// Checks that the priority level of each FlowSchema exists.
#[derive(Debug)]
pub(super) struct FlowSchemas;

impl Controller for FlowSchemas {
    /// The name of a FlowSchema.
    type Key = String;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SCHEMAS, LEVELS])
    }

    /// Returns the changed FlowSchema, or all FlowSchemas after the creation or deletion of a PriorityLevelConfiguration.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<String> {
        if group_resource == SCHEMAS {
            return if event.deleted { Vec::new() } else { vec![event.object.name.to_string()] };
        }
        // An update of a PriorityLevelConfiguration does not change whether it exists.
        if !event.deleted && event.before.is_some() {
            return Vec::new();
        }
        let (_, schemas) = client.server.store.list(SCHEMAS, None);
        schemas.iter().map(|schema| schema.name.to_string()).collect()
    }

    /// Sets the condition `Dangling` of a FlowSchema, which reports whether its PriorityLevelConfiguration is missing. Writes only a
    /// changed condition.
    async fn reconcile(&mut self, client: &ControllerClient, name: &String) -> ReconcileResult {
        let kind = client.served_kind(SCHEMAS)?;
        let Some(schema) = client.get(&kind, "", name) else { return Ok(Action::AwaitChange) };
        let level = text(&schema, &["spec", "priorityLevelConfiguration", "name"]);
        let level_exists = client.server.store.get(&client.served_kind(LEVELS)?.group_resource, "", level).is_some();
        let (status, reason, clause) = if level_exists {
            ("False", "Found", "and it exists")
        } else {
            ("True", "NotFound", "but there is no such object")
        };
        let message =
            format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?} {clause}");
        let conditions = schema["status"]["conditions"].as_array().into_iter().flatten();
        let existing = conditions.into_iter().find(|condition| condition["type"] == "Dangling");
        if existing.is_some_and(|existing| existing["status"] == status && existing["message"] == message.as_str()) {
            return Ok(Action::AwaitChange);
        }
        let condition = json!({
            "type": "Dangling", "status": status, "reason": reason, "message": message,
            "lastTransitionTime": client.server.environment.time(),
        });
        let applied = json!({
            "apiVersion": kind.api_version(), "kind": kind.kind,
            "metadata": {"name": object::name(&schema)}, "status": {"conditions": [condition]},
        });
        match client.apply(&kind, "status", &applied).await {
            Err(refused) if !refused.is_not_found() => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}
