//! Implements the EndpointSlice controller, with one slice for each Service.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    endpoints::{self, HEADLESS, SERVICES, Selectors, TRIGGER},
    pods::{self, PODS},
};
use crate::object;

const SLICES: &str = "endpointslices.discovery.k8s.io";
const MANAGED: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const SERVICE: &str = "kubernetes.io/service-name";

#[derive(Debug, Default)]
pub(super) struct Slices {
    selectors: Selectors,
}

impl Controller for Slices {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SERVICES, PODS, SLICES])
    }

    fn reset(&mut self) {
        self.selectors = Selectors::default();
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource != SLICES {
            return self.selectors.keys_for(client, group_resource, event);
        }
        let service = event.object.label(SERVICE).filter(|_| event.deleted || event.before.is_some());
        service.map(|service| (event.object.namespace.to_string(), service.to_owned())).into_iter().collect()
    }

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, services) = (client.served_kind(SLICES)?, client.served_kind(SERVICES)?);
        let Some(service) = client.get(&services, namespace, name) else { return Ok(Action::AwaitChange) };
        if !endpoints::leads_to_pods(&service) || object::is_deleting(&service) {
            return Ok(Action::AwaitChange);
        }
        let (ports, found) = found(client, &service)?;
        let labels = labels(&service);
        let own = pods::controlled(client, &kind, namespace, object::uid(&service));
        let held = own.into_iter().find(|slice| slice["metadata"]["labels"][MANAGED] == MANAGER);
        let same = |held: &Value| {
            let of = |part: &str| object::at(held, &[part]).cloned().unwrap_or_else(|| json!([]));
            of("endpoints") == found && of("ports") == ports && held["metadata"]["labels"] == labels
        };
        if held.as_ref().is_some_and(same) {
            return Ok(Action::AwaitChange);
        }
        let is_new = held.is_none();
        let triggered = held.as_ref().is_none_or(|held| is_triggered(held, &found));
        let mut slice = held.unwrap_or_else(|| {
            json!({
                "addressType": "IPv4",
                "metadata": {
                    "generateName": format!("{name}-"), "namespace": namespace,
                    "ownerReferences": [pods::controlled_by(&services, &service)],
                },
            })
        });
        slice["metadata"]["labels"] = labels;
        let annotations = object::map_at(&mut slice, &["metadata", "annotations"]);
        if triggered {
            annotations.insert(TRIGGER.to_owned(), client.server.environment.time().into());
        } else {
            annotations.remove(TRIGGER);
        }
        slice["endpoints"] = found;
        slice["ports"] = ports;
        endpoints::answer(if is_new {
            client.create(&kind, &slice).await
        } else {
            client.replace(&kind, "", &slice).await
        })
    }
}

/// Whether a Pod is new in a slice or changed its readiness. The trigger time of a Pod that only disappears is not
/// recorded.
fn is_triggered(held: &Value, found: &Value) -> bool {
    let endpoints = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let known = endpoints(&held["endpoints"]);
    let same = |one: &Value, other: &Value| {
        one["targetRef"]["uid"] == other["targetRef"]["uid"]
            && one["conditions"]["serving"] == other["conditions"]["serving"]
    };
    endpoints(found).iter().any(|new| !known.iter().any(|old| same(old, new)))
}

fn labels(service: &Value) -> Value {
    let mut labels = object::at(service, &["metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
    labels[MANAGED] = MANAGER.into();
    labels[SERVICE] = service["metadata"]["name"].clone();
    if endpoints::is_headless(service) {
        labels[HEADLESS] = "".into();
    }
    labels
}

/// Returns the ports, resolved by the first Pod, and all endpoints.
fn found(client: &ControllerClient, service: &Value) -> Result<(Value, Value), ApiError> {
    let pods = endpoints::pods_of(client, service)?;
    let early = service["spec"]["publishNotReadyAddresses"] == true;
    let port = |port: &Value| {
        let target = pods.first().map_or_else(|| Some(port["port"].clone()), |pod| endpoints::target(port, pod))?;
        let mut led = json!({"name": port["name"].as_str().unwrap_or_default(), "port": target});
        led["protocol"] = port["protocol"].as_str().unwrap_or("TCP").into();
        if let Some(protocol) = object::at(port, &["appProtocol"]) {
            led["appProtocol"] = protocol.clone();
        }
        Some(led)
    };
    let ports: Value = if pods.is_empty() { json!([]) } else { endpoints::ports(service).filter_map(port).collect() };
    let endpoint = |pod: &Value| {
        let (serving, terminating) = (pods::is_ready(pod), object::is_deleting(pod));
        let ready = early || serving && !terminating;
        let conditions = json!({"ready": ready, "serving": serving, "terminating": terminating});
        let mut endpoint = json!({
            "addresses": [pod["status"]["podIP"]], "conditions": conditions,
            "targetRef": endpoints::reference(pod), "nodeName": pod["spec"]["nodeName"],
        });
        if pod["spec"]["subdomain"] == service["metadata"]["name"] && pod["spec"]["hostname"].is_string() {
            endpoint["hostname"] = pod["spec"]["hostname"].clone();
        }
        endpoint
    };
    Ok((ports, pods.iter().map(endpoint).collect()))
}
