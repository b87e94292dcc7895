//! Closures of the user that panic on one object: that object is reported, and all others are served as before.

use std::{collections::BTreeSet, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt as _, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::{
    Backoff, Controller, Enqueue, Lister, NamespacedName, ObjectKey, Predicate, RunOptions, command::Why,
    counters::Closure,
};
use opgen_tests::{
    Plane, Port, case_served,
    wait::{self, PATIENCE},
};
use serde_json::json;
use walkdir::WalkDir;

use crate::operator::{
    event::until_event_about,
    kinds::available,
    log,
    probe::{Counted, Passes, Probe, ProbeSpec, at_rest, operator, probe},
    program::get,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    let of_row = |row: Row| {
        let name = format!("a_panic_of_{}_in_{}_on_one_object_leaves_all_others_served", row.closure, row.function);
        case_served(&name, async move |plane| others_are_served(plane, row).await)
    };
    let complete = Trial::test("every_public_function_that_takes_a_closure_is_known_here", || {
        every_function_is_known();
        Ok(())
    });
    rows().into_iter().map(of_row).chain([complete]).collect()
}

/// The object on which each closure panics.
const MAD: &str = "mad";

/// A public function that takes a closure, which closure panics, and a controller with both.
struct Row {
    function: &'static str,
    closure: Closure,
    on: On,
    options: fn(Controller<Counted>) -> Controller<Counted>,
}

/// What the closure is called with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// A ConfigMap. Those on which it doesn't panic wake the probe of their name.
    ConfigMap,
    /// A primary.
    Probe,
}

fn rows() -> Vec<Row> {
    use {Closure as C, On::ConfigMap as Config};
    let row = |function, closure, on, options| Row { function, closure, on, options };
    vec![
        row("map", C::Watches, Config, |c| {
            c.watches(Enqueue::map(|config: &ConfigMap| [own_name(calm(&config.name_any()))]))
        }),
        row("map_metadata", C::Watches, Config, |c| {
            let name = |metadata: &ObjectMeta| metadata.name.as_deref().map(|name| own_name(calm(name)));
            c.watches(Enqueue::<ConfigMap>::map_metadata(name))
        }),
        row("of", C::Predicate, Config, |c| {
            let data = Predicate::of(|config: &ConfigMap| (calm(&config.name_any()).len(), config.data.clone()));
            c.watches(Enqueue::map(|config: &ConfigMap| [own_name(&config.name_any())]).when(data))
        }),
        row("of", C::Predicate, On::Probe, |c| {
            c.when(Predicate::of(|probe: &Probe| (calm(&probe.name_any()).len(), probe.spec.class.clone())))
        }),
        row("lister", C::Projection, Config, |c| {
            let keep = |config: &ConfigMap| (calm(&config.name_any()).len(), config.data.clone());
            c.lister(&Lister::<_>::default(), keep, |key, _| [own_name(key.name())])
        }),
        row("lister", C::ProjectionMap, Config, |c| {
            c.lister(&Lister::<_>::default(), ConfigMap::clone, |key, _| [own_name(calm(key.name()))])
        }),
        row("metadata_lister", C::Projection, Config, |c| {
            let keep = |metadata: &ObjectMeta| {
                (metadata.name.as_deref().map(|name| calm(name).len()), metadata.labels.clone())
            };
            c.metadata_lister::<ConfigMap, _, _, _>(&Lister::<_>::default(), keep, |key, _| [own_name(key.name())])
        }),
        row("metadata_lister", C::ProjectionMap, Config, |c| {
            let (keep, map) = (ObjectMeta::clone, |key: &ObjectKey, _: &ObjectMeta| [own_name(calm(key.name()))]);
            c.metadata_lister::<ConfigMap, _, _, _>(&Lister::<_>::default(), keep, map)
        }),
        row("indexed", C::Index, Config, |c| {
            let view = Lister::indexed(|config: &ConfigMap| Some(calm(&config.name_any()).len()));
            c.lister(&view, ConfigMap::clone, |key, _| [own_name(key.name())])
        }),
        row("resync_period_by", C::ResyncPeriod, On::Probe, |c| {
            c.resync_period_by(|probe: &Probe| {
                (calm(&probe.name_any()) != "quick").then_some(Duration::from_secs(3600))
            })
        }),
    ]
}

/// The name, unless it is that of the object on which closures panic.
fn calm(name: &str) -> &str {
    assert!(name != MAD, "the secret detail");
    name
}

fn own_name(name: &str) -> NamespacedName {
    NamespacedName { name: name.to_owned(), namespace: None }
}

async fn others_are_served(plane: Arc<Plane>, row: Row) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    // What fails is not tried again by itself, so that passes come to rest.
    let never = Backoff::Fixed(Duration::from_secs(3600));
    let operator = operator(&site, &passes, |c| (row.options)(c.backoff(never)));
    let port = Port::reserve();
    site.install(&operator).await;
    let options = RunOptions::default().probes(port.address());
    let _running = site.run(&operator, options).await;
    at_rest(&site, &passes, &["sane"]).await;
    let of_config = row.on == On::ConfigMap;
    if of_config {
        site.create(&config(MAD)).await;
    } else {
        probe(&site, MAD, ProbeSpec::default()).await;
        passes.reach(MAD, 1).await;
        site.patch::<Probe>(MAD, &json!({"spec": {"class": "blue"}})).await;
        // Where nobody knows whether a change matters, it does.
        passes.reach(MAD, 2).await;
    }
    wait::until("the panic is counted", PATIENCE, async || match operator.counters().panics(row.closure) {
        0 => Err(format!("{:?}", operator.counters())),
        _ => Ok(()),
    })
    .await;

    // The others, with all that can become of them.
    let mut woken = passes.of("sane");
    if of_config {
        site.create(&config("sane")).await;
        woken = passes_more_than(&passes, woken).await;
        site.patch::<ConfigMap>("sane", &json!({"metadata": {"labels": {"a": "b"}}, "data": {"text": "2"}})).await;
        woken = passes_more_than(&passes, woken).await;
        site.delete::<ConfigMap>(MAD).await;
        site.delete::<ConfigMap>("sane").await;
    } else {
        site.patch::<Probe>("sane", &json!({"spec": {"class": "blue"}})).await;
    }
    passes_more_than(&passes, woken).await;
    at_rest(&site, &passes, &["late"]).await;

    is_reported(&site, &row, &operator).await;
    for path in ["/healthz", "/readyz"] {
        is_well(port.address(), path).await;
    }
    assert_eq!(operator.counters().task_restarts(), 0, "a closure is no reason for the end of a task");
}

fn config(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("text".to_owned(), "1".to_owned())].into()), ..ConfigMap::default() }
}

async fn passes_more_than(passes: &Passes, count: usize) -> usize {
    passes.reach("sane", count + 1).await;
    passes.of("sane")
}

/// In the log by its message; to users without it, by an event or a condition; and in what `why` says.
async fn is_reported(site: &Site, row: &Row, operator: &opgen::Operator) {
    let place = format!("{}/{MAD}", site.namespace);
    assert!(
        !log::lines_with(&["ERROR", &place, "panicked: the secret detail"]).is_empty(),
        "{place} is not in the log"
    );
    let (asked, expected) = if row.closure == Closure::ResyncPeriod {
        let fits = |probe: &Probe| available(probe.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Errored");
        wait::until_object(&site.api::<Probe>(), MAD, "has the error in its status", fits).await;
        (MAD, "an unexpected error occurred")
    } else {
        let note = until_event_about(&site.api(), MAD, "Panicked").await.note.unwrap_or_default();
        assert!(note.contains("panicked on this object") && !note.contains("secret"), "{note}");
        (if row.on == On::Probe { MAD } else { "sane" }, "panicked on this object")
    };
    let why = operator.why(site.plane.client(), "Probe", asked, Some(&site.namespace)).await.unwrap();
    let names = |why: &&Why| why.object.contains(MAD) && why.state.contains(expected);
    assert!(why.causes().iter().any(names), "{why}");
}

async fn is_well(probes: SocketAddr, path: &str) {
    wait::until(format!("{path} says that all is well"), PATIENCE, async || match get(probes, path).await? {
        (200, _) => Ok(()),
        (code, text) => Err(format!("{code}: {text}")),
    })
    .await;
}

/// Public functions that take functions, and are called for no object or by the user's own code.
const NOT_FOR_OBJECTS: [(&str, &str); 30] = [
    (
        "new",
        "the clock and the dice of `Environment` belong to no object, and a panic in them ends a pass; one of a `Runnable` ends the run",
    ),
    ("observed", "observers belong to tests; the end of a pass by them is caught by the worker"),
    ("clusters", "a test calls it for each kubeconfig; the panic is the error of the pass that connects"),
    ("simulated", "a test calls it for each run of helm; the panic is the error of the pass"),
    ("panics_observed", "observers belong to tests; the end of a pass by them is caught by the worker"),
    ("read", "the caller of `Lister::read` is a node, and a panic the error of its pass"),
    ("status", "the caller of `Context::status` is a node, and a panic the error of its pass"),
    ("initialize", "called once, before any object is watched; a panic is the error that ends the run"),
    ("readyz_check", "called for a probe; a panic is a failure of the check"),
    ("livez_check", "called for a probe; a panic is a failure of the check"),
    ("metrics_handler", "called for a request; a panic is the response 500"),
    ("validates", "called for a review; a panic is the response 500, and the failure policy decides"),
    ("validates_with", "called for a review; a panic is the response 500, and the failure policy decides"),
    ("validates_async", "called for a review; a panic is the response 500, and the failure policy decides"),
    ("defaults", "called for a review; a panic is the response 500, and the failure policy decides"),
    ("defaults_with", "called for a review; a panic is the response 500, and the failure policy decides"),
    ("defaults_async", "called for a review; a panic is the response 500, and the failure policy decides"),
    ("validates_by", "called once, while the operator is built: it takes the settings"),
    ("defaults_by", "called once, while the operator is built: it takes the settings"),
    ("controls_with", "called once, while the operator is built"),
    ("main_with", "called once, while the operator is built"),
    ("behind", "the cache is a library here: the caller's own code panics"),
    ("apply", "the cache is a library here: the caller's own code panics"),
    ("try_apply", "the cache is a library here: the caller's own code panics"),
    ("try_project", "the cache is a library here: the caller's own code panics"),
    ("entries_where", "the cache is a library here: the caller's own code panics"),
    ("visit_owned", "the cache is a library here: the caller's own code panics"),
    ("walk", "the shape of a tree is data: the caller's own code panics"),
    ("zeroes", "the sandbox calls it with a function of its own"),
    ("fold", "the loop calls it with functions of its own"),
];

fn every_function_is_known() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    let mut found = BTreeSet::new();
    for file in WalkDir::new(runtime).into_iter().map(|entry| entry.expect("the source of the runtime")) {
        let path = file.path().to_string_lossy().into_owned();
        // What stands below `provisioner` is called by expansions, within a pass.
        if path.ends_with(".rs") && !path.contains("/src/provisioner/") {
            let text = std::fs::read_to_string(file.path()).expect("a file of the runtime");
            let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
            found.extend(functions_with_closures(shipped));
        }
    }
    let here = rows().into_iter().map(|row| row.function).chain(NOT_FOR_OBJECTS.map(|(name, _)| name));
    let known: BTreeSet<String> = here.map(str::to_owned).collect();
    assert_eq!(found, known, "a function that takes a closure needs a row here, or a reason why it has none");
}

/// The names of the public functions whose signatures have a closure or a function pointer.
fn functions_with_closures(text: &str) -> Vec<String> {
    let signatures = text.split("\n    pub ").chain(text.split("\npub ")).skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
        rest.split(['{', ';']).next()
    });
    let takes = |signature: &&str| ["Fn(", "FnOnce(", "FnMut(", ": fn("].iter().any(|form| signature.contains(form));
    let name = |signature: &str| signature.split(['<', '(']).next().unwrap_or_default().to_owned();
    signatures.filter(takes).map(name).collect()
}
