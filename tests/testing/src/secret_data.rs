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

/// Replaces the values of a Secret by digests, and removes the annotation in which kubectl keeps them. The digest of a registration does
/// not depend on the credentials, because the simulated clusters may get others.
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

/// Returns the settings in base64 of JSON without credentials; `None` for another value.
fn without_credentials(value: &Value) -> Option<Value> {
    let ByteString(bytes) = serde_json::from_value(value.clone()).ok()?;
    let mut settings: Value = serde_json::from_slice(&bytes).ok()?;
    hide_credentials(&mut settings);
    Some(settings)
}

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

    /// Returns the digests of a Secret with a label and this value.
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
    fn registrations_with_other_credentials_are_the_same_and_with_another_server_are_not() {
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
                let of = |server: &str, token: &str| digest(label, &registration(server, token));
                assert_eq!(of("https://a", "one"), of("https://a", "two"));
                assert_ne!(of("https://a", "one"), of("https://b", "one"));
            }
        }
        assert_ne!(digest("app", &argo_cd("https://a", "one")), digest("app", &argo_cd("https://a", "two")));
    }
}
