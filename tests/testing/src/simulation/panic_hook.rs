//! Records the panics of a run with a panic hook, also those that the program catches.

use std::{
    any::Any,
    cell::RefCell,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::Once,
};

/// A recorded panic of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PanicRecord {
    /// File and line.
    pub(crate) location: String,
    pub(crate) message: String,
    /// The reconciled object and the tree node, if the program reports them.
    pub(crate) node: Option<(String, String)>,
}

thread_local! {
    /// The panics of the run on this thread; `None` if there is no run.
    static RECORDS: RefCell<Option<Vec<PanicRecord>>> = const { RefCell::new(None) };
}

/// Starts to record the panics of this thread, on which all tasks of a run execute. The first call installs a panic hook, which passes the
/// panics of threads that do not record on to the previous hook.
pub(crate) fn start_recording() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !record(info) {
                previous(info);
            }
        }));
    });
    RECORDS.with_borrow_mut(|records| *records = Some(Vec::new()));
}

/// Stops recording and returns the recorded panics.
pub(crate) fn stop_recording() -> Vec<PanicRecord> {
    RECORDS.take().unwrap_or_default()
}

/// Calls a function and returns its result. A panic is caught, and not printed.
///
/// # Errors
/// The message and the location of a panic.
pub(crate) fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    start_recording();
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    let records = stop_recording();
    result.map_err(|payload| {
        let location = records.last().map(|record| format!(" at {}", record.location)).unwrap_or_default();
        format!("{}{location}", panic_message(&*payload))
    })
}

/// Adds the reconciled object and the tree node to the latest recorded panic, unless it has them: a panic is reported first for the
/// innermost node, and then for each group around it.
pub(crate) fn locate(object: &str, node: &str) {
    // Does nothing in a thread that ends, which has dropped its records.
    let _ = RECORDS.try_with(|records| {
        let mut records = records.try_borrow_mut().ok()?;
        let latest = records.as_mut()?.last_mut()?;
        latest.node.get_or_insert_with(|| (object.to_owned(), node.to_owned()));
        Some(())
    });
}

/// Returns the message in the payload of a panic, which is a text in most cases.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

/// Records a panic if this thread records panics, and returns whether it does.
fn record(info: &PanicHookInfo<'_>) -> bool {
    let message = panic_message(info.payload());
    let location =
        info.location().map_or_else(|| "an unknown location".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
    // A thread that ends has dropped its records, and a panic may happen while they are borrowed.
    let is_recorded = RECORDS.try_with(|records| {
        let mut records = records.try_borrow_mut().ok()?;
        records.as_mut()?.push(PanicRecord { location, message, node: None });
        Some(())
    });
    is_recorded.is_ok_and(|recorded| recorded.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic)]
    fn a_caught_panic_is_recorded_with_its_location() {
        start_recording();
        let caught = panic::catch_unwind(|| panic!("no {}", "soil"));
        assert!(caught.is_err());
        locate("Garden home", "soil/seeds");
        locate("Garden home", "soil");
        let all = stop_recording();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].message, "no soil");
        assert_eq!(all[0].node, Some(("Garden home".to_owned(), "soil/seeds".to_owned())));
        assert!(all[0].location.starts_with("tests/testing/src/simulation/panic_hook.rs:"), "{}", all[0].location);
        assert_eq!(stop_recording(), []);
    }
}
