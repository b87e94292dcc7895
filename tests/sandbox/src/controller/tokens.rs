//! Writes tokens into Secrets of the type `kubernetes.io/service-account-token`, and deletes these Secrets with their ServiceAccount.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult};
use crate::{
    authentication::claims::{self, BoundObject},
    object,
};

const SECRETS: &str = "secrets";
const SERVICE_ACCOUNTS: &str = "serviceaccounts";

/// The type of a Secret that contains a ServiceAccount token, and the annotations that name the ServiceAccount.
const TOKEN_SECRET_TYPE: &str = "kubernetes.io/service-account-token";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// Maintains the Secrets with ServiceAccount tokens.
#[derive(Debug)]
pub(super) struct Tokens;

impl Controller for Tokens {
    /// The key of a Secret.
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SECRETS, SERVICE_ACCOUNTS])
    }

    /// Returns the changed Secret, or all Secrets in the namespace of a deleted ServiceAccount, if their text contains the type of a token
    /// Secret.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        let namespace = event.object.namespace.to_string();
        match group_resource {
            SECRETS if !event.deleted && event.object.json.contains_text(TOKEN_SECRET_TYPE) => {
                vec![(namespace, event.object.name.to_string())]
            }
            SERVICE_ACCOUNTS if event.deleted => {
                let (_, secrets) = client.server.store.list(SECRETS, Some(&namespace));
                let token_secrets = secrets.iter().filter(|secret| secret.json.contains_text(TOKEN_SECRET_TYPE));
                token_secrets.map(|secret| (namespace.clone(), secret.name.to_string())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Writes the token, the namespace and the uid of the ServiceAccount into a token Secret, or deletes the Secret if its ServiceAccount
    /// does not exist any more.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let Some(kind) = client.kind(SECRETS) else { return Ok(Action::AwaitChange) };
        let Some(mut secret) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if secret["type"] != TOKEN_SECRET_TYPE || object::is_deleting(&secret) {
            return Ok(Action::AwaitChange);
        }
        let annotation = |key: &str| object::text(&secret, &["metadata", "annotations", key]).to_owned();
        let (account, uid) = (annotation(ACCOUNT_NAME), annotation(ACCOUNT_UID));
        let stored = client.server.store.get(SERVICE_ACCOUNTS, namespace, &account);
        // A ServiceAccount with another uid has replaced the one that the Secret belongs to.
        let Some(stored) = stored.filter(|stored| uid.is_empty() || *stored.uid == *uid) else {
            let options = json!({"preconditions": {"uid": object::uid(&secret)}});
            client.delete(&kind, (namespace, name), &options).await?;
            return Ok(Action::AwaitChange);
        };
        let account = BoundObject { kind: "serviceaccount", name: account, uid: stored.uid.to_string() };
        let data = object::map_at(&mut secret, &["data"]);
        if !uid.is_empty() && ["token", "namespace"].iter().all(|key| data.contains_key(*key)) {
            return Ok(Action::AwaitChange);
        }
        data.insert("namespace".into(), STANDARD.encode(namespace).into());
        if !data.contains_key("token") {
            // Without a signing key the Secret stays without a token.
            let Ok(token) = claims::secret_token(&client.server, namespace, &account, name) else {
                return Ok(Action::AwaitChange);
            };
            data.insert("token".into(), STANDARD.encode(token).into());
        }
        let annotations = object::map_at(&mut secret, &["metadata", "annotations"]);
        annotations.insert(ACCOUNT_UID.into(), Value::String(account.uid));
        client.replace(&kind, "", &secret).await?;
        Ok(Action::AwaitChange)
    }
}
