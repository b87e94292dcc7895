//! Hears of panics of the program, also of those that it contains.

use std::{
    any::Any,
    cell::RefCell,
    panic::{self, PanicHookInfo},
    sync::Once,
};

/// A panic of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panicked {
    /// File and line.
    pub(crate) place: String,
    pub(crate) message: String,
    /// The object that the pass was over, and the node of its tree, where the program tells of that.
    pub(crate) node: Option<(String, String)>,
}

thread_local! {
    /// What has panicked in the run that goes on in this thread; `None` where there is no run.
    static HEARD: RefCell<Option<Vec<Panicked>>> = const { RefCell::new(None) };
}

/// Listens to the panics of this thread, in which all tasks of a run are, from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !note(info) {
                before(info);
            }
        }));
    });
    HEARD.with_borrow_mut(|heard| *heard = Some(Vec::new()));
}

/// What has panicked since it was listened to; nobody listens any more.
pub(crate) fn heard() -> Vec<Panicked> {
    HEARD.take().unwrap_or_default()
}

/// Takes note of the object and the node of the latest panic; the groups above a node, which a panic ends, too, say nothing more.
pub(crate) fn locate(object: &str, node: &str) {
    // A thread that ends has no such place any more.
    let _ = HEARD.try_with(|heard| {
        let mut heard = heard.try_borrow_mut().ok()?;
        let latest = heard.as_mut()?.last_mut()?;
        latest.node.get_or_insert_with(|| (object.to_owned(), node.to_owned()));
        Some(())
    });
}

/// The message of a panic.
pub(crate) fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

/// Whether somebody listens.
fn note(info: &PanicHookInfo<'_>) -> bool {
    let message = text(info.payload());
    let place =
        info.location().map_or_else(|| "an unknown place".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
    // A thread that ends has no such place any more, and somebody else may be writing to it.
    let noted = HEARD.try_with(|heard| {
        let mut heard = heard.try_borrow_mut().ok()?;
        heard.as_mut()?.push(Panicked { place, message, node: None });
        Some(())
    });
    noted.is_ok_and(|noted| noted.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic)]
    fn a_contained_panic_is_heard_with_its_place() {
        listen();
        let contained = panic::catch_unwind(|| panic!("no {}", "soil"));
        assert!(contained.is_err());
        locate("Garden home", "soil/seeds");
        locate("Garden home", "soil");
        let all = heard();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].message, "no soil");
        assert_eq!(all[0].node, Some(("Garden home".to_owned(), "soil/seeds".to_owned())));
        assert!(all[0].place.starts_with("tests/testing/src/panics.rs:"), "{}", all[0].place);
        assert_eq!(heard(), []);
    }
}
