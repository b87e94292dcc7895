//! A chain of reasons for people: on one screen, with the causes at the end.

use crate::command::why::Why;
use std::fmt;

/// How many reasons of one object are shown; the others are counted.
const WIDEST: usize = 4;
/// How many lines there are at most, the causes not counted.
const LONGEST: usize = 20;

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.line()];
        self.below("", &mut lines);
        if lines.len() > LONGEST {
            lines.truncate(LONGEST - 1);
            lines.push("…".to_owned());
        }
        lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        if self.because.is_empty() {
            return Ok(());
        }
        let mut causes: Vec<String> = Vec::new();
        for cause in self.causes() {
            let line = cause.line();
            if !causes.contains(&line) {
                causes.push(line);
            }
        }
        let title = if causes.len() == 1 { "cause" } else { "causes" };
        writeln!(f, "\n{title}:")?;
        causes.iter().take(WIDEST).try_for_each(|cause| writeln!(f, "  {cause}"))?;
        match causes.len().saturating_sub(WIDEST) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

impl Why {
    fn line(&self) -> String {
        format!("{} {}", self.object, self.says)
    }

    fn below(&self, indent: &str, lines: &mut Vec<String>) {
        let shown = &self.because[..self.because.len().min(WIDEST)];
        let more = self.because.len() - shown.len();
        for (at, why) in shown.iter().enumerate() {
            let is_last = at + 1 == shown.len() && more == 0;
            let (branch, deeper) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            lines.push(format!("{indent}{branch}{}", why.line()));
            why.below(&format!("{indent}{deeper}"), lines);
        }
        if more > 0 {
            lines.push(format!("{indent}└─ and {more} more"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Why;

    fn why(object: &str, because: Vec<Why>) -> Why {
        Why::new(object, "is so").because(because)
    }

    #[test]
    fn a_chain_ends_with_its_cause() {
        let chain = why("A", vec![why("B", vec![why("C", vec![])]), why("D", vec![why("C", vec![])])]);
        let text = "A is so\n├─ B is so\n│  └─ C is so\n└─ D is so\n   └─ C is so\n\ncause:\n  C is so\n";
        assert_eq!(chain.to_string(), text);
        assert_eq!(why("A", vec![]).to_string(), "A is so\n");
    }

    #[test]
    fn many_reasons_fit_a_screen() {
        let many = |below: Vec<Why>| (0..9).map(|number| why(&number.to_string(), below.clone())).collect::<Vec<_>>();
        let text = why("A", many(many(many(vec![])))).to_string();
        assert!(text.lines().count() <= 28 && text.contains("└─ and 5 more"), "{text}");
        assert!(text.ends_with("  and 5 more\n"), "{text}");
    }
}
