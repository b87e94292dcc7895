//! Writes tokens into Secrets of the type `kubernetes.io/service-account-token`, and deletes these Secrets with their ServiceAccount.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult};
use crate::{
    authentication::claims::{self, BoundObject},
    object,
};

const SECRETS: &str = "secrets";
const ACCOUNTS: &str = "serviceaccounts";

/// The type of a Secret that contains a ServiceAccount token, and the annotations that name the ServiceAccount.
const TYPE: &str = "kubernetes.io/service-account-token";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// Maintains the Secrets with ServiceAccount tokens.
#[derive(Debug)]
pub(super) struct Tokens;

impl Controller for Tokens {
    /// The key of a Secret.
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SECRETS, ACCOUNTS])
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        let namespace = event.object.namespace.to_string();
        match group_resource {
            SECRETS if !event.deleted && event.object.json.contains_text(TYPE) => {
                vec![(namespace, event.object.name.to_string())]
            }
            ACCOUNTS if event.deleted => {
                let (_, secrets) = client.server.store.list(SECRETS, Some(&namespace));
                let of_accounts = secrets.iter().filter(|secret| secret.json.contains_text(TYPE));
                of_accounts.map(|secret| (namespace.clone(), secret.name.to_string())).collect()
            }
            _ => Vec::new(),
        }
    }

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let Some(kind) = client.kind(SECRETS) else { return Ok(Action::AwaitChange) };
        let Some(mut secret) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if secret["type"] != TYPE || object::is_deleting(&secret) {
            return Ok(Action::AwaitChange);
        }
        let annotation = |key: &str| object::text(&secret, &["metadata", "annotations", key]).to_owned();
        let (account, uid) = (annotation(ACCOUNT_NAME), annotation(ACCOUNT_UID));
        let stored = client.server.store.get(ACCOUNTS, namespace, &account);
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
