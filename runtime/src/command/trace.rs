//! Prints the start and the end of each pass as JSON lines, for the web page of `opgen dev`.

use crate::environment::Environment;
use serde::Serialize;
use std::{
    io::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

/// One line of the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", tag = "pass")]
enum TraceLine<'a> {
    Begins { number: u64, resource: &'a str, namespace: &'a str, name: &'a str },
    Ends { number: u64, outcome: &'a str },
}

/// Replaces the pass observer of an environment with one that prints a JSON line when a pass (one reconcile of an object) begins, and one
/// with the same number and the outcome when it ends.
pub(crate) fn with_trace(environment: Environment) -> Environment {
    let counter = AtomicU64::new(0);
    environment.observed(move |pass| {
        let number = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let (resource, namespace) = (&*pass.kind.full_name(), pass.namespace.unwrap_or_default());
        print_line(&TraceLine::Begins { number, resource, namespace, name: pass.name });
        Box::new(move |outcome| print_line(&TraceLine::Ends { number, outcome }))
    })
}

/// Prints a line as JSON to stdout.
fn print_line(line: &TraceLine<'_>) {
    let Ok(mut text) = serde_json::to_vec(line) else { return };
    text.push(b'\n');
    // The write fails if the reader has closed the pipe; nobody needs the line then.
    let _ = std::io::stdout().lock().write_all(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_opgen_dev_reads() {
        let begins =
            TraceLine::Begins { number: 3, resource: "webapps.demo.example.com", namespace: "default", name: "shop" };
        let text =
            r#"{"pass":"begins","number":3,"resource":"webapps.demo.example.com","namespace":"default","name":"shop"}"#;
        assert_eq!(serde_json::to_string(&begins).ok().as_deref(), Some(text));
        let ends = TraceLine::Ends { number: 3, outcome: "done" };
        assert_eq!(
            serde_json::to_string(&ends).ok().as_deref(),
            Some(r#"{"pass":"ends","number":3,"outcome":"done"}"#)
        );
    }
}
