//! Random actions of chaos: creates, edits and deletes objects, and kills Pods, the operator and the API server.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt as _,
    api::{ApiResource, DeleteParams, DynamicObject, PostParams},
};
use opgen::queue::{Jitter as _, Seeded};
use opgen_tests::wait;
use rustix::process::Signal;
use serde_json::json;

use super::{
    super::Denials,
    stock::{Stock, drift},
    world::{Key, World},
};
use crate::operator::{example::Installed, program::Program};

/// How often each deed is chosen, in hundredths.
const DEEDS: [(Deed, u64); 11] = [
    (Deed::Create, 20),
    (Deed::Edit, 22),
    (Deed::Delete, 10),
    (Deed::DeleteChild, 12),
    (Deed::StripLabels, 7),
    (Deed::Drift, 9),
    (Deed::Disown, 6),
    (Deed::KillPod, 7),
    (Deed::KillOperator, 4),
    (Deed::StopOperator, 2),
    (Deed::KillServer, 1),
];

/// How many objects are never deleted, nor any of their children: those of the first names.
const SPARED: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Create,
    Edit,
    Delete,
    DeleteChild,
    StripLabels,
    Drift,
    Disown,
    KillPod,
    KillOperator,
    StopOperator,
    KillServer,
}

pub(super) struct Villain<'a, S: Stock> {
    installed: &'a Installed,
    world: &'a World<S>,
    program: Program,
    /// Until when the operator is stopped.
    stopped: Option<Instant>,
    pub(super) denials: Denials,
    random: Seeded,
    seed: u64,
    done: BTreeMap<Deed, usize>,
    told: Vec<String>,
}

impl<'a, S: Stock> Villain<'a, S> {
    pub(super) fn new(installed: &'a Installed, world: &'a World<S>) -> Self {
        let seed = std::env::var("OPGEN_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("the deeds follow from OPGEN_SEED={seed}");
        Self {
            installed,
            world,
            program: installed.begin(),
            stopped: None,
            denials: Denials::default(),
            random: Seeded::new(seed),
            seed,
            done: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    /// Creates the objects that nobody will delete; gives the uids of all that they are made of.
    pub(super) async fn spares(&mut self) -> BTreeMap<Key, String> {
        self.program.ready().await;
        for number in 0..SPARED {
            let object = S::object(&format!("object-{number}"));
            self.world.owners().create(&PostParams::default(), &object).await.unwrap();
        }
        let count = usize::try_from(SPARED).unwrap_or_default();
        wait::until("the first are available", super::LONG, async || self.world.available(count).await).await;
        self.world.uids().await.unwrap()
    }

    /// The next deed, after a moment. One that finds nothing to do it to is not counted.
    pub(super) async fn does_something(&mut self) {
        if self.stopped.is_some_and(|until| Instant::now() >= until) {
            self.goes_on();
        }
        self.waits(Duration::from_millis(self.any(400))).await;
        let mut number = self.any(DEEDS.iter().map(|(_, weight)| weight).sum());
        let deed = DEEDS.iter().find(|(_, weight)| {
            let found = number < *weight;
            number = number.saturating_sub(*weight);
            found
        });
        let deed = deed.expect("a deed").0;
        match self.does(deed).await {
            Ok(Some(what)) => {
                *self.done.entry(deed).or_default() += 1;
                self.told.push(format!("{deed:?} {what}"));
            }
            Ok(None) => {}
            // Somebody was faster: it is gone, it has changed, or its namespace has.
            Err(kube::Error::Api(refusal)) if [404, 409, 422].contains(&refusal.code) => {}
            Err(error) => panic!("{deed:?}: {error}; {}", self.history()),
        }
    }

    async fn does(&mut self, deed: Deed) -> kube::Result<Option<String>> {
        match deed {
            Deed::Create => {
                let name = format!("object-{}", self.any(S::NAMES));
                self.world.owners().create(&PostParams::default(), &S::object(&name)).await?;
                Ok(Some(name))
            }
            Deed::Edit => {
                let name = format!("object-{}", self.any(S::NAMES));
                let random = &self.random;
                let spec = S::edit(&mut |below| random.bits() % below);
                self.world.merge(&ApiResource::erase::<S::Kind>(&()), &name, &json!({"spec": spec})).await?;
                Ok(Some(format!("{name} {spec}")))
            }
            Deed::Delete => {
                let name = format!("object-{}", self.any(S::NAMES));
                if is_spared(&name) {
                    return Ok(None);
                }
                self.world.owners().delete(&name, &DeleteParams::default()).await?;
                Ok(Some(name))
            }
            Deed::DeleteChild | Deed::StripLabels | Deed::Drift | Deed::Disown => self.harms_a_child(deed).await,
            Deed::KillPod => self.kills_a_pod().await,
            Deed::KillOperator => {
                self.goes_on();
                self.world.labelled().await;
                self.program.process.kill();
                self.program = self.installed.begin();
                Ok(Some(String::new()))
            }
            Deed::StopOperator => {
                let seconds = 1 + self.any(8);
                self.program.process.pause();
                self.stopped = Some(Instant::now() + Duration::from_secs(seconds));
                Ok(Some(format!("for {seconds} s")))
            }
            Deed::KillServer => {
                let seconds = 1 + self.any(5);
                let outage = async {
                    self.installed.plane.stop_apiserver();
                    self.waits(Duration::from_secs(seconds)).await;
                    self.installed.plane.start_apiserver().await;
                };
                self.denials.outage(self.installed, outage).await;
                Ok(Some(format!("for {seconds} s")))
            }
        }
    }

    async fn harms_a_child(&mut self, deed: Deed) -> kube::Result<Option<String>> {
        if deed == Deed::StripLabels {
            // What loses its label while no operator runs is found again only by the node that applies it.
            if self.stopped.is_some() {
                return Ok(None);
            }
            self.program.ready().await;
        }
        let kinds = S::children();
        let kind = &kinds[self.below(kinds.len())];
        let all = self.world.of(kind).list(&Default::default()).await?.items;
        let is_child = |object: &&DynamicObject| {
            let name = object.name_any();
            // With neither labels nor an owner it is an object like any other that nobody knows of: it stays when the owner goes.
            let is_last_mark = match deed {
                Deed::StripLabels => object.owner_references().is_empty(),
                Deed::Disown => object.labels().is_empty(),
                _ => false,
            };
            name.starts_with("object-") && !(deed == Deed::DeleteChild && is_spared(&name)) && !is_last_mark
        };
        let children: Vec<_> = all.iter().filter(is_child).collect();
        if children.is_empty() {
            return Ok(None);
        }
        let child = children[self.below(children.len())];
        let name = child.name_any();
        match deed {
            Deed::DeleteChild => {
                self.world.of(kind).delete(&name, &DeleteParams::default()).await?;
            }
            Deed::StripLabels => self.world.merge(kind, &name, &json!({"metadata": {"labels": null}})).await?,
            Deed::Disown => self.world.merge(kind, &name, &json!({"metadata": {"ownerReferences": null}})).await?,
            _ => {
                let object = serde_json::to_value(child).unwrap_or_default();
                let number = self.any(100);
                let Some(patch) = drift(&kind.kind, &object, number) else { return Ok(None) };
                self.world.json_patch(kind, &name, &patch).await?;
            }
        }
        Ok(Some(format!("{} {name}", kind.kind)))
    }

    async fn kills_a_pod(&mut self) -> kube::Result<Option<String>> {
        let kind = ApiResource::erase::<Pod>(&());
        let pods = self.world.of(&kind).list(&Default::default()).await?.items;
        if pods.is_empty() {
            return Ok(None);
        }
        let name = pods[self.below(pods.len())].name_any();
        let grace = [0, 30][self.below(2)];
        self.world.of(&kind).delete(&name, &DeleteParams::default().grace_period(grace)).await?;
        Ok(Some(name))
    }

    /// Ends what still lasts: the operator runs, and nobody touches anything any more.
    pub(super) async fn lets_go(&mut self) {
        self.goes_on();
        self.program.ready().await;
    }

    /// The operator ends well, and was denied nothing.
    pub(super) async fn ends(self) {
        self.program.stop().await;
        self.denials.none(self.installed).await;
    }

    /// How often each deed was done.
    pub(super) fn summary(&self) -> String {
        let total: usize = self.done.values().sum();
        format!("seed {}: {total} deeds: {:?}", self.seed, self.done)
    }

    /// All deeds of the run.
    pub(super) fn history(&self) -> String {
        format!("seed {}:\n{}\n", self.seed, self.told.join("\n"))
    }

    fn goes_on(&mut self) {
        if self.stopped.take().is_some() {
            self.program.process.signal(Signal::CONT);
        }
    }

    async fn waits(&self, time: Duration) {
        let begin = Instant::now();
        wait::until("the time is over", time + super::LONG, async || {
            let over = begin.elapsed();
            if over < time { Err(format!("{over:?}")) } else { Ok(()) }
        })
        .await;
    }

    fn any(&self, below: u64) -> u64 {
        self.random.bits() % below
    }

    fn below(&self, length: usize) -> usize {
        usize::try_from(self.any(length as u64)).unwrap_or_default()
    }
}

/// Whether an object, or the one that it is a child of, is never deleted: `object-1`, `object-1-backend`.
fn is_spared(name: &str) -> bool {
    let number = name.split('-').nth(1).and_then(|number| number.parse::<u64>().ok());
    number.is_some_and(|number| number < SPARED)
}
