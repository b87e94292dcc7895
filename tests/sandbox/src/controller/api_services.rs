//! APIServices: what this server serves itself is available.

use serde_json::json;

use super::{Actor, Controller, Next, Outcome, Watches, reconcile::Seen};
use crate::object;

const SERVICES: &str = "apiservices.apiregistration.k8s.io";

#[derive(Debug)]
pub(super) struct ApiServices;

impl Controller for ApiServices {
    type Key = String;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[SERVICES])
    }

    fn told(&mut self, _: &Actor, _: &str, seen: &Seen) -> Vec<String> {
        vec![seen.object.name.to_string()]
    }

    async fn reconcile(&mut self, actor: &Actor, name: &String) -> Outcome {
        let kind = actor.known(SERVICES)?;
        let Some(mut service) = actor.get(&kind, "", name) else { return Ok(Next::Rest) };
        let elsewhere = object::at(&service, &["spec", "service"]).is_some();
        if elsewhere || object::at(&service, &["status", "conditions"]).is_some() {
            return Ok(Next::Rest);
        }
        service["status"] = json!({"conditions": [{
            "type": "Available", "status": "True", "lastTransitionTime": actor.server.environment.time(),
            "reason": "Local", "message": "Local APIServices are always available",
        }]});
        match actor.replace(&kind, "status", &service).await {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(Next::Rest),
        }
    }
}
