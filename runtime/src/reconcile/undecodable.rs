//! Decodes primaries, and reports a decoding error in the status of the object.

use crate::{
    cache::{Encoded, Entry, ReadError},
    error::{Error, Result},
    panic::{Closure, catch},
    reconcile::verdict::Direction,
    reconcile::{control_loop::Loop, next::Next, outcome::OutcomeReport, reconciler::DecodedPrimary},
};

impl Loop {
    /// Decodes a cached object into the Rust type of its kind.
    ///
    /// # Errors
    /// A terminal error if the object doesn't match the type; an unexpected error if the decoding panics.
    pub(super) fn decode(&self, entry: &Entry<Encoded>) -> Result<Box<dyn DecodedPrimary + '_>> {
        let primary = catch(Closure::Object, || self.reconciler.decode(entry)).map_err(Error::unexpected)?;
        primary.map_err(|error| undecodable_error(&error, &self.conversion_problems(entry)))
    }

    /// Returns a text about the fields that a conversion between versions left out of an object, since they often are the reason why the
    /// object can't be decoded; empty if there are none.
    fn conversion_problems(&self, entry: &Entry<Encoded>) -> String {
        let problems = self.stored_object(entry).map(|object| self.reconciler.conversion_problems(&object));
        problems.unwrap_or_default().iter().map(|problem| format!("; {problem}")).collect()
    }

    /// Reports in the status of an object that it can't be decoded, and returns when the next pass runs: only after a change of the object,
    /// unless the decoding panicked, which is retried.
    pub(super) async fn report_undecodable(&self, entry: &Entry<Encoded>, error: Error) -> Result<Next> {
        let (outcome, stored) = (Err(error), self.stored_status(entry));
        self.report_outcome(OutcomeReport::new(entry, Direction::Up, &outcome, &stored)).await?;
        Ok(outcome.map_or_else(|error| self.next_after_error(entry, error), |()| Next::AwaitChange))
    }
}

/// Returns the terminal error for an object that can't be decoded into the Rust type of its kind, with the reason and the fields that a
/// conversion left out.
fn undecodable_error(error: &ReadError, conversion_problems: &str) -> Error {
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    // The error quotes values of the object, so its length is bounded.
    let why = crate::bounds::foreign(&format!("{why}{conversion_problems}"));
    Error::terminal("Undecodable", format!("the object can't be decoded: {why}"))
}
