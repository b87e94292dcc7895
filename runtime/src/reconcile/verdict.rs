//! Reads the outcome of a pass as a verdict for the conditions.

use crate::{
    client::condition_text,
    error::{Error, Result},
};
use opgen_api::__private::{Truth, Verdict, VerdictState};

/// Which way a pass went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

/// Reads an outcome; `None` where it says nothing about the object (a conflict).
pub(crate) fn verdict_of(direction: Direction, outcome: &Result<()>) -> Option<Verdict> {
    let (done, going) = match direction {
        Direction::Up => ("Provisioned", "Provisioning"),
        Direction::Down => ("Deprovisioned", "Deprovisioning"),
    };
    Some(match outcome {
        Ok(()) if direction == Direction::Up => Verdict::new(Truth::True, VerdictState::Ready, done, ""),
        Ok(()) => Verdict::new(Truth::False, VerdictState::Reconciling, done, "everything is removed"),
        Err(Error::Yield { reason, message }) => {
            let reason = if reason.is_empty() { going } else { reason };
            Verdict::new(Truth::False, VerdictState::Reconciling, reason, message)
        }
        Err(Error::Conflict(_)) => return None,
        Err(Error::Unexpected(source)) => {
            let (reason, message) = condition_text(source.as_ref());
            Verdict::new(Truth::False, VerdictState::Failing, reason, &message)
        }
        Err(Error::UserAction { reason, message } | Error::Terminal { reason, message }) => {
            Verdict::new(Truth::False, VerdictState::Stalled, reason, message)
        }
    })
}
