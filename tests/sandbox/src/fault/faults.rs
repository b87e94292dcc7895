//! What goes wrong and when, and what was asked so far.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{sync::watch, time::Instant};

use super::{
    CallSeen, Class, EventFault, EventSeen, Fault, Happening, Moment, Timeline,
    chance::{Asked, Chance},
    rest::Activity,
};

/// What is done just before a call.
pub type Deed = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// What goes wrong with the calls of a client, and what it has asked so far. Clones are of the same one.
///
/// Calls are numbered from 1, through all lives of the client: whoever is stopped and begins anew goes on counting.
#[derive(Clone)]
pub struct Faults {
    state: Arc<Mutex<State>>,
    /// How many lives have ended.
    ended: Arc<watch::Sender<u32>>,
}

pub(super) struct State {
    began: Instant,
    /// The life that calls now; 0 before the first.
    life: u32,
    calls: u64,
    events: u64,
    pub(super) activity: Activity,
    at_call: BTreeMap<u64, Vec<Fault>>,
    at_event: BTreeMap<u64, EventFault>,
    deeds: BTreeMap<u64, Deed>,
    chance: Option<Chance>,
    /// Until when every event is lost.
    deaf_until: Option<Instant>,
    /// The version of which lists of later lives are, and those that were asked for.
    begins_as_of: Option<(u64, BTreeSet<(u32, String)>)>,
    /// The passes that have begun and not ended, by their numbers: where they stand in the timeline.
    pub(super) passes: BTreeMap<u64, usize>,
    pub(super) last_pass: u64,
    jumped: i64,
    /// After so many calls nothing is answered any more.
    most: u64,
    pub(super) timeline: Timeline,
}

/// A call on its way.
pub(super) struct Begun {
    pub(super) number: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) deed: Option<Deed>,
    /// Where it stands in the timeline.
    index: usize,
    /// While it is waited for: until it is answered, or the client gives it up.
    _held: Option<Held>,
}

/// Something that is waited for.
pub(super) struct Held {
    faults: Faults,
    life: u32,
    is_repeated: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.faults.state().close(self.life, self.is_repeated);
    }
}

impl Faults {
    /// Nothing goes wrong, but all is recorded.
    ///
    /// # Panics
    /// Never; it reads tokio's clock, which is the system's outside a runtime.
    #[must_use]
    pub fn none() -> Self {
        let now = Instant::now();
        let state = State {
            began: now,
            life: 0,
            calls: 0,
            events: 0,
            activity: Activity::new(),
            at_call: BTreeMap::new(),
            at_event: BTreeMap::new(),
            deeds: BTreeMap::new(),
            chance: None,
            deaf_until: None,
            begins_as_of: None,
            passes: BTreeMap::new(),
            last_pass: 0,
            jumped: 0,
            most: u64::MAX,
            timeline: Timeline::default(),
        };
        Self { state: Arc::new(Mutex::new(state)), ended: Arc::new(watch::channel(0).0) }
    }

    /// What goes wrong follows from a seed. After `lasts` all is well.
    #[must_use]
    pub fn by_chance(seed: u64, classes: &[Class], lasts: Duration) -> Self {
        let faults = Self::none();
        faults.state().chance = Some(Chance::new(seed, classes, lasts));
        faults
    }

    /// A fault of the n-th call; several of a call are done in the order in which they are given.
    #[must_use]
    pub fn at_call(self, number: u64, fault: Fault) -> Self {
        self.state().at_call.entry(number).or_default().push(fault);
        self
    }

    /// A fault of the n-th event of all watches; bookmarks and what a list holds are no events.
    #[must_use]
    pub fn at_event(self, number: u64, fault: EventFault) -> Self {
        self.state().at_event.insert(number, fault);
        self
    }

    /// Something to be done just before the n-th call, by somebody else.
    #[must_use]
    pub fn before_call(self, number: u64, deed: Deed) -> Self {
        self.state().deeds.insert(number, deed);
        self
    }

    /// Ends the client's process for good with the call after so many: who asks without a pause would never let the clock
    /// go on. Default: no end.
    #[must_use]
    pub fn at_most(self, calls: u64) -> Self {
        self.state().most = calls;
        self
    }

    /// Loses every event of the next time, as [`EventFault::Lose`] does: what happens meanwhile is seen in a new list only.
    /// It is to be shorter than what a watch takes to say 410, five seconds.
    pub fn lose_events(&self, time: Duration) {
        self.state().deaf_until = Some(Instant::now() + time);
    }

    /// Lets later lives begin with an older state: the first list of each kind is as of a version, if it says that any
    /// version is good enough. The watch that follows tells the rest.
    pub fn begin_as_of(&self, version: u64) {
        self.state().begins_as_of = Some((version, BTreeSet::new()));
    }

    /// Whether there were more calls than [may be](Self::at_most).
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        let state = self.state();
        state.calls > state.most
    }

    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// By how many seconds the client's wall clock is ahead of the sandbox's.
    #[must_use]
    pub fn jumped(&self) -> i64 {
        self.state().jumped
    }

    /// What was asked and told so far.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        self.state().timeline.clone()
    }

    /// Adds a word to the timeline.
    pub fn note(&self, text: impl Into<String>) {
        self.state().record(Happening::Note { text: text.into() });
    }

    /// Waits until the client's process is to end by a [`Fault::StopBefore`] or a [`Fault::StopAfter`]. From then on its
    /// calls go nowhere and are never answered; the next client begins the next life.
    pub async fn stopped(&self) {
        let life = self.state().life;
        let mut ended = self.ended.subscribe();
        // The sender lives as long as `self`.
        let _ = ended.wait_for(|ended| *ended >= life).await;
    }

    /// Whether the life that calls now is to end, or has ended.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.ended.borrow() >= self.state().life
    }

    /// Ends the life that calls now: as a stop at a call does, but it is no fault.
    pub fn end(&self) {
        let life = self.state().life;
        self.end_by(life, Happening::End);
    }

    pub(super) fn state_of_life(&self, life: u32) -> bool {
        *self.ended.borrow() < life
    }

    /// The next life.
    pub(crate) fn begin(&self) -> u32 {
        let mut state = self.state();
        let last = state.life;
        state.life += 1;
        state.activity.begin_life();
        state.passes.clear();
        drop(state);
        // Whoever is followed is over, even if it was not stopped here.
        self.ended.send_if_modified(|ended| {
            let older = *ended < last;
            *ended = last.max(*ended);
            older
        });
        last + 1
    }

    /// Ends a life by a fault.
    pub(super) fn stop(&self, life: u32) {
        self.end_by(life, Happening::Stop);
    }

    fn end_by(&self, life: u32, how: Happening) {
        let first = self.ended.send_if_modified(|ended| {
            let first = *ended < life;
            *ended = life.max(*ended);
            first
        });
        if first {
            self.state().record(how);
        }
    }

    pub(super) fn ask(&self, method: &http::Method, uri: &http::Uri) -> Begun {
        let mut state = self.state();
        state.calls += 1;
        let number = state.calls;
        let uri = uri.path_and_query().map_or_else(|| uri.to_string(), ToString::to_string);
        let mut seen = CallSeen { number, method: method.to_string(), uri, code: None, fault: None };
        let asked = Asked { is_write: seen.is_write(), is_watch: seen.is_watch(), takes_older: seen.takes_older() };
        let mut faults = state.at_call.remove(&number).unwrap_or_default();
        faults.extend(state.chance().and_then(|chance| chance.of_call(asked)));
        if asked.takes_older && !asked.is_watch {
            faults.extend(state.as_of(&seen));
        }
        if number > state.most {
            faults = vec![Fault::StopBefore];
        }
        seen.fault = faults.first().copied();
        // A watch is only waited for if something keeps it from beginning.
        let counts = !asked.is_watch || seen.fault.is_some();
        let is_repeated = state.activity.is_repeated(&seen.uri, asked.is_write) && seen.fault.is_none();
        let held = counts.then(|| {
            state.activity.open(is_repeated);
            Held { faults: self.clone(), life: state.life, is_repeated }
        });
        let deed = state.deeds.remove(&number);
        let index = state.record(Happening::Call(seen));
        Begun { number, faults, deed, index, _held: held }
    }

    pub(super) fn answered(&self, begun: &Begun, code: Option<u16>) {
        let mut state = self.state();
        if let Some(Moment { what: Happening::Call(call), .. }) = state.timeline.moments.get_mut(begun.index) {
            call.code = code;
        }
    }

    pub(super) fn jump(&self, seconds: i64) {
        let mut state = self.state();
        state.jumped = state.jumped.saturating_add(seconds);
    }

    /// Something of a life is held back, until this is dropped.
    pub(super) fn hold(&self, life: u32) -> Held {
        let mut state = self.state();
        if state.life == life {
            state.activity.open(false);
        }
        drop(state);
        Held { faults: self.clone(), life, is_repeated: false }
    }

    pub(super) fn told(&self, mut event: EventSeen) -> Option<EventFault> {
        let mut state = self.state();
        state.events += 1;
        event.number = state.events;
        state.activity.told();
        let fault = state.at_event.remove(&event.number).or_else(|| state.deafness());
        event.fault = fault.or_else(|| state.chance().and_then(Chance::of_event));
        let fault = event.fault;
        state.record(Happening::Event(event));
        fault
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn record(&mut self, what: Happening) -> usize {
        let at = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.timeline.moments.push(Moment { at, life: self.life, what });
        self.timeline.moments.len() - 1
    }

    /// Something is not held back any more. What an earlier life waits for is of no interest.
    fn close(&mut self, life: u32, is_repeated: bool) {
        if self.life == life {
            self.activity.close(is_repeated);
        }
    }

    /// The fault of all events while none is heard.
    fn deafness(&self) -> Option<EventFault> {
        self.deaf_until.filter(|until| Instant::now() < *until).map(|_| EventFault::Lose)
    }

    /// The fault of the first list of a kind in a later life, if that is to begin with an older state.
    fn as_of(&mut self, call: &CallSeen) -> Option<Fault> {
        let life = self.life;
        let (version, listed) = self.begins_as_of.as_mut().filter(|_| life > 1)?;
        let path = call.path();
        listed.insert((life, path.to_owned())).then_some(Fault::AsOf { version: *version })
    }

    /// Chance, as long as it lasts.
    fn chance(&mut self) -> Option<&mut Chance> {
        let age = self.began.elapsed();
        self.chance.as_mut().filter(|chance| age < chance.lasts)
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Faults").field("life", &state.life).field("calls", &state.calls).finish_non_exhaustive()
    }
}
