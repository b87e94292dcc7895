//! Two gates before the work (unikorn §9.5): a parent that is missing or not ready is waited for, by name; one that failed
//! is an error.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Recorder, TreeHarness},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule of a security group.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "acceptance.opgen.dev", version = "v1", kind = "SecurityRule", namespaced, status = "Status")]
struct SecurityRuleSpec {
    #[schemars(length(max = 63))]
    identity: String,
    #[schemars(length(max = 63))]
    group: String,
}

/// The reasons of `Available`, of the parents that there are.
type Parents = Arc<Mutex<BTreeMap<String, Reason>>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    Provisioning,
    Provisioned,
    Errored,
}

type Owner = For<SecurityRule, Parents>;

#[derive(Provisioner)]
#[provisioner(serial, owner = Owner)]
struct Tree {
    identity: IdentityIsReady,
    group: GroupIsReady,
    rule: Recorder,
}

#[derive(Provisioner)]
#[provisioner(access())]
struct IdentityIsReady;

impl Provision<Owner> for IdentityIsReady {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        ready(cx.options(), "identity", &cx.object().spec.identity)
    }
    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(access())]
struct GroupIsReady;

impl Provision<Owner> for GroupIsReady {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        ready(cx.options(), "security group", &cx.object().spec.group)
    }
    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

fn ready(parents: &Parents, what: &str, name: &str) -> Result<()> {
    match parents.lock().unwrap().get(name).copied() {
        None | Some(Reason::Provisioning) => yield_because("DependencyNotReady", format!("{what} {name} is not ready")),
        Some(Reason::Provisioned) => Ok(()),
        Some(reason) => Err(Error::blocked("DependencyFailed", format!("{what} {name} is {reason:?}"))),
    }
}

fn rehearsal() -> (TreeHarness<Owner, Tree>, Parents) {
    let spec = SecurityRuleSpec { identity: "acme".to_owned(), group: "web".to_owned() };
    let parents = Parents::default();
    (TreeHarness::with_options(SecurityRule::new("http", spec), parents.clone()), parents)
}

#[tokio::test]
async fn group_case8_a_gate_says_whom_it_waits_for() {
    let (rehearsal, parents) = rehearsal();
    for (name, reason, waits) in [
        ("acme", None, "identity acme is not ready"),
        ("acme", Some(Reason::Provisioning), "identity acme is not ready"),
        ("acme", Some(Reason::Provisioned), "security group web is not ready"),
        ("web", Some(Reason::Provisioning), "security group web is not ready"),
    ] {
        parents.lock().unwrap().extend(reason.map(|reason| (name.to_owned(), reason)));
        let Err(Error::Yield { reason, message }) = rehearsal.up().await else { panic!("not a yield") };
        assert_eq!((&*reason, &*message), ("DependencyNotReady", waits));
        assert!(rehearsal.calls().is_empty(), "nothing happens before both are open");
    }
    parents.lock().unwrap().insert("web".to_owned(), Reason::Provisioned);
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called(), ["provision rule"]);
}

#[tokio::test]
async fn group_case8_a_parent_that_failed_is_an_error() {
    let (rehearsal, parents) = rehearsal();
    parents.lock().unwrap().extend([("acme".to_owned(), Reason::Provisioned), ("web".to_owned(), Reason::Errored)]);
    let outcome = rehearsal.up().await;
    assert!(matches!(outcome, Err(Error::Unexpected(_))), "{outcome:?}");
    assert_eq!(outcome.unwrap_err().to_string(), "security group web is Errored");
}

#[tokio::test]
async fn group_case8_gates_hold_nobody_on_the_way_down() {
    let (rehearsal, parents) = rehearsal();
    parents.lock().unwrap().extend([("acme".to_owned(), Reason::Provisioned), ("web".to_owned(), Reason::Provisioned)]);
    assert!(rehearsal.up().await.is_ok());
    parents.lock().unwrap().clear();
    assert!(rehearsal.down().await.is_ok());
    assert!(rehearsal.provisioned_nodes().is_empty());
}
