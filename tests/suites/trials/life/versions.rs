//! A kind with several versions, whose stored version changes with a release and back.

#[path = "../../plane/operator/versions/berth.rs"]
mod berth;

use std::collections::BTreeMap;

use opgen::prelude::*;
use opgen_testing::{Check, trial};

use berth::{first, second};

fn first_release() -> Operator {
    Operator::new("harbour").controls::<first::v1::Berth, berth::FirstTree>()
}

fn second_release() -> Operator {
    Operator::new("harbour").controls::<second::v1::Berth, berth::SecondTree>()
}

/// The first release stores `v1alpha1`, the second one `v1`. Each is stopped at every call, also of the migration of stored objects.
#[test]
fn stored_objects_survive_the_change_of_the_stored_version_and_back() {
    let spec = first::v1alpha1::BerthSpec {
        size: 3,
        endpoint: "pier:080".to_owned(),
        legacy: Some("rope".to_owned()),
        cargo: first::v1alpha1::Cargo::Bulk,
        notes: BTreeMap::new(),
    };
    let sample = first::v1alpha1::Berth::new("north", spec);
    let trial = trial(second_release).sample(&sample).upgrades_from(first_release).only([Check::Upgrade]);
    let report = trial.run();
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Upgrade && step.runs > 5), "{report}");
    let timeline = trial.timeline("upgrade:1").unwrap().to_string();
    let migrated = "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/berths.berth.example.com/status";
    assert_eq!(timeline.matches(migrated).count(), 2, "the migration and the one back:\n{timeline}");
}
