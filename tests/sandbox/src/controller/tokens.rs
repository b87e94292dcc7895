//! Gives the Secrets of ServiceAccounts their tokens, and ends them with their accounts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Actor, Controller, Key, Next, Outcome, Seen, Watches};
use crate::{
    authentication::claims::{self, Named},
    object,
};

const SECRETS: &str = "secrets";
const ACCOUNTS: &str = "serviceaccounts";

/// The type of a Secret that holds a token of an account, and the account that it names.
const TYPE: &str = "kubernetes.io/service-account-token";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// Sees to Secrets with tokens.
#[derive(Debug)]
pub(super) struct Tokens;

impl Controller for Tokens {
    /// A Secret.
    type Key = Key;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[SECRETS, ACCOUNTS])
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Key> {
        let namespace = seen.object.namespace.to_string();
        match shelf {
            SECRETS if !seen.gone && seen.object.json.mentions(TYPE) => vec![(namespace, seen.object.name.to_string())],
            ACCOUNTS if seen.gone => {
                let (_, secrets) = actor.server.store.list(SECRETS, Some(&namespace));
                let of_accounts = secrets.iter().filter(|secret| secret.json.mentions(TYPE));
                of_accounts.map(|secret| (namespace.clone(), secret.name.to_string())).collect()
            }
            _ => Vec::new(),
        }
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        let Some(kind) = actor.kind(SECRETS) else { return Ok(Next::Rest) };
        let Some(mut secret) = actor.get(&kind, namespace, name) else { return Ok(Next::Rest) };
        if secret["type"] != TYPE || object::is_deleting(&secret) {
            return Ok(Next::Rest);
        }
        let said = |key: &str| object::text(&secret, &["metadata", "annotations", key]).to_owned();
        let (account, uid) = (said(ACCOUNT_NAME), said(ACCOUNT_UID));
        let held = actor.server.store.get(ACCOUNTS, namespace, &account);
        let Some(held) = held.filter(|held| uid.is_empty() || *held.uid == *uid) else {
            let only_this = json!({"preconditions": {"uid": object::uid(&secret)}});
            actor.delete(&kind, (namespace, name), &only_this).await?;
            return Ok(Next::Rest);
        };
        let account = Named { kind: "serviceaccount", name: account, uid: held.uid.to_string() };
        let data = object::map_at(&mut secret, &["data"]);
        if !uid.is_empty() && ["token", "namespace"].iter().all(|key| data.contains_key(*key)) {
            return Ok(Next::Rest);
        }
        data.insert("namespace".into(), STANDARD.encode(namespace).into());
        if !data.contains_key("token") {
            let Ok(token) = claims::legacy(&actor.server, namespace, &account, name) else { return Ok(Next::Rest) };
            data.insert("token".into(), STANDARD.encode(token).into());
        }
        let annotations = object::map_at(&mut secret, &["metadata", "annotations"]);
        annotations.insert(ACCOUNT_UID.into(), Value::String(account.uid));
        actor.replace(&kind, "", &secret).await?;
        Ok(Next::Rest)
    }
}
