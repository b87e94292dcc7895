//! The tree of a `Policy`: the objects that the operator creates for it.

use std::collections::BTreeMap;

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use opgen::prelude::*;

use demo_api::Policy;

/// The nodes are created from top to bottom and deleted in reverse order.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Policy)]
pub struct PolicyTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PolicyTree {
    fn config(policy: &Policy) -> ConfigMap {
        let copies: Vec<_> = (0..policy.spec.copies).map(|_| policy.spec.message.as_str()).collect();
        ConfigMap {
            metadata: ObjectMeta { namespace: Some(policy.spec.namespace.clone()), ..ObjectMeta::default() },
            data: Some(BTreeMap::from([("message".to_owned(), copies.join("\n"))])),
            ..ConfigMap::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use demo_api::PolicySpec;

    #[test]
    fn the_config_map_contains_each_copy_in_the_namespace_of_the_spec() {
        let spec = PolicySpec { namespace: "default".to_owned(), message: "hello".to_owned(), copies: 2 };
        let config = PolicyTree::config(&Policy::new("first", spec));
        assert_eq!(config.metadata.namespace.as_deref(), Some("default"));
        assert_eq!(config.data, Some(BTreeMap::from([("message".to_owned(), "hello\nhello".to_owned())])));
    }
}
