//! Fields that the attribute completes.

use super::*;

/// A kind in two versions.
#[opgen_macros::versions(crate = "crate", v1beta1, v1)]
mod mirror {
    use crate::prelude::*;

    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[kube(group = "demo.example.com", kind = "Mirror", namespaced, status = "Status")]
    #[managed(crate = "crate")]
    pub(crate) struct MirrorSpec {
        pub(crate) address: String,
        #[version(added(v1))]
        pub(crate) protected: bool,
        #[version(added(v1))]
        pub(crate) transfer: Transfer,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) enum Transfer {
        #[default]
        Pull,
        Push,
    }
}

use mirror::{v1, v1beta1};

fn old() -> v1beta1::Mirror {
    v1beta1::Mirror::new("a", v1beta1::MirrorSpec { address: "http://a".to_owned() })
}

#[test]
fn an_added_field_without_a_value_has_the_default_of_its_type() {
    let new: v1::Mirror = convert(&old()).unwrap();
    assert_eq!((new.spec.protected, new.spec.transfer), (false, mirror::Transfer::Pull));
    let definition = v1::Mirror::versions().iter().last().map(|version| (version.definition)());
    let definition = serde_json::to_value(definition).unwrap();
    let spec = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert_eq!(spec["required"], json!(["address"]));
    assert_eq!(spec["properties"]["transfer"]["default"], "Pull");
}
