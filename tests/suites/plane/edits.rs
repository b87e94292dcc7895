//! What an edit in memory becomes on the server: the calls, counted, and the object as it then is.

mod desk;

use std::sync::Arc;

use kube::{
    Api, CustomResourceExt as _,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{Access, Plane, case, wait};
use serde_json::{Value, json};

use crate::kinds::running::{self, Running};
use desk::{Desk, DeskSpec, Sheet};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        row("patch_p4_nothing_changed_makes_no_call", |row| row.edit(json!({})).calls(&[]).leaves(sheet())),
        row("patch_p4_what_is_so_already_is_no_change", |row| {
            let same = json!({"spec": {"one": 1, "two": 1}, "status": {"note": "kept"}});
            row.edit(same).calls(&[]).leaves(sheet())
        }),
        row("patch_p5_an_edit_of_spec_and_metadata_is_one_merge_patch", |row| {
            let edit =
                json!({"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"one": 2, "two": null}});
            let after = json!({"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"one": 2}});
            row.edit(edit).calls(&[PATCHED]).leaves(after).clears(&["/spec/two"])
        }),
        row("patch_p6_an_edit_of_the_status_is_one_replacement", |row| {
            let edit = json!({"status": {"note": "edited"}});
            row.edit(edit.clone()).calls(&[REPLACED]).leaves(edit)
        }),
        row("patch_p6_a_stale_status_is_a_conflict_and_then_written_anew", |row| {
            let meanwhile = json!({"status": {"links": [{"name": "strangers"}]}});
            let after = json!({"status": {"note": "edited", "links": [{"name": "strangers"}]}});
            let calls = [("update", "status", 409), REPLACED];
            row.edit(json!({"status": {"note": "edited"}})).meanwhile(meanwhile).calls(&calls).leaves(after)
        }),
        row("patch_p7_an_edit_of_both_is_the_patch_and_then_the_status", |row| {
            let edit = json!({"spec": {"one": 2}, "status": {"note": "edited"}});
            row.edit(edit.clone()).calls(&[PATCHED, REPLACED]).leaves(edit)
        }),
        row("patch_p10_concurrent_edits_of_other_fields_survive", |row| {
            let meanwhile = json!({"metadata": {"labels": {"strangers": "yes"}}, "spec": {"two": 7}});
            let after = json!({"metadata": {"labels": {"strangers": "yes"}}, "spec": {"one": 2, "two": 7}});
            row.edit(json!({"spec": {"one": 2}})).meanwhile(meanwhile).calls(&[PATCHED]).leaves(after)
        }),
        row("patch_p10_they_survive_when_the_status_is_edited_too", |row| {
            let edit = json!({"spec": {"one": 2}, "status": {"note": "edited"}});
            let after = json!({"spec": {"one": 2, "two": 7}, "status": {"note": "edited"}});
            row.edit(edit).meanwhile(json!({"spec": {"two": 7}})).calls(&[PATCHED, REPLACED]).leaves(after)
        }),
        row("patch_p10_of_the_same_field_the_last_writer_wins", |row| {
            let edit = json!({"spec": {"one": 2}});
            row.edit(edit.clone()).meanwhile(json!({"spec": {"one": 7}})).calls(&[PATCHED]).leaves(edit)
        }),
        row("patch_p11_a_service_is_edited_alike", |row| {
            let spec = json!({"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}});
            row.of("Service", "v1", spec).edits_both(json!({"sessionAffinity": "ClientIP"}))
        }),
        row("patch_p11_an_ingress_is_edited_alike", |row| {
            let spec = json!({"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}});
            row.of("Ingress", "networking.k8s.io/v1", spec).edits_both(json!({"ingressClassName": "edited"}))
        }),
        row("patch_p13_cleared_status_fields_are_cleared", |row| {
            let edit = json!({"status": {"note": null, "links": [{"name": "new"}]}});
            row.edit(edit).calls(&[REPLACED]).clears(CLEARED).leaves(json!({"status": {"links": [{"name": "new"}]}}))
        }),
        row("patch_p13_cleared_status_fields_are_cleared_with_an_edit_of_the_spec", |row| {
            let edit = json!({"spec": {"one": 2}, "status": {"note": null, "links": [{"name": "new"}]}});
            let after = json!({"spec": {"one": 2}, "status": {"links": [{"name": "new"}]}});
            row.edit(edit).calls(&[PATCHED, REPLACED]).clears(CLEARED).leaves(after)
        }),
    ]
}

type Call = (&'static str, &'static str, u16);

const PATCHED: Call = ("patch", "", 200);
const REPLACED: Call = ("update", "status", 200);
const CLEARED: &[&str] = &["/status/note", "/status/links/0/interface"];

/// A Sheet before it is edited.
fn sheet() -> Value {
    json!({"spec": {"one": 1, "two": 1}, "status": {"note": "kept", "links": [{"name": "old", "interface": "eth0"}]}})
}

/// An object, what becomes of it, and the calls that takes.
struct Row {
    what: &'static str,
    api_version: &'static str,
    before: Value,
    edit: Value,
    meanwhile: Value,
    calls: Vec<Call>,
    after: Value,
    cleared: &'static [&'static str],
}

impl Row {
    fn of(self, what: &'static str, api_version: &'static str, before: Value) -> Self {
        Self { what, api_version, before, ..self }
    }

    fn edit(self, edit: Value) -> Self {
        Self { edit, ..self }
    }

    fn edits_both(self, spec: Value) -> Self {
        let status = json!({"loadBalancer": {"ingress": [{"hostname": "balancer.example.com"}]}});
        let edit = json!({"spec": spec, "status": status});
        self.edit(edit.clone()).calls(&[PATCHED, REPLACED]).leaves(edit)
    }

    fn meanwhile(self, meanwhile: Value) -> Self {
        Self { meanwhile, ..self }
    }

    fn calls(self, calls: &[Call]) -> Self {
        Self { calls: calls.to_vec(), ..self }
    }

    fn leaves(self, after: Value) -> Self {
        Self { after, ..self }
    }

    fn clears(self, cleared: &'static [&'static str]) -> Self {
        Self { cleared, ..self }
    }
}

fn row(name: &str, fill: impl FnOnce(Row) -> Row) -> Trial {
    let row = Row {
        what: "Sheet",
        api_version: "edits.example.com/v1",
        before: sheet(),
        edit: json!({}),
        meanwhile: json!({}),
        calls: Vec::new(),
        after: json!({}),
        cleared: &[],
    };
    let row = fill(row);
    case(name, |plane| edited(plane, row))
}

async fn edited(plane: Arc<Plane>, row: Row) {
    define(&plane).await;
    let namespace = plane.namespace("edits").await;
    let access = running::almighty(&plane, &namespace).await;
    let objects = row.create(&plane, &namespace).await;
    let earlier = plane.audit().await;
    let running = Running::start(desk::operator(Some(plane.client())), &access, Some(&namespace));
    let desks = Api::<Desk>::namespaced(plane.client(), &namespace);
    let spec = DeskSpec {
        what: row.what.to_owned(),
        name: "it".to_owned(),
        edit: row.edit.clone(),
        meanwhile: row.meanwhile.clone(),
        pass: 0,
    };
    let desk = Desk::new("desk", spec);
    desks.create(&PostParams::default(), &desk).await.unwrap();
    let first = available(&desks).await;
    // What was edited once is as it should be, so another pass has nothing to write.
    let again = Patch::Merge(json!({"spec": {"pass": 1}}));
    desks.patch("desk", &PatchParams::default(), &again).await.unwrap();
    available(&desks).await;
    running.stop().await;

    let now = serde_json::to_value(objects.get("it").await.unwrap()).unwrap();
    row.check(&now);
    row.check_calls(&plane, &access, &earlier).await;
    // P8: the write gives the object back as it is stored, with the wanted status.
    let written = first.status.and_then(|status| status.written).expect("what was written");
    assert_eq!(written["metadata"]["resourceVersion"], now["metadata"]["resourceVersion"]);
    row.check_status(&written);
}

impl Row {
    async fn create(&self, plane: &Plane, namespace: &str) -> Api<DynamicObject> {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", self.api_version));
        let kind = kube::api::GroupVersionKind::gvk(group, version, self.what);
        let api = Api::namespaced_with(plane.client(), namespace, &ApiResource::from_gvk(&kind));
        let mut object = self.before.clone();
        object["apiVersion"] = self.api_version.into();
        object["kind"] = self.what.into();
        object["metadata"] = json!({"name": "it"});
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
        if let Some(status) = self.before.get("status") {
            let status = Patch::Merge(json!({ "status": status }));
            api.patch_status("it", &PatchParams::default(), &status).await.unwrap();
        }
        api
    }

    fn check(&self, now: &Value) {
        assert!(includes(now, &self.after), "{now:#}\nlacks some of\n{:#}", self.after);
        for path in self.cleared {
            assert_eq!(now.pointer(path), None, "{now:#}");
        }
    }

    fn check_status(&self, written: &Value) {
        let status = json!({"status": self.after["status"]});
        assert!(self.after["status"].is_null() || includes(written, &status), "{written:#}\nlacks some of\n{status:#}");
    }

    async fn check_calls(&self, plane: &Plane, access: &Access, earlier: &opgen_tests::Entries) {
        let asked = plane.audit().await.since(earlier).by_user(access.user()).name("it");
        let writes = asked.writes();
        let calls: Vec<_> =
            writes.iter().map(|call| (call.verb.as_str(), call.subresource.as_str(), call.code)).collect();
        assert_eq!(calls, self.calls, "{asked}");
    }
}

/// Installs the definitions.
async fn define(plane: &Plane) {
    plane.apply(&serde_json::to_string(&Sheet::crd()).unwrap()).await;
    plane.until_established("sheets.edits.example.com").await;
    running::define(plane, &desk::operator(None)).await;
}

async fn available(desks: &Api<Desk>) -> Desk {
    wait::until_object(desks, "desk", "is available", |desk| {
        let status = desk.status.clone().unwrap_or_default().standard;
        let available = status.conditions.iter().any(|held| held.type_ == "Available" && held.status == "True");
        available && status.observed_generation == desk.metadata.generation
    })
    .await
}

/// Whether `whole` has everything that `part` has; lists are the same.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, below)| whole.get(name).is_some_and(|own| includes(own, below)))
        }
        _ => whole == part,
    }
}
