//! One run: a program, its objects, and what happens to them.

use std::time::Duration;

use futures::FutureExt as _;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use opgen::{
    Environment,
    queue::{Jitter as _, Seeded},
};
use opgen_sandbox::{Sandbox, User, fault::Faults};
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

pub(crate) use crate::lived::{Lived, Trouble};
use crate::{
    again::created_again,
    course::{Course, Propagation},
    install::{self, Refused},
    observer::{noting_nodes, over, passes_into},
    panics,
    prepared::Prepared,
    state::{ANOTHER, State, is_same},
    writes::Writes,
};

/// What a sandbox with a seed takes for the time of its start.
const START: i64 = 1_767_225_600;

/// More calls in one run are a loop without an end.
const MOST_CALLS: u64 = 3_000;

/// How many of its longest pauses a program may take over a value that it can't do anything with, and how often it may ask
/// meanwhile.
pub(crate) const PAUSES: u32 = 20;
const CALLS_OF_A_PAUSE: u64 = 10;

/// For how many pauses a program repeats the same reads, and nothing else, until it is taken for one that polls.
const POLLED: u32 = 6;

/// How long a program may take to come to rest.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// For how long nothing is heard where something is to be unseen.
pub(crate) const DEAF: Duration = Duration::from_secs(3);

/// For how long chance does harm.
const STORM: Duration = Duration::from_secs(120);

/// When an edit was undone.
pub(crate) const UNDONE: &str = "the samples were changed back";

const MADE: &str = "the samples were made";
const EDITED: &str = "the samples were changed";
const DELETED: &str = "the samples were deleted";
const LOST: &str = "somebody deleted an object";

/// Lives through a course.
pub(crate) async fn live(prepared: &Prepared, older: Option<&Prepared>, course: &Course) -> Lived {
    panics::listen();
    let mut lived = Lived::default();
    let mut world = World::new(prepared, course);
    let result = world.live(older, course, &mut lived).await;
    world.kill().await;
    lived.trouble = result.err();
    lived.panics = panics::heard();
    lived.calls = world.faults.calls();
    lived.timeline = world.faults.timeline();
    lived
}

/// A cluster with a program in it.
pub(crate) struct World<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) sandbox: Sandbox,
    pub(crate) faults: Faults,
    pub(crate) writes: Writes,
    /// Objects of somebody else.
    pub(crate) bystanders: Vec<Value>,
    began: Instant,
    dice: u64,
    process: Option<JoinHandle<Result<(), String>>>,
    /// The version before the samples.
    origin: u64,
    /// What was installed, also after that.
    installed: Vec<Value>,
}

impl<'a> World<'a> {
    fn new(prepared: &'a Prepared, course: &Course) -> Self {
        let dice = course.dice.unwrap_or(1);
        let writes = Writes::new();
        let heard = writes.clone();
        let sandbox = Sandbox::builder().seed(dice).workloads(true).audit(move |record| heard.record(record)).start();
        let faults = match &course.chance {
            Some((seed, classes)) => Faults::by_chance(*seed, classes, STORM),
            None => Faults::none(),
        };
        let mut faults = faults.at_most(MOST_CALLS);
        for (call, fault) in &course.stops {
            faults = faults.at_call(*call, *fault);
        }
        if let Some(call) = course.delete_at {
            let (sandbox, manifests, policy) = (sandbox.clone(), prepared.manifests.clone(), course.propagation);
            let deed = move || {
                // What it refuses is refused again when all is deleted.
                async move { drop(install::delete_all(&sandbox, &manifests.samples, &manifests.install, policy).await) }
                    .boxed()
            };
            faults = faults.before_call(call, Box::new(deed));
        }
        if let Some(call) = course.again.filter(|call| *call > 0) {
            let (sandbox, manifests) = (sandbox.clone(), prepared.manifests.clone());
            faults = faults.before_call(call, Box::new(move || created_again(sandbox, manifests)));
        }
        if let Some((call, variant)) = course.change {
            let (sandbox, installed) = (sandbox.clone(), prepared.manifests.install.clone());
            let variant = prepared.variants.get(variant).cloned().unwrap_or_default();
            let deed = move || async move { change(&sandbox, &variant, &installed).await }.boxed();
            faults = faults.before_call(call, Box::new(deed));
        }
        let (installed, bystanders) = (Vec::new(), Vec::new());
        let began = Instant::now();
        Self { prepared, sandbox, faults, writes, bystanders, began, dice, process: None, origin: 0, installed }
    }

    async fn live(&mut self, older: Option<&'a Prepared>, course: &Course, lived: &mut Lived) -> Result<(), Trouble> {
        let newer = self.prepared;
        if let Some(older) = older.filter(|_| course.upgrade) {
            self.prepared = older;
        }
        self.install().await?;
        if let Some(number) = course.beside {
            self.prepare_beside(number).await?;
        }
        self.add_bystanders().await?;
        // The sandbox's own controllers may add to them.
        sleep(Duration::from_secs(1)).await;
        self.see_bystanders().await?;
        let samples = match course.fresh {
            Some(index) => newer.variants.get(index).cloned().unwrap_or_default(),
            None => self.prepared.manifests.samples.clone(),
        };
        self.origin = self.sandbox.version();
        if course.old {
            self.faults.begin_as_of(self.origin);
        }
        for sample in &samples {
            let mut sample = sample.clone();
            if course.held.is_some() {
                sample["metadata"]["finalizers"] = json!([ANOTHER]);
            }
            let made = install::create(&self.sandbox, &sample, &self.prepared.manifests.install).await;
            if let Err(refused) = made {
                lived.edited = course.fresh.map(|_| Err(refused.to_string()));
                return if course.fresh.is_some() { Ok(()) } else { Err(setup("the sample is refused", refused)) };
            }
        }
        if course.fresh.is_some() || course.change.is_some() {
            // The value may name something that nobody makes.
            if !self.rests_within(self.prepared.pause * PAUSES, MADE).await? && course.again.is_none() {
                return Err(Trouble::Restless(MADE));
            }
        } else {
            self.rest(MADE).await?;
        }
        lived.calls_to_make = self.faults.calls();
        let made = self.state();
        if course.change.is_some() {
            self.note_failures(&made, true, lived);
        }
        lived.made = Some(made);
        if course.upgrade {
            self.upgrade(newer, lived).await?;
        }
        if course.idle {
            self.idle().await?;
        }
        if let Some(index) = course.lose {
            self.lose(index, course.unseen, lived).await?;
        }
        if let Some(index) = course.edit {
            self.edit(index, lived).await?;
        }
        if course.again == Some(0) {
            self.create_again(lived).await?;
        }
        if let Some(number) = course.beside {
            self.beside(number, lived).await?;
        }
        match course.held {
            Some(which) => self.hold(which).await?,
            None => self.delete(&samples, course.propagation).await?,
        }
        self.rest(DELETED).await?;
        lived.left = Some(self.state());
        Ok(())
    }

    async fn install(&mut self) -> Result<(), Trouble> {
        let objects = &self.prepared.manifests.install;
        self.installed.extend(objects.iter().cloned());
        for object in objects {
            let made = install::apply(&self.sandbox, object, objects).await;
            made.map_err(|refused| setup(&format!("{} can't be installed", object["kind"]), refused))?;
        }
        // Definitions are served a moment after they are made.
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }

    fn start(&mut self) -> JoinHandle<Result<(), String>> {
        let (namespace, name) = (&self.prepared.namespace, &self.prepared.name);
        let client = self.sandbox.client_through(User::service_account(namespace, name, ""), &self.faults);
        let client = noting_nodes(client, self.writes.clone());
        let (faults, began) = (self.faults.clone(), self.began);
        let now = move || {
            let ahead = SignedDuration::from_secs(faults.jumped());
            let start = Timestamp::from_second(START).unwrap_or(Timestamp::UNIX_EPOCH);
            start.checked_add(began.elapsed()).and_then(|now| now.checked_add(ahead)).unwrap_or(start)
        };
        let dice = Seeded::new(self.dice ^ self.faults.calls() << 32);
        let environment = Environment::new(now, move || dice.bits())
            .observed(passes_into(self.faults.clone()))
            .panics_observed(|pass, node| panics::locate(&over(pass), node));
        tokio::spawn(self.prepared.program.run(client, environment))
    }

    /// Runs the program until it does nothing any more, starting it again each time it is stopped.
    pub(crate) async fn rest(&mut self, after: &'static str) -> Result<(), Trouble> {
        if self.rests_within(LONGEST, after).await? { Ok(()) } else { Err(Trouble::Restless(after)) }
    }

    /// The same, but for so long only; whether it does nothing any more.
    pub(crate) async fn rests_within(&mut self, longest: Duration, after: &'static str) -> Result<bool, Trouble> {
        let rests = self.runs(longest, after).await?;
        self.check_bystanders(after).await?;
        Ok(rests)
    }

    async fn runs(&mut self, longest: Duration, after: &'static str) -> Result<bool, Trouble> {
        self.faults.stir();
        self.faults.note(after);
        self.writes.begin_phase();
        let deadline = Instant::now() + longest;
        loop {
            let mut process = match self.process.take() {
                Some(process) => process,
                None => self.start(),
            };
            tokio::select! {
                biased;
                () = self.faults.stopped() => {
                    process.abort();
                    // It was just aborted.
                    let _ = process.await;
                    if self.faults.is_exhausted() {
                        return Err(Trouble::Restless(after));
                    }
                }
                ended = &mut process => return Err(Trouble::Ended(match ended {
                    Ok(Ok(())) => "it ended as if it had been asked to".to_owned(),
                    Ok(Err(why)) => why,
                    Err(panic) => panic.to_string(),
                })),
                () = self.faults.quiet(self.prepared.pause) => {
                    self.process = Some(process);
                    return Ok(true);
                }
                write = self.writes.endless() => {
                    self.process = Some(process);
                    return Err(Trouble::Endless(after, write));
                }
                () = self.faults.quiet_but_for_reads(self.prepared.pause * POLLED) => {
                    self.process = Some(process);
                    return Ok(true);
                }
                () = tokio::time::sleep_until(deadline) => {
                    self.process = Some(process);
                    return Ok(false);
                }
            }
        }
    }

    pub(crate) async fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            self.faults.end();
            process.abort();
            // It was just aborted.
            let _ = process.await;
        }
    }

    pub(crate) fn state(&self) -> State {
        let mut objects = self.sandbox.objects(self.origin);
        objects.retain(|object| !self.installed.iter().any(|installed| is_same(installed, object)));
        State::of(objects)
    }

    pub(crate) async fn delete(&mut self, samples: &[Value], propagation: Propagation) -> Result<(), Trouble> {
        let installed = &self.prepared.manifests.install;
        let deleted = install::delete_all(&self.sandbox, samples, installed, propagation).await;
        deleted.map_err(|refused| setup("a sample can't be deleted", refused))
    }

    async fn upgrade(&mut self, newer: &'a Prepared, lived: &mut Lived) -> Result<(), Trouble> {
        let older = std::mem::replace(&mut self.prepared, newer);
        self.kill().await;
        self.install().await?;
        self.rest("the newer release runs").await?;
        lived.calls_to_upgrade = self.faults.calls();
        lived.edited = Some(Ok(self.state()));
        self.kill().await;
        self.prepared = older;
        self.install().await?;
        self.rest("the older release runs again").await?;
        lived.mended = Some(self.state());
        Ok(())
    }

    async fn lose(&mut self, index: usize, unseen: bool, lived: &mut Lived) -> Result<(), Trouble> {
        let state = self.state();
        let Some(child) = state.children(&self.prepared.name, &self.prepared.manifests.samples).nth(index) else {
            return Ok(());
        };
        let origin = child.origin.clone();
        if unseen {
            self.faults.lose_events(DEAF);
        }
        let deleted =
            install::delete(&self.sandbox, &origin, &self.prepared.manifests.install, Propagation::Background).await;
        deleted.map_err(|refused| setup("an object can't be deleted", refused))?;
        self.rest(LOST).await?;
        let mended = self.state();
        lived.remade.extend(self.remade((&state, &mended), Some(&origin), LOST).await);
        lived.mended = Some(mended);
        Ok(())
    }

    async fn edit(&mut self, index: usize, lived: &mut Lived) -> Result<(), Trouble> {
        let Some(variant) = self.prepared.variants.get(index) else { return Ok(()) };
        let installed = &self.prepared.manifests.install;
        for sample in variant {
            if let Err(refused) = install::respecify(&self.sandbox, sample, installed).await {
                lived.edited = Some(Err(refused.to_string()));
                return Ok(());
            }
        }
        let (before, was) = (self.faults.calls(), self.state());
        let rests = self.rests_within(self.prepared.pause * PAUSES, EDITED).await?;
        let edited = self.state();
        lived.remade.extend(self.remade((&was, &edited), None, EDITED).await);
        self.note_failures(&edited, rests, lived);
        if rests {
            lived.edited = Some(Ok(edited.clone()));
        } else if self.faults.calls() - before > u64::from(PAUSES) * CALLS_OF_A_PAUSE {
            return Err(Trouble::Restless(EDITED));
        }
        // Else it waits for something that the new value names and nobody has made; going back must heal that.
        for sample in &self.prepared.manifests.samples {
            if install::respecify(&self.sandbox, sample, installed).await.is_err() {
                // There is no way back from some values, and the schema says so.
                return Ok(());
            }
        }
        self.rest(UNDONE).await?;
        let mended = self.state();
        lived.remade.extend(self.remade((&edited, &mended), None, UNDONE).await);
        lived.mended = Some(mended);
        Ok(())
    }
}

/// Gives the samples other specs, where the server lets them have these.
async fn change(sandbox: &Sandbox, variant: &[Value], installed: &[Value]) {
    for sample in variant {
        // What it refuses is judged where a new object is made of it.
        let _ = install::respecify(sandbox, sample, installed).await;
    }
}

pub(crate) fn setup(what: &str, refused: Refused) -> Trouble {
    Trouble::Setup(format!("{what}: {refused}"))
}

pub(crate) fn text<'a>(object: &'a Value, at: &str) -> &'a str {
    object.pointer(at).and_then(Value::as_str).unwrap_or_default()
}
