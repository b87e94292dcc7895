//! Tests that the queue behaves like a simple model of it in random sequences of operations, and that no two workers have the same key at a
//! time.

use super::{Jitter, Priority, Queue, Seeded, Trigger};
use futures::FutureExt;
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::{Instant, advance};

type Key = u64;

const KEYS: u64 = 12;
const STEPS: usize = 3000;
const TRIGGERS: [Trigger; 5] = [Trigger::Own, Trigger::Children, Trigger::Timer, Trigger::Related, Trigger::Request];

/// A simple model of a queue, with the rules of `QueueState` and without its data structures. Its operations are numbered in their order.
#[derive(Default)]
struct Model {
    keys: BTreeMap<Key, ModelKey>,
    order: u64,
    taken: u64,
    max_running_low: usize,
}

#[derive(Clone, Copy, Default)]
struct ModelKey {
    running: Option<Priority>,
    waiting: Option<ModelWait>,
}

#[derive(Clone, Copy)]
enum ModelWait {
    /// The key is ready since the operation with the number `ready_at`, and in the queue of its priority since `queued_at`.
    Ready { priority: Priority, ready_at: u64, queued_at: u64, trigger: Trigger },
    /// The key becomes ready at the time `at`, as the operation with the number `added_at` decided. `is_hold` prevents an earlier time.
    Until { priority: Priority, at: Instant, added_at: u64, is_hold: bool, trigger: Trigger },
}

impl ModelWait {
    /// Raises priority and trigger to those that the operation number `order` adds. A ready key whose priority is raised moves to the end
    /// of another priority's queue.
    fn raise(self, priority_to_add: Priority, order: u64, trigger_to_add: Trigger) -> Self {
        match self {
            Self::Ready { priority, ready_at, queued_at, trigger } => {
                let queued_at = if priority_to_add > priority { order } else { queued_at };
                Self::Ready {
                    priority: priority_to_add.max(priority),
                    ready_at,
                    queued_at,
                    trigger: trigger_to_add.max(trigger),
                }
            }
            Self::Until { priority, at, added_at, is_hold, trigger } => Self::Until {
                priority: priority_to_add.max(priority),
                at,
                added_at,
                is_hold,
                trigger: trigger_to_add.max(trigger),
            },
        }
    }
}

impl Model {
    /// Models `QueueState::add`: the key is ready at once, unless it is held and the trigger is no request.
    fn add(&mut self, key: Key, priority: Priority, trigger_to_add: Trigger) {
        self.order += 1;
        let order = self.order;
        let model_key = self.keys.entry(key).or_default();
        let ready = |priority, trigger| ModelWait::Ready { priority, ready_at: order, queued_at: order, trigger };
        model_key.waiting = Some(match model_key.waiting {
            Some(waiting @ ModelWait::Ready { .. }) => waiting.raise(priority, order, trigger_to_add),
            Some(waiting @ ModelWait::Until { is_hold: true, .. }) if trigger_to_add != Trigger::Request => {
                waiting.raise(priority, order, trigger_to_add)
            }
            // A timer that is not due yet is no trigger.
            Some(ModelWait::Until { priority: old_priority, trigger: Trigger::Timer, .. }) => {
                ready(priority.max(old_priority), trigger_to_add)
            }
            Some(ModelWait::Until { priority: old_priority, trigger, .. }) => {
                ready(priority.max(old_priority), trigger_to_add.max(trigger))
            }
            None => ready(priority, trigger_to_add),
        });
    }

    /// Models `QueueState::add_at`: the key is ready at `at`, unless it is ready or due earlier, or held.
    fn add_after(&mut self, key: Key, at: Instant, priority: Priority, trigger: Trigger) {
        self.order += 1;
        let order = self.order;
        let model_key = self.keys.entry(key).or_default();
        let until = |priority| ModelWait::Until { priority, at, added_at: order, is_hold: false, trigger };
        model_key.waiting = Some(match model_key.waiting {
            Some(ModelWait::Until { priority: old_priority, at: due, is_hold: false, .. }) if at < due => {
                until(priority.max(old_priority))
            }
            Some(waiting) => waiting.raise(priority, order, Trigger::Own),
            None => until(priority),
        });
    }

    /// Models `QueueState::hold`: the key is not ready before `at`, unless it was requested.
    fn hold(&mut self, key: Key, at: Instant, priority: Priority) {
        self.order += 1;
        let order = self.order;
        let model_key = self.keys.entry(key).or_default();
        let until = |priority, trigger| ModelWait::Until { priority, at, added_at: order, is_hold: true, trigger };
        model_key.waiting = Some(match model_key.waiting {
            Some(waiting @ ModelWait::Ready { trigger: Trigger::Request, .. }) => {
                waiting.raise(priority, order, Trigger::Own)
            }
            Some(waiting @ ModelWait::Until { is_hold: true, at: due, .. }) if due >= at => {
                waiting.raise(priority, order, Trigger::Own)
            }
            Some(
                ModelWait::Ready { priority: old_priority, trigger, .. }
                | ModelWait::Until { priority: old_priority, trigger, is_hold: true, .. },
            ) => until(priority.max(old_priority), trigger),
            Some(ModelWait::Until { priority: old_priority, .. }) => until(priority.max(old_priority), Trigger::Own),
            None => until(priority, Trigger::Own),
        });
    }

    /// Models `QueueState::take`: returns the first key of the highest priority, but in every sixteenth call the key that has been ready
    /// the longest. Keys of low priority don't count while `max_running_low` of them are running.
    fn take(&mut self, now: Instant) -> Option<(Key, Priority, Trigger)> {
        self.make_due_ready(now);
        let running_low = self.keys.values().filter(|model_key| model_key.running == Some(Priority::Low)).count();
        let takes_low = running_low < self.max_running_low;
        let ready = self.keys.iter().filter_map(|(key, model_key)| match model_key {
            ModelKey { running: None, waiting: Some(ModelWait::Ready { priority, ready_at, queued_at, trigger }) } => {
                (takes_low || *priority > Priority::Low).then_some((*priority, (*queued_at, *ready_at, *key, *trigger)))
            }
            _ => None,
        });
        // The first key of the queue of each priority, the highest priority first.
        let mut first_keys = BTreeMap::new();
        for (priority, entry) in ready {
            let earliest = first_keys.entry(Reverse(priority)).or_insert(entry);
            *earliest = entry.min(*earliest);
        }
        let (Reverse(priority), (.., key, trigger)) = match self.taken % 16 {
            15 => first_keys.into_iter().min_by_key(|(_, (_, ready_at, ..))| *ready_at)?,
            _ => first_keys.pop_first()?,
        };
        self.taken += 1;
        self.keys.insert(key, ModelKey { running: Some(priority), waiting: None });
        Some((key, priority, trigger))
    }

    /// Makes the keys ready whose time has come, in the order of their times.
    fn make_due_ready(&mut self, now: Instant) {
        let mut due: Vec<_> = self
            .keys
            .values_mut()
            .filter_map(|model_key| match model_key.waiting {
                Some(ModelWait::Until { priority, at, added_at, trigger, .. }) if at <= now => {
                    Some((at, added_at, (priority, trigger), model_key))
                }
                _ => None,
            })
            .collect();
        due.sort_by_key(|(at, added_at, ..)| (*at, *added_at));
        for (.., (priority, trigger), model_key) in due {
            self.order += 1;
            model_key.waiting =
                Some(ModelWait::Ready { priority, ready_at: self.order, queued_at: self.order, trigger });
        }
    }

    /// Models `QueueState::done`: the key no longer runs. If it became ready meanwhile, it joins the end of its queue.
    fn done(&mut self, key: Key) {
        self.order += 1;
        let Some(model_key) = self.keys.get_mut(&key).filter(|model_key| model_key.running.is_some()) else { return };
        model_key.running = None;
        match &mut model_key.waiting {
            Some(ModelWait::Ready { queued_at, .. }) => *queued_at = self.order,
            Some(ModelWait::Until { .. }) => {}
            None => drop(self.keys.remove(&key)),
        }
    }
}

/// Applies the same random operations to a queue and to the model, and checks that both return the same keys. Then it finishes all keys,
/// and checks that the queue stores nothing about them. The operations follow from `seed`.
fn run_random_history(seed: u64) -> impl Future<Output = ()> {
    let numbers = Seeded::new(seed);
    let random = move |limit: u64| (numbers.bits() >> 32) % limit;
    async move {
        let max_running_low = [usize::MAX, 1, 2][random(3) as usize];
        let queue = Queue::with_max_running_low(max_running_low);
        let (mut model, mut running) = (Model { max_running_low, ..Model::default() }, Vec::new());
        for step in 0..STEPS {
            let key = random(KEYS);
            let priority = [Priority::Low, Priority::Normal, Priority::High][random(3) as usize];
            match random(14) {
                0..3 => {
                    let trigger = TRIGGERS[random(TRIGGERS.len() as u64) as usize];
                    queue.add_for(key, priority, trigger);
                    model.add(key, priority, trigger);
                }
                3..5 => {
                    let delay = Duration::from_millis(1 + random(20));
                    let trigger = TRIGGERS[random(TRIGGERS.len() as u64) as usize];
                    queue.add_after_for(key, delay, priority, trigger);
                    model.add_after(key, Instant::now() + delay, priority, trigger);
                }
                5 => advance(Duration::from_millis(random(8))).await,
                // A worker takes a key.
                6..8 => {
                    let taken = queue.take().now_or_never().flatten();
                    let taken = taken.map(|item| (item.key, item.priority, item.trigger));
                    assert_eq!(taken, model.take(Instant::now()), "seed {seed}, step {step}");
                    running.extend(taken.map(|(key, ..)| key));
                }
                // A worker fails, perhaps while the key is added; sometimes the key is not with a worker.
                8..10 => {
                    let key = if running.is_empty() { key } else { running[random(running.len() as u64) as usize] };
                    let delay = Duration::from_millis(random(20));
                    queue.hold(key, delay, priority);
                    model.hold(key, Instant::now() + delay, priority);
                }
                // A worker ends its key, with or without taking the next one. Sometimes the key is not with a worker.
                number => {
                    let key = if running.is_empty() {
                        key
                    } else {
                        running.swap_remove(random(running.len() as u64) as usize)
                    };
                    model.done(key);
                    if number < 12 {
                        queue.done(&key);
                    } else {
                        let taken = queue.done_and_take(&key, Instant::now()).now_or_never().flatten();
                        let taken = taken.map(|item| (item.key, item.priority, item.trigger));
                        assert_eq!(taken, model.take(Instant::now()), "seed {seed}, step {step}");
                        running.extend(taken.map(|(key, ..)| key));
                    }
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
        assert!(queue.state.lock().has_no_keys(), "seed {seed}: keys leave no trace");
    }
}

#[tokio::test(start_paused = true)]
async fn queue_agrees_with_a_naive_model() {
    for seed in 0..40 {
        // The budget of a tokio task would make `take` wait although a key is ready.
        tokio::task::unconstrained(run_random_history(seed)).await;
    }
}

/// Eight workers lock the mutex of each key that they take, while keys are added. A key that two workers had would be locked twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn manager_m41_no_key_is_ever_with_two_workers() {
    let queue = Arc::new(Queue::new());
    let with_worker: Arc<Vec<_>> = Arc::new((0..KEYS).map(|_| tokio::sync::Mutex::new(0_u64)).collect());
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let (queue, with_worker) = (queue.clone(), with_worker.clone());
            tokio::spawn(async move {
                let mut next = queue.take().await;
                while let Some(item) = next {
                    let mut runs = with_worker[item.key as usize].try_lock().unwrap();
                    *runs += 1;
                    tokio::task::yield_now().await;
                    let is_odd = *runs % 2 == 1;
                    drop(runs);
                    next = if is_odd {
                        queue.done(&item.key);
                        queue.take().await
                    } else {
                        queue.done_and_take(&item.key, Instant::now()).await
                    };
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
    let finish = async {
        while !queue.state.lock().has_no_keys() {
            tokio::task::yield_now().await;
        }
        queue.shutdown();
        queue.drained().await;
        for worker in workers {
            worker.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), finish).await.unwrap();
}
