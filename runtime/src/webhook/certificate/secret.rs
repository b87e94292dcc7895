//! `CertificateSecret`: the Secret with the certificates, which every replica reads and one of them writes.

use super::history::CertificateHistory;
use crate::{
    client::{CallError, Client, Target},
    kind::{Kind, kind_of},
};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use serde::Deserialize as _;
use serde_json::{Value, json};

/// The key of the data, as JSON.
const KEY: &str = "certificates.json";

/// The Secret with the certificates of the webhooks.
#[derive(Clone, Debug)]
pub(super) struct CertificateSecret {
    pub(super) client: Client,
    pub(super) kind: Kind,
    pub(super) namespace: String,
    pub(super) name: String,
    /// The operator, which is the field manager and a label.
    pub(super) operator: String,
}

/// The stored Secret.
#[derive(Debug)]
pub(super) struct StoredSecret {
    object: Value,
    /// The certificates that can be served; empty if the data can't be decoded.
    pub(super) history: CertificateHistory,
    /// Whether the Secret has certificates that can't be served.
    pub(super) has_unusable: bool,
}

impl CertificateSecret {
    pub(super) fn new(client: Client, namespace: &str, name: &str, operator: &str) -> Self {
        let (namespace, name, operator) = (namespace.to_owned(), name.to_owned(), operator.to_owned());
        Self { client, kind: kind_of::<Secret>(), namespace, name, operator }
    }

    /// Returns the target of a call: an object of the kind Secret in the namespace of the operator.
    fn target<'a>(&'a self, name: &'a str) -> Target<'a> {
        Target { kind: &self.kind, namespace: Some(&self.namespace), name }
    }

    /// Reads the Secret; `None` if it does not exist. If its data can't be decoded, it logs a warning, and the result has no
    /// certificates. Certificates that can't be used are left out.
    ///
    /// # Errors
    /// Fails if the call fails.
    pub(super) async fn read(&self) -> Result<Option<StoredSecret>, CallError> {
        let Some(object) = self.client.get::<Value>(self.target(&self.name)).await? else { return Ok(None) };
        let json = ByteString::deserialize(&object["data"][KEY]).unwrap_or_default().0;
        let history = serde_json::from_slice(&json).unwrap_or_else(|error| {
            let (namespace, name) = (&self.namespace, &self.name);
            // The text of the error may quote a private key.
            let (error, line, column) = (error.classify(), error.line(), error.column());
            tracing::warn!(
                ?error,
                line,
                column,
                "key {KEY} of Secret {namespace}/{name} is invalid; creating new certificates"
            );
            CertificateHistory::default()
        });
        let (history, unusable) = CertificateHistory::usable(history);
        if unusable > 0 {
            let (namespace, name) = (&self.namespace, &self.name);
            tracing::warn!(unusable, "key {KEY} of Secret {namespace}/{name} has certificates that can't be used");
        }
        Ok(Some(StoredSecret { object, history, has_unusable: unusable > 0 }))
    }

    /// Writes the certificates to the Secret: replaces `stored`, the Secret that was read, or creates the Secret if there was none. Returns
    /// false if another replica has written, created or deleted the Secret meanwhile; then the caller must read it again.
    ///
    /// # Errors
    /// Fails if the call fails for another reason.
    pub(super) async fn write(
        &self,
        stored: Option<&StoredSecret>,
        history: &CertificateHistory,
    ) -> Result<bool, CallError> {
        let json = serde_json::to_vec(history).map_err(|error| self.encoding_error(error))?;
        let data = serde_json::to_value(ByteString(json)).map_err(|error| self.encoding_error(error))?;
        let written = match stored {
            Some(stored) => {
                let mut object = stored.object.clone();
                object["data"][KEY] = data;
                self.client.replace(self.target(&self.name), &object, &self.operator).await
            }
            None => {
                let labels = json!({"app.kubernetes.io/managed-by": "opgen", "app.kubernetes.io/name": self.operator});
                let object = json!({
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": {"name": self.name, "namespace": self.namespace, "labels": labels},
                    "type": "Opaque",
                    "data": {KEY: data},
                });
                self.client.create(self.target(""), &object, &self.operator).await
            }
        };
        match written {
            Ok(_) => Ok(true),
            Err(error) if error.is_conflict() || error.is_name_taken() || error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the error of a write whose data can't be encoded as JSON.
    fn encoding_error(&self, error: serde_json::Error) -> CallError {
        self.target(&self.name).call_error(crate::shape::Verb::Update, "", kube::Error::SerdeError(error))
    }
}
