//! A set of applications that is solved at run time, on a cluster below another (unikorn §9.4).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Applications, with what they need.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "acceptance.opgen.dev", version = "v1", kind = "ApplicationSet", namespaced, status = "Status")]
struct ApplicationSetSpec {
    #[schemars(extend("x-kubernetes-list-type" = "set"), length(max = 50), inner(length(max = 63)))]
    applications: Vec<String>,
}

/// What each application depends on, and how often that was solved.
#[derive(Clone, Debug, Default)]
struct Catalogue {
    depends: Vec<(&'static str, &'static str)>,
    solved: Arc<AtomicUsize>,
}

type Owner = For<ApplicationSet, Catalogue>;

/// The applications that are needed, each after those that it depends on.
struct Solution {
    applications: Vec<Application>,
}

#[derive(Clone)]
struct Application {
    name: String,
}

#[derive(Provisioner)]
#[provisioner(access(), output = Solution)]
struct Solve;

impl Provision<Owner> for Solve {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        let Catalogue { depends, solved } = cx.options();
        solved.fetch_add(1, Ordering::Relaxed);
        let mut open = cx.object().spec.applications.clone();
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = open.pop() {
            if name == "unknown" {
                return Err(Error::user_action("Unsolvable", format!("there is no application {name}")));
            }
            open.extend(depends.iter().filter(|(of, _)| *of == name).map(|(_, on)| (*on).to_owned()));
            names.retain(|known| *known != name);
            names.insert(0, name);
        }
        cx.set_output(Solution { applications: names.into_iter().map(|name| Application { name }).collect() });
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Owner)]
struct Tree {
    solve: Solve,
    #[provisioner(from(solve))]
    manager: OnManager,
}

/// On the cluster that makes clusters.
#[derive(Provisioner)]
#[provisioner(serial, owner = Owner, inputs(solution: Solution))]
struct OnManager {
    is_reachable: Recorder,
    #[provisioner(from(solution))]
    cluster: OnCluster,
}

/// On the cluster that it has made.
#[derive(Provisioner)]
#[provisioner(serial, owner = Owner, inputs(solution: Solution))]
struct OnCluster {
    is_reachable: Recorder,
    #[provisioner(each = |_, solution| &solution.applications, key = |application| &application.name, from(solution))]
    applications: OneApplication,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Owner, Application>)]
struct OneApplication {
    namespace: Recorder,
    chart: Recorder,
}

fn rehearsal(applications: &[&str]) -> (TreeHarness<Owner, Tree>, Arc<AtomicUsize>) {
    let applications = applications.iter().map(|name| (*name).to_owned()).collect();
    let set = ApplicationSet::new("set", ApplicationSetSpec { applications });
    let catalogue = Catalogue { depends: vec![("shop", "database")], ..Catalogue::default() };
    let solved = catalogue.solved.clone();
    (TreeHarness::with_options(set, catalogue), solved)
}

fn chart(name: &str) -> String {
    format!("manager/cluster/applications[{name}]/chart")
}

#[tokio::test]
async fn group_case4_there_is_a_child_for_each_application_of_the_solution() {
    let (rehearsal, _) = rehearsal(&["shop"]);
    assert!(rehearsal.up().await.is_ok());
    let called = rehearsal.called();
    assert_eq!(called[..2], ["provision manager/is_reachable", "provision manager/cluster/is_reachable"]);
    assert!(called.contains(&format!("provision {}", chart("shop"))), "{called:?}");
    assert!(called.contains(&format!("provision {}", chart("database"))), "{called:?}");
    rehearsal.answer("manager/is_reachable", Answer::Yield);
    assert!(rehearsal.up().await.is_err());
    assert_eq!(rehearsal.called(), ["provision manager/is_reachable: yield"]);
}

#[tokio::test]
async fn group_case4_what_the_solution_has_no_more_is_removed() {
    let (mut rehearsal, _) = rehearsal(&["shop", "mail"]);
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    rehearsal.object().spec.applications = vec!["mail".to_owned()];
    rehearsal.answer(&chart("database"), Answer::Yield);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    let called = rehearsal.called();
    assert!(called.contains(&format!("deprovision {}", chart("shop"))), "{called:?}");
    assert!(called.contains(&format!("deprovision {}: yield", chart("database"))), "{called:?}");
    assert!(called.contains(&format!("provision {}", chart("mail"))), "{called:?}");
    rehearsal.answer(&chart("database"), Answer::Ok);
    assert!(rehearsal.up().await.is_ok());
    let orphans = ["shop", "database"].map(|name| format!("applications[{name}]"));
    assert!(
        rehearsal.provisioned_nodes().iter().all(|node| !orphans.iter().any(|orphan| node.contains(orphan))),
        "{:?}",
        rehearsal.provisioned_nodes()
    );
}

#[tokio::test]
async fn group_case4_nothing_is_removed_while_nothing_is_solved() {
    let (mut rehearsal, _) = rehearsal(&["shop"]);
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    rehearsal.object().spec.applications = vec!["unknown".to_owned()];
    assert!(matches!(rehearsal.up().await, Err(Error::UserAction { .. })));
    assert!(rehearsal.called().is_empty());
}

#[tokio::test]
async fn group_case4_teardown_solves_nothing() {
    let (mut rehearsal, solved) = rehearsal(&["shop", "mail"]);
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    rehearsal.object().spec.applications = vec!["unknown".to_owned()];
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(solved.load(Ordering::Relaxed), 1);
    let called = rehearsal.called();
    let last = ["deprovision manager/cluster/is_reachable", "deprovision manager/is_reachable"];
    assert_eq!(called[called.len() - 2..], last);
    assert!(rehearsal.provisioned_nodes().is_empty(), "{:?}", rehearsal.provisioned_nodes());
}
