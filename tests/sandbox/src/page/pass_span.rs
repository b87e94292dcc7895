//! `PassSpan`: the columns of a timeline chart during which a reconcile pass of an object ran.

use crate::fault::{ObservedPass, PassPhase};

/// The columns of a reconcile pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PassSpan {
    number: u64,
    /// The first column.
    pub(super) from: usize,
    /// The column after the last; `None` while the pass is open.
    to: Option<usize>,
    pub(super) text: String,
}

impl PassSpan {
    /// Returns the column after the last; an open pass has one column.
    pub(super) fn to(&self) -> usize {
        self.to.unwrap_or(self.from + 1)
    }
}

/// Adds an entry for a pass: its beginning opens a new span, its end closes that span, and an entry for a whole pass adds
/// a closed span of one column.
pub(super) fn add_entry(passes: &mut Vec<PassSpan>, column: usize, pass: &ObservedPass) {
    let number = pass.number;
    let end = |outcome: &str| (Some(column + 1), format!("pass {number}: {outcome}"));
    let (to, text) = match &pass.part {
        PassPhase::Beginning => (None, String::new()),
        PassPhase::Whole { outcome } => end(outcome),
        PassPhase::End { outcome } => {
            if let Some(open_pass) = passes.iter_mut().rev().find(|open_pass| open_pass.number == number) {
                (open_pass.to, open_pass.text) = end(outcome);
            }
            return;
        }
    };
    passes.push(PassSpan { number, from: column, to, text });
}

/// Ends the passes that have no end yet before `column`, because the process was stopped or the timeline ends.
pub(super) fn end_open(passes: &mut [PassSpan], column: usize) {
    for pass in passes.iter_mut().filter(|pass| pass.to.is_none()) {
        (pass.to, pass.text) = (Some(column), format!("pass {} was cut short", pass.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_reaches_from_its_beginning_to_its_end_or_to_a_stop() {
        let pass = |number: u64, part: PassPhase| ObservedPass {
            number,
            resource: "shops".into(),
            namespace: String::new(),
            name: "a".into(),
            part,
        };
        let outcome = || "done".to_owned();
        let mut passes = Vec::new();
        add_entry(&mut passes, 1, &pass(1, PassPhase::Beginning));
        add_entry(&mut passes, 4, &pass(1, PassPhase::End { outcome: outcome() }));
        add_entry(&mut passes, 5, &pass(2, PassPhase::Whole { outcome: outcome() }));
        add_entry(&mut passes, 7, &pass(3, PassPhase::Beginning));
        end_open(&mut passes, 9);
        add_entry(&mut passes, 9, &pass(4, PassPhase::Beginning));
        end_open(&mut passes, 12);
        let actual: Vec<_> = passes.iter().map(|span| (span.from, span.to(), span.text.as_str())).collect();
        let expected = [
            (1, 5, "pass 1: done"),
            (5, 6, "pass 2: done"),
            (7, 9, "pass 3 was cut short"),
            (9, 12, "pass 4 was cut short"),
        ];
        assert_eq!(actual, expected);
    }
}
