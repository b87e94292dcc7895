//! Generates the objects by which cert-manager makes the certificate of the webhooks.
//!
//! A self-signed Issuer makes an authority, and an Issuer with that authority makes the certificate that the operator serves. The
//! authority stays when the certificate is renewed, so the API server trusts the old and the new certificate while the kubelet updates the
//! files of the Pods.

use super::{project::Project, webhooks};
use serde_json::{Value, json};

/// The annotation of objects with a bundle: cert-manager writes the authority of this Certificate to it.
pub(crate) const INJECT_ANNOTATION: &str = "cert-manager.io/inject-ca-from";

/// The folder of the certificate in the container.
pub(crate) const MOUNT_PATH: &str = "/etc/webhook-certificates";

/// The name of the volume with the certificate.
const VOLUME: &str = "webhook-certificates";

/// The lifetime of the certificate authority: ten years.
const AUTHORITY_DURATION: &str = "87600h";

/// Returns the cert-manager objects for the operator's webhook server: a self-signed Issuer, the Certificate of a certificate authority
/// (CA) that it issues, an Issuer with this CA, and the serving Certificate. Returns none for an operator without webhooks.
pub(crate) fn documents(project: &Project) -> Vec<Value> {
    if !project.has_webhooks() {
        return Vec::new();
    }
    let (service, authority) = (webhooks::names(project).service, authority(project));
    let self_signed = format!("{service}-self-signed");
    let host = format!("{service}.{}.svc", project.namespace);
    let issued_by = |name: &str| json!({"group": "cert-manager.io", "kind": "Issuer", "name": name});
    vec![
        object(project, "Issuer", &self_signed, json!({"selfSigned": {}})),
        object(
            project,
            "Certificate",
            &authority,
            json!({
                "commonName": project.name,
                "duration": AUTHORITY_DURATION,
                "isCA": true,
                "issuerRef": issued_by(&self_signed),
                // Certificates of the old authority stay valid under a renewed one with the same key.
                "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Never", "size": 256},
                "secretName": authority,
            }),
        ),
        object(project, "Issuer", &authority, json!({"ca": {"secretName": authority}})),
        object(
            project,
            "Certificate",
            &service,
            json!({
                "dnsNames": [host, format!("{host}.cluster.local")],
                "issuerRef": issued_by(&authority),
                "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Always", "size": 256},
                "secretName": secret(project),
                "usages": ["digital signature", "key encipherment", "server auth"],
            }),
        ),
    ]
}

/// Returns the Secrets that cert-manager creates for the Certificates, with kind, name and namespace only. An uninstallation deletes them,
/// because cert-manager keeps a Secret when its Certificate is deleted.
pub(crate) fn secrets(project: &Project) -> Vec<Value> {
    if !project.has_webhooks() {
        return Vec::new();
    }
    let identity = |name: String| {
        let metadata = json!({"name": name, "namespace": project.namespace});
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    };
    [secret(project), authority(project)].map(identity).into()
}

/// Returns the value of [`INJECT_ANNOTATION`] on the objects whose webhooks call the operator.
pub(crate) fn injected_from(project: &Project) -> String {
    format!("{}/{}", project.namespace, webhooks::names(project).service)
}

/// Returns the volume of the Pod with the certificate.
pub(crate) fn volume(project: &Project) -> Value {
    json!({"name": VOLUME, "secret": {"secretName": secret(project)}})
}

/// Returns the mount of the certificate's volume in the container.
pub(crate) fn volume_mount() -> Value {
    json!({"mountPath": MOUNT_PATH, "name": VOLUME, "readOnly": true})
}

/// Returns the name of the Secret with the certificate that the operator serves.
fn secret(project: &Project) -> String {
    format!("{}-tls", webhooks::names(project).service)
}

/// Returns the name that the Certificate, the Secret and the Issuer of the certificate authority share.
fn authority(project: &Project) -> String {
    format!("{}-ca", webhooks::names(project).service)
}

/// Returns an object of cert-manager's API group, in the operator's namespace and with its labels.
fn object(project: &Project, kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": kind,
        "metadata": {"labels": project.labels(), "name": name, "namespace": project.namespace},
        "spec": spec,
    })
}

#[cfg(test)]
mod tests;
