//! The tree of a `Widget`: the objects that the operator creates for it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use opgen::prelude::*;

use demo_api::Widget;

/// The nodes are created from top to bottom and deleted in reverse order.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Widget)]
pub struct WidgetTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl WidgetTree {
    fn config(widget: &Widget) -> ConfigMap {
        let copies: Vec<_> = (0..widget.spec.copies).map(|_| widget.spec.message.as_str()).collect();
        ConfigMap { data: Some(BTreeMap::from([("message".to_owned(), copies.join("\n"))])), ..ConfigMap::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use demo_api::WidgetSpec;

    #[test]
    fn the_config_map_contains_each_copy_of_the_message() {
        let widget = Widget::new("first", WidgetSpec { message: "hello".to_owned(), copies: 2 });
        let config = WidgetTree::config(&widget);
        assert_eq!(config.data, Some(BTreeMap::from([("message".to_owned(), "hello\nhello".to_owned())])));
    }
}
