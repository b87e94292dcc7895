//! `Deadline`: the time at which a check must end. `Obstacle`: the reason why a check ends without success.

use std::fmt::Debug;

use tokio::time::{Duration, Instant, timeout_at};

/// The reason why a check ends early.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// The bucket violates the statement. The text says what was expected and seen.
    Failed(String),
    /// The subject has no such disturbance or limit.
    Unsupported(String),
}

/// The result of a check, or of a part of it.
pub(super) type CheckResult<T = ()> = Result<T, Obstacle>;

/// Returns the result of a check that found a violation, which `problem` describes.
pub(super) fn failed<T>(problem: impl Into<String>) -> CheckResult<T> {
    Err(Obstacle::Failed(problem.into()))
}

/// Fails with a problem unless the condition holds.
pub(super) fn expect(holds: bool, problem: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { failed(problem()) }
}

/// Fails unless two values are equal.
pub(super) fn expect_equal<T: PartialEq + Debug>(what: &str, seen: T, expected: T) -> CheckResult {
    expect(seen == expected, || {
        format!("{what}: expected {}, seen {}", short(&format!("{expected:?}")), short(&format!("{seen:?}")))
    })
}

/// Returns a text for a message: a text of more than 300 characters is cut, and its length in bytes is added.
pub(super) fn short(text: &str) -> String {
    const SHOWN: usize = 300;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text.to_owned(),
    }
}

/// The time at which a check ends at the latest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    end: Instant,
    limit: Duration,
}

impl Deadline {
    /// Returns the deadline of a check that starts now.
    pub(super) fn after(limit: Duration) -> Self {
        Self { end: Instant::now() + limit, limit }
    }

    /// Returns a deadline half a second later, so that a call with this deadline on another thread can return its own result.
    pub(super) fn with_grace(self) -> Self {
        const GRACE: Duration = Duration::from_millis(500);
        Self { end: self.end + GRACE, ..self }
    }

    /// Returns whether the time is over.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Waits for a future until the deadline; `None` if it has not ended by then.
    pub(super) async fn wait<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        timeout_at(self.end, future).await.ok()
    }

    /// Waits for a future until the deadline, and returns its output. `call` names it in the message.
    ///
    /// # Errors
    /// A violation if the future has not ended by then.
    pub(super) async fn within<T>(&self, call: &str, future: impl Future<Output = T>) -> CheckResult<T> {
        let limit = self.limit;
        let ended = self.wait(future).await;
        ended.ok_or_else(|| Obstacle::Failed(format!("expected an end of {call}; it did not end within {limit:?}")))
    }

    /// Waits a moment before something is tried again.
    pub(super) async fn pause(&self) {
        const PAUSE: Duration = Duration::from_millis(20);
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(short("a"), "a");
        let long = "ä".repeat(301);
        assert_eq!(short(&long), format!("{}… (602 bytes)", "ä".repeat(300)));
    }

    #[test]
    fn a_difference_names_what_is_expected_and_seen() {
        assert!(expect_equal("the value", 1, 1).is_ok());
        let Err(Obstacle::Failed(problem)) = expect_equal("the value", 1, 2) else { panic!("1 is not 2") };
        assert_eq!(problem, "the value: expected 2, seen 1");
    }
}
