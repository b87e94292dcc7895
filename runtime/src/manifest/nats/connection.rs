//! `PodConnection`: the environment variables and the volume of a Deployment that connect its Pods with NATS.

use crate::manifest::project::Project;
use serde_json::{Value, json};

/// The name of the volume with the credentials.
const VOLUME: &str = "nats-credentials";
/// The folder of the credentials in the container.
const FOLDER: &str = "/etc/nats";
/// The key of the Secret with the credentials file.
const CREDENTIALS_KEY: &str = "operator.creds";

/// The parts of a Deployment that connect its Pods with NATS.
///
/// The Secret `<operator>-nats` has the URLs of the servers in the key `url`, and the credentials file of the operator's user in the key
/// `operator.creds`. Each of them is optional: without the second, the operator connects as the anonymous user.
pub(crate) struct PodConnection {
    pub(crate) environment: [Value; 2],
    pub(crate) volume: Value,
}

impl PodConnection {
    /// Returns the environment variables and the volume with which the container uses the Secret `<operator>-nats`. Returns `None` for an
    /// operator without kinds in buckets, and for a Helm chart, whose values set the connection.
    pub(crate) fn of(project: &Project) -> Option<Self> {
        if project.buckets().is_empty() || project.is_release {
            return None;
        }
        let secret = format!("{}-nats", project.name);
        let url = json!({"secretKeyRef": {"key": "url", "name": secret, "optional": true}});
        let environment =
            [json!({"name": "NATS_URL", "valueFrom": url}), json!({"name": "NATS_CREDS", "value": credentials_path()})];
        Some(Self { environment, volume: volume(json!({"optional": true, "secretName": secret})) })
    }
}

/// Returns the volume of a Secret with credentials.
fn volume(secret: Value) -> Value {
    json!({"name": VOLUME, "secret": secret})
}

/// Returns the volume of a Secret with credentials whose name is set later.
pub(crate) fn unnamed_volume() -> Value {
    volume(json!({}))
}

/// Returns the mount of the credentials in the container.
pub(crate) fn mount() -> Value {
    json!({"mountPath": FOLDER, "name": VOLUME, "readOnly": true})
}

/// Returns the path of the credentials file in the container.
pub(crate) fn credentials_path() -> String {
    format!("{FOLDER}/{CREDENTIALS_KEY}")
}
