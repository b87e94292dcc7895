//! What is served, and how it is shown: paths that belong to no kind.

use crate::{answer::Answer, call::Call, failure::Failure, kind::Kind, sandbox::Server};

pub(crate) mod print;

/// Answers a path that no kind serves.
pub(crate) fn answer(server: &Server, call: &Call, path: &str) -> Result<Answer, Failure> {
    let _ = (server, call);
    match path {
        "/readyz" | "/livez" | "/healthz" => Ok(Answer::text("ok")),
        _ => Err(Failure::no_such_resource()),
    }
}

/// Whether a field selector may name the field.
pub(crate) fn selectable(kind: &Kind, field: &str) -> bool {
    let own = kind.custom().is_some_and(|custom| custom.selectable.iter().any(|path| path == field));
    own || matches!(field, "metadata.name" | "metadata.namespace")
}
