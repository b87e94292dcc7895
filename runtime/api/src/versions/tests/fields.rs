//! Tests the conversion between versions for added fields without a declared default, for optional fields, and for fields that closures
//! convert.

use super::*;

/// A kind in two versions.
#[opgen_macros::versions(crate = "crate", v1beta1, v1)]
mod mirror {
    use crate::prelude::*;

    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[kube(group = "demo.example.com", kind = "Mirror", namespaced, status = "Status")]
    #[managed(crate = "crate")]
    #[version(replaced(v1, from(address), to(host, port), up = split, down = |host, port| format!("{host}:{port}")))]
    pub(crate) struct MirrorSpec {
        pub(crate) address: String,
        pub(crate) host: String,
        pub(crate) port: i32,
        #[version(retyped(
            v1,
            from = i32,
            up = |gib| i64::from(gib) * 1024,
            down = |mib| i32::try_from(mib / 1024).map_err(|_| "the limit is too large"),
        ))]
        pub(crate) limit: i64,
        #[version(added(v1))]
        pub(crate) protected: bool,
        #[version(added(v1))]
        pub(crate) transfer: Transfer,
        pub(crate) proxy: Option<String>,
        pub(crate) credentials: Credentials,
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

    fn split(address: String) -> (String, i32) {
        let (host, port) = address.split_once(':').unwrap_or((&address, "80"));
        (host.to_owned(), port.parse().unwrap_or(80))
    }
}

use mirror::{Credentials, Transfer, v1, v1beta1};

fn old() -> v1beta1::Mirror {
    let credentials = Credentials::Password { secret: "s".to_owned(), user: None };
    let spec = v1beta1::MirrorSpec { address: "a:443".to_owned(), limit: 2, proxy: None, credentials };
    v1beta1::Mirror::new("a", spec)
}

#[test]
fn an_added_field_without_a_value_has_the_default_of_its_type() {
    let new: v1::Mirror = convert(&old()).unwrap();
    assert_eq!((new.spec.protected, new.spec.transfer), (false, Transfer::Pull));
    let definition = v1::Mirror::versions().iter().last().map(|version| (version.definition)());
    let definition = serde_json::to_value(definition).unwrap();
    let spec = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let required = spec["required"].as_array().unwrap();
    let is_required = |field: &str| required.iter().any(|name| name == field);
    assert!(is_required("host") && !is_required("protected") && !is_required("transfer"), "{required:?}");
    assert_eq!(spec["properties"]["transfer"]["default"], "Pull");
}

#[test]
fn an_optional_field_without_a_value_is_not_in_json() {
    let json = serde_json::to_value(old()).unwrap();
    let credentials = json!({"Password": {"secret": "s"}});
    assert_eq!(json["spec"], json!({"address": "a:443", "limit": 2, "credentials": credentials}));
    let read: v1beta1::Mirror = serde_json::from_value(json).unwrap();
    assert_eq!(read.spec, old().spec);
}

#[test]
fn closures_convert_fields_in_both_directions() {
    let mut new: v1::Mirror = convert(&old()).unwrap();
    assert_eq!((new.spec.host.as_str(), new.spec.port, new.spec.limit), ("a", 443, 2048));
    new.spec.port = 80;
    new.spec.limit = 4096;
    let seen: v1beta1::Mirror = convert(&new).unwrap();
    assert_eq!((seen.spec.address.as_str(), seen.spec.limit), ("a:80", 4));
    new.spec.limit = i64::MAX;
    let error = convert::<_, v1beta1::Mirror>(&new).unwrap_err().to_string();
    assert!(error.ends_with("spec.limit: the limit is too large"), "{error}");
}
