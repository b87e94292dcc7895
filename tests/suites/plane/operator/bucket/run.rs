//! How an operator of kinds in buckets starts and ends, and what runs beside its controllers.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kube::{Api, api::PostParams};
use libtest_mimic::Trial;
use opgen::{
    RunOptions,
    manager::{Runnable, RunnableContext, Runnables},
    prelude::*,
};
use opgen_tests::{
    Plane, case_with_buckets,
    wait::{PATIENCE, until},
};

use super::{
    super::site::Site,
    Pipe, PipeSpec, Vat, VatTree,
    siphon::{Ending, SiphonScene},
    store::CaseBuckets,
    stored::{has_text, object},
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("nats_u13_a_runnable_writes_to_a_bucket_at_the_end_of_the_run", farewell),
        case_with_buckets("nats_u14_a_part_that_is_added_to_a_running_operator_uses_its_buckets", added),
        case_with_buckets("nats_u30_a_pass_in_flight_ends_before_the_operator_does_and_no_new_one_begins", in_flight),
    ]
}

/// Creates a pipe with the client of a run, which serves the kinds in buckets.
async fn create_pipe(context: &RunnableContext, namespace: &str, name: &str) -> Result<()> {
    let pipe = Pipe::new(name, PipeSpec { text: "a".to_owned() });
    Api::<Pipe>::namespaced(context.client(), namespace).create(&PostParams::default(), &pipe).await?;
    Ok(())
}

/// opgen has no function for the end: a runnable does its last work when the run stops.
async fn farewell(plane: Arc<Plane>) {
    let (site, buckets) = (Site::new(&plane).await, CaseBuckets::new(&plane).await);
    let namespace = site.namespace.clone();
    let started = Arc::new(AtomicBool::new(false));
    let starts = started.clone();
    let runnable = Runnable::new("farewell", move |context: RunnableContext| {
        let namespace = namespace.clone();
        starts.store(true, Ordering::Relaxed);
        async move {
            context.stopped().await;
            create_pipe(&context, &namespace, "farewell").await
        }
    });
    let operator = site.operator().buckets(buckets.link()).controls::<Vat, VatTree>().defines::<Pipe>();
    let running = site.start(&operator.runnable(runnable)).await;
    until("the runnable has started", PATIENCE, async || {
        if started.load(Ordering::Relaxed) { Ok(()) } else { Err("it has not".to_owned()) }
    })
    .await;
    running.end_now().await;
    has_text(&buckets.bucket("pipes"), &site.bucket_key("farewell"), "a").await;
}

/// The parts of a process need not exist when its operator is built.
async fn added(plane: Arc<Plane>) {
    let (site, buckets, runnables) = (Site::new(&plane).await, CaseBuckets::new(&plane).await, Runnables::new());
    let operator = site.operator().buckets(buckets.link()).controls::<Vat, VatTree>().defines::<Pipe>();
    site.install(&operator).await;
    let running = site.run(&operator, RunOptions::default().runnables(&runnables)).await;
    let namespace = site.namespace.clone();
    let late = Runnable::new("late", move |context: RunnableContext| {
        let namespace = namespace.clone();
        async move {
            create_pipe(&context, &namespace, "late").await?;
            context.stopped().await;
            Ok(())
        }
    });
    runnables.add(late).unwrap();
    has_text(&buckets.bucket("pipes"), &site.bucket_key("late"), "a").await;
    running.end_now().await;
}

async fn in_flight(plane: Arc<Plane>) {
    let mut scene = SiphonScene::started(&plane).await;
    scene.put("one", "a", Ending::Gate).await;
    scene.visits.reach("one", 1).await;
    scene.running.signal();
    scene.put("two", "a", Ending::Success).await;
    scene.visits.rest().await;
    assert!(!scene.running.has_ended());
    scene.visits.gate.add_permits(1);
    let SiphonScene { site, buckets, visits, running, .. } = scene;
    running.end().await.unwrap();
    let siphons = buckets.bucket("siphons");
    let one = object(&siphons, &site.bucket_key("one")).await.unwrap();
    assert!(one["status"]["conditions"].is_array(), "{one}");
    assert_eq!(visits.count("two"), 0);
}
