//! Several operators in one process.

use std::sync::Arc;

use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen::{Enqueue, NamespacedName, Operator, RunError, RunOptions, manager::Manager};
use opgen_tests::{
    Plane,
    audit::Entry,
    case,
    wait::{PATIENCE, until_gone, until_object},
};
use tokio::{sync::oneshot, task::JoinHandle, time::timeout};

use crate::kinds::running::almighty;

use super::{
    kinds::{Note, NoteSpec},
    probe::{Count, Counted, Passes, Probe, ProbeSpec, operator, probe},
    rest,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("several_operators_of_a_process_share_one_list_and_one_watch_of_a_kind", shared),
        case("several_operators_of_a_process_have_names_of_their_own", names),
    ]
}

/// Operators that run as one process, and end with the test.
struct Process {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), RunError>>,
}

impl Process {
    async fn start(site: &Site, manager: Manager) -> Self {
        let client = almighty(&site.plane, &site.namespace).await.client();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async { drop(stopped.await) };
        Self { stop, task: tokio::spawn(manager.run_with(client, RunOptions::default(), stopped)) }
    }

    async fn end(self) -> Result<(), RunError> {
        drop(self.stop);
        timeout(PATIENCE, self.task).await.expect("an end in time").expect("no panic")
    }
}

/// A second operator, of the same kind and with conditions of its own.
fn second(site: &Site, passes: &Passes) -> Operator {
    let passes = passes.clone();
    let operator = Operator::new("second").namespace(&site.namespace).namespaced().environment(site.environment());
    operator.controls_with::<Counted, Count>(|controller| {
        let wake = Enqueue::map(|note: &Note| [NamespacedName { name: note.name_any(), namespace: note.namespace() }]);
        controller.workers(1).options(passes).condition_prefix("Second").watches(wake)
    })
}

async fn shared(plane: Arc<Plane>) {
    let (site, first_passes, second_passes) = (Site::new(&plane).await, Passes::default(), Passes::default());
    let (first, second) = (operator(&site, &first_passes, |c| c), second(&site, &second_passes));
    let first = first.controls::<Note, super::kinds::NoteTree>();
    site.install(&first).await;
    let process = Process::start(&site, Manager::new(first.clone()).operator(second)).await;
    probe(&site, "one", ProbeSpec::default()).await;
    let has_both = |probe: &Probe| {
        let conditions = probe.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
        let has = |type_: &str| conditions.iter().any(|held| held.type_ == type_ && held.status == "True");
        has("Available") && has("SecondAvailable") && probe.finalizers().len() == 2
    };
    until_object(&site.api::<Probe>(), "one", "has conditions and finalizers of both", has_both).await;
    let asked = async || plane.audit().await.by_account(&site.namespace, "default");
    rest::settled(asked).await;
    let passes = (first_passes.of("one"), second_passes.of("one"));
    // A note wakes the probe of its name in the second operator, by the watch of the first one's controller.
    site.create(&Note::new("one", NoteSpec { text: "a".to_owned(), ..NoteSpec::default() })).await;
    second_passes.reach("one", passes.1 + 1).await;
    let asked = rest::settled(asked).await;
    assert_eq!(first_passes.of("one"), passes.0);
    // A conflict between the two is followed by a read of that one object, a list by its name.
    let is_of_all = |entry: &Entry| !entry.uri.contains("metadata.name%3D");
    for resource in ["probes", "notes"] {
        let of_kind = asked.resource(resource).with(is_of_all);
        assert_eq!((of_kind.verb("list").len(), of_kind.verb("watch").len()), (1, 1), "{of_kind}");
    }
    let text = first.metrics().text().unwrap();
    for name in ["probe", "note", "probe-2"] {
        let series = format!("controller_runtime_max_concurrent_reconciles{{controller=\"{name}\"}}");
        assert!(text.contains(&series), "{series} is not in\n{text}");
    }
    site.delete::<Probe>("one").await;
    until_gone(&site.api::<Probe>(), "one").await;
    process.end().await.unwrap();
}

async fn names(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let manager = Manager::new(second(&site, &passes)).operator(second(&site, &passes));
    let end = manager.run_with(plane.client(), RunOptions::default(), std::future::pending()).await;
    assert!(matches!(&end, Err(RunError::DuplicateOperator { name }) if name == "second"), "{end:?}");
}
