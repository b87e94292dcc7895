//! A release that takes over from an earlier one, and hands back; and the policy that stores the finalizer.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use opgen::prelude::*;
use opgen_testing::{Check, Finding, Trial, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps a catalogue, and an index in its first release.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "life.example.com", version = "v1", kind = "Shelf", namespaced, status = "Status")]
pub(crate) struct ShelfSpec {
    books: i32,
}

fn catalogue(shelf: &Shelf) -> ConfigMap {
    ConfigMap { data: Some([("books".to_owned(), shelf.spec.books.to_string())].into()), ..ConfigMap::default() }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shelf)]
struct FirstRelease {
    #[provisioner(resource)]
    catalogue: ConfigMap,
    #[provisioner(resource)]
    index: Secret,
}

impl FirstRelease {
    fn catalogue(shelf: &Shelf) -> ConfigMap {
        catalogue(shelf)
    }

    fn index(_: &Shelf) -> Secret {
        Secret { string_data: Some([("a".to_owned(), "first".to_owned())].into()), ..Secret::default() }
    }
}

/// Has no index any more, and says so.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shelf, retired(index: Secret))]
struct SecondRelease {
    #[provisioner(resource)]
    catalogue: ConfigMap,
}

impl SecondRelease {
    fn catalogue(shelf: &Shelf) -> ConfigMap {
        catalogue(shelf)
    }
}

/// Has no index any more, and says nothing of it.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shelf)]
struct ForgetfulRelease {
    #[provisioner(resource)]
    catalogue: ConfigMap,
}

impl ForgetfulRelease {
    fn catalogue(shelf: &Shelf) -> ConfigMap {
        catalogue(shelf)
    }
}

fn first() -> Operator {
    Operator::new("shelf").controls::<Shelf, FirstRelease>()
}

fn second() -> Operator {
    Operator::new("shelf").controls::<Shelf, SecondRelease>()
}

fn forgetful() -> Operator {
    Operator::new("shelf").controls::<Shelf, ForgetfulRelease>()
}

fn upgraded(to: fn() -> Operator) -> Trial {
    let shelf = Shelf::new("home", ShelfSpec { books: 3 });
    trial(to).sample(&shelf).upgrades_from(first).only([Check::Upgrade])
}

#[test]
fn a_release_that_names_what_it_retires_comes_and_goes_over_live_objects() {
    let report = upgraded(second).run();
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Upgrade && step.runs > 1), "{report}");
    let timeline = upgraded(second).timeline("upgrade:1").unwrap().to_string();
    for words in
        ["the newer release started", "the older release restarted", "DELETE /api/v1/namespaces/default/secrets/home"]
    {
        assert!(timeline.contains(words), "{words}:\n{timeline}");
    }
}

#[test]
fn what_a_release_leaves_of_an_earlier_one_is_found() {
    let report = upgraded(forgetful).run();
    // The upgrade at rest comes first; those that are stopped or disturbed leave the same.
    let [finding, ..] = report.findings.as_slice() else { panic!("{report}") };
    assert_eq!(finding.problem, "the state after the upgrade differs from a new installation");
    assert_eq!(finding.difference, ["+ Secret default/home"], "{report}");
    let is_same = |other: &Finding| (&other.problem, &other.difference) == (&finding.problem, &finding.difference);
    assert!(report.findings.iter().all(is_same), "{report}");
    assert_eq!(
        finding.hint,
        "declare the objects that only an earlier release creates with `retired(...)` on their group; otherwise they stay"
    );
    assert_eq!(finding.schedule, "upgrade:1");
}

#[test]
fn the_finalizer_policy_saves_the_write_that_stores_it_and_nothing_else() {
    let finalizers = |trial: &Trial| {
        let timeline = trial.timeline("dice:1").unwrap();
        let patches = timeline.calls().filter(|call| {
            let path = call.uri.split('?').next().unwrap_or_default();
            call.method == "PATCH" && call.code == Some(200) && path.contains("/webapps/") && !path.ends_with("/status")
        });
        (patches.count(), timeline.calls().count())
    };
    let (without, with) = (trial(webapp_controller::operator), trial(webapp_controller::operator).finalizer_policy());
    let ((stored, calls), (by_policy, fewer)) = (finalizers(&without), finalizers(&with));
    assert_eq!((stored, by_policy), (2, 1), "it is stored and removed, or removed only");
    assert!(fewer < calls, "{fewer} of {calls}");
    let checks = [Check::Convergence, Check::Stop, Check::Deletion, Check::Finalizers, Check::RandomFaults];
    let report = with.only(checks).seeds(0..12).run();
    assert!(report.is_clean(), "{report}");
}
