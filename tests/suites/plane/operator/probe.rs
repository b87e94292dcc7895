//! Objects that do nothing but count the passes over them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kube::{CustomResource, ResourceExt as _};
use opgen::{Controller, For, prelude::*};
use opgen_tests::wait::{self, PATIENCE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::site::Site;

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "probe.example.com", version = "v1", kind = "Probe", namespaced, status = "Status")]
#[kube(selectable = ".spec.class")]
pub(crate) struct ProbeSpec {
    /// How soon it asks to be looked at again, in milliseconds.
    #[serde(default)]
    pub(crate) again: i64,
    /// Whether only somebody's doing can help it.
    #[serde(default)]
    pub(crate) broken: bool,
    /// How each pass ends: `yields` with a yield, `fails` with an error; another value has no effect.
    #[serde(default)]
    pub(crate) class: String,
}

/// How many passes there were over each object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes(Arc<Mutex<BTreeMap<String, usize>>>);

impl Passes {
    pub(crate) fn of(&self, name: &str) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self, name: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }

    fn all(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// Waits until there was no pass for a while.
    pub(crate) async fn rest(&self) {
        let (mut seen, mut same) = (0, 0);
        wait::until("no more passes", PATIENCE, async || {
            let all = self.all();
            same = if all == seen { same + 1 } else { 0 };
            seen = all;
            if same == 20 { Ok(()) } else { Err(format!("{seen} passes")) }
        })
        .await;
    }

    /// Waits until there were so many passes over an object.
    #[track_caller]
    pub(crate) fn reach(&self, name: &str, count: usize) -> impl Future<Output = ()> {
        wait::until(format!("{count} passes over {name}"), PATIENCE, async move || match self.of(name) {
            passes if passes >= count => Ok(()),
            passes => Err(format!("{passes} passes")),
        })
    }
}

pub(crate) type Counted = For<Probe, Passes>;

#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct Count;

impl Provision<Counted> for Count {
    async fn provision(cx: &Context<'_, Counted, Self>) -> Result<()> {
        let (name, spec) = (cx.object().name_any(), &cx.object().spec);
        cx.options().count(name);
        if spec.again > 0 {
            cx.look_again(Duration::from_millis(spec.again.unsigned_abs()));
        }
        match spec.class.as_str() {
            "yields" => yield_because("Waiting", "there is nothing to wait for"),
            "fails" => Err(Error::blocked("Failing", "it always fails")),
            _ if spec.broken => Err(Error::user_action("Broken", "mend it")),
            _ => Ok(()),
        }
    }

    async fn deprovision(_: &Teardown<'_, Counted, Self>) -> Result<()> {
        Ok(())
    }
}

/// An operator of probes that works on one at a time, so that passes come in the order in which they were asked for.
pub(crate) fn operator(
    site: &Site,
    passes: &Passes,
    options: impl FnOnce(Controller<Counted>) -> Controller<Counted>,
) -> Operator {
    let passes = passes.clone();
    site.operator().controls_with::<Counted, Count>(|c| options(c.workers(1).options(passes)))
}

pub(crate) async fn probe(site: &Site, name: &str, spec: ProbeSpec) -> Probe {
    site.create(&Probe::new(name, spec)).await
}

/// Makes probes, and waits until they are done with.
pub(crate) async fn at_rest(site: &Site, passes: &Passes, names: &[&str]) {
    for name in names {
        probe(site, name, ProbeSpec::default()).await;
    }
    for name in names {
        let ready =
            |probe: &Probe| super::kinds::available(probe.status.as_ref()).is_some_and(|(is, _, _)| is == "True");
        wait::until_object(&site.api::<Probe>(), name, "is available", ready).await;
    }
    site.settled().await;
    passes.rest().await;
}
