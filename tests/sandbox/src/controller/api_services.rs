//! Sets the condition `Available` on the APIServices of this server.

use serde_json::json;

use super::{Action, Controller, ControllerClient, EventSources, ReconcileResult, reconcile::ChangeEvent};
use crate::object;

const SERVICES: &str = "apiservices.apiregistration.k8s.io";

#[derive(Debug)]
pub(super) struct ApiServices;

impl Controller for ApiServices {
    type Key = String;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SERVICES])
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, event: &ChangeEvent) -> Vec<String> {
        vec![event.object.name.to_string()]
    }

    async fn reconcile(&mut self, client: &ControllerClient, name: &String) -> ReconcileResult {
        let kind = client.known(SERVICES)?;
        let Some(mut service) = client.get(&kind, "", name) else { return Ok(Action::AwaitChange) };
        let elsewhere = object::at(&service, &["spec", "service"]).is_some();
        if elsewhere || object::at(&service, &["status", "conditions"]).is_some() {
            return Ok(Action::AwaitChange);
        }
        service["status"] = json!({"conditions": [{
            "type": "Available", "status": "True", "lastTransitionTime": client.server.environment.time(),
            "reason": "Local", "message": "Local APIServices are always available",
        }]});
        match client.replace(&kind, "status", &service).await {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}
