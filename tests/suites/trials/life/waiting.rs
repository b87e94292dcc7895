//! Specs that name what nobody has made.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use opgen::prelude::*;
use opgen_testing::{Check, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A guest, who needs a key to a room.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "life.example.com", version = "v1", kind = "Guest", namespaced, status = "Status")]
pub(crate) struct GuestSpec {
    /// The name of a Secret.
    key: String,
    /// There are nine of them.
    room: i32,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Guest)]
struct Stay {
    key: Key,
    room: Room,
    #[provisioner(resource)]
    bill: ConfigMap,
}

impl Stay {
    fn bill(guest: &Guest) -> ConfigMap {
        let paid_with = [("key".to_owned(), guest.spec.key.clone()), ("room".to_owned(), guest.spec.room.to_string())];
        ConfigMap { data: Some(paid_with.into()), ..ConfigMap::default() }
    }
}

/// Waits by asking.
#[derive(Debug, Provisioner)]
#[provisioner(access(Secret: get))]
struct Key;

impl Provision<Guest> for Key {
    async fn provision(cx: &Context<'_, Guest, Self>) -> Result<()> {
        match cx.find::<Secret>(&cx.object().spec.key).await? {
            Some(_) => Ok(()),
            None => yield_because("KeyMissing", "nobody has made the key"),
        }
    }

    async fn deprovision(_: &Teardown<'_, Guest, Self>) -> Result<()> {
        Ok(())
    }
}

/// Waits without a word.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Room;

impl Provision<Guest> for Room {
    async fn provision(cx: &Context<'_, Guest, Self>) -> Result<()> {
        if cx.object().spec.room > 9 {
            return yield_because("RoomMissing", "nobody has built the room");
        }
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Guest, Self>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_value_that_names_what_nobody_has_made_is_waited_for_and_going_back_heals() {
    let operator = || Operator::new("inn").controls::<Guest, Stay>();
    let mut key = Secret::default();
    key.metadata.name = Some("brass".to_owned());
    let guest = Guest::new("first", GuestSpec { key: "brass".to_owned(), room: 9 });
    let trial = trial(operator).sample(&key).sample(&guest).only([Check::Edit]);
    let report = trial.run();
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Edit && step.runs > 10), "{report}");

    let said = |course: &str| trial.timeline(course).unwrap().to_string();
    // One of the variants is a key that is asked for again and again, one a room that is not asked for at all.
    let courses: Vec<_> = (0..3).map(|variant| format!("edit:{variant}")).collect();
    let asked = |course: &&String| said(course).matches("GET /api/v1/namespaces/default/secrets/brassx").count() > 5;
    assert_eq!(courses.iter().filter(asked).count(), 1, "{}", said("edit:0"));
}

/// An operator that forgets what it waits for when that is not wanted any more.
#[test]
fn who_does_not_come_back_from_a_value_that_it_waits_for_is_found() {
    #[derive(Debug, Provisioner)]
    #[provisioner(access(ConfigMap: get, apply, delete))]
    struct Stubborn;

    impl Provision<Guest> for Stubborn {
        async fn provision(cx: &Context<'_, Guest, Self>) -> Result<()> {
            let guest = cx.object();
            let mut note = ConfigMap::default();
            note.metadata.name = Some("note".to_owned());
            let before = cx.find::<ConfigMap>("note").await?.and_then(|note| note.data).unwrap_or_default();
            // The highest room that was ever wished for stays.
            let wished = before.get("room").and_then(|room| room.parse().ok()).unwrap_or(0).max(guest.spec.room);
            note.data = Some([("room".to_owned(), wished.to_string())].into());
            if before.get("room") != Some(&wished.to_string()) {
                cx.apply(&note).await?;
            }
            if wished > 9 { yield_because("RoomMissing", "nobody has built the room") } else { Ok(()) }
        }

        async fn deprovision(cx: &Teardown<'_, Guest, Self>) -> Result<()> {
            cx.delete::<ConfigMap>("note").await?;
            Ok(())
        }
    }

    #[derive(Debug, Provisioner)]
    #[provisioner(serial, owner = Guest)]
    struct Stay {
        stubborn: Stubborn,
    }

    let guest = Guest::new("first", GuestSpec { key: "brass".to_owned(), room: 9 });
    let operator = || Operator::new("inn").controls::<Guest, Stay>();
    let report = trial(operator).sample(&guest).only([Check::Edit]).run();
    let stuck = report.findings.iter().find(|finding| finding.schedule == "edit:2");
    let said = stuck.map(|finding| (finding.problem.as_str(), finding.hint.as_str())).unwrap_or_default();
    assert_eq!(said.0, "an undone edit leaves another state than before", "{report}");
    assert!(said.1.contains("from the spec in each pass") && report.to_string().contains("RoomMissing"), "{report}");
}
