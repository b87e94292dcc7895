//! Defines `Faults`: the plan of the faults that are injected into the calls of a client, and the record of these calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{sync::watch, time::Instant};

use super::{
    EventFault, Fault, FaultClass, ObservedCall, ObservedEvent, Timeline, TimelineEntry, TimelineEvent,
    activity::Activity,
    random::{CallTraits, RandomFaults},
    webhook_plan::WebhookPlan,
};

/// An action that runs just before a call.
pub type FaultAction = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// The fault plan of a client and the record of its calls. Clones share both.
///
/// Calls are numbered from 1 through all lives of the client: a restarted client continues the count.
#[derive(Clone)]
pub struct Faults {
    state: Arc<Mutex<FaultState>>,
    /// The number of lives that have ended.
    ended: Arc<watch::Sender<u32>>,
}

/// The fault plan, the counters and the timeline of a client.
pub(super) struct FaultState {
    start: Instant,
    /// The current life; 0 before the first.
    life: u32,
    calls: u64,
    events: u64,
    pub(super) activity: Activity,
    at_call: BTreeMap<u64, Vec<Fault>>,
    at_event: BTreeMap<u64, EventFault>,
    actions: BTreeMap<u64, FaultAction>,
    random: Option<RandomFaults>,
    pub(super) webhooks: WebhookPlan,
    /// The time until which all events are lost.
    events_lost_until: Option<Instant>,
    /// The version of the first lists of later lives, and the lists that were made.
    first_lists_as_of: Option<(u64, BTreeSet<(u32, String)>)>,
    /// The index in the timeline of each open pass, by number.
    pub(super) passes: BTreeMap<u64, usize>,
    pub(super) last_pass: u64,
    clock_lead: i64,
    /// The maximum number of calls.
    max_calls: u64,
    pub(super) timeline: Timeline,
}

/// A call that has begun.
pub(super) struct OpenCall {
    pub(super) number: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) action: Option<FaultAction>,
    /// Its index in the timeline.
    index: usize,
    /// Counts the call as open until it is answered or dropped.
    _guard: Option<OpenGuard>,
}

/// Counts a call or a delayed event as open until it is dropped.
pub(super) struct OpenGuard {
    faults: Faults,
    life: u32,
    is_repeated: bool,
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.faults.state().close(self.life, self.is_repeated);
    }
}

impl Faults {
    /// Injects no faults, but records everything.
    ///
    /// # Panics
    /// Never; it reads tokio's clock, which is the system's outside a runtime.
    #[must_use]
    pub fn none() -> Self {
        let now = Instant::now();
        let state = FaultState {
            start: now,
            life: 0,
            calls: 0,
            events: 0,
            activity: Activity::new(),
            at_call: BTreeMap::new(),
            at_event: BTreeMap::new(),
            actions: BTreeMap::new(),
            random: None,
            webhooks: WebhookPlan::default(),
            events_lost_until: None,
            first_lists_as_of: None,
            passes: BTreeMap::new(),
            last_pass: 0,
            clock_lead: 0,
            // No limit.
            max_calls: u64::MAX,
            timeline: Timeline::default(),
        };
        Self { state: Arc::new(Mutex::new(state)), ended: Arc::new(watch::channel(0).0) }
    }

    /// Chooses faults at random by a seed. After `lasts` there are none.
    #[must_use]
    pub fn by_chance(seed: u64, classes: &[FaultClass], lasts: Duration) -> Self {
        let faults = Self::none();
        faults.state().random = Some(RandomFaults::new(seed, classes, lasts));
        faults
    }

    /// Adds a fault to the n-th call; several faults of a call apply in the order of addition.
    #[must_use]
    pub fn at_call(self, number: u64, fault: Fault) -> Self {
        self.state().at_call.entry(number).or_default().push(fault);
        self
    }

    /// Adds a fault to the n-th event of all watches; bookmarks and list items do not count.
    #[must_use]
    pub fn at_event(self, number: u64, fault: EventFault) -> Self {
        self.state().at_event.insert(number, fault);
        self
    }

    /// Runs an action just before the n-th call.
    #[must_use]
    pub fn before_call(self, number: u64, deed: FaultAction) -> Self {
        self.state().actions.insert(number, deed);
        self
    }

    /// Stops the client's process for good after this number of calls: a client that calls without a pause would never
    /// let the clock advance. Default: no limit.
    #[must_use]
    pub fn at_most(self, calls: u64) -> Self {
        self.state().max_calls = calls;
        self
    }

    /// Loses all events for a while, as [`EventFault::Lose`] does: the client sees the changes in its next list only.
    /// The time must be shorter than the five seconds after which a watch returns 410.
    pub fn lose_events(&self, time: Duration) {
        self.state().events_lost_until = Some(Instant::now() + time);
    }

    /// Starts later lives with an older state: the first list of each kind returns the state at a version, if the list
    /// accepts any version. The watch that follows delivers the rest.
    pub fn begin_as_of(&self, version: u64) {
        self.state().first_lists_as_of = Some((version, BTreeSet::new()));
    }

    /// Returns whether the client made more calls than [allowed](Self::at_most).
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        let state = self.state();
        state.calls > state.max_calls
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Returns the seconds by which the client's wall clock is ahead of the sandbox's.
    #[must_use]
    pub fn clock_lead(&self) -> i64 {
        self.state().clock_lead
    }

    /// Returns the timeline so far.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        self.state().timeline.clone()
    }

    /// Adds a note to the timeline.
    pub fn note(&self, text: impl Into<String>) {
        self.state().record(TimelineEvent::Note { text: text.into() });
    }

    /// Waits until a [`Fault::StopBefore`] or [`Fault::StopAfter`] stops the client's process. From then on its calls
    /// are never answered; the next client begins the next life.
    pub async fn stopped(&self) {
        let life = self.state().life;
        let mut ended = self.ended.subscribe();
        // The sender lives as long as `self`.
        let _ = ended.wait_for(|ended| *ended >= life).await;
    }

    /// Returns whether the current life has ended.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.ended.borrow() >= self.state().life
    }

    /// Ends the current life, as a stop does, but without a fault.
    pub fn end(&self) {
        let life = self.state().life;
        self.end_life(life, TimelineEvent::End);
    }

    /// Returns whether a life of the client has not ended yet.
    pub(super) fn is_running(&self, life: u32) -> bool {
        *self.ended.borrow() < life
    }

    /// Waits forever if a life of the client has ended.
    pub(super) async fn wait_if_ended(&self, life: u32) {
        if !self.is_running(life) {
            std::future::pending::<()>().await;
        }
    }

    /// Returns the number of the current life.
    pub(crate) fn life(&self) -> u32 {
        self.state().life
    }

    /// Begins the next life of the client, one run of its process, and returns the number of this life. The previous life ends.
    pub(crate) fn begin(&self) -> u32 {
        let mut state = self.state();
        let last = state.life;
        state.life += 1;
        state.activity.begin_life();
        state.passes.clear();
        drop(state);
        // A new life ends the previous one, even if no fault stopped it.
        self.ended.send_if_modified(|ended| {
            let is_modified = *ended < last;
            *ended = last.max(*ended);
            is_modified
        });
        last + 1
    }

    /// Ends a life by a fault.
    pub(super) fn stop(&self, life: u32) {
        self.end_life(life, TimelineEvent::Stop);
    }

    /// Ends a life and records its end in the timeline, unless it has already ended.
    fn end_life(&self, life: u32, event: TimelineEvent) {
        let is_first = self.ended.send_if_modified(|ended| {
            let is_first = *ended < life;
            *ended = life.max(*ended);
            is_first
        });
        if is_first {
            self.state().record(event);
        }
    }

    /// Numbers and records a call, and determines its faults: planned and random ones, and an older state for the first list of a kind. A
    /// call above the limit of [`Faults::at_most`] stops the process.
    pub(super) fn begin_call(&self, method: &str, uri: String) -> OpenCall {
        let mut state = self.state();
        state.calls += 1;
        let number = state.calls;
        let mut call = ObservedCall { number, method: method.to_owned(), uri, code: None, fault: None };
        let traits =
            CallTraits { is_write: call.is_write(), is_watch: call.is_watch(), takes_older: call.takes_older() };
        let mut faults = state.at_call.remove(&number).unwrap_or_default();
        faults.extend(state.random_faults().and_then(|random| random.fault_of_call(traits)));
        if traits.takes_older && !traits.is_watch {
            faults.extend(state.older_first_list(&call));
        }
        if number > state.max_calls {
            faults = vec![Fault::StopBefore];
        }
        call.fault = faults.first().copied();
        // A watch counts as open only if a fault keeps it from beginning.
        let counts_as_open = !traits.is_watch || call.fault.is_some();
        // A call with a fault is never a repeated read: it counts as progress of the client.
        let is_repeated = state.activity.is_repeated(&call.uri, traits.is_write) && call.fault.is_none();
        let guard = counts_as_open.then(|| {
            state.activity.open(is_repeated);
            OpenGuard { faults: self.clone(), life: state.life, is_repeated }
        });
        let action = state.actions.remove(&number);
        let index = state.record(TimelineEvent::Call(call));
        OpenCall { number, faults, action, index, _guard: guard }
    }

    /// Ends a call: records the status code that the client receives; `None` if it receives no response.
    pub(super) fn end_call(&self, open_call: &OpenCall, code: Option<u16>) {
        let mut state = self.state();
        if let Some(TimelineEntry { event: TimelineEvent::Call(call), .. }) =
            state.timeline.entries.get_mut(open_call.index)
        {
            call.code = code;
        }
    }

    /// Moves the wall clock of the client by some seconds.
    pub(super) fn jump(&self, seconds: i64) {
        let mut state = self.state();
        state.clock_lead = state.clock_lead.saturating_add(seconds);
    }

    /// Counts a delayed event as open until the guard is dropped, if it belongs to the current life.
    pub(super) fn open_guard(&self, life: u32) -> OpenGuard {
        let mut state = self.state();
        if state.life == life {
            state.activity.open(false);
        }
        drop(state);
        OpenGuard { faults: self.clone(), life, is_repeated: false }
    }

    /// Numbers and records an event of a watch. Returns its fault: the planned one, else its loss while [`Faults::lose_events`] is in
    /// effect, else a random one; `None` if it has no fault.
    pub(super) fn record_event(&self, mut event: ObservedEvent) -> Option<EventFault> {
        let mut state = self.state();
        state.events += 1;
        event.number = state.events;
        state.activity.event_delivered();
        let fault = state.at_event.remove(&event.number).or_else(|| state.event_loss());
        event.fault = fault.or_else(|| state.random_faults().and_then(RandomFaults::fault_of_event));
        let fault = event.fault;
        state.record(TimelineEvent::Event(event));
        fault
    }

    pub(super) fn state(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultState {
    /// Adds an entry to the timeline and returns its index.
    pub(super) fn record(&mut self, event: TimelineEvent) -> usize {
        let at = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.timeline.entries.push(TimelineEntry { at, life: self.life, event });
        self.timeline.entries.len() - 1
    }

    /// Closes a call or a delayed event, unless it belongs to an earlier life, whose open calls are no longer counted.
    fn close(&mut self, life: u32, is_repeated: bool) {
        if self.life == life {
            self.activity.close(is_repeated);
        }
    }

    /// Returns the fault of all events while [`Faults::lose_events`] is in effect; `None` otherwise.
    fn event_loss(&self) -> Option<EventFault> {
        self.events_lost_until.filter(|until| Instant::now() < *until).map(|_| EventFault::Lose)
    }

    /// Returns the fault of the first list of a kind in a life that begins with an older state; `None` for other calls.
    fn older_first_list(&mut self, call: &ObservedCall) -> Option<Fault> {
        let life = self.life;
        let (version, listed) = self.first_lists_as_of.as_mut().filter(|_| life > 1)?;
        let path = call.path();
        listed.insert((life, path.to_owned())).then_some(Fault::AsOf { version: *version })
    }

    /// Returns the source of random faults; `None` if there is none or its duration has passed.
    fn random_faults(&mut self) -> Option<&mut RandomFaults> {
        let age = self.start.elapsed();
        self.random.as_mut().filter(|random| age < random.duration)
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Faults").field("life", &state.life).field("calls", &state.calls).finish_non_exhaustive()
    }
}
