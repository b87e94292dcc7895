//! The queue beside a naive model of it, through random histories.

use super::{Jitter, Priority, Queue, Seeded, Trigger};
use futures::FutureExt;
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::{Instant, advance};

type Key = u64;

const KEYS: u64 = 12;
const STEPS: usize = 3000;
const TRIGGERS: [Trigger; 5] = [Trigger::Own, Trigger::Children, Trigger::Timer, Trigger::Related, Trigger::Request];

/// Every key of which anything is known, and the order of events as numbers.
#[derive(Default)]
struct Model {
    keys: BTreeMap<Key, Known>,
    order: u64,
    taken: u64,
}

#[derive(Clone, Copy, Default)]
struct Known {
    running: bool,
    waits: Option<ModelWait>,
}

#[derive(Clone, Copy)]
enum ModelWait {
    /// Since which event it is ready, and since which it stands in its line.
    Ready {
        priority: Priority,
        ready: u64,
        line: u64,
        trigger: Trigger,
    },
    Until {
        priority: Priority,
        at: Instant,
        order: u64,
        held: bool,
        trigger: Trigger,
    },
}

impl ModelWait {
    /// With at least this priority and trigger. A ready key whose priority is raised goes to the end of another line.
    fn raised(self, more: Priority, end: u64, reason: Trigger) -> Self {
        match self {
            Self::Ready { priority, ready, line, trigger } => {
                let line = if more > priority { end } else { line };
                Self::Ready { priority: more.max(priority), ready, line, trigger: reason.max(trigger) }
            }
            Self::Until { priority, at, order, held, trigger } => {
                Self::Until { priority: more.max(priority), at, order, held, trigger: reason.max(trigger) }
            }
        }
    }
}

impl Model {
    fn add(&mut self, key: Key, priority: Priority, reason: Trigger) {
        self.order += 1;
        let order = self.order;
        let known = self.keys.entry(key).or_default();
        let ready = |priority, trigger| ModelWait::Ready { priority, ready: order, line: order, trigger };
        known.waits = Some(match known.waits {
            Some(waits @ ModelWait::Ready { .. }) => waits.raised(priority, order, reason),
            Some(waits @ ModelWait::Until { held: true, .. }) if reason != Trigger::Request => {
                waits.raised(priority, order, reason)
            }
            Some(ModelWait::Until { priority: before, trigger: Trigger::Timer, .. }) => {
                ready(priority.max(before), reason)
            }
            Some(ModelWait::Until { priority: before, trigger, .. }) => {
                ready(priority.max(before), reason.max(trigger))
            }
            None => ready(priority, reason),
        });
    }

    fn add_after(&mut self, key: Key, at: Instant, priority: Priority, trigger: Trigger) {
        self.order += 1;
        let order = self.order;
        let known = self.keys.entry(key).or_default();
        let until = |priority| ModelWait::Until { priority, at, order, held: false, trigger };
        known.waits = Some(match known.waits {
            Some(ModelWait::Until { priority: before, at: due, held: false, .. }) if at < due => {
                until(priority.max(before))
            }
            Some(waits) => waits.raised(priority, order, Trigger::Own),
            None => until(priority),
        });
    }

    fn hold(&mut self, key: Key, at: Instant, priority: Priority) {
        self.order += 1;
        let order = self.order;
        let known = self.keys.entry(key).or_default();
        let until = |priority, trigger| ModelWait::Until { priority, at, order, held: true, trigger };
        known.waits = Some(match known.waits {
            Some(waits @ ModelWait::Ready { trigger: Trigger::Request, .. }) => {
                waits.raised(priority, order, Trigger::Own)
            }
            Some(waits @ ModelWait::Until { held: true, at: due, .. }) if due >= at => {
                waits.raised(priority, order, Trigger::Own)
            }
            Some(
                ModelWait::Ready { priority: before, trigger, .. }
                | ModelWait::Until { priority: before, trigger, held: true, .. },
            ) => until(priority.max(before), trigger),
            Some(ModelWait::Until { priority: before, .. }) => until(priority.max(before), Trigger::Own),
            None => until(priority, Trigger::Own),
        });
    }

    fn take(&mut self, now: Instant) -> Option<(Key, Priority, Trigger)> {
        self.make_due_ready(now);
        let ready = self.keys.iter().filter_map(|(key, known)| match known {
            Known { running: false, waits: Some(ModelWait::Ready { priority, ready, line, trigger }) } => {
                Some((*priority, (*line, *ready, *key, *trigger)))
            }
            _ => None,
        });
        let mut first = BTreeMap::new();
        for (priority, place) in ready {
            let held = first.entry(Reverse(priority)).or_insert(place);
            *held = place.min(*held);
        }
        let (Reverse(priority), (.., key, trigger)) = match self.taken % 16 {
            15 => first.into_iter().min_by_key(|(_, (_, ready, ..))| *ready)?,
            _ => first.pop_first()?,
        };
        self.taken += 1;
        self.keys.insert(key, Known { running: true, waits: None });
        Some((key, priority, trigger))
    }

    fn make_due_ready(&mut self, now: Instant) {
        let mut due: Vec<_> = self
            .keys
            .values_mut()
            .filter_map(|known| match known.waits {
                Some(ModelWait::Until { priority, at, order, trigger, .. }) if at <= now => {
                    Some((at, order, (priority, trigger), known))
                }
                _ => None,
            })
            .collect();
        due.sort_by_key(|(at, order, ..)| (*at, *order));
        for (.., (priority, trigger), known) in due {
            self.order += 1;
            known.waits = Some(ModelWait::Ready { priority, ready: self.order, line: self.order, trigger });
        }
    }

    fn done(&mut self, key: Key) {
        self.order += 1;
        let Some(known) = self.keys.get_mut(&key).filter(|known| known.running) else { return };
        known.running = false;
        match &mut known.waits {
            Some(ModelWait::Ready { line, .. }) => *line = self.order,
            Some(ModelWait::Until { .. }) => {}
            None => drop(self.keys.remove(&key)),
        }
    }
}

fn compare(seed: u64) -> impl Future<Output = ()> {
    let dice = Seeded::new(seed);
    let roll = move |limit: u64| (dice.bits() >> 32) % limit;
    async move {
        let (queue, mut model, mut running) = (Queue::new(), Model::default(), Vec::new());
        for step in 0..STEPS {
            let key = roll(KEYS);
            let priority = [Priority::Low, Priority::Normal, Priority::High][roll(3) as usize];
            match roll(12) {
                0..3 => {
                    let trigger = TRIGGERS[roll(TRIGGERS.len() as u64) as usize];
                    queue.add_for(key, priority, trigger);
                    model.add(key, priority, trigger);
                }
                3..5 => {
                    let delay = Duration::from_millis(1 + roll(20));
                    let trigger = TRIGGERS[roll(TRIGGERS.len() as u64) as usize];
                    queue.add_after_for(key, delay, priority, trigger);
                    model.add_after(key, Instant::now() + delay, priority, trigger);
                }
                5 => advance(Duration::from_millis(roll(8))).await,
                6..8 => {
                    let taken = queue.take().now_or_never().flatten();
                    let taken = taken.map(|item| (item.key, item.priority, item.trigger));
                    assert_eq!(taken, model.take(Instant::now()), "seed {seed}, step {step}");
                    running.extend(taken.map(|(key, ..)| key));
                }
                // A worker fails, perhaps while others add the key; and now and then a key is held that is with no worker.
                8..10 => {
                    let key = if running.is_empty() { key } else { running[roll(running.len() as u64) as usize] };
                    let delay = Duration::from_millis(roll(20));
                    queue.hold(key, delay, priority);
                    model.hold(key, Instant::now() + delay, priority);
                }
                _ => {
                    // Now and then a key that is with no worker.
                    let key =
                        if running.is_empty() { key } else { running.swap_remove(roll(running.len() as u64) as usize) };
                    queue.done(&key);
                    model.done(key);
                }
            }
            assert_eq!(queue.stats().running, running.len(), "seed {seed}, step {step}");
        }
        for key in running {
            queue.done(&key);
        }
        advance(Duration::from_secs(1)).await;
        while let Some(item) = queue.take().now_or_never().flatten() {
            queue.done(&item.key);
        }
        assert!(queue.state.lock().is_blank(), "seed {seed}: keys leave no trace");
    }
}

#[tokio::test(start_paused = true)]
async fn queue_agrees_with_a_naive_model() {
    for seed in 0..40 {
        // The budget of one task would make a take wait that has a key to give.
        tokio::task::unconstrained(compare(seed)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn manager_m41_no_key_is_ever_with_two_workers() {
    let queue = Arc::new(Queue::new());
    let with_worker: Arc<Vec<_>> = Arc::new((0..KEYS).map(|_| tokio::sync::Mutex::new(0_u64)).collect());
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let (queue, with_worker) = (queue.clone(), with_worker.clone());
            tokio::spawn(async move {
                while let Some(item) = queue.take().await {
                    let mut runs = with_worker[item.key as usize].try_lock().unwrap();
                    *runs += 1;
                    tokio::task::yield_now().await;
                    drop(runs);
                    queue.done(&item.key);
                }
            })
        })
        .collect();
    for round in 0..20_000 {
        queue.add(round * 7 % KEYS, Priority::Normal);
        queue.add_after(round * 5 % KEYS, Duration::from_micros(round % 50), Priority::High);
        if round % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let quiet = async {
        while !queue.state.lock().is_blank() {
            tokio::task::yield_now().await;
        }
        queue.shutdown();
        queue.drained().await;
        for worker in workers {
            worker.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), quiet).await.unwrap();
}
