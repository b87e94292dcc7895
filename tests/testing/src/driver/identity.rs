//! Checks that a driver returns different objects for applications of different owners, and for applications with similar names: rule 15 of
//! the suite.

use std::collections::BTreeMap;

use opgen::{cd::ClusterCredentials, testing::ApplicationHarness};

use super::{
    collection::{ObjectId, object_id, object_label},
    examination::{Accepted, Examination},
    source::SourceBase,
};

/// Names of applications: such that only their beginnings are equal, or that have characters which names of objects can't have.
const NAMES: [&str; 8] = ["web", "web-server", "Web Server", "3web", "日本", "-", "web_server", "web/server?"];

/// Returns harnesses, each of which resolves an application for another operator, owner or tree node, with a label for messages.
fn harnesses() -> Vec<(&'static str, ApplicationHarness)> {
    let new = ApplicationHarness::new;
    let deep = format!("{}web", "group[key]/".repeat(30));
    let remote = |name: &str| new().remote(name, ClusterCredentials::default());
    vec![
        ("an owner", new()),
        ("another owner", new().owner("two")),
        ("an owner of another operator", new().operator("other")),
        ("an owner in another namespace", new().namespace("elsewhere")),
        ("a cluster-scoped owner", new().cluster_scoped()),
        ("another cluster-scoped owner", new().cluster_scoped().owner("two")),
        ("a node with a key", new().node("pools[blue]/web")),
        ("a node with another key", new().node("pools[red]/web")),
        ("another node", new().node("web_server")),
        ("a deep node", new().node(deep)),
        ("a node below a remote node", remote("blue")),
        ("a node below another remote node", remote("red")),
    ]
}

/// Checks that the driver returns different objects for one application if its owner, its name or its [object
/// name](opgen::cd::ApplicationSpec::object_name) differs: no two applications may have an object in common.
pub(super) fn check(examination: &mut Examination, base: &SourceBase) {
    let mut known = BTreeMap::new();
    for (place, harness) in harnesses() {
        let label = format!("{} of {place}", base.label);
        if let Some(accepted) = examination.examine(&label, &harness, base.application.clone()) {
            add(examination, &mut known, &label, &accepted);
        }
    }
    let long = "long-name-".repeat(20);
    let long_names = [format!("{long}one"), format!("{long}two")];
    for name in NAMES.into_iter().chain(long_names.iter().map(String::as_str)) {
        let label = format!("{} with the name {name:?}", base.label);
        // In another namespace than the owners above, one of which has an application of the same name.
        let harness = ApplicationHarness::new().namespace("names");
        let application = base.application.clone().name(name);
        let Some(accepted) = examination.examine(&label, &harness, application) else { continue };
        add(examination, &mut known, &label, &accepted);
        let mut spec = accepted.spec;
        spec.object_name = with_another_end(&spec.object_name);
        let label = format!("{label}, and with an `object_name` whose last character is another one");
        if let Some(objects) = examination.objects(&label, &spec) {
            add(examination, &mut known, &label, &Accepted { spec, objects });
        }
    }
}

/// Adds the objects of an application to `known`, which maps each object to its application. Reports an object that an earlier application
/// also has.
fn add(
    examination: &mut Examination,
    known: &mut BTreeMap<ObjectId, String>,
    application: &str,
    Accepted { spec, objects }: &Accepted,
) {
    for (at, object) in objects.iter().enumerate() {
        match known.insert(object_id(object, spec), application.to_owned()) {
            Some(other) if other != application => {
                let problem = format!("{} is also an object of {other}", object_label(object, at));
                examination.report(15, application, problem);
            }
            _ => {}
        }
    }
}

/// Returns a name in which only the last character is another one.
fn with_another_end(name: &str) -> String {
    let mut other = name.to_owned();
    let last = if other.pop() == Some('0') { '1' } else { '0' };
    other.push(last);
    other
}
