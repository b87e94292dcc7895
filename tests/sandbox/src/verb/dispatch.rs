//! Routes an authorized request to the verb that answers it.

use super::{create, delete, list, patch, read, replace, subresource, watch};
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

/// Authorizes a request and answers it.
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
        // Beside the paths of a custom kind there is nothing at all.
        Err(failure) if failure.code == 404 && kind.custom().is_some() => return Ok(discovery::no_page()),
        Err(failure) => return Err(failure),
    };
    if let Some(name) = request.subresource {
        return subresource::answer(request, name).await;
    }
    // What is only asked has no names.
    if !kind.is_stored() && !request.name.is_empty() {
        return Err(Failure::no_such_resource());
    }
    // One object is written by its name, and made without it.
    let misplaced = match call.verb {
        Verb::Update | Verb::Patch => request.name.is_empty(),
        Verb::Create => !request.name.is_empty(),
        _ => false,
    };
    if misplaced || !kind.verbs.iter().any(|verb| verb == call.verb.as_str()) {
        return Err(Failure::method_not_allowed());
    }
    if call.accept.form() == Representation::Foreign {
        let shapeless = call.accept.has(Representation::Shapeless);
        return Err(if shapeless { Failure::no_such_shape() } else { Failure::no_such_representation() });
    }
    // Who uses a deprecated version is told so, whatever comes of it.
    let answer = by_verb(request).await;
    match deprecation(&kind) {
        None => answer,
        // What is refused before a kind is looked at tells nothing of it.
        Some(_) if answer.as_ref().is_err_and(|failure| failure.code == 415) => answer,
        Some(warning) => Ok(answer.unwrap_or_else(ApiResponse::from).with_warnings(vec![warning])),
    }
}

fn deprecation(kind: &Kind) -> Option<String> {
    if kind.is("", "endpoints") {
        return Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
    }
    kind.custom().and_then(|custom| custom.warning.clone())
}

async fn by_verb(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    match request.call.verb {
        Verb::Get => read::get(request).await,
        Verb::List => list::list(request).await,
        Verb::Watch => {
            request.convert_all().await?;
            watch::watch(request)
        }
        Verb::Create => create::create(request).await,
        Verb::Update => replace::replace(request).await,
        Verb::Patch => patch::patch(request).await,
        Verb::Delete => delete::delete(request).await,
        Verb::DeleteCollection => delete::delete_collection(request).await,
    }
}
