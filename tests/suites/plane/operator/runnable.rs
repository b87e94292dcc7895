//! Runnables of the user, beside controllers and replicas.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ObjectMeta, PostParams},
};
use libtest_mimic::Trial;
use opgen::{
    For, Lister, Operator, RunError, RunOptions,
    environment::Environment,
    leader_election::LeaderElection,
    manager::{Runnable, RunnableContext, Runnables},
    prelude::*,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Plane, Port, case, case_served,
    wait::{self, PATIENCE, until_object},
};

use crate::kinds::running::almighty;

use super::{
    kinds::{Diary, Errand, ErrandSpec, ErrandTree, Outcome},
    probe::{Passes, ProbeSpec, operator, probe},
    program::says,
    rest,
    site::{NAME, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("manager_m21_a_runnable_with_lead_starts_where_the_lead_is_and_one_without_it_everywhere", replicas),
        case("manager_m22_a_runnable_that_is_added_while_the_operator_runs_starts_at_once", added),
        case("manager_m23_the_error_of_a_runnable_lets_passes_end_and_releases_the_lead", failed),
        case("manager_m30_runnables_start_before_the_caches_and_after_they_have_synced", order),
        case("manager_m31_a_runnable_with_lead_may_write_until_it_ends_and_then_the_lead_is_released", farewell),
        case("manager_m10_all_chosen_namespaces_are_watched_and_no_other_and_passes_read_from_the_cache", namespaces),
        case_served("a_pass_that_exceeds_its_limit_fails_the_liveness_probe", limit),
        case_served("manager_m26_checks_of_the_user_have_paths_of_their_own_and_can_be_excluded", checks),
    ]
}

/// What runnables did, in order.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn add(&self, line: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn until(&self, expected: &[&str]) {
        wait::until(format!("{expected:?}"), PATIENCE, async || {
            let all = self.all();
            if all == expected { Ok(()) } else { Err(format!("{all:?}")) }
        })
        .await;
    }

    /// A runnable that adds its name, and whether it may write.
    fn writes(&self, name: &'static str, namespace: &str) -> Runnable {
        let (lines, namespace) = (self.clone(), namespace.to_owned());
        Runnable::new(name, move |context| {
            let (lines, namespace) = (lines.clone(), namespace.clone());
            async move {
                let result = create(&context, &namespace, &format!("{}-{name}", context.is_elected())).await;
                lines.add(&format!("{name} {}", if result.is_ok() { "writes" } else { "may not write" }));
                context.stopped().await;
                Ok(())
            }
        })
    }

    /// A runnable that adds its name.
    fn starts(&self, name: &'static str) -> Runnable {
        let lines = self.clone();
        Runnable::new(name, move |context: RunnableContext| {
            lines.add(name);
            async move {
                context.stopped().await;
                Ok(())
            }
        })
    }
}

/// Creates a ConfigMap with the client of a run.
async fn create(context: &RunnableContext, namespace: &str, name: &str) -> Result<()> {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let config = ConfigMap { metadata, ..ConfigMap::default() };
    Api::namespaced(context.client(), namespace).create(&PostParams::default(), &config).await?;
    Ok(())
}

/// A replica with an identity of its own, and times that make a crash short.
fn replica(site: &Site, number: u64, passes: &Passes) -> Operator {
    let (plane, dice) = (site.plane.clone(), Seeded::new(number));
    let environment = Environment::new(move || plane.now(), move || dice.bits());
    let election = LeaderElection::default().lease_duration(Duration::from_secs(3));
    let election = election.renew_deadline(Duration::from_secs(2)).retry_period(Duration::from_millis(500));
    operator(site, passes, |controller| controller).environment(environment).leader_election(election)
}

async fn holder(site: &Site) -> Option<String> {
    let lease = site.api::<Lease>().get_opt(&format!("{NAME}.opgen.dev")).await.unwrap();
    lease.and_then(|lease| lease.spec).and_then(|spec| spec.holder_identity)
}

/// A client in the namespace of a site, with all rights.
async fn client(site: &Site) -> Client {
    almighty(&site.plane, &site.namespace).await.client()
}

async fn replicas(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let (first, second) = (Lines::default(), Lines::default());
    let with_lead = |lines: &Lines| lines.writes("with-lead", &site.namespace);
    let leader = replica(&site, 1, &passes).runnable(first.starts("without-lead").without_lead());
    let leader = leader.runnable(with_lead(&first));
    site.install(&leader).await;
    let client = client(&site).await;
    let mut leader = Site::run_with(&leader, client.clone(), RunOptions::default());
    first.until(&["without-lead", "with-lead writes"]).await;
    let without_lead = second.writes("without-lead", &site.namespace).without_lead();
    let follower = replica(&site, 2, &passes).runnable(without_lead).runnable(with_lead(&second));
    let mut follower = Site::run_with(&follower, client, RunOptions::default());
    second.until(&["without-lead may not write"]).await;
    site.delete::<ConfigMap>("true-with-lead").await;
    leader.signal();
    leader.end().await.unwrap();
    second.until(&["without-lead may not write", "with-lead writes"]).await;
    follower.signal();
    follower.end().await.unwrap();
}

async fn added(plane: Arc<Plane>) {
    let (site, passes, lines, runnables) =
        (Site::new(&plane).await, Passes::default(), Lines::default(), Runnables::new());
    let operator = operator(&site, &passes, |controller| controller);
    site.install(&operator).await;
    let mut running = Site::run_with(&operator, client(&site).await, RunOptions::default().runnables(&runnables));
    probe(&site, "one", ProbeSpec::default()).await;
    passes.reach("one", 1).await;
    runnables.add(lines.writes("late", &site.namespace)).unwrap();
    lines.until(&["late writes"]).await;
    running.signal();
    running.end().await.unwrap();
    assert!(runnables.add(lines.writes("too-late", &site.namespace)).is_err());
}

async fn failed(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let fail = Arc::new(tokio::sync::Notify::new());
    let failing = fail.clone();
    let consumer = Runnable::new("consumer", move |_| {
        let failing = failing.clone();
        async move {
            failing.notified().await;
            Err(std::io::Error::other("the queue is gone").into())
        }
    });
    let operator = replica(&site, 1, &passes).runnable(consumer);
    site.install(&operator).await;
    let running = site.run(&operator, RunOptions::default()).await;
    probe(&site, "one", ProbeSpec::default()).await;
    passes.reach("one", 1).await;
    fail.notify_one();
    let end = running.end().await;
    assert!(matches!(&end, Err(RunError::Runnable { name, .. }) if name == "consumer"), "{end:?}");
    assert_eq!(holder(&site).await.as_deref(), Some(""), "another replica may lead at once");
}

async fn order(plane: Arc<Plane>) {
    let (site, passes, lines) = (Site::new(&plane).await, Passes::default(), Lines::default());
    let configs = Lister::<String>::default();
    let operator = operator(&site, &passes, |controller| {
        controller.lister(&configs, |config: &ConfigMap| config.name_any(), |_, _| Vec::<opgen::NamespacedName>::new())
    });
    let reports = |name: &'static str| {
        let (lines, configs) = (lines.clone(), configs.clone());
        Runnable::new(name, move |context: RunnableContext| {
            let is_synced = configs.read(|_| ()).is_ok();
            lines.add(&format!("{name} {}", if is_synced { "after" } else { "before" }));
            async move {
                context.stopped().await;
                Ok(())
            }
        })
    };
    let operator = operator.runnable(reports("lead")).runnable(reports("any").without_lead());
    let operator = operator.runnable(reports("first").before_caches());
    let mut running = site.start(&operator).await;
    wait::until("all have started", PATIENCE, async || match lines.all() {
        all if all.len() == 3 => Ok(()),
        all => Err(format!("{all:?}")),
    })
    .await;
    // Without an election the last two groups start one right after the other, and their tasks run on several threads.
    let mut all = lines.all();
    all[1..].sort();
    assert_eq!(all, ["first before", "any after", "lead after"]);
    running.signal();
    running.end().await.unwrap();
}

async fn farewell(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let namespace = site.namespace.clone();
    let farewell = Runnable::new("farewell", move |context| {
        let namespace = namespace.clone();
        async move {
            context.stopped().await;
            create(&context, &namespace, "farewell").await
        }
    });
    let operator = replica(&site, 1, &passes).runnable(farewell);
    site.install(&operator).await;
    let mut running = Site::run_with(&operator, client(&site).await, RunOptions::default());
    probe(&site, "one", ProbeSpec::default()).await;
    passes.reach("one", 1).await;
    running.signal();
    running.end().await.unwrap();
    until_object(&site.api::<ConfigMap>(), "farewell", "was written", |_| true).await;
    assert_eq!(holder(&site).await.as_deref(), Some(""));
}

/// Controllers watch all namespaces by default; here the chosen ones.
async fn namespaces(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let (second, other) = (Site::new(&plane).await, Site::new(&plane).await);
    let operator = operator(&site, &passes, |controller| controller);
    site.install(&operator).await;
    probe(&other, "other", ProbeSpec::default()).await;
    let access = almighty(&plane, &site.namespace).await;
    let options = RunOptions::default().namespaces([&site.namespace, &second.namespace]);
    let _running = Site::run_with(&operator, access.client(), options);
    probe(&site, "one", ProbeSpec::default()).await;
    probe(&second, "two", ProbeSpec::default()).await;
    passes.reach("one", 1).await;
    passes.reach("two", 1).await;
    let asked = rest::settled(async || plane.audit().await.by_account(&site.namespace, "default")).await;
    assert_eq!((passes.of("other"), asked.resource("probes").verb("get").len()), (0, 0), "{asked}");
}

async fn checks(plane: Arc<Plane>) {
    let (site, passes, port) = (Site::new(&plane).await, Passes::default(), Port::reserve());
    let is_open = Arc::new(AtomicBool::new(false));
    let open = is_open.clone();
    let operator = operator(&site, &passes, |controller| controller).readyz_check("queue", move || {
        let is_open = open.load(Ordering::Relaxed);
        async move { if is_open { Ok(()) } else { yield_because("Closed", "the queue is closed") } }
    });
    site.install(&operator).await;
    let _running = site.run(&operator, RunOptions::default().probes(port.address())).await;
    says(port.address(), "/readyz?exclude=queue", 200, "Probe: ok").await;
    says(port.address(), "/readyz", 503, "queue: the queue is closed").await;
    says(port.address(), "/readyz/queue", 503, "queue: the queue is closed").await;
    says(port.address(), "/readyz/watches", 200, "ok").await;
    says(port.address(), "/livez?verbose", 200, "[+]workers ok").await;
    is_open.store(true, Ordering::Relaxed);
    says(port.address(), "/readyz?verbose", 200, "[+]queue ok").await;
    says(port.address(), "/readyz/nothing", 404, "not found").await;
    says(port.address(), "/healthz/tasks", 200, "ok").await;
}

/// A pass that waits at the gate of its diary.
async fn limit(plane: Arc<Plane>) {
    let (site, diary, port) = (Site::new(&plane).await, Diary::default(), Port::reserve());
    let options = diary.clone();
    let operator = site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|controller| {
        controller.options(options).pass_limit(Duration::from_millis(50))
    });
    site.install(&operator).await;
    let _running = site.run(&operator, RunOptions::default().probes(port.address())).await;
    says(port.address(), "/livez", 200, "ok").await;
    site.create(&Errand::new("one", ErrandSpec { first: Outcome::Gate, ..ErrandSpec::default() })).await;
    says(port.address(), "/livez", 503, "controller of Errand: a pass has been running for").await;
    says(port.address(), "/livez/workers", 503, "its limit is").await;
    says(port.address(), "/readyz", 200, "Errand: ok").await;
    diary.gate.add_permits(1);
    says(port.address(), "/livez", 200, "ok").await;
}
