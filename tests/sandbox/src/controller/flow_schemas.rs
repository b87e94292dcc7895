//! Flow schemas tell whether the priority level that they name is there. In Kubernetes the API server itself writes it.

use serde_json::json;

use super::{Actor, Controller, Next, Outcome, Seen, Watches};
use crate::object::{self, text};

const SCHEMAS: &str = "flowschemas.flowcontrol.apiserver.k8s.io";
const LEVELS: &str = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

/// The program that writes the condition, which is its manager, too.
pub(super) const AGENT: &str = "api-priority-and-fairness-config-consumer-v1";

/// Looks for the level of each schema.
#[derive(Debug)]
pub(super) struct FlowSchemas;

impl Controller for FlowSchemas {
    /// The name of a schema.
    type Key = String;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[SCHEMAS, LEVELS])
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<String> {
        if shelf == SCHEMAS {
            return if seen.gone { Vec::new() } else { vec![seen.object.name.to_string()] };
        }
        if !seen.gone && seen.before.is_some() {
            return Vec::new();
        }
        let (_, schemas) = actor.server.store.list(SCHEMAS, None);
        schemas.iter().map(|schema| schema.name.to_string()).collect()
    }

    async fn reconcile(&mut self, actor: &Actor, name: &String) -> Outcome {
        let kind = actor.known(SCHEMAS)?;
        let Some(schema) = actor.get(&kind, "", name) else { return Ok(Next::Rest) };
        let level = text(&schema, &["spec", "priorityLevelConfiguration", "name"]);
        let found = actor.server.store.get(&actor.known(LEVELS)?.shelf, "", level).is_some();
        let (status, reason, then) = if found {
            ("False", "Found", "and it exists")
        } else {
            ("True", "NotFound", "but there is no such object")
        };
        let message =
            format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?} {then}");
        let conditions = schema["status"]["conditions"].as_array().into_iter().flatten();
        let held = conditions.into_iter().find(|condition| condition["type"] == "Dangling");
        if held.is_some_and(|held| held["status"] == status && held["message"] == message.as_str()) {
            return Ok(Next::Rest);
        }
        let condition = json!({
            "type": "Dangling", "status": status, "reason": reason, "message": message,
            "lastTransitionTime": actor.server.environment.time(),
        });
        let applied = json!({
            "apiVersion": kind.api_version(), "kind": kind.kind,
            "metadata": {"name": object::name(&schema)}, "status": {"conditions": [condition]},
        });
        match actor.apply(&kind, "status", &applied).await {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(Next::Rest),
        }
    }
}
