//! What is written for each built-in kind: once what is wanted, and then nothing, whatever the server makes of it.

mod child;
mod raw;
pub(crate) mod running;
mod sample;
mod served;
mod tree;

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use k8s_openapi::{
    ByteString,
    api::{certificates::v1::CertificateSigningRequest, core::v1::Service},
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::Operator;
use opgen_tests::{Access, Entries, Entry, Options, Plane, case, case_on, wait};
use serde_json::{Value, json};

use child::{Child, LONG};
use running::Running;
use sample::Whose;
use tree::{EveryKind, Probe, ProbeSpec};

const SEEDS: [i64; 2] = [1, 2];

/// The operator's name, which is its field manager.
const NAME: &str = "kinds";

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("every_served_kind_is_tried_or_left_out_for_a_reason", served::every_kind_is_tried_or_left_out),
        // Its own, since some kinds are everybody's concern.
        case_on("every_kind_is_written_once_and_then_left_alone", Options::default(), written_once),
    ]
}

async fn written_once(plane: Arc<Plane>) {
    let trial = Probes::new(plane).await;
    let mut running = trial.start();
    trial.play_the_cloud().await;
    trial.play_the_signer().await;
    trial.converge().await;
    trial.wrote("the first pass", 1).await;
    let made = trial.states().await;
    trial.each_with(&made, async |child, made| child.check_way(made)).await;
    trial.pass("a pass over what is as wanted", 0).await;
    running = trial.restart(running).await;
    trial.pass("a pass after a restart", 0).await;

    trial.each(async |child| child.add().await).await;
    running = trial.restart(running).await;
    trial.pass("a pass after what a stranger added, and a restart", 0).await;
    trial.each_with(&trial.states().await, async |child, now| child.check_added(now)).await;

    trial.each(async |child| child.edit().await).await;
    trial.each_with(&made, async |child, before| child.until_as(before).await).await;
    trial.converge().await;
    trial.wrote("the repair of an edit", 1).await;
    trial.each_with(&trial.states().await, async |child, now| child.check_marked(now)).await;

    running.stop().await;
    trial.set(&json!({"givenUp": 1})).await;
    let running = trial.start();
    trial.converge().await;
    trial.wrote("what is given up while the operator is away", 1).await;
    trial.are_given_up(&made).await;
    let running = trial.restart(running).await;
    trial.pass("a pass after that, and a restart", 0).await;

    trial.delete().await;
    running.stop().await;
}

/// The Probes and what they are made of.
struct Probes {
    plane: Arc<Plane>,
    access: Access,
    probes: Vec<Api<Probe>>,
    children: Vec<Child>,
    counted: tokio::sync::Mutex<Entries>,
}

fn operator() -> Operator {
    Operator::new(NAME).controls::<Probe, EveryKind>()
}

impl Probes {
    async fn new(plane: Arc<Plane>) -> Self {
        let home = plane.namespace("kinds").await;
        let access = running::almighty(&plane, &home).await;
        running::define(&plane, &operator()).await;
        let (mut probes, mut children) = (Vec::new(), Vec::new());
        for seed in SEEDS {
            let namespace = plane.namespace("probe").await;
            let probe = Probe::new(&namespace, ProbeSpec { seed, given_up: 0, pass: 0 });
            let whose = Whose { name: namespace.clone(), seed, whole: true };
            children.extend(child::all(&plane.client(), &namespace, &whose));
            let api = Api::namespaced(plane.client(), &namespace);
            api.create(&PostParams::default(), &probe).await.unwrap();
            probes.push(api);
        }
        Self { plane, access, probes, children, counted: Default::default() }
    }

    fn start(&self) -> Running {
        Running::start(operator(), &self.access, None)
    }

    async fn restart(&self, running: Running) -> Running {
        running.stop().await;
        self.start()
    }

    /// Gives the load balancers an address.
    async fn play_the_cloud(&self) {
        let balanced = self.children.iter().filter(|child| child.sample.suffix == "-balanced");
        for child in balanced {
            let namespace = child.name.trim_end_matches("-balanced");
            let services = Api::<Service>::namespaced(self.plane.client(), namespace);
            let address = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}});
            wait::until(format!("{child} is there"), LONG, async || {
                let patched =
                    services.patch_status(&child.name, &PatchParams::default(), &Patch::Merge(&address)).await;
                patched.map(drop).map_err(|error| error.to_string())
            })
            .await;
        }
    }

    /// Gives the signing requests a certificate.
    async fn play_the_signer(&self) {
        let key = rcgen::generate_simple_self_signed(vec!["nobody".to_owned()]).expect("a certificate");
        let requests = Api::<CertificateSigningRequest>::all(self.plane.client());
        let approved = json!({"type": "Approved", "status": "True", "reason": "Test"});
        let certificate = ByteString(key.cert.pem().into_bytes());
        for child in self.children.iter().filter(|child| child.kind.plural == "certificatesigningrequests") {
            wait::until(format!("{child} is signed"), LONG, async || {
                let text = |error: kube::Error| error.to_string();
                let conditions = json!({"status": {"conditions": [approved]}});
                let (params, patch) = (PatchParams::default(), Patch::Merge(&conditions));
                requests.patch_subresource("approval", &child.name, &params, &patch).await.map_err(text)?;
                let status = json!({"status": {"certificate": certificate}});
                requests.patch_status(&child.name, &params, &Patch::Merge(&status)).await.map(drop).map_err(text)
            })
            .await;
        }
    }

    async fn set(&self, spec: &Value) {
        for (api, name) in self.named() {
            let patch = json!({"metadata": {"labels": {"changed": "yes"}}, "spec": spec});
            api.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
        }
    }

    /// The Probe of each namespace has its name.
    fn named(&self) -> impl Iterator<Item = (&Api<Probe>, String)> {
        self.probes.iter().map(|api| (api, api.namespace().unwrap_or_default().to_owned()))
    }

    /// Waits until all are available as they are now wanted.
    async fn converge(&self) {
        for (api, name) in self.named() {
            wait::until(format!("{name} is available"), LONG, async || {
                let probe = api.get(&name).await.map_err(|error| error.to_string())?;
                let status = probe.status.unwrap_or_default();
                let available = status.conditions.iter().any(|held| held.type_ == "Available" && held.status == "True");
                let seen = status.observed_generation == probe.metadata.generation;
                if available && seen { Ok(()) } else { Err(format!("{status:?}")) }
            })
            .await;
        }
    }

    /// A pass that has nothing to do with the children.
    async fn pass(&self, what: &str, writes: usize) {
        let number = self.counted.lock().await.len();
        self.set(&json!({"pass": number})).await;
        self.converge().await;
        self.wrote(what, writes).await;
    }

    /// The operator wrote each child so often since it was last asked.
    async fn wrote(&self, what: &str, count: usize) {
        let mut earlier = self.counted.lock().await;
        let now = self.settled().await;
        let writes = now.since(&earlier).by_user(self.access.user()).writes();
        let writes = writes.with(|entry| !matches!(entry.resource.as_str(), "events" | "probes"));
        // A write that is refused changes nothing. The role allows everything, so only admission may refuse one, which is tried again.
        let (refused, writes) = (writes.denied(), writes.with(|entry| entry.code != 403));
        let is_without_right = |entry: &Entry| {
            entry.message.is_empty() || entry.message.contains(&format!("User \"{}\" cannot", entry.user))
        };
        let without_right = refused.with(is_without_right);
        assert!(without_right.is_empty(), "{what}:\n{without_right}");
        print!("{refused}");
        *earlier = now;
        let mut by_child: BTreeMap<_, usize> = BTreeMap::new();
        for entry in writes.iter() {
            *by_child.entry((entry.resource.as_str(), entry.name.as_str())).or_default() += 1;
        }
        println!("{what}: {} writes for {} children", writes.len(), self.children.len());
        let wrong = self.children.iter().filter_map(|child| {
            let wrote = by_child.get(&(child.kind.plural.as_ref(), child.name.as_str())).copied().unwrap_or_default();
            // What is given up whole is deleted, and not looked for again.
            (wrote != count).then(|| format!("{child}: {wrote} instead of {count}"))
        });
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{what}:\n{}\n{writes}", wrong.join("\n"));
    }

    /// The audit log, when the operator has asked for nothing for a while.
    async fn settled(&self) -> Entries {
        let (mut seen, mut same) = (0, 0);
        wait::until("the operator is at rest", LONG, async || {
            let all = self.plane.audit().await;
            let asked = all.by_user(self.access.user()).len();
            same = if asked == seen { same + 1 } else { 0 };
            seen = asked;
            if same == 20 { Ok(all) } else { Err(format!("{seen} requests")) }
        })
        .await
    }

    async fn each(&self, act: impl AsyncFn(&Child)) {
        join_all(self.children.iter().map(|child| act(child))).await;
    }

    async fn each_with(&self, states: &[Value], act: impl AsyncFn(&Child, &Value)) {
        join_all(self.children.iter().zip(states).map(|(child, state)| act(child, state))).await;
    }

    async fn states(&self) -> Vec<Value> {
        join_all(self.children.iter().map(Child::state)).await
    }

    async fn are_given_up(&self, made: &[Value]) {
        self.each_with(made, async |child, before| {
            if child.sample.once {
                return child.until_gone().await;
            }
            child.check_given_up(before, &child.state().await);
        })
        .await;
    }

    async fn delete(&self) {
        for (api, name) in self.named() {
            api.delete(&name, &DeleteParams::default()).await.unwrap();
        }
        self.each(async |child| child.release().await).await;
        for (api, name) in self.named() {
            wait::until_gone(api, &name).await;
        }
        self.each(async |child| child.until_gone().await).await;
    }
}
