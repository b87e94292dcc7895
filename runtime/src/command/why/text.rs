//! Formats an explanation as a tree of reasons on one screen, with the root causes at the end.

use crate::command::why::Why;
use std::fmt;

/// The maximum number of reasons that are shown for one object; further ones are counted.
const MAX_REASONS: usize = 4;
/// The maximum number of lines, without the causes.
const MAX_LINES: usize = 20;

impl fmt::Display for Why {
    /// Writes the tree of reasons in at most `MAX_LINES` lines, and below it at most `MAX_REASONS` root causes, each once.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.line()];
        self.add_reasons("", &mut lines);
        if lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES - 1);
            lines.push("…".to_owned());
        }
        lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        if self.reasons.is_empty() {
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
        causes.iter().take(MAX_REASONS).try_for_each(|cause| writeln!(f, "  {cause}"))?;
        match causes.len().saturating_sub(MAX_REASONS) {
            0 => Ok(()),
            hidden => writeln!(f, "  and {hidden} more"),
        }
    }
}

impl Why {
    /// Returns the object and the statement about it as one line.
    fn line(&self) -> String {
        format!("{} {}", self.object, self.state)
    }

    /// Appends a line for each reason, with the lines of its own reasons indented below it. Shows at most `MAX_REASONS` reasons, and counts
    /// the others in a last line.
    fn add_reasons(&self, indent: &str, lines: &mut Vec<String>) {
        let shown = &self.reasons[..self.reasons.len().min(MAX_REASONS)];
        let hidden = self.reasons.len() - shown.len();
        for (index, why) in shown.iter().enumerate() {
            let is_last = index + 1 == shown.len() && hidden == 0;
            let (branch, child_indent) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            lines.push(format!("{indent}{branch}{}", why.line()));
            why.add_reasons(&format!("{indent}{child_indent}"), lines);
        }
        if hidden > 0 {
            lines.push(format!("{indent}└─ and {hidden} more"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Why;

    fn why(object: &str, reasons: Vec<Why>) -> Why {
        Why::new(object, "is so").with_reasons(reasons)
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
        let nine_with =
            |reasons: Vec<Why>| (0..9).map(|number| why(&number.to_string(), reasons.clone())).collect::<Vec<_>>();
        let text = why("A", nine_with(nine_with(nine_with(vec![])))).to_string();
        assert!(text.lines().count() <= 28 && text.contains("└─ and 5 more"), "{text}");
        assert!(text.ends_with("  and 5 more\n"), "{text}");
    }
}
