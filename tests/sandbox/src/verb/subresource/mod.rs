//! Implements the subresources `status`, `scale`, `log`, `eviction` and others.

use super::{patch, read, replace};
use crate::{call::Verb, failure::Failure, request::ResourceRequest, response::ApiResponse};

pub(crate) use part::restore_unwritten;

mod binding;
mod connect;
mod eviction;
mod log;
mod part;
mod scale;

/// Handles a request for the subresource `name`. Returns a 404 error if the kind has no such subresource, or a 405 error if the subresource
/// does not support the verb.
pub(super) async fn answer(request: ResourceRequest<'_>, name: &str) -> Result<ApiResponse, Failure> {
    let subresource = request.kind.subresource(name).ok_or_else(|| unknown_subresource(request))?;
    if !subresource.verbs.iter().any(|verb| verb == request.call.verb.as_str()) {
        return Err(Failure::method_not_allowed());
    }
    let is_pod = request.kind.is("", "pods");
    match (name, request.call.verb) {
        ("token", Verb::Create) => crate::authentication::token_request::answer(request),
        ("status", Verb::Get) => read::get(request).await,
        ("status", Verb::Update) => replace::replace(request).await,
        ("status", Verb::Patch) => patch::patch(request).await,
        ("scale", Verb::Get) => scale::get(request).await,
        ("scale", Verb::Update) => scale::replace(request).await,
        ("scale", Verb::Patch) => scale::patch(request).await,
        // Reads return the whole object; writes change only the fields that belong to the subresource.
        _ if part::writes_some_fields(request.kind, name) => match request.call.verb {
            Verb::Get => read::get(request).await,
            Verb::Patch => patch::patch(request).await,
            _ => replace::replace(request).await,
        },
        ("log", Verb::Get) if is_pod => log::log(request),
        ("eviction", Verb::Create) if is_pod => eviction::evict(request).await,
        ("binding", Verb::Create) if is_pod => binding::bind(request).await,
        ("attach" | "exec" | "portforward" | "proxy", _) => Err(connect::unsupported_error(request, name)),
        _ => Err(Failure::method_not_allowed()),
    }
}

/// Returns the 404 error for an unknown subresource. For a custom kind, kube-apiserver reports that the object does not exist.
fn unknown_subresource(request: ResourceRequest<'_>) -> Failure {
    if request.kind.custom().is_some() {
        Failure::not_found(request.kind, request.name)
    } else {
        Failure::no_such_resource()
    }
}
