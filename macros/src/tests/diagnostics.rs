//! Tests the messages of invalid input against golden files.

use super::{Expansion, MACROS, assert_golden, check_golden, fixtures};
use proc_macro2::{Group, TokenStream, TokenTree};
use std::{fmt::Write, fs};

const MARKER: &str = "//# ";

#[test]
fn each_mistake_gives_its_message() {
    let mut differences = Vec::new();
    for (name, run) in MACROS {
        for file in fixtures("diagnostics", name) {
            let mut text = String::new();
            for case in cases(&fs::read_to_string(&file).unwrap()) {
                let expansion = run(case.source.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display())));
                writeln!(text, "{MARKER}{}\n{}", case.title, messages(&expansion)).unwrap();
            }
            differences.extend(check_golden(&file.with_extension("txt"), &text).err());
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

/// The macros don't panic on input with a token missing, and their output parses.
#[test]
fn a_token_too_few_is_a_mistake_like_others() {
    for (name, run) in MACROS {
        for file in fixtures("expand", name) {
            let good: TokenStream = fs::read_to_string(&file).unwrap().parse().unwrap();
            for left_out in 0..count(&good) {
                let broken = without(good.clone(), &mut { left_out });
                let tokens = run(broken.clone()).into_tokens();
                assert!(syn::parse2::<syn::File>(tokens).is_ok(), "{}: {broken}", file.display());
            }
        }
    }
}

/// Other modules name the types of each version, also while a history has an error.
#[test]
fn an_invalid_history_leaves_the_types_of_each_version() {
    let source = "#[versions(v1beta1, v1)] mod database { #[derive(Managed)] #[kube(kind = \"Database\")]
        pub struct DatabaseSpec { #[version(added(v7))] pub size: u32, #[version(renamed(v1))] pub limit: u32 } }";
    let (_, run) = MACROS.into_iter().find(|(name, _)| *name == "versions").unwrap();
    let expansion = run(source.parse().unwrap());
    assert_eq!(expansion.diags.errors().len(), 2);
    let code = expansion.code.to_string();
    assert!(["mod v1beta1", "mod v1 "].iter().all(|module| code.contains(module)), "{code}");
    assert_eq!(code.matches("struct DatabaseSpec { pub size : u32 , pub limit : u32").count(), 2, "{code}");
}

fn count(tokens: &TokenStream) -> usize {
    let inside = |token| if let TokenTree::Group(group) = token { count(&group.stream()) } else { 0 };
    tokens.clone().into_iter().map(|token| 1 + inside(token)).sum()
}

/// Returns the tokens without the one at index `at`, counted depth first. Removing a group removes its content.
fn without(tokens: TokenStream, at: &mut usize) -> TokenStream {
    let mut remaining = Vec::new();
    for token in tokens {
        if *at == 0 {
            *at = usize::MAX;
            continue;
        }
        *at -= 1;
        remaining.push(match token {
            TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), without(group.stream(), at))),
            other => other,
        });
    }
    remaining.into_iter().collect()
}

struct Case {
    title: String,
    /// Starts with empty lines, so that positions are those of the file.
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

/// Returns each message after its `line:column`; the second span of a conflict is indented.
fn messages(expansion: &Expansion) -> String {
    let mut text = String::new();
    for error in expansion.diags.errors() {
        for (at, part) in error.into_iter().enumerate() {
            let indent = if at == 0 { "" } else { "    " };
            writeln!(text, "{indent}{} {part}", position(part.span())).unwrap();
        }
    }
    for warning in expansion.diags.warnings() {
        writeln!(text, "{} warning: {}", position(warning.span), warning.text).unwrap();
    }
    text
}

/// An error about something missing has no position; the compiler reports it at the macro.
fn position(span: proc_macro2::Span) -> String {
    let start = span.start();
    if span.byte_range().is_empty() { "macro".to_owned() } else { format!("{}:{}", start.line, start.column + 1) }
}
