//! Records the Events of the workload controllers.

use serde_json::{Value, json};

use super::ControllerClient;
use crate::object;

/// Creates an Event of a controller (`component`) about the object `involved`. Ignores a refused Event, as in a cluster.
pub(super) async fn record(
    client: &ControllerClient,
    component: &str,
    involved: &Value,
    type_: &str,
    reason: &str,
    message: &str,
) {
    let Ok(kind) = client.served_kind("events") else { return };
    let now = client.server.environment.time();
    let (namespace, name) = (object::namespace(involved), object::name(involved));
    let suffix = client.server.environment.chance(|random| random.u64(..));
    let event = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{name}.{suffix:016x}"), "namespace": namespace},
        "involvedObject": {
            "kind": involved["kind"], "namespace": namespace, "name": name, "uid": object::uid(involved),
            "apiVersion": involved["apiVersion"], "resourceVersion": object::version(involved),
        },
        "reason": reason, "message": message, "type": type_, "count": 1,
        "source": {"component": component}, "reportingComponent": component, "reportingInstance": "",
        "firstTimestamp": now, "lastTimestamp": now, "eventTime": null,
    });
    if let Err(refused) = client.create(&kind, &event).await {
        tracing::debug!(%refused, reason, "an event is lost");
    }
}
