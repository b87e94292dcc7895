//! Converts the outcome of a pass to a `Verdict`, which the status conditions of the object report.

use crate::{
    client::condition_text,
    error::{Error, Result},
};
use opgen_api::__private::{Truth, Verdict, VerdictState};

/// The direction of a pass through the tree: provision (`Up`) or deprovision (`Down`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

/// Converts the outcome of a pass to a verdict, which has the state, reason and message of the status conditions. `None` for a conflict,
/// which changes no condition.
pub(crate) fn verdict_of(direction: Direction, outcome: &Result<()>) -> Option<Verdict> {
    let (done, in_progress) = match direction {
        Direction::Up => ("Provisioned", "Provisioning"),
        Direction::Down => ("Deprovisioned", "Deprovisioning"),
    };
    Some(match outcome {
        Ok(()) if direction == Direction::Up => Verdict::new(Truth::True, VerdictState::Ready, done, ""),
        Ok(()) => Verdict::new(Truth::False, VerdictState::Reconciling, done, "everything is removed"),
        Err(Error::Yield { reason, message }) => {
            let reason = if reason.is_empty() { in_progress } else { reason };
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

/// Returns the verdict for a pass that yields because objects have not been ready for longer than the timeouts of their nodes.
/// The conditions report the owner as stalled, although further passes run as after any yield.
pub(crate) fn timeout_verdict(message: &str) -> Verdict {
    Verdict::new(Truth::False, VerdictState::Stalled, "NodeTimeout", message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use k8s_openapi::jiff::Timestamp;

    #[test]
    fn condition_k7_each_outcome_can_be_read_by_kstatus() {
        // Returns the conditions after an outcome as text; `None` if the outcome changes none.
        let read = |outcome: Result<(), Error>| {
            let mut conditions = Vec::new();
            verdict_of(Direction::Up, &outcome)?.set(&mut conditions, 1, Timestamp::UNIX_EPOCH);
            Some(
                conditions
                    .iter()
                    .map(|condition| format!("{}={}", condition.type_, condition.status))
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        assert_eq!(read(Ok(())).unwrap(), "Available=True Ready=True");
        assert_eq!(
            read(Err(Error::yielding("Waiting", "m"))).unwrap(),
            "Available=False Ready=Unknown Reconciling=True"
        );
        assert_eq!(read(Err(Error::unexpected("broke"))).unwrap(), "Available=False Ready=False Reconciling=True");
        let stalled = "Available=False Ready=False Stalled=True";
        assert_eq!(read(Err(Error::user_action("Edit", "m"))).unwrap(), stalled);
        assert_eq!(read(Err(Error::terminal("Never", "m"))).unwrap(), stalled);
        assert_eq!(read(Err(Error::Conflict("409".into()))), None);
        let mut conditions = Vec::new();
        timeout_verdict("m").set(&mut conditions, 1, Timestamp::UNIX_EPOCH);
        let types: Vec<_> =
            conditions.iter().map(|condition| format!("{}={}", condition.type_, condition.status)).collect();
        assert_eq!(types.join(" "), stalled);
    }

    #[test]
    fn a_teardown_that_succeeds_sets_available_to_false() {
        let mut conditions = Vec::new();
        verdict_of(Direction::Down, &Ok(())).unwrap().set(&mut conditions, 1, Timestamp::UNIX_EPOCH);
        assert_eq!(conditions[0].status, "False");
        assert_eq!(conditions[0].reason, "Deprovisioned");
    }

    #[test]
    fn an_unexpected_error_is_not_quoted_in_a_condition() {
        let verdict = verdict_of(Direction::Up, &Err(Error::unexpected("password=hunter2"))).unwrap();
        assert_eq!(verdict.reason, "Errored");
        assert!(!verdict.message.contains("hunter2"));
    }
}
