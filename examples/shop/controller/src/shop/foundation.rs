//! The objects that the tiers need.

use k8s_openapi::api::{
    core::v1::{ConfigMap, EnvVar, EnvVarSource, Secret, SecretKeySelector},
    scheduling::v1::PriorityClass,
};
use kube::{ResourceExt as _, api::ObjectMeta};
use opgen::prelude::*;

use super::Foundation;
use shop_api::Shop;

/// The password's key in its Secret.
const PASSWORD: &str = "password";

/// The priority of the Pods of a shop. Pods without a class have the priority 0.
const PRIORITY: i32 = 1000;

impl Foundation {
    pub(super) fn settings(shop: &Shop) -> ConfigMap {
        ConfigMap { data: Some(shop.spec.backend.settings.clone()), ..ConfigMap::default() }
    }

    pub(super) fn password(draft: &Draft<'_, Shop>) -> Secret {
        Secret {
            string_data: Some([(PASSWORD.to_owned(), draft.random_text(22))].into()),
            immutable: Some(true),
            ..Secret::default()
        }
    }

    pub(super) fn priority(shop: &Shop) -> PriorityClass {
        let name = format!("{}-{}", shop.namespace().unwrap_or_default(), shop.name_any());
        PriorityClass {
            metadata: ObjectMeta { name: Some(name), ..ObjectMeta::default() },
            value: Some(PRIORITY),
            ..PriorityClass::default()
        }
    }
}

/// The environment variable with the password. It references the Secret by name; the operator does not read it.
pub(super) fn password(shop: &Shop) -> EnvVar {
    let key = SecretKeySelector { name: shop.name_any(), key: PASSWORD.to_owned(), ..SecretKeySelector::default() };
    EnvVar {
        name: "DATABASE_PASSWORD".to_owned(),
        value_from: Some(EnvVarSource { secret_key_ref: Some(key), ..EnvVarSource::default() }),
        ..EnvVar::default()
    }
}
