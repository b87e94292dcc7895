//! The tree of a `HTTPShop`: the objects that the operator creates for it.

use std::collections::BTreeMap;

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use opgen::prelude::*;

use web_shop_api::HTTPShop;

/// The nodes are created from top to bottom and deleted in reverse order.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = HTTPShop)]
pub struct HTTPShopTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl HTTPShopTree {
    fn config(http_shop: &HTTPShop) -> ConfigMap {
        let copies: Vec<_> = (0..http_shop.spec.copies).map(|_| http_shop.spec.message.as_str()).collect();
        ConfigMap {
            metadata: ObjectMeta { namespace: Some(http_shop.spec.namespace.clone()), ..ObjectMeta::default() },
            data: Some(BTreeMap::from([("message".to_owned(), copies.join("\n"))])),
            ..ConfigMap::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use web_shop_api::HTTPShopSpec;

    #[test]
    fn the_config_map_contains_each_copy_in_the_namespace_of_the_spec() {
        let spec = HTTPShopSpec { namespace: "default".to_owned(), message: "hello".to_owned(), copies: 2 };
        let config = HTTPShopTree::config(&HTTPShop::new("first", spec));
        assert_eq!(config.metadata.namespace.as_deref(), Some("default"));
        assert_eq!(config.data, Some(BTreeMap::from([("message".to_owned(), "hello\nhello".to_owned())])));
    }
}
