//! One run: a program, its objects, and what happens to them.

use std::time::Duration;

use futures::FutureExt as _;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use opgen::{
    Environment, Passed, Passing,
    queue::{Jitter as _, Seeded},
};
use opgen_sandbox::{
    Sandbox, User,
    fault::{Faults, Timeline},
};
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use crate::{
    course::Course,
    install::{self, Refused},
    prepared::Prepared,
    program::Manifests,
    state::{ANOTHER, State, is_same},
};

/// What a sandbox with a seed takes for the time of its start.
const START: i64 = 1_767_225_600;

/// More calls in one run are a loop without an end.
const MOST_CALLS: u64 = 3_000;

/// How many of its longest pauses a program may take over a value that it can't do anything with, and how often it may ask
/// meanwhile.
const PAUSES: u32 = 20;
const CALLS_OF_A_PAUSE: u64 = 10;

/// How long a program may take to come to rest.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// For how long nothing is heard where something is to be unseen.
const DEAF: Duration = Duration::from_secs(3);

/// For how long chance does harm.
const STORM: Duration = Duration::from_secs(120);

/// When an edit was undone.
pub(crate) const UNDONE: &str = "the samples were changed back";

const MADE: &str = "the samples were made";
const EDITED: &str = "the samples were changed";

/// What went wrong in a run, whatever it was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It can't even be tried.
    Setup(String),
    /// Its process ended.
    Ended(String),
    /// It never stops to ask, after something.
    Restless(&'static str),
    /// It wrote although there was nothing to do.
    Busy(Vec<String>),
    /// Another's finalizer is gone, or the object before it was let go.
    Overwritten(String),
    /// The owner was let go before what was made for it was gone.
    Ungated(String),
}

/// What a run leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lived {
    /// After the samples were made.
    pub(crate) made: Option<State>,
    /// After the edit, or what the server said to it.
    pub(crate) edited: Option<Result<State, String>>,
    /// After the edit was undone, or what was lost was seen.
    pub(crate) mended: Option<State>,
    /// After all was deleted.
    pub(crate) left: Option<State>,
    pub(crate) trouble: Option<Trouble>,
    /// Up to where the samples were made.
    pub(crate) calls_to_make: u64,
    pub(crate) calls: u64,
    pub(crate) timeline: Timeline,
}

/// Lives through a course.
pub(crate) async fn live(prepared: &Prepared, older: Option<&Prepared>, course: &Course) -> Lived {
    let mut lived = Lived::default();
    let mut world = World::new(prepared, course);
    let result = world.live(older, course, &mut lived).await;
    world.kill().await;
    lived.trouble = result.err();
    lived.calls = world.faults.calls();
    lived.timeline = world.faults.timeline();
    lived
}

/// A cluster with a program in it.
pub(crate) struct World<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) sandbox: Sandbox,
    faults: Faults,
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
        let sandbox = Sandbox::builder().seed(dice).workloads(true).start();
        let faults = match &course.chance {
            Some((seed, classes)) => Faults::by_chance(*seed, classes, STORM),
            None => Faults::none(),
        };
        let mut faults = faults.at_most(MOST_CALLS);
        for (call, fault) in &course.stops {
            faults = faults.at_call(*call, *fault);
        }
        if let Some(call) = course.delete_at {
            let (sandbox, manifests) = (sandbox.clone(), prepared.manifests.clone());
            let deed = move || async move { drop(delete(&sandbox, &manifests, &manifests.samples).await) }.boxed();
            faults = faults.before_call(call, Box::new(deed));
        }
        if let Some((call, variant)) = course.change {
            let (sandbox, installed) = (sandbox.clone(), prepared.manifests.install.clone());
            let variant = prepared.variants.get(variant).cloned().unwrap_or_default();
            let deed = move || async move { change(&sandbox, &variant, &installed).await }.boxed();
            faults = faults.before_call(call, Box::new(deed));
        }
        Self { prepared, sandbox, faults, began: Instant::now(), dice, process: None, origin: 0, installed: Vec::new() }
    }

    async fn live(&mut self, older: Option<&'a Prepared>, course: &Course, lived: &mut Lived) -> Result<(), Trouble> {
        let newer = self.prepared;
        if let Some(older) = older.filter(|_| course.upgrade) {
            self.prepared = older;
        }
        self.install().await?;
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
            if !self.rests_within(self.prepared.pause * PAUSES, MADE).await? {
                return Err(Trouble::Restless(MADE));
            }
        } else {
            self.rest(MADE).await?;
        }
        lived.calls_to_make = self.faults.calls();
        lived.made = Some(self.state());
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
        match course.held {
            Some(which) => self.hold(which).await?,
            None => self.delete(&samples).await?,
        }
        self.rest("the samples were deleted").await?;
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
        let (faults, began) = (self.faults.clone(), self.began);
        let now = move || {
            let ahead = SignedDuration::from_secs(faults.jumped());
            let start = Timestamp::from_second(START).unwrap_or(Timestamp::UNIX_EPOCH);
            start.checked_add(began.elapsed()).and_then(|now| now.checked_add(ahead)).unwrap_or(start)
        };
        let dice = Seeded::new(self.dice ^ self.faults.calls() << 32);
        let environment = Environment::new(now, move || dice.bits()).observed(passes_into(self.faults.clone()));
        tokio::spawn(self.prepared.program.run(client, environment))
    }

    /// Runs the program until it does nothing any more, starting it again each time it is stopped.
    pub(crate) async fn rest(&mut self, after: &'static str) -> Result<(), Trouble> {
        if self.rests_within(LONGEST, after).await? { Ok(()) } else { Err(Trouble::Restless(after)) }
    }

    /// The same, but for so long only; whether it does nothing any more.
    pub(crate) async fn rests_within(&mut self, longest: Duration, after: &'static str) -> Result<bool, Trouble> {
        self.faults.stir();
        self.faults.note(after);
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
                () = tokio::time::sleep_until(deadline) => {
                    self.process = Some(process);
                    return Ok(false);
                }
            }
        }
    }

    async fn kill(&mut self) {
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

    pub(crate) async fn delete(&mut self, samples: &[Value]) -> Result<(), Trouble> {
        let deleted = delete(&self.sandbox, &self.prepared.manifests, samples).await;
        deleted.map_err(|refused| setup("a sample can't be deleted", refused))
    }

    async fn upgrade(&mut self, newer: &'a Prepared, lived: &mut Lived) -> Result<(), Trouble> {
        let older = std::mem::replace(&mut self.prepared, newer);
        self.kill().await;
        self.install().await?;
        self.rest("the newer release runs").await?;
        lived.edited = Some(Ok(self.state()));
        self.kill().await;
        self.prepared = older;
        self.install().await?;
        self.rest("the older release runs again").await?;
        lived.mended = Some(self.state());
        Ok(())
    }

    async fn idle(&mut self) -> Result<(), Trouble> {
        let before = self.faults.calls();
        sleep(self.prepared.pause * 3).await;
        let asked = self.asked_since(before, |call| !call.is_watch());
        if !asked.is_empty() {
            return Err(Trouble::Busy(asked));
        }
        self.kill().await;
        self.rest("a new process takes over").await?;
        let written = self.asked_since(before, opgen_sandbox::fault::CallSeen::is_write);
        if written.is_empty() { Ok(()) } else { Err(Trouble::Busy(written)) }
    }

    fn asked_since(&self, number: u64, which: impl Fn(&opgen_sandbox::fault::CallSeen) -> bool) -> Vec<String> {
        let timeline = self.faults.timeline();
        timeline.calls().filter(|call| call.number > number && which(call)).map(ToString::to_string).collect()
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
        let deleted = install::delete(&self.sandbox, &origin, &self.prepared.manifests.install).await;
        deleted.map_err(|refused| setup("an object can't be deleted", refused))?;
        self.rest("somebody deleted an object").await?;
        lived.mended = Some(self.state());
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
        let before = self.faults.calls();
        if self.rests_within(self.prepared.pause * PAUSES, EDITED).await? {
            lived.edited = Some(Ok(self.state()));
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
        lived.mended = Some(self.state());
        Ok(())
    }
}

/// Tells a timeline of the passes.
fn passes_into(faults: Faults) -> impl Fn(Passing<'_>) -> Passed + Send + Sync + 'static {
    move |pass| {
        let (faults, kind) = (faults.clone(), pass.kind.full_name());
        let number = faults.pass_begins(&kind, pass.namespace.unwrap_or_default(), pass.name);
        Box::new(move |outcome| faults.pass_ends(number, outcome))
    }
}

/// Gives the samples other specs, where the server lets them have these.
async fn change(sandbox: &Sandbox, variant: &[Value], installed: &[Value]) {
    for sample in variant {
        // What it refuses is judged where a new object is made of it.
        let _ = install::respecify(sandbox, sample, installed).await;
    }
}

async fn delete(sandbox: &Sandbox, manifests: &Manifests, samples: &[Value]) -> Result<(), Refused> {
    for sample in samples.iter().rev() {
        install::delete(sandbox, sample, &manifests.install).await?;
    }
    Ok(())
}

pub(crate) fn setup(what: &str, refused: Refused) -> Trouble {
    Trouble::Setup(format!("{what}: {refused}"))
}

pub(crate) fn text<'a>(object: &'a Value, at: &str) -> &'a str {
    object.pointer(at).and_then(Value::as_str).unwrap_or_default()
}
