#![allow(clippy::unwrap_used)]

use crate::{
    cache::{ObjectKey, Uid},
    engine::desired::*,
    kind::kind_of,
};
use k8s_openapi::api::{
    autoscaling::{v1, v2},
    core::v1::{ConfigMap, Namespace, Secret},
};

fn owner(namespace: Option<&str>) -> Identity {
    Identity {
        kind: Kind {
            group: "demo.example.com".into(),
            version: "v1".into(),
            kind: "Widget".into(),
            plural: "widgets".into(),
            namespaced: namespace.is_some(),
        },
        key: ObjectKey::new(namespace, "w"),
        uid: Uid::from("u-1"),
        naming: OwnerNaming::Reference,
    }
}

fn desired(object: Value, namespace: Option<&str>) -> Desired {
    Desired::new(object, &kind_of::<ConfigMap>(), &"config".into(), &owner(namespace), "demo").unwrap()
}

#[test]
fn a_child_gets_the_name_namespace_owner_and_marks_of_its_owner() {
    let child = desired(json!({"data": {"a": "b", "c": null}}), Some("ns"));
    assert_eq!((child.name.as_str(), child.namespace.as_deref()), ("w", Some("ns")));
    let metadata = &child.object["metadata"];
    assert_eq!(metadata["labels"][MANAGED_BY_LABEL], "demo");
    assert_eq!(metadata["annotations"][NODE_ANNOTATION], "config");
    assert_eq!(metadata["annotations"][APPLIED_ANNOTATION], child.digest);
    assert_eq!(metadata["ownerReferences"][0]["uid"], "u-1");
    assert_eq!(metadata["ownerReferences"][0].get("blockOwnerDeletion"), None);
    assert_eq!(child.object["data"], json!({"a": "b"}));
    assert_eq!(child.object["apiVersion"], "v1");
}

#[test]
fn a_child_in_another_namespace_is_marked_since_it_may_not_refer() {
    let child = desired(json!({"metadata": {"namespace": "other"}}), Some("ns"));
    assert_eq!(child.object["metadata"].get("ownerReferences"), None);
    assert_eq!(child.object["metadata"]["annotations"][OWNER_ANNOTATION], "widgets.demo.example.com/ns/w/u-1");
}

#[test]
fn a_cluster_scoped_child_has_no_namespace() {
    let child = Desired::new(json!({}), &kind_of::<Namespace>(), &"ns".into(), &owner(None), "demo").unwrap();
    assert_eq!(child.namespace, None);
    assert_eq!(child.object["metadata"].get("namespace"), None);
}

#[test]
fn a_namespaced_child_of_a_cluster_scoped_owner_must_say_where() {
    let refused = Desired::new(json!({}), &kind_of::<ConfigMap>(), &"config".into(), &owner(None), "demo");
    assert!(refused.unwrap_err().to_string().contains("needs a namespace"));
}

#[test]
fn string_data_becomes_data() {
    let secret = json!({"stringData": {"a": "b"}, "data": {"c": "ZA=="}});
    let child = Desired::new(secret, &kind_of::<Secret>(), &"s".into(), &owner(Some("ns")), "demo").unwrap();
    assert_eq!(child.object["data"], json!({"a": "Yg==", "c": "ZA=="}));
    assert_eq!(child.object.get("stringData"), None);
}

#[test]
fn group_u4_the_digest_knows_neither_key_order_nor_what_the_server_adds() {
    let a = desired(json!({"data": {"a": "1", "b": "2"}, "metadata": {"resourceVersion": "7"}}), Some("ns"));
    let b = desired(json!({"data": {"b": "2", "a": "1"}, "status": {"x": 1}}), Some("ns"));
    assert_eq!(a.digest, b.digest);
    assert_ne!(a.digest, desired(json!({"data": {"a": "1", "b": "3"}}), Some("ns")).digest);
    assert_ne!(digest(&json!(["ab", "c"])), digest(&json!(["a", "bc"])));
}

#[test]
fn what_is_made_for_a_namespace_lives_in_it() {
    let mut owner = owner(None);
    owner.kind = kind_of::<Namespace>();
    let child = |object| Desired::new(object, &kind_of::<ConfigMap>(), &"config".into(), &owner, "demo").unwrap();
    assert_eq!(child(json!({})).namespace.as_deref(), Some("w"));
    assert_eq!(child(json!({})).object["metadata"]["ownerReferences"][0]["kind"], "Namespace");
    let elsewhere = child(json!({"metadata": {"namespace": "other"}}));
    assert_eq!(elsewhere.namespace.as_deref(), Some("other"));
    assert_eq!(elsewhere.object["metadata"]["ownerReferences"][0]["uid"], "u-1");
}

#[test]
fn the_digest_does_not_depend_on_the_version_of_the_kind() {
    let spec = json!({"spec": {"maxReplicas": 3}});
    let built = |kind: &Kind, owner: &Identity| Desired::new(spec.clone(), kind, &"a".into(), owner, "demo").unwrap();
    let (old, new) = (kind_of::<v1::HorizontalPodAutoscaler>(), kind_of::<v2::HorizontalPodAutoscaler>());
    let mut owner = owner(Some("ns"));
    let (first, second) = (built(&old, &owner), built(&new, &owner));
    assert_eq!(first.digest, second.digest);
    assert_eq!(
        (&first.object["apiVersion"], &second.object["apiVersion"]),
        (&json!("autoscaling/v1"), &json!("autoscaling/v2"))
    );
    let other_group = Kind { group: "scaling.example.com".into(), ..old };
    assert_ne!(first.digest, built(&other_group, &owner).digest);
    // The garbage collector looks up the owner in the version of the reference, so a new version is written.
    owner.kind.version = "v2".into();
    assert_ne!(second.digest, built(&new, &owner).digest);
}
