//! Replaces the values of Secrets in snapshots by digests, and the credentials in registrations of clusters by one placeholder.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use k8s_openapi::ByteString;
use serde_json::{Map, Value};

/// The prefix of the digest of a Secret's value; reports do not show digests.
pub(crate) const SECRET_DIGEST: &str = "<secret ";

/// The labels of a Secret that registers a cluster with a CD system: that of opgen, and that of Argo CD.
const REGISTRATION_LABELS: [&str; 2] = ["opgen.dev/registration", "argocd.argoproj.io/secret-type"];

/// The names of credentials, and of the authority that belongs to them, in a kubeconfig and in the configuration of a cluster of Argo CD.
const CREDENTIALS: [&str; 10] = [
    "bearerToken",
    "caData",
    "certData",
    "certificate-authority-data",
    "client-certificate-data",
    "client-key-data",
    "keyData",
    "password",
    "token",
    "username",
];

/// Replaces the values of a Secret by digests, and removes the annotation in which kubectl keeps them. If the Secret registers a cluster
/// with a CD system, the digests do not depend on the credentials for the cluster, because a simulated cluster may get new ones.
pub(crate) fn digest_values(secret: &mut Value) {
    let labels = &secret["metadata"]["labels"];
    let is_registration = REGISTRATION_LABELS.iter().any(|label| labels.get(label).is_some());
    for part in ["data", "stringData"] {
        for value in secret[part].as_object_mut().into_iter().flat_map(Map::values_mut) {
            if is_registration && let Some(settings) = without_credentials(value) {
                *value = settings;
            }
            let mut hasher = DefaultHasher::new();
            value.to_string().hash(&mut hasher);
            *value = format!("{SECRET_DIGEST}{:016x}", hasher.finish()).into();
        }
    }
    // This annotation has the applied values as text.
    if let Some(annotations) = secret["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| key != "kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Decodes a value that is JSON in base64, such as a kubeconfig, and returns the JSON with placeholders for the credentials; `None` for
/// another value.
fn without_credentials(value: &Value) -> Option<Value> {
    let ByteString(bytes) = serde_json::from_value(value.clone()).ok()?;
    let mut settings: Value = serde_json::from_slice(&bytes).ok()?;
    hide_credentials(&mut settings);
    Some(settings)
}

/// Replaces the value of each field with a name in [`CREDENTIALS`], at any depth, by a placeholder.
fn hide_credentials(settings: &mut Value) {
    match settings {
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                if CREDENTIALS.contains(&name.as_str()) {
                    *value = "<credential>".into();
                } else {
                    hide_credentials(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_credentials),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the data of a Secret with a label and a value after the value was replaced by its digest.
    fn digest(label: &str, value: &Value) -> Value {
        let data = json!({"value": ByteString(value.to_string().into_bytes())});
        let mut secret =
            json!({"kind": "Secret", "metadata": {"name": "s", "labels": {label: "cluster"}}, "data": data});
        digest_values(&mut secret);
        secret["data"].take()
    }

    #[test]
    fn the_values_of_a_secret_are_digests() {
        let [one, two] = ["hello", "world"].map(|value| digest("app", &value.into()));
        assert_ne!(one, two);
        assert!(one["value"].as_str().is_some_and(|value| value.starts_with(SECRET_DIGEST)));
    }

    #[test]
    fn the_digest_of_a_registration_depends_on_the_server_and_not_on_the_credentials() {
        let argo_cd = |server: &str, token: &str| {
            let tls = json!({"insecure": false, "caData": token});
            json!({"server": server, "tlsClientConfig": tls, "bearerToken": token})
        };
        let kubeconfig = |server: &str, token: &str| {
            let cluster = json!({"server": server, "certificate-authority-data": token});
            json!({"clusters": [{"cluster": cluster}], "users": [{"user": {"token": token}}]})
        };
        for label in REGISTRATION_LABELS {
            for registration in [&argo_cd as &dyn Fn(&str, &str) -> Value, &kubeconfig] {
                let digest_of = |server: &str, token: &str| digest(label, &registration(server, token));
                assert_eq!(digest_of("https://a", "one"), digest_of("https://a", "two"));
                assert_ne!(digest_of("https://a", "one"), digest_of("https://b", "one"));
            }
        }
        assert_ne!(digest("app", &argo_cd("https://a", "one")), digest("app", &argo_cd("https://a", "two")));
    }
}
