//! The result of one run: its states, and what went wrong.

use opgen_sandbox::fault::Timeline;

use crate::{failing::Lagging, panics::Panicked, remade::Remade, state::State, writes::Write};

/// What went wrong in a run, whatever it was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It can't even be tried.
    Setup(String),
    /// Its process ended.
    Ended(String),
    /// It never stops to ask, after something.
    Restless(&'static str),
    /// Somebody writes one path without end, after something.
    Endless(&'static str, Write),
    /// It wrote although there was nothing to do.
    Busy(Vec<String>),
    /// It reads the same all the time.
    Polling(Vec<String>),
    /// Another's finalizer is gone, or the object before it was let go.
    Overwritten(String),
    /// The owner was let go before what was made for it was gone.
    Ungated(String),
    /// An object of somebody else is gone or another.
    Meddled(String),
}

/// What a run leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lived {
    /// After the samples were made.
    pub(crate) made: Option<State>,
    /// After the edit, or what the server said to it.
    pub(crate) edited: Option<Result<State, String>>,
    /// While there were second objects.
    pub(crate) beside: Option<State>,
    /// After the edit was undone, or what was lost was seen, or the second objects are gone.
    pub(crate) mended: Option<State>,
    /// After all was deleted.
    pub(crate) left: Option<State>,
    /// What was deleted and made anew on the way.
    pub(crate) remade: Vec<Remade>,
    /// What the server refused last while a changed object was worked on, and never took.
    pub(crate) refused: Vec<Write>,
    /// The objects whose last pass over a changed object failed, with what they say of it.
    pub(crate) failing: Vec<String>,
    /// The changed objects whose status speaks of what they were before.
    pub(crate) lagging: Vec<Lagging>,
    pub(crate) panics: Vec<Panicked>,
    pub(crate) trouble: Option<Trouble>,
    /// Up to where the samples were made.
    pub(crate) calls_to_make: u64,
    /// Up to where the newer release was at rest.
    pub(crate) calls_to_upgrade: u64,
    pub(crate) calls: u64,
    pub(crate) timeline: Timeline,
}
