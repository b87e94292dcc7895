//! Authorizes a request and passes it to the function that handles its verb.

use super::{create, delete, list, list_options, patch, read, replace, subresource, watch};
use crate::{
    authorization,
    call::{Call, Representation, Target, Verb},
    discovery,
    failure::Failure,
    kind::Kind,
    request::ResourceRequest,
    response::ApiResponse,
    server::Server,
};

/// Authorizes a request and handles it. Returns a 404 error for an unknown kind, and a 405 error for a verb that the
/// kind does not support.
pub(crate) async fn answer(server: &Server, call: &Call) -> Result<ApiResponse, Failure> {
    authorization::authorize(server, call)?;
    let target = match &call.target {
        Target::Path(path) => return discovery::answer(server, call, path),
        Target::Resource(target) => target,
    };
    let Some(kind) = server.kinds.find(&target.group, &target.version, &target.plural) else {
        return discovery::no_kind(server, &target.group, &target.version);
    };
    let request = match ResourceRequest::new(server, call, &kind, target) {
        Ok(request) => request,
        // As kube-apiserver, answers an unknown path of a custom kind with "404 page not found" instead of a `Status`.
        Err(failure) if failure.code == 404 && kind.custom().is_some() => return Ok(discovery::no_page()),
        Err(failure) => return Err(failure),
    };
    if let Some(name) = request.subresource {
        return subresource::answer(request, name).await;
    }
    // Kinds that are not stored, such as reviews, have no paths for single objects.
    if !kind.is_stored() && !request.name.is_empty() {
        return Err(Failure::no_such_resource());
    }
    // Update and patch need a name in the path; create needs a path without one.
    let is_wrong_path = match call.verb {
        Verb::Update | Verb::Patch => request.name.is_empty(),
        Verb::Create => !request.name.is_empty(),
        _ => false,
    };
    if is_wrong_path || !kind.verbs.iter().any(|verb| verb == call.verb.as_str()) {
        return Err(Failure::method_not_allowed());
    }
    if call.accept.representation() == Representation::Unsupported {
        let unknown_shape = call.accept.contains(Representation::UnknownShape);
        return Err(if unknown_shape { Failure::no_such_shape() } else { Failure::no_such_representation() });
    }
    // A request to a deprecated version gets a warning, whether it succeeds or fails.
    let response = handle_verb(request).await;
    match deprecation_warning(&kind) {
        None => response,
        // A request with an unsupported media type (415) fails before the server resolves the version, and gets no warning.
        Some(_) if response.as_ref().is_err_and(|failure| failure.code == 415) => response,
        Some(warning) => Ok(response.unwrap_or_else(ApiResponse::from).with_warnings(vec![warning])),
    }
}

/// Returns the warning for requests to a deprecated version; `None` for other versions.
fn deprecation_warning(kind: &Kind) -> Option<String> {
    if kind.is("", "endpoints") {
        return Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
    }
    kind.custom().and_then(|custom| custom.warning.clone())
}

/// Passes a request for objects of a kind, not for a subresource, to the handler of its verb.
async fn handle_verb(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    match request.call.verb {
        Verb::Get => read::get(request).await,
        Verb::List => list::list(request).await,
        Verb::Watch => {
            // Conversion webhooks run first, because the watch stream only reads their cached results.
            request.convert_all().await?;
            if let Some(version) =
                list_options::version(&request.call.options, Verb::Watch)?.filter(|version| *version > 0)
            {
                request.convert_changes(version).await?;
            }
            watch::watch(request)
        }
        Verb::Create => create::create(request).await,
        Verb::Update => replace::replace(request).await,
        Verb::Patch => patch::patch(request).await,
        Verb::Delete => delete::delete(request).await,
        Verb::DeleteCollection => delete::delete_collection(request).await,
    }
}
