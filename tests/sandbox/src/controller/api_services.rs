//! Sets the condition `Available` on the APIServices of this server.

use serde_json::json;

use super::{Action, Controller, ControllerClient, EventSources, ReconcileResult, reconcile::ChangeEvent};
use crate::object;

const SERVICES: &str = "apiservices.apiregistration.k8s.io";

/// Reports the local APIServices as available; those of an extension API server (`spec.service`) are left alone.
#[derive(Debug)]
pub(super) struct ApiServices;

impl Controller for ApiServices {
    /// The name of an APIService.
    type Key = String;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SERVICES])
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, event: &ChangeEvent) -> Vec<String> {
        vec![event.object.name.to_string()]
    }

    /// Sets the condition `Available` on a new APIService that this server serves itself. Skips an APIService of an extension API server
    /// (`spec.service`), and one that already has conditions.
    async fn reconcile(&mut self, client: &ControllerClient, name: &String) -> ReconcileResult {
        let kind = client.served_kind(SERVICES)?;
        let Some(mut service) = client.get(&kind, "", name) else { return Ok(Action::AwaitChange) };
        let is_extension = object::at(&service, &["spec", "service"]).is_some();
        if is_extension || object::at(&service, &["status", "conditions"]).is_some() {
            return Ok(Action::AwaitChange);
        }
        service["status"] = json!({"conditions": [{
            "type": "Available", "status": "True", "lastTransitionTime": client.server.environment.time(),
            "reason": "Local", "message": "Local APIServices are always available",
        }]});
        match client.replace(&kind, "status", &service).await {
            Err(refused) if !refused.is_not_found() => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}
