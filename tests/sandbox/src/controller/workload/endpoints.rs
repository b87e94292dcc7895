//! Implements the Endpoints controller: lists the Pods behind each Service.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    pods::{self, PODS},
};
use crate::{call::selector::LabelSelector, object};

pub(super) const SERVICES: &str = "services";
const ENDPOINTS: &str = "endpoints";
const MANAGED: &str = "endpoints.kubernetes.io/managed-by";
pub(super) const TRIGGER: &str = "endpoints.kubernetes.io/last-change-trigger-time";
pub(super) const HEADLESS: &str = "service.kubernetes.io/headless";

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

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, services) = (client.served_kind(ENDPOINTS)?, client.served_kind(SERVICES)?);
        let held = client.get(&kind, namespace, name);
        let Some(service) = client.get(&services, namespace, name) else {
            // Deletes the Endpoints with their Service, if the controller created them.
            if held.is_some_and(|held| held["metadata"]["labels"][MANAGED].is_string()) {
                return answer(client.delete(&kind, (namespace, name), &json!({})).await);
            }
            return Ok(Action::AwaitChange);
        };
        if !leads_to_pods(&service) {
            return Ok(Action::AwaitChange);
        }
        let subsets = subsets(client, &service)?;
        let mut labels = object::at(&service, &["metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
        labels[MANAGED] = "endpoint-controller".into();
        if is_headless(&service) {
            labels[HEADLESS] = "".into();
        }
        let same = |held: &Value| {
            let own = object::at(held, &["subsets"]).cloned().unwrap_or_else(|| json!([]));
            own == subsets && held["metadata"]["labels"] == labels
        };
        if held.as_ref().is_some_and(same) {
            return Ok(Action::AwaitChange);
        }
        let is_new = held.is_none();
        let mut endpoints = held.unwrap_or_else(|| json!({"metadata": {"name": name, "namespace": namespace}}));
        endpoints["metadata"]["labels"] = labels;
        endpoints["metadata"]["annotations"][TRIGGER] = client.server.environment.time().into();
        endpoints["subsets"] = subsets;
        answer(if is_new {
            client.create(&kind, &endpoints).await
        } else {
            client.replace(&kind, "", &endpoints).await
        })
    }
}

pub(super) fn answer(answer: Result<Value, ApiError>) -> ReconcileResult {
    match answer {
        Err(refused) if !refused.is_not_found() && !refused.is_already_exists() => Err(refused),
        _ => Ok(Action::AwaitChange),
    }
}

/// The selectors of the Services that select Pods. A Service is parsed only when it changes, not for each change of a
/// Pod.
#[derive(Debug, Default)]
pub(super) struct Selectors(BTreeMap<ObjectKey, LabelSelector>);

impl Selectors {
    /// Returns the Services to reconcile for a change of a Service or a Pod.
    pub(super) fn keys_for(
        &mut self,
        client: &ControllerClient,
        group_resource: &str,
        event: &ChangeEvent,
    ) -> Vec<ObjectKey> {
        if group_resource == SERVICES {
            let key = pods::key(event);
            let service = client.kind(SERVICES).filter(|_| !event.deleted).map(|kind| event.object.object(&kind));
            match service.filter(leads_to_pods) {
                Some(service) => self.0.insert(key.clone(), selector(&service)),
                None => self.0.remove(&key),
            };
            return vec![key];
        }
        let states = [Some(&event.object), event.before.as_ref()];
        let namespace = &*event.object.namespace;
        let of_namespace = self.0.range((namespace.to_owned(), String::new())..);
        let of_namespace = of_namespace.take_while(|((own, _), _)| own == namespace);
        let concerned = of_namespace
            .filter(|(_, selector)| states.iter().flatten().any(|state| selector.matches(|key| state.label(key))));
        concerned.map(|(key, _)| key.clone()).collect()
    }
}

fn selector(service: &Value) -> LabelSelector {
    LabelSelector::of_object(&json!({"matchLabels": service["spec"]["selector"]}))
}

pub(super) fn leads_to_pods(service: &Value) -> bool {
    service["spec"]["selector"].as_object().is_some_and(|selector| !selector.is_empty())
        && service["spec"]["type"] != "ExternalName"
}

pub(super) fn is_headless(service: &Value) -> bool {
    service["spec"]["clusterIP"] == "None"
}

/// Returns the Pods of a Service that have an address.
pub(super) fn pods_of(client: &ControllerClient, service: &Value) -> Result<Vec<Value>, ApiError> {
    let kind = client.served_kind(PODS)?;
    let selector = selector(service);
    let (_, all) = client.server.store.list(PODS, Some(object::namespace(service)));
    let own = all.iter().filter(|pod| selector.matches(|key| pod.label(key))).map(|pod| pod.object(&kind));
    Ok(own.filter(|pod| !pods::is_ended(pod) && !object::text(pod, &["status", "podIP"]).is_empty()).collect())
}

/// Returns the port of a Pod that a port of a Service targets; `None` for a port name that the Pod doesn't have.
pub(super) fn target(port: &Value, pod: &Value) -> Option<Value> {
    match &port["targetPort"] {
        Value::String(name) => {
            let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
            let mut ports = containers.flat_map(|container| container["ports"].as_array().into_iter().flatten());
            ports.find(|own| own["name"] == **name).map(|own| own["containerPort"].clone())
        }
        Value::Number(number) if number.as_i64() != Some(0) => Some(number.clone().into()),
        _ => Some(port["port"].clone()),
    }
}

pub(super) fn reference(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]})
}

pub(super) fn ports(service: &Value) -> impl Iterator<Item = &Value> {
    service["spec"]["ports"].as_array().into_iter().flatten()
}

fn subsets(client: &ControllerClient, service: &Value) -> Result<Value, ApiError> {
    let early = service["spec"]["publishNotReadyAddresses"] == true;
    let mut subsets: Vec<(Value, Value)> = Vec::new();
    for pod in pods_of(client, service)?.iter().filter(|pod| early || !object::is_deleting(pod)) {
        let mut address =
            json!({"ip": pod["status"]["podIP"], "nodeName": pod["spec"]["nodeName"], "targetRef": reference(pod)});
        if pod["spec"]["subdomain"] == service["metadata"]["name"] && pod["spec"]["hostname"].is_string() {
            address["hostname"] = pod["spec"]["hostname"].clone();
        }
        let led = ports(service).filter_map(|port| {
            let mut led = json!({"port": target(port, pod)?, "protocol": port["protocol"].as_str().unwrap_or("TCP")});
            for part in ["name", "appProtocol"] {
                if let Some(value) = object::at(port, &[part]) {
                    led[part] = value.clone();
                }
            }
            Some(led)
        });
        let led: Value = led.collect();
        let list = if early || pods::is_ready(pod) { "addresses" } else { "notReadyAddresses" };
        let at = subsets.iter().position(|(ports, _)| *ports == led).unwrap_or_else(|| {
            subsets.push((led, json!({})));
            subsets.len() - 1
        });
        match subsets[at].1[list].as_array_mut() {
            Some(addresses) => addresses.push(address),
            None => subsets[at].1[list] = json!([address]),
        }
    }
    let subset = |(ports, mut subset): (Value, Value)| {
        if ports.as_array().is_some_and(|ports| !ports.is_empty()) {
            subset["ports"] = ports;
        }
        subset
    };
    Ok(subsets.into_iter().map(subset).collect())
}
