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
        pub(crate) proxy: Option<String>,
        pub(crate) credentials: Option<Credentials>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) enum Transfer {
        #[default]
        Pull,
        Push,
    }

    /// Both versions share it.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) enum Credentials {
        Password { secret: String, user: Option<String> },
    }
}

use mirror::{Credentials, Transfer, v1, v1beta1};

fn old() -> v1beta1::Mirror {
    let credentials = Some(Credentials::Password { secret: "s".to_owned(), user: None });
    v1beta1::Mirror::new("a", v1beta1::MirrorSpec { address: "http://a".to_owned(), proxy: None, credentials })
}

#[test]
fn an_added_field_without_a_value_has_the_default_of_its_type() {
    let new: v1::Mirror = convert(&old()).unwrap();
    assert_eq!((new.spec.protected, new.spec.transfer), (false, Transfer::Pull));
    let definition = v1::Mirror::versions().iter().last().map(|version| (version.definition)());
    let definition = serde_json::to_value(definition).unwrap();
    let spec = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert_eq!(spec["required"], json!(["address"]));
    assert_eq!(spec["properties"]["transfer"]["default"], "Pull");
}

#[test]
fn an_optional_field_without_a_value_is_not_in_json() {
    let json = serde_json::to_value(old()).unwrap();
    assert_eq!(json["spec"], json!({"address": "http://a", "credentials": {"Password": {"secret": "s"}}}));
    let read: v1beta1::Mirror = serde_json::from_value(json).unwrap();
    assert_eq!(read.spec, old().spec);
}
