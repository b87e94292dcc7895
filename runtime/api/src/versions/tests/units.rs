//! Tests which values a conversion to another version and back restores: fields that are converted together, moved fields and enum
//! variants.

use super::*;

/// A kind in two versions.
#[opgen_macros::versions(crate = "crate", v1beta1, v1)]
mod volume {
    use kube::CustomResource;
    use opgen_macros::Managed;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[kube(group = "demo.example.com", kind = "Volume", namespaced, status = "crate::Status")]
    #[managed(crate = "crate", allow(float))]
    #[version(replaced(v1, from(gib), to(amount, unit), up = of_gib, down = to_gib))]
    pub(crate) struct VolumeSpec {
        pub(crate) gib: i32,
        pub(crate) amount: i32,
        pub(crate) unit: String,
        #[version(retyped(v1, from = Option<i32>, up = or_three, down = some))]
        pub(crate) replicas: i32,
        #[version(removed(v1))]
        pub(crate) network: Option<Network>,
        #[version(moved(v1, from = network.port))]
        pub(crate) port: Option<i32>,
        pub(crate) tier: Tier,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) struct Network {
        #[version(removed(v1, moved))]
        pub(crate) port: Option<i32>,
        pub(crate) other: String,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[serde(rename_all = "camelCase")]
    pub(crate) enum Tier {
        #[version(renamed(v1, from = Common))]
        Shared(Share),
        #[version(added(v1, instead = Common(Share { weight: 1.0 })))]
        Reserved(Share),
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) struct Share {
        pub(crate) weight: f64,
    }

    fn of_gib(gib: i32) -> (i32, String) {
        (gib, "Gi".to_owned())
    }

    fn to_gib(amount: i32, unit: String) -> i32 {
        if unit == "Mi" { amount / 1024 } else { amount }
    }

    fn or_three(replicas: Option<i32>) -> i32 {
        replicas.unwrap_or(3)
    }

    fn some(replicas: i32) -> Option<i32> {
        Some(replicas)
    }
}

/// Returns a volume after an edit in the other version.
fn edited(spec: Value, edit: impl FnOnce(&mut Value)) -> Value {
    let versions = volume::v1::Volume::versions();
    let mut object =
        json!({"apiVersion": "demo.example.com/v1", "kind": "Volume", "metadata": {"name": "a"}, "spec": spec});
    versions.convert(&mut object, "v1beta1").unwrap();
    edit(&mut object["spec"]);
    versions.convert(&mut object, "v1").unwrap();
    object["spec"].take()
}

#[test]
fn fields_that_a_function_converts_together_come_back_together_or_not_at_all() {
    let spec = json!({"amount": 1536, "unit": "Mi"});
    assert_eq!(edited(spec.clone(), |_| ()), spec);
    assert_eq!(edited(spec, |seen| seen["gib"] = json!(2)), json!({"amount": 2, "unit": "Gi"}));
}

#[test]
fn a_function_decides_about_a_field_that_is_not_set() {
    let mut object = json!({"apiVersion": "demo.example.com/v1beta1", "kind": "Volume", "metadata": {}, "spec": {}});
    let problems = volume::v1::Volume::versions().convert(&mut object, "v1").unwrap();
    assert_eq!((&object["spec"], problems), (&json!({"replicas": 3}), Vec::new()));
}

#[test]
fn a_field_that_moved_out_of_a_removed_one_has_its_current_value_there() {
    let versions = volume::v1::Volume::versions();
    let spec = json!({"network": {"port": 5, "other": "x"}});
    let mut object = json!({"apiVersion": "demo.example.com/v1beta1", "kind": "Volume", "metadata": {}, "spec": spec});
    versions.convert(&mut object, "v1").unwrap();
    assert_eq!(object["spec"]["port"], 5);
    object["spec"]["port"] = json!(6);
    versions.convert(&mut object, "v1beta1").unwrap();
    assert_eq!(object["spec"]["network"], json!({"port": 6, "other": "x"}));
}

#[test]
fn another_variant_comes_back_as_a_whole_also_below_a_renamed_one() {
    let reserved = json!({"tier": {"reserved": {"weight": 2.5}}});
    let kept = edited(reserved.clone(), |seen| {
        assert_eq!(seen["tier"], json!({"common": {"weight": 1.0}}));
        // As an API server writes it.
        seen["tier"]["common"]["weight"] = json!(1);
    });
    assert_eq!(kept["tier"], reserved["tier"]);
    let changed = edited(reserved, |seen| seen["tier"]["common"]["weight"] = json!(7.5));
    assert_eq!(changed["tier"], json!({"shared": {"weight": 7.5}}));
}

#[test]
fn a_long_list_with_much_kept_data_is_looked_through_once() {
    let items: Vec<_> = (0..200_000).map(|number| json!({"image": number.to_string()})).collect();
    let forged: Vec<_> =
        (0..3_000).map(|index| json!({"index": index, "len": 1, "seen": "x", "part": {"value": {}}})).collect();
    let data = json!({"v1": {"fields": {"spec": {"fields": {"steps": {"items": forged}}}}}}).to_string();
    let mut object = with_spec("v1beta1", json!({"steps": items}));
    object["metadata"]["annotations"] = json!({CONVERSION_DATA_ANNOTATION: data});
    // Once through the list takes a second; once for each of the forged items takes half an hour.
    versions().convert(&mut object, "v1").unwrap();
    assert_eq!(object["spec"]["steps"][0], json!({"image": "0"}));
}
