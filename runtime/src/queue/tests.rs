//! Tests priorities, delays, holds and shutdown of the queue.

use super::{Backoff, Item, KeyBackoff, Priority, Queue, Trigger};
use futures::{FutureExt, poll};
use std::{hash::Hash, pin::pin, sync::Arc, time::Duration};
use tokio::{
    task::{JoinHandle, unconstrained, yield_now},
    time::{Instant, advance, timeout},
};

const SECOND: Duration = Duration::from_secs(1);
use Priority::{High, Low, Normal};

/// Takes a key that is ready now, without waiting.
fn next<K: Clone + Eq + Hash>(queue: &Queue<K>) -> Option<Item<K>> {
    queue.take().now_or_never().flatten()
}

/// Takes one key in a task of its own, and says when.
fn worker<K: Clone + Eq + Hash + Send + 'static>(queue: &Arc<Queue<K>>) -> JoinHandle<Option<(K, Instant)>> {
    let queue = queue.clone();
    tokio::spawn(async move { queue.take().await.map(|item| (item.key, Instant::now())) })
}

/// Waits for the result of a task. The clock is paused, so a timeout of an hour takes no time.
async fn finished<T>(task: JoinHandle<T>) -> T {
    timeout(SECOND * 3600, task).await.unwrap().unwrap()
}

/// Takes all ready keys, marks them as done, and returns them.
fn drain<K: Clone + Eq + Hash>(queue: &Queue<K>) -> Vec<K> {
    std::iter::from_fn(|| {
        let item = next(queue)?;
        queue.done(&item.key);
        Some(item.key)
    })
    .collect()
}

#[tokio::test(start_paused = true)]
async fn key_that_waits_is_not_added_twice() {
    let queue = Queue::new();
    ["a", "b", "a", "a", "b"].into_iter().for_each(|key| queue.add(key, Normal));
    assert_eq!(drain(&queue), ["a", "b"]);
    assert_eq!((queue.stats().added, queue.stats().taken), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn manager_m41_key_added_while_it_is_with_a_worker_runs_once_afterwards() {
    let queue = Queue::new();
    queue.add("a", Normal);
    let item = next(&queue).unwrap();
    queue.add("a", Normal);
    queue.add("a", Normal);
    assert!(next(&queue).is_none(), "a key is never with two workers");
    queue.done(&item.key);
    assert_eq!(drain(&queue), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m41_delay_that_ends_while_the_key_is_with_a_worker_waits_for_it() {
    let queue = Queue::new();
    queue.add("a", Normal);
    let item = next(&queue).unwrap();
    queue.add_after("a", SECOND, Normal);
    advance(SECOND * 2).await;
    assert!(next(&queue).is_none());
    queue.done(&item.key);
    assert_eq!(drain(&queue), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m45_user_changes_go_before_the_first_listing() {
    let queue = Queue::new();
    for (key, priority) in [("listed", Low), ("child", Normal), ("also listed", Low), ("edited", High)] {
        queue.add(key, priority);
    }
    assert_eq!(drain(&queue), ["edited", "child", "listed", "also listed"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m45_higher_add_raises_a_waiting_key_and_a_lower_one_does_not() {
    let queue = Queue::new();
    ["a", "b", "c"].into_iter().for_each(|key| queue.add(key, Low));
    queue.add("c", High);
    queue.add("c", Low);
    assert_eq!((queue.stats().low, queue.stats().high), (2, 1));
    assert_eq!(next(&queue).map(|item| (item.key, item.priority)), Some(("c", High)));
    assert_eq!(drain(&queue), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m45_higher_add_raises_a_delayed_key_and_one_that_is_with_a_worker() {
    let queue = Queue::new();
    queue.add_after("later", SECOND, Low);
    queue.add_after("later", SECOND * 5, High);
    queue.add("busy", Low);
    let item = next(&queue).unwrap();
    queue.add("busy", Low);
    queue.add("busy", High);
    queue.done(&item.key);
    advance(SECOND).await;
    let taken = [next(&queue), next(&queue)].map(|item| item.map(|item| (item.key, item.priority)));
    assert_eq!(taken, [Some(("busy", High)), Some(("later", High))]);
}

#[tokio::test(start_paused = true)]
async fn manager_m45_requeue_keeps_the_priority() {
    let queue = Queue::new();
    queue.add("a", Low);
    let item = next(&queue).unwrap();
    queue.add_after(item.key, SECOND, item.priority);
    queue.done(&item.key);
    advance(SECOND).await;
    assert_eq!(next(&queue).unwrap().priority, Low);
}

#[tokio::test(start_paused = true)]
async fn manager_m46_earlier_time_wins() {
    for delays in [[5, 2], [2, 5]] {
        let queue = Queue::new();
        delays.into_iter().for_each(|seconds| queue.add_after("a", SECOND * seconds, Normal));
        advance(SECOND * 2 - Duration::from_millis(1)).await;
        assert!(next(&queue).is_none());
        advance(Duration::from_millis(1)).await;
        assert_eq!(drain(&queue), ["a"]);
        advance(SECOND * 9).await;
        assert!(next(&queue).is_none(), "the later time is dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn manager_m46_add_without_delay_makes_a_delayed_key_ready_now() {
    let queue = Queue::new();
    queue.add_after("a", SECOND, Normal);
    queue.add("a", Normal);
    assert_eq!(drain(&queue), ["a"]);
    advance(SECOND).await;
    assert!(next(&queue).is_none());
}

#[tokio::test(start_paused = true)]
async fn manager_m46_delay_does_not_hold_back_a_key_that_is_ready() {
    let queue = Queue::new();
    queue.add("a", Normal);
    queue.add_after("a", SECOND, Normal);
    assert_eq!(drain(&queue), ["a"]);
    assert_eq!(queue.stats().delayed, 0);
}

#[tokio::test(start_paused = true)]
async fn nats_u22_failed_key_comes_back_later_and_later() {
    let (queue, backoff) = (Queue::new(), KeyBackoff::new(Backoff::EXPONENTIAL, || 0));
    let start = Instant::now();
    queue.add("a", Normal);
    let mut times = Vec::new();
    for _ in 0..4 {
        let item = queue.take().await.unwrap();
        times.push((Instant::now() - start).as_millis());
        queue.add_after(item.key, backoff.failed(&item.key), item.priority);
        queue.done(&item.key);
    }
    assert_eq!(times, [0, 5, 15, 35]);
}

#[tokio::test(start_paused = true)]
async fn nats_u23_delayed_key_wakes_a_waiting_worker_at_its_time() {
    let queue = Arc::new(Queue::new());
    let start = Instant::now();
    let workers: Vec<_> = (0..3).map(|_| worker(&queue)).collect();
    yield_now().await;
    queue.add_after("late", SECOND * 3, Normal);
    yield_now().await;
    queue.add_after("early", SECOND, Normal);
    queue.add_after("same", SECOND, Normal);
    let mut taken = Vec::new();
    for worker in workers {
        taken.push(finished(worker).await.map(|(key, at)| (key, at - start)).unwrap());
    }
    taken.sort_by_key(|(key, at)| (*at, *key));
    assert_eq!(taken, [("early", SECOND), ("same", SECOND), ("late", SECOND * 3)]);
}

#[tokio::test(start_paused = true)]
async fn worker_that_gives_up_waiting_leaves_the_clock_to_another() {
    let queue = Arc::new(Queue::new());
    queue.add_after("a", SECOND, Normal);
    let watching = worker(&queue);
    yield_now().await;
    let other = worker(&queue);
    yield_now().await;
    watching.abort();
    let item = finished(other).await;
    assert_eq!(item.map(|(key, _)| key), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn low_priority_gets_one_take_in_sixteen() {
    let queue = Queue::new();
    (0..2).for_each(|key| queue.add(key, Low));
    (10..50).for_each(|key| queue.add(key, High));
    let order = drain(&queue);
    assert_eq!((order[15], order[31]), (0, 1));
    assert_eq!(order.len(), 42);
}

#[tokio::test(start_paused = true)]
async fn keys_of_low_priority_are_with_half_of_the_workers_at_most() {
    for (workers, limit) in [(1, 1), (2, 1), (5, 2), (16, 8)] {
        let queue = Arc::new(Queue::for_workers(workers));
        (0..20).for_each(|key| queue.add(key, Low));
        for key in 0..limit {
            assert_eq!(next(&queue).map(|item| item.key), Some(key));
        }
        assert!(next(&queue).is_none(), "{workers} workers");
        queue.add(100, High);
        queue.add(101, Normal);
        assert_eq!([next(&queue), next(&queue)].map(|item| item.unwrap().key), [100, 101]);
        // The end of a key of another priority wakes nobody in vain, and that of a key of low priority wakes a worker.
        let waiting = worker(&queue);
        yield_now().await;
        queue.done(&100);
        yield_now().await;
        assert!(!waiting.is_finished());
        queue.done(&0);
        assert_eq!(finished(waiting).await.map(|(key, _)| key), Some(limit));
    }
}

#[tokio::test(start_paused = true)]
async fn manager_m31_shutdown_hands_out_nothing_and_waits_for_what_runs() {
    let queue = Arc::new(Queue::new());
    ["a", "b"].into_iter().for_each(|key| queue.add(key, Normal));
    queue.add_after("c", SECOND, Normal);
    let item = next(&queue).unwrap();
    let drained = tokio::spawn({
        let queue = queue.clone();
        async move { queue.drained().await }
    });
    queue.shutdown();
    queue.add("d", High);
    queue.add("a", High);
    assert!(queue.take().await.is_none());
    yield_now().await;
    assert!(!drained.is_finished());
    queue.done(&item.key);
    finished(drained).await;
    let stats = queue.stats();
    assert_eq!((stats.ready(), stats.delayed, stats.running), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn shutdown_wakes_every_waiting_worker() {
    let queue = Arc::new(Queue::<u32>::new());
    let workers: Vec<_> = (0..10).map(|_| worker(&queue)).collect();
    yield_now().await;
    assert_eq!(queue.stats().idle, 10);
    queue.shutdown();
    for worker in workers {
        assert!(finished(worker).await.is_none());
    }
    assert_eq!(queue.stats().idle, 0);
}

#[tokio::test(start_paused = true)]
async fn figures_say_how_long_keys_were_ready() {
    let queue = Queue::new();
    queue.add("a", Normal);
    queue.add_after("b", SECOND, Normal);
    advance(SECOND * 3).await;
    drain(&queue);
    let stats = queue.stats();
    assert_eq!((stats.waited, stats.longest_wait), (SECOND * 5, SECOND * 3));
}

#[tokio::test(start_paused = true)]
async fn taker_that_is_woken_for_nothing_waits_again_though_another_was_woken_too() {
    let queue = Queue::new();
    let (mut watcher, mut other) = (pin!(queue.take()), pin!(queue.take()));
    queue.add_after("late", SECOND * 60, Normal);
    assert!(poll!(watcher.as_mut()).is_pending());
    assert!(poll!(other.as_mut()).is_pending());
    // The other one is woken, and before it runs a third takes the key. The watcher hears of an earlier time.
    queue.add("now", Normal);
    assert_eq!(next(&queue).map(|item| item.key), Some("now"));
    queue.add_after("sooner", SECOND, Normal);
    assert!(poll!(watcher.as_mut()).is_pending());
    assert!(poll!(other.as_mut()).is_pending());
    advance(SECOND * 2).await;
    assert_eq!(watcher.await.map(|item| item.key), Some("sooner"));
}

#[tokio::test(start_paused = true)]
async fn key_woken_while_its_backoff_runs_waits_for_the_end_of_it() {
    let queue = Queue::new();
    queue.add("a", Normal);
    let item = next(&queue).unwrap();
    // Before the worker is done, and afterwards.
    queue.add_for("a", Normal, Trigger::Children);
    queue.hold("a", SECOND, Low);
    queue.done(&item.key);
    for trigger in [Trigger::Own, Trigger::Children, Trigger::Timer, Trigger::Related] {
        queue.add_for("a", Normal, trigger);
        queue.add_after("a", SECOND / 2, Normal);
    }
    advance(SECOND - Duration::from_millis(1)).await;
    assert!(next(&queue).is_none());
    advance(Duration::from_millis(1)).await;
    let item = next(&queue).unwrap();
    assert_eq!((item.key, item.priority, item.trigger), ("a", Normal, Trigger::Related));
    queue.done(&"a");
    assert!(queue.state.lock().has_no_keys());
}

#[tokio::test(start_paused = true)]
async fn memory_of_the_first_listing_is_returned() {
    let queue = Queue::new();
    (0..10_000).for_each(|key| queue.add(key, Low));
    let (keys, ready) = queue.state.lock().capacity();
    assert!(keys >= 10_000 && ready >= 10_000);
    while let Some(item) = unconstrained(queue.take()).now_or_never().flatten() {
        queue.done(&item.key);
    }
    let (keys, ready) = queue.state.lock().capacity();
    assert!(keys < 1_000 && ready < 1_000, "{keys} keys, {ready} entries");
}

#[tokio::test(start_paused = true)]
async fn request_ends_a_hold() {
    let queue = Queue::new();
    queue.hold("later", SECOND, Normal);
    queue.add("later", High);
    assert_eq!(next(&queue).map(|item| (item.key, item.trigger)), Some(("later", Trigger::Request)));
    // Also one that came while the key was with its worker.
    queue.add("later", High);
    queue.hold("later", SECOND, Normal);
    queue.done(&"later");
    assert_eq!(drain(&queue), ["later"]);
}

#[tokio::test(start_paused = true)]
async fn trigger_of_a_hold_that_nobody_interrupts_is_the_lowest() {
    let queue = Queue::new();
    queue.add("a", Normal);
    let item = next(&queue).unwrap();
    assert_eq!(item.trigger, Trigger::Request);
    queue.hold("a", SECOND, Normal);
    queue.done(&item.key);
    queue.add_after("b", SECOND, Normal);
    advance(SECOND).await;
    let triggers = [next(&queue), next(&queue)].map(|item| item.map(|item| item.trigger));
    assert_eq!(triggers, [Some(Trigger::Own), Some(Trigger::Timer)]);
}

#[tokio::test(start_paused = true)]
async fn longest_delay_never_ends_and_longest_hold_ends_by_a_request_only() {
    let queue = Queue::new();
    queue.add_after("delayed", Duration::MAX, Normal);
    queue.hold("held", Duration::MAX, Normal);
    queue.add_for("held", Normal, Trigger::Related);
    advance(SECOND * 3600 * 24 * 365).await;
    assert!(next(&queue).is_none());
    queue.add("held", High);
    assert_eq!(drain(&queue), ["held"]);
}
