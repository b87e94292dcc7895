//! The queue beside a naive model of it, through random histories.

use super::{Jitter, Priority, Queue, Seeded};
use futures::FutureExt;
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::{Instant, advance};

type Key = u64;

const KEYS: u64 = 12;
const STEPS: usize = 3000;

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
    waits: Option<Waits>,
}

#[derive(Clone, Copy)]
enum Waits {
    /// Since which event it is ready, and since which it stands in its line.
    Ready {
        priority: Priority,
        ready: u64,
        line: u64,
    },
    Until {
        priority: Priority,
        at: Instant,
        order: u64,
    },
}

impl Model {
    fn add(&mut self, key: Key, at: Option<Instant>, priority: Priority) {
        self.order += 1;
        let order = self.order;
        let known = self.keys.entry(key).or_default();
        known.waits = Some(match (known.waits, at) {
            (Some(Waits::Ready { priority: held, ready, .. }), _) if priority > held => {
                Waits::Ready { priority, ready, line: order }
            }
            (Some(ready @ Waits::Ready { .. }), _) => ready,
            (Some(Waits::Until { priority: held, at: held_at, order: held_order }), Some(at)) => {
                let (at, order) = if at < held_at { (at, order) } else { (held_at, held_order) };
                Waits::Until { priority: priority.max(held), at, order }
            }
            (Some(Waits::Until { priority: held, .. }), None) => {
                Waits::Ready { priority: priority.max(held), ready: order, line: order }
            }
            (None, Some(at)) => Waits::Until { priority, at, order },
            (None, None) => Waits::Ready { priority, ready: order, line: order },
        });
    }

    fn take(&mut self, now: Instant) -> Option<(Key, Priority)> {
        self.make_due_ready(now);
        let ready = self.keys.iter().filter_map(|(key, known)| match known {
            Known { running: false, waits: Some(Waits::Ready { priority, ready, line }) } => {
                Some((*priority, *line, *ready, *key))
            }
            _ => None,
        });
        let mut first = BTreeMap::new();
        for (priority, line, ready, key) in ready {
            let held = first.entry(Reverse(priority)).or_insert((line, ready, key));
            *held = (line, ready, key).min(*held);
        }
        let (Reverse(priority), (.., key)) = match self.taken % 16 {
            15 => first.into_iter().min_by_key(|(_, (_, ready, _))| *ready)?,
            _ => first.pop_first()?,
        };
        self.taken += 1;
        self.keys.insert(key, Known { running: true, waits: None });
        Some((key, priority))
    }

    fn make_due_ready(&mut self, now: Instant) {
        let mut due: Vec<_> = self
            .keys
            .values_mut()
            .filter_map(|known| match known.waits {
                Some(Waits::Until { priority, at, order }) if at <= now => Some((at, order, priority, known)),
                _ => None,
            })
            .collect();
        due.sort_by_key(|(at, order, ..)| (*at, *order));
        for (.., priority, known) in due {
            self.order += 1;
            known.waits = Some(Waits::Ready { priority, ready: self.order, line: self.order });
        }
    }

    fn done(&mut self, key: Key) {
        self.order += 1;
        let Some(known) = self.keys.get_mut(&key).filter(|known| known.running) else { return };
        known.running = false;
        match &mut known.waits {
            Some(Waits::Ready { line, .. }) => *line = self.order,
            Some(Waits::Until { .. }) => {}
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
            match roll(10) {
                0..3 => {
                    queue.add(key, priority);
                    model.add(key, None, priority);
                }
                3..5 => {
                    let delay = Duration::from_millis(1 + roll(20));
                    queue.add_after(key, delay, priority);
                    model.add(key, Some(Instant::now() + delay), priority);
                }
                5 => advance(Duration::from_millis(roll(8))).await,
                6..8 => {
                    let taken = queue.take().now_or_never().flatten().map(|item| (item.key, item.priority));
                    assert_eq!(taken, model.take(Instant::now()), "seed {seed}, step {step}");
                    running.extend(taken.map(|(key, _)| key));
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
