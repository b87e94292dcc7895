//! Says that something is new.
//!
//! Those who wait are woken in the order in which they began to: tokio's own `watch` wakes them in an order by chance, and a
//! run with a seed would not repeat.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// Who says it. When it goes, those who wait are told of an end.
#[derive(Debug, Default)]
pub(crate) struct Teller(Arc<Told>);

#[derive(Debug, Default)]
struct Told {
    times: AtomicU64,
    ended: AtomicBool,
    waiting: Notify,
}

/// Who hears it; what was told before is not new.
#[derive(Clone, Debug)]
pub(crate) struct News {
    told: Arc<Told>,
    heard: u64,
}

/// Nothing will be new any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

impl Teller {
    pub(crate) fn tell(&self) {
        self.0.times.fetch_add(1, Ordering::AcqRel);
        self.0.waiting.notify_waiters();
    }

    pub(crate) fn news(&self) -> News {
        News { heard: self.0.times.load(Ordering::Acquire), told: self.0.clone() }
    }

    /// Whether nobody hears it.
    pub(crate) fn is_unheard(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.waiting.notify_waiters();
    }
}

impl News {
    /// Waits until something is new, and takes it as heard.
    pub(crate) async fn changed(&mut self) -> Result<(), Ended> {
        loop {
            let mut told = pin!(self.told.waiting.notified());
            // From here on nothing is missed.
            told.as_mut().enable();
            if self.heard != self.told.times.load(Ordering::Acquire) {
                break;
            }
            if self.told.ended.load(Ordering::Acquire) {
                return Err(Ended);
            }
            told.await;
        }
        self.mark_unchanged();
        Ok(())
    }

    pub(crate) fn has_changed(&self) -> bool {
        self.heard != self.told.times.load(Ordering::Acquire)
    }

    /// Takes all up to now as heard.
    pub(crate) fn mark_unchanged(&mut self) {
        self.heard = self.told.times.load(Ordering::Acquire);
    }

    /// Takes something as new.
    pub(crate) fn mark_changed(&mut self) {
        self.heard = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn those_who_wait_are_woken_in_order_and_told_of_the_end() {
        let (teller, woken) = (Teller::default(), Arc::new(Mutex::new(Vec::new())));
        let waiting: Vec<_> = (0..20)
            .map(|number| {
                let (mut news, woken) = (teller.news(), woken.clone());
                tokio::spawn(async move {
                    news.changed().await.unwrap();
                    woken.lock().unwrap().push(number);
                    news.changed().await
                })
            })
            .collect();
        tokio::task::yield_now().await;
        teller.tell();
        tokio::task::yield_now().await;
        assert_eq!(*woken.lock().unwrap(), (0..20).collect::<Vec<_>>());
        drop(teller);
        for task in waiting {
            assert_eq!(task.await.unwrap(), Err(Ended));
        }
    }

    #[tokio::test]
    async fn what_is_told_while_nobody_waits_is_new() {
        let teller = Teller::default();
        let mut news = teller.news();
        assert!(!news.has_changed());
        teller.tell();
        assert!(news.has_changed());
        assert_eq!(news.changed().await, Ok(()));
        assert!(!news.has_changed());
        news.mark_changed();
        assert_eq!(news.changed().await, Ok(()));
    }
}
