//! Passes told on the standard output, a JSON object a line: `opgen dev` shows them on its page.

use crate::environment::Environment;
use serde::Serialize;
use std::{
    io::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

/// A line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", tag = "pass")]
enum TraceLine<'a> {
    Begins { number: u64, resource: &'a str, namespace: &'a str, name: &'a str },
    Ends { number: u64, outcome: &'a str },
}

/// The environment, with passes told in place of what observed them.
pub(crate) fn told(environment: Environment) -> Environment {
    let last = AtomicU64::new(0);
    environment.observed(move |pass| {
        let number = last.fetch_add(1, Ordering::Relaxed) + 1;
        let (resource, namespace) = (&*pass.kind.full_name(), pass.namespace.unwrap_or_default());
        tell(&TraceLine::Begins { number, resource, namespace, name: pass.name });
        Box::new(move |outcome| tell(&TraceLine::Ends { number, outcome }))
    })
}

fn tell(line: &TraceLine<'_>) {
    let Ok(mut text) = serde_json::to_vec(line) else { return };
    text.push(b'\n');
    // Whoever listened is gone: nobody misses it.
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
