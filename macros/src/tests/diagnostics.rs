//! Mistakes, and what is said about each.

use super::{MACROS, Outcome, assert_golden, check_golden, fixtures};
use std::{fmt::Write, fs};

const MARKER: &str = "//# ";

#[test]
fn each_mistake_gives_its_message() {
    let mut differences = Vec::new();
    for (name, run) in MACROS {
        for file in fixtures("diagnostics", name) {
            let mut said = String::new();
            for case in cases(&fs::read_to_string(&file).unwrap()) {
                let outcome = run(case.source.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display())));
                writeln!(said, "{MARKER}{}\n{}", case.title, shown(&outcome)).unwrap();
            }
            differences.extend(check_golden(&file.with_extension("txt"), &said).err());
        }
    }
    assert_golden(&differences);
}

#[test]
fn code_beside_errors_is_valid_syntax() {
    for (name, run) in MACROS {
        for file in fixtures("diagnostics", name) {
            for case in cases(&fs::read_to_string(&file).unwrap()) {
                let tokens = run(case.source.parse().unwrap()).into_tokens();
                assert!(syn::parse2::<syn::File>(tokens).is_ok(), "{}: {}", file.display(), case.title);
            }
        }
    }
}

struct Case {
    title: String,
    /// Empty lines first, so that positions are those of the file.
    source: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix(MARKER), cases.last_mut()) {
            (Some(title), _) => cases.push(Case { title: title.to_owned(), source: "\n".repeat(at + 1) }),
            (None, Some(case)) => {
                case.source.push_str(line);
                case.source.push('\n');
            }
            (None, None) => (),
        }
    }
    cases
}

/// `line:column` of each message; what belongs to the one before is indented.
fn shown(outcome: &Outcome) -> String {
    let mut said = String::new();
    for error in outcome.diags.errors() {
        for (at, part) in error.into_iter().enumerate() {
            let indent = if at == 0 { "" } else { "    " };
            writeln!(said, "{indent}{} {part}", place(part.span())).unwrap();
        }
    }
    for warning in outcome.diags.warnings() {
        writeln!(said, "{} warning: {}", place(warning.span), warning.text).unwrap();
    }
    said
}

/// What is missing has no place of its own; the compiler shows it at the name of the macro.
fn place(span: proc_macro2::Span) -> String {
    let start = span.start();
    if span.byte_range().is_empty() { "macro".to_owned() } else { format!("{}:{}", start.line, start.column + 1) }
}
