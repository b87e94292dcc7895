//! Derives the faults of one simulated election from a seed.

use crate::queue::{Jitter as _, Seeded};
use k8s_openapi::jiff::Timestamp;
use std::{ops::Range, time::Duration};
use tokio::time::Instant;

/// The time of 2026-01-01T00:00:00Z, in seconds.
const START: i64 = 1_767_225_600;

/// The length of a schedule.
const LENGTH: Duration = Duration::from_secs(45);

/// The parts of the dice for the wall clocks: one for each of the three candidates.
const CLOCK_PARTS: Range<u64> = 20..23;

/// Random numbers of one part of a schedule.
#[derive(Debug)]
pub(super) struct Dice(Seeded);

impl Dice {
    pub(super) fn new(seed: u64, part: u64) -> Self {
        Self(Seeded::new(seed.wrapping_mul(1_000_003) ^ part))
    }

    /// Returns a number below `end`.
    pub(super) fn below(&self, end: u64) -> u64 {
        (self.0.bits() >> 16) % end.max(1)
    }

    /// Returns true with a probability of `chance` percent.
    pub(super) fn percent(&self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Returns a random duration in a range of milliseconds.
    pub(super) fn millis(&self, range: Range<u64>) -> Duration {
        Duration::from_millis(range.start + self.below(range.end - range.start))
    }
}

/// A period of time.
pub(super) type Window = Range<Instant>;

/// The faults of a candidate.
#[derive(Clone, Debug)]
pub(super) struct CandidateFaults {
    /// The length of a second of its clock.
    pub(super) clock_rate: f64,
    pub(super) wall_clock: WallClock,
    /// When its process is stopped, as by SIGSTOP.
    pub(super) frozen: Vec<Window>,
    /// When its requests don't reach the server.
    pub(super) cut_requests: Vec<Window>,
    /// When responses don't reach it.
    pub(super) cut_responses: Vec<Window>,
    /// When its process ends, in order. A new process starts after each end.
    pub(super) ends: Vec<(Instant, End)>,
}

/// The wall clock of a candidate, which may be wrong, stand still, and be set at any time.
#[derive(Clone, Debug)]
pub(super) struct WallClock {
    start: Instant,
    /// The time that it shows at the start.
    first: Timestamp,
    /// Whether it stands still until it is set.
    is_stopped: bool,
    /// When it is set, and by how many milliseconds.
    jumps: Vec<(Instant, i64)>,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It disappears, and its container is restarted.
    Crash,
    /// It stops and releases the lead, and another Pod takes its place.
    Stop,
}

/// The faults of one election.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pub(super) seed: u64,
    pub(super) end: Instant,
    pub(super) candidates: Vec<CandidateFaults>,
    /// The chance that a request is delayed for seconds, in percent.
    pub(super) delayed: u64,
    /// The chance that a request or its response is lost, in percent.
    pub(super) lost: u64,
}

impl Schedule {
    /// Derives the faults of an election of three candidates from a seed.
    pub(super) fn new(seed: u64, start: Instant) -> Self {
        let dice = Dice::new(seed, 0);
        let wall_clocks = CLOCK_PARTS.map(|part| WallClock::new(&Dice::new(seed, part), start));
        let candidates = wall_clocks.map(|clock| CandidateFaults::new(&dice, clock, start)).collect();
        Self { seed, end: start + LENGTH, candidates, delayed: dice.below(30), lost: dice.below(12) }
    }
}

impl WallClock {
    /// Draws a wall clock, which is wrong by up to 10,000 s at the start, and is set up to four times.
    fn new(dice: &Dice, start: Instant) -> Self {
        // A random number from `-limit` to `limit`.
        let up_to = |limit: i64| i64::try_from(dice.below(limit.unsigned_abs() * 2)).unwrap_or(0) - limit;
        let first = Timestamp::from_second(START + up_to(10_000)).unwrap_or(Timestamp::UNIX_EPOCH);
        let jump = |_| {
            let at = start + dice.millis(0..40_000);
            // Half of the jumps are up to 8 s, as long as a few renewals, and the others up to 11 hours.
            (at, up_to(if dice.percent(50) { 8_000 } else { 40_000_000 }))
        };
        let jumps = (0..4).filter(|_| dice.percent(50)).map(jump).collect();
        Self { start, first, is_stopped: dice.percent(20), jumps }
    }

    /// Returns the time of this wall clock at an instant of the monotonic clock.
    pub(super) fn time_at(&self, moment: Instant) -> Timestamp {
        let elapsed = if self.is_stopped { Duration::ZERO } else { moment.saturating_duration_since(self.start) };
        let set_before = self.jumps.iter().filter(|(at, _)| *at <= moment);
        let jumped = set_before.map(|(_, milliseconds)| milliseconds).sum::<i64>();
        let elapsed = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(self.first.as_millisecond() + jumped + elapsed).unwrap_or(self.first)
    }
}

impl CandidateFaults {
    /// Draws the faults of one candidate: a clock that is up to 5 % too fast or too slow, up to two windows of each kind, and up to two
    /// ends.
    fn new(dice: &Dice, wall_clock: WallClock, start: Instant) -> Self {
        let random_instant = || start + dice.millis(1_000..32_000);
        // Up to two windows, each with a chance in percent and with a length of at most `longest` milliseconds.
        let windows = |chance: u64, longest: u64| -> Vec<Window> {
            let windows = (0..2).filter(|_| dice.percent(chance)).map(|_| {
                let begin = random_instant();
                begin..begin + dice.millis(500..longest)
            });
            windows.collect()
        };
        let ends = (0..2)
            .filter(|_| dice.percent(25))
            .map(|_| (random_instant(), if dice.percent(50) { End::Crash } else { End::Stop }));
        let mut ends: Vec<_> = ends.collect();
        ends.sort_by_key(|(at, _)| *at);
        Self {
            clock_rate: 0.95 + dice.below(101) as f64 / 1000.0,
            wall_clock,
            frozen: windows(30, 30_000),
            cut_requests: windows(20, 25_000),
            cut_responses: windows(20, 25_000),
            ends,
        }
    }
}

/// Returns the end of the last window that contains a time; `None` if no window contains it.
pub(super) fn end_of_window(windows: &[Window], time: Instant) -> Option<Instant> {
    windows.iter().filter(|window| window.contains(&time)).map(|window| window.end).max()
}

/// Returns whether one of the windows overlaps a period.
pub(super) fn overlaps(windows: &[Window], from: Instant, to: Instant) -> bool {
    windows.iter().any(|window| window.start <= to && from <= window.end)
}
