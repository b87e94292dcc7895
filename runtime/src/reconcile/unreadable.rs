//! Decodes primaries, and reports those that can't be decoded in their status.

use crate::{
    cache::{Encoded, Entry, ReadError},
    condition::Direction,
    error::{Error, Result},
    panic::{Closure, catch},
    reconcile::{control_loop::Loop, next::Next, reconciler::Opened},
};

impl Loop {
    /// Decodes an object.
    ///
    /// # Errors
    /// Terminal, if it doesn't have the form of its kind.
    pub(super) fn open(&self, entry: &Entry<Encoded>) -> Result<Box<dyn Opened + '_>> {
        let opened = catch(Closure::Object, || self.reconciler.open(entry)).map_err(Error::unexpected)?;
        opened.map_err(|error| unreadable(&error))
    }

    /// Writes the error into the status.
    pub(super) async fn say_unreadable(&self, entry: &Entry<Encoded>, error: Error) -> Result<Next> {
        let outcome = Err(error);
        let at = (entry, &entry.header.resource_version);
        self.conclude(at, Direction::Up, &outcome, None, (&self.stored_status(entry), None)).await?;
        Ok(outcome.map_or_else(|error| self.after(entry, error), |()| Next::AwaitChange))
    }
}

fn unreadable(error: &ReadError) -> Error {
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    // The error quotes the object's values.
    let why = crate::bounds::foreign(&why);
    Error::terminal("Undecodable", format!("the object doesn't have the form of its kind: {why}"))
}
