//! Implements the EndpointSlice controller, with one slice for each Service.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    endpoints::{self, HEADLESS, SERVICES, Selectors, TRIGGER},
    pods::{self, PODS},
};
use crate::object;

const SLICES: &str = "endpointslices.discovery.k8s.io";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const SERVICE: &str = "kubernetes.io/service-name";

/// Maintains the EndpointSlice of each Service.
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

    /// Returns the Services to reconcile for a changed Service or Pod, or the Service of an updated or deleted EndpointSlice. The
    /// controller itself creates slices, so a new one needs no reconcile.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource != SLICES {
            return self.selectors.keys_for(client, group_resource, event);
        }
        let service = event.object.label(SERVICE).filter(|_| event.deleted || event.before.is_some());
        service.map(|service| (event.object.namespace.to_string(), service.to_owned())).into_iter().collect()
    }

    /// Writes the endpoints and ports of a Service into its EndpointSlice, and creates the slice if it is missing. Ignores a terminating
    /// Service, and one that selects no Pods.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, services) = (client.served_kind(SLICES)?, client.served_kind(SERVICES)?);
        let Some(service) = client.get(&services, namespace, name) else { return Ok(Action::AwaitChange) };
        if !endpoints::selects_pods(&service) || object::is_deleting(&service) {
            return Ok(Action::AwaitChange);
        }
        let (ports, endpoint_list) = ports_and_endpoints(client, &service)?;
        let labels = slice_labels(&service);
        let owned = pods::controlled_objects(client, &kind, namespace, object::uid(&service));
        let existing = owned.into_iter().find(|slice| slice["metadata"]["labels"][MANAGED_BY] == MANAGER);
        let is_current = |existing: &Value| {
            let list = |field: &str| object::at(existing, &[field]).cloned().unwrap_or_else(|| json!([]));
            list("endpoints") == endpoint_list && list("ports") == ports && existing["metadata"]["labels"] == labels
        };
        if existing.as_ref().is_some_and(is_current) {
            return Ok(Action::AwaitChange);
        }
        let is_new = existing.is_none();
        let triggered = existing.as_ref().is_none_or(|existing| is_triggered(existing, &endpoint_list));
        let mut slice = existing.unwrap_or_else(|| {
            json!({
                "addressType": "IPv4",
                "metadata": {
                    "generateName": format!("{name}-"), "namespace": namespace,
                    "ownerReferences": [pods::controller_reference(&services, &service)],
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
        slice["endpoints"] = endpoint_list;
        slice["ports"] = ports;
        endpoints::ignore_races(if is_new {
            client.create(&kind, &slice).await
        } else {
            client.replace(&kind, "", &slice).await
        })
    }
}

/// Returns whether `endpoint_list` contains a Pod that is missing in the stored slice or has another readiness there; only then a trigger
/// time is recorded. The removal of a Pod does not count.
fn is_triggered(slice: &Value, endpoint_list: &Value) -> bool {
    let endpoints = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let old_endpoints = endpoints(&slice["endpoints"]);
    let is_same = |old: &Value, new: &Value| {
        old["targetRef"]["uid"] == new["targetRef"]["uid"]
            && old["conditions"]["serving"] == new["conditions"]["serving"]
    };
    endpoints(endpoint_list).iter().any(|new| !old_endpoints.iter().any(|old| is_same(old, new)))
}

/// Returns the labels of an EndpointSlice: the labels of the Service, and the labels that the controller adds.
fn slice_labels(service: &Value) -> Value {
    let mut labels = object::at(service, &["metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
    labels[MANAGED_BY] = MANAGER.into();
    labels[SERVICE] = service["metadata"]["name"].clone();
    if endpoints::is_headless(service) {
        labels[HEADLESS] = "".into();
    }
    labels
}

/// Returns the ports and the endpoints of the EndpointSlice of a Service. The first Pod determines the numbers of target ports that have a
/// name.
fn ports_and_endpoints(client: &ControllerClient, service: &Value) -> Result<(Value, Value), ApiError> {
    let pods = endpoints::pods_of(client, service)?;
    let includes_unready = service["spec"]["publishNotReadyAddresses"] == true;
    let port = |port: &Value| {
        let target =
            pods.first().map_or_else(|| Some(port["port"].clone()), |pod| endpoints::target_port(port, pod))?;
        let mut endpoint_port = json!({"name": port["name"].as_str().unwrap_or_default(), "port": target});
        endpoint_port["protocol"] = port["protocol"].as_str().unwrap_or("TCP").into();
        if let Some(protocol) = object::at(port, &["appProtocol"]) {
            endpoint_port["appProtocol"] = protocol.clone();
        }
        Some(endpoint_port)
    };
    let ports: Value =
        if pods.is_empty() { json!([]) } else { endpoints::service_ports(service).filter_map(port).collect() };
    let endpoint = |pod: &Value| {
        let (serving, terminating) = (pods::is_ready(pod), object::is_deleting(pod));
        let ready = includes_unready || serving && !terminating;
        let conditions = json!({"ready": ready, "serving": serving, "terminating": terminating});
        let mut endpoint = json!({
            "addresses": [pod["status"]["podIP"]], "conditions": conditions,
            "targetRef": endpoints::target_reference(pod), "nodeName": pod["spec"]["nodeName"],
        });
        if pod["spec"]["subdomain"] == service["metadata"]["name"] && pod["spec"]["hostname"].is_string() {
            endpoint["hostname"] = pod["spec"]["hostname"].clone();
        }
        endpoint
    };
    Ok((ports, pods.iter().map(endpoint).collect()))
}
