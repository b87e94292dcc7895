//! Implements the Endpoints controller: lists the addresses of the Pods behind each Service.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    pods::{self, PODS},
};
use crate::{call::selector::LabelSelector, object};

pub(super) const SERVICES: &str = "services";
const ENDPOINTS: &str = "endpoints";
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
pub(super) const TRIGGER: &str = "endpoints.kubernetes.io/last-change-trigger-time";
pub(super) const HEADLESS: &str = "service.kubernetes.io/headless";

/// Maintains the Endpoints of Services.
#[derive(Debug, Default)]
pub(super) struct Endpoints {
    selectors: Selectors,
}

impl Controller for Endpoints {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SERVICES, PODS])
    }

    fn reset(&mut self) {
        self.selectors = Selectors::default();
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        self.selectors.keys_for(client, group_resource, event)
    }

    /// Writes the addresses of the Pods behind a Service into the Endpoints with the name of the Service. Deletes the Endpoints with their
    /// Service, and ignores a Service that selects no Pods.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, services) = (client.served_kind(ENDPOINTS)?, client.served_kind(SERVICES)?);
        let existing = client.get(&kind, namespace, name);
        let Some(service) = client.get(&services, namespace, name) else {
            // Deletes the Endpoints with their Service, if the controller created them.
            if existing.is_some_and(|existing| existing["metadata"]["labels"][MANAGED_BY].is_string()) {
                return ignore_races(client.delete(&kind, (namespace, name), &json!({})).await);
            }
            return Ok(Action::AwaitChange);
        };
        if !selects_pods(&service) {
            return Ok(Action::AwaitChange);
        }
        let subsets = build_subsets(client, &service)?;
        let mut labels = object::at(&service, &["metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
        labels[MANAGED_BY] = "endpoint-controller".into();
        if is_headless(&service) {
            labels[HEADLESS] = "".into();
        }
        let is_current = |existing: &Value| {
            let existing_subsets = object::at(existing, &["subsets"]).cloned().unwrap_or_else(|| json!([]));
            existing_subsets == subsets && existing["metadata"]["labels"] == labels
        };
        if existing.as_ref().is_some_and(is_current) {
            return Ok(Action::AwaitChange);
        }
        let is_new = existing.is_none();
        let mut endpoints = existing.unwrap_or_else(|| json!({"metadata": {"name": name, "namespace": namespace}}));
        endpoints["metadata"]["labels"] = labels;
        endpoints["metadata"]["annotations"][TRIGGER] = client.server.environment.time().into();
        endpoints["subsets"] = subsets;
        ignore_races(if is_new {
            client.create(&kind, &endpoints).await
        } else {
            client.replace(&kind, "", &endpoints).await
        })
    }
}

/// Converts the response to a write into the result of a reconcile. Counts the errors that an object does not exist or already exists as
/// success: the event of the other write leads to the next reconcile.
pub(super) fn ignore_races(response: Result<Value, ApiError>) -> ReconcileResult {
    match response {
        Err(refused) if !refused.is_not_found() && !refused.is_already_exists() => Err(refused),
        _ => Ok(Action::AwaitChange),
    }
}

/// The selectors of the Services that select Pods. A Service is parsed only when it changes, not for each change of a
/// Pod.
#[derive(Debug, Default)]
pub(super) struct Selectors {
    by_service: BTreeMap<ObjectKey, LabelSelector>,
}

impl Selectors {
    /// Returns the Services to reconcile for a change: a changed Service, after storing or removing its selector, or the Services whose
    /// selector matches a changed Pod before or after its change.
    pub(super) fn keys_for(
        &mut self,
        client: &ControllerClient,
        group_resource: &str,
        event: &ChangeEvent,
    ) -> Vec<ObjectKey> {
        if group_resource == SERVICES {
            let key = pods::key(event);
            let service = client.kind(SERVICES).filter(|_| !event.deleted).map(|kind| event.object.object(&kind));
            match service.filter(selects_pods) {
                Some(service) => self.by_service.insert(key.clone(), pod_selector(&service)),
                None => self.by_service.remove(&key),
            };
            return vec![key];
        }
        let states = [Some(&event.object), event.before.as_ref()];
        let namespace = &*event.object.namespace;
        let services_in_namespace = self.by_service.range((namespace.to_owned(), String::new())..);
        let services_in_namespace = services_in_namespace.take_while(|((other, _), _)| other == namespace);
        let affected = services_in_namespace
            .filter(|(_, selector)| states.iter().flatten().any(|state| selector.matches(|key| state.label(key))));
        affected.map(|(key, _)| key.clone()).collect()
    }
}

/// Returns the label selector of a Service.
fn pod_selector(service: &Value) -> LabelSelector {
    LabelSelector::of_object(&json!({"matchLabels": service["spec"]["selector"]}))
}

/// Returns whether the controller manages the endpoints of a Service: it has a selector and is not an `ExternalName`.
pub(super) fn selects_pods(service: &Value) -> bool {
    service["spec"]["selector"].as_object().is_some_and(|selector| !selector.is_empty())
        && service["spec"]["type"] != "ExternalName"
}

/// Returns whether a Service has no cluster IP.
pub(super) fn is_headless(service: &Value) -> bool {
    service["spec"]["clusterIP"] == "None"
}

/// Returns the Pods of a Service that have not ended and have an address.
pub(super) fn pods_of(client: &ControllerClient, service: &Value) -> Result<Vec<Value>, ApiError> {
    let kind = client.served_kind(PODS)?;
    let selector = pod_selector(service);
    let (_, all) = client.server.store.list(PODS, Some(object::namespace(service)));
    let matching = all.iter().filter(|pod| selector.matches(|key| pod.label(key))).map(|pod| pod.object(&kind));
    Ok(matching.filter(|pod| !pods::is_ended(pod) && !object::text(pod, &["status", "podIP"]).is_empty()).collect())
}

/// Returns the port of a Pod that a port of a Service targets, like `podutil.FindPort`; `None` for a port name that the
/// Pod doesn't have.
pub(super) fn target_port(port: &Value, pod: &Value) -> Option<Value> {
    match &port["targetPort"] {
        Value::String(name) => {
            let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
            let mut ports = containers.flat_map(|container| container["ports"].as_array().into_iter().flatten());
            ports.find(|port| port["name"] == **name).map(|port| port["containerPort"].clone())
        }
        Value::Number(number) if number.as_i64() != Some(0) => Some(number.clone().into()),
        _ => Some(port["port"].clone()),
    }
}

/// Returns the `targetRef` of an endpoint, which refers to its Pod.
pub(super) fn target_reference(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]})
}

/// Returns the ports of a Service.
pub(super) fn service_ports(service: &Value) -> impl Iterator<Item = &Value> {
    service["spec"]["ports"].as_array().into_iter().flatten()
}

/// Builds the `subsets` of Endpoints: the addresses of ready and unready Pods, grouped by their ports.
fn build_subsets(client: &ControllerClient, service: &Value) -> Result<Value, ApiError> {
    let includes_unready = service["spec"]["publishNotReadyAddresses"] == true;
    // Each subset with its ports. The addresses of all Pods with the same ports are in one subset.
    let mut subsets: Vec<(Value, Value)> = Vec::new();
    for pod in pods_of(client, service)?.iter().filter(|pod| includes_unready || !object::is_deleting(pod)) {
        let mut address = json!({
            "ip": pod["status"]["podIP"], "nodeName": pod["spec"]["nodeName"], "targetRef": target_reference(pod),
        });
        if pod["spec"]["subdomain"] == service["metadata"]["name"] && pod["spec"]["hostname"].is_string() {
            address["hostname"] = pod["spec"]["hostname"].clone();
        }
        let endpoint_ports = service_ports(service).filter_map(|port| {
            let mut endpoint_port =
                json!({"port": target_port(port, pod)?, "protocol": port["protocol"].as_str().unwrap_or("TCP")});
            for field in ["name", "appProtocol"] {
                if let Some(value) = object::at(port, &[field]) {
                    endpoint_port[field] = value.clone();
                }
            }
            Some(endpoint_port)
        });
        let endpoint_ports: Value = endpoint_ports.collect();
        let list = if includes_unready || pods::is_ready(pod) { "addresses" } else { "notReadyAddresses" };
        let index = subsets.iter().position(|(ports, _)| *ports == endpoint_ports).unwrap_or_else(|| {
            subsets.push((endpoint_ports, json!({})));
            subsets.len() - 1
        });
        let (_, subset) = &mut subsets[index];
        match subset[list].as_array_mut() {
            Some(addresses) => addresses.push(address),
            None => subset[list] = json!([address]),
        }
    }
    let with_ports = |(ports, mut subset): (Value, Value)| {
        if ports.as_array().is_some_and(|ports| !ports.is_empty()) {
            subset["ports"] = ports;
        }
        subset
    };
    Ok(subsets.into_iter().map(with_ports).collect())
}
