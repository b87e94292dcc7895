//! Records whether the functions that a future calls read a lister, whose content may change at any time.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

tokio::task_local! {
    /// Set by each read of a lister in the future.
    static IS_READ: Arc<AtomicBool>;
}

/// Runs a future. Returns its output, and whether it has read a lister.
pub(crate) async fn track_lister_reads<T>(run: impl Future<Output = T>) -> (T, bool) {
    let is_read = Arc::new(AtomicBool::new(false));
    let output = IS_READ.scope(is_read.clone(), run).await;
    (output, is_read.load(Ordering::Relaxed))
}

/// Records a read of a lister. Outside [`track_lister_reads`], this does nothing.
pub(super) fn record_lister_read() {
    IS_READ.try_with(|is_read| is_read.store(true, Ordering::Relaxed)).unwrap_or(());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::lister::Lister;

    #[tokio::test]
    async fn a_read_is_recorded_in_the_future_that_makes_it() {
        let lister = Lister::<()>::default();
        let read = async || lister.read(|_| ()).is_ok();
        let (is_read_inside, is_read_outside) = track_lister_reads(async { track_lister_reads(read()).await.1 }).await;
        assert!(is_read_inside && !is_read_outside);
        read().await;
        assert_eq!(track_lister_reads(async {}).await, ((), false));
    }
}
