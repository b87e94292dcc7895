//! Tests that the type of a kind decodes all objects that the definition of the kind admits: random objects with values at the limits of
//! the schema are created on the API server. Also tests that embedded types of Kubernetes are merged as in the kinds of Kubernetes.

mod dice;
mod kind;
mod template;
mod value;

use std::{collections::BTreeMap, sync::Arc};

use kube::{
    Api,
    api::{ApiResource, DynamicObject, PostParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, manifest::Describe as _};
use opgen_tests::{Plane, case};
use serde_json::{Value, json};

use crate::operator::install;
use dice::Dice;
use kind::Sampler;

/// How many objects are tried.
const OBJECTS: u64 = 400;

/// The fields of any content, which the server stores and the type decodes as it is.
const OPEN_FIELDS: [&str; 3] = ["any", "raw", "json"];

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("whatever_the_schema_admits_is_decoded", decodes),
        case("two_managers_that_apply_a_container_each_of_an_embedded_template_keep_both", template::applied),
    ]
}

async fn decodes(plane: Arc<Plane>) {
    let operator = Operator::new("sampler").defines::<Sampler>();
    assert_eq!(operator.project().unwrap().controllers.len(), 1);
    install::definitions(&plane, &operator).await;
    let rendered = install::generated(&operator);
    let crd: Value =
        serde_saphyr::from_str(rendered.text("base/crds/demo.example.com_samplers.yaml").unwrap()).unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let namespace = plane.namespace("admitted").await;
    let resource = ApiResource::erase::<Sampler>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(plane.client(), &namespace, &resource);
    let (mut admitted, mut undecoded, mut kept) = (0, Vec::new(), BTreeMap::new());
    for seed in 0..OBJECTS {
        let mut spec = value::of(schema, &mut Dice::new(seed), 0);
        // One field at a time is at its edge in half of the objects, so that one refusal does not hide the others.
        value::calm(&mut spec, schema, &mut Dice::new(seed));
        let name = format!("of-seed-{seed}");
        let object =
            json!({"apiVersion": "demo.example.com/v1", "kind": "Sampler", "metadata": {"name": name}, "spec": spec});
        let sent: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        let Ok(stored) = api.create(&PostParams::default(), &sent).await else { continue };
        admitted += 1;
        let stored = serde_json::to_value(stored).unwrap();
        match serde_json::from_value::<Sampler>(stored.clone()) {
            Ok(decoded) => {
                let decoded = serde_json::to_value(decoded).unwrap();
                for field in OPEN_FIELDS.into_iter().filter(|field| !object["spec"][*field].is_null()) {
                    let [sent, stored, decoded] = [&object, &stored, &decoded].map(|object| &object["spec"][field]);
                    assert!(sent == stored && sent == decoded, "seed {seed}: {field}: {sent}: {stored}: {decoded}");
                    *kept.entry(field).or_insert(0) += 1;
                }
            }
            Err(error) => undecoded.push(format!("seed {seed}: {error}: {}", stored["spec"])),
        }
    }
    assert_eq!(kept.len(), OPEN_FIELDS.len(), "the content of only these was compared: {kept:?}");
    assert!(admitted >= OBJECTS / 4, "only {admitted} of {OBJECTS} are admitted");
    assert!(undecoded.is_empty(), "{} of {admitted} can't be decoded:\n{}", undecoded.len(), undecoded.join("\n"));
}
