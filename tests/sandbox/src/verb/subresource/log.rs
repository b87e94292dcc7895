//! Implements `pods/log`: returns a single line, because the sandbox runs no containers.

use serde_json::Value;

use crate::{failure::Failure, object, request::ResourceRequest, response::ApiResponse};

/// Returns the log of a container: one line that states that containers do not run here, or an empty log before the Pod is bound to a node.
/// Returns a 400 error if the container is waiting.
pub(super) fn log(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let pod = request.stored_object()?.object(request.kind);
    let container = container(request, &pod)?;
    if object::text(&pod, &["spec", "nodeName"]).is_empty() {
        return Ok(ApiResponse::text(""));
    }
    let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    let state = statuses.into_iter().find(|status| status["name"] == *container).map(|status| &status["state"]);
    if let Some(reason) = state.and_then(|state| state["waiting"]["reason"].as_str()) {
        let (pod, why) = (request.name, format!("is waiting to start: {reason}"));
        return Err(Failure::bad_request(format!("container {container:?} in pod {pod:?} {why}")));
    }
    Ok(ApiResponse::text(format!(
        "{container} of {}/{}: containers do not run here\n",
        request.namespace, request.name
    )))
}

/// Returns the name of the container that a request refers to: that of the parameter `container`, else that of the annotation
/// `kubectl.kubernetes.io/default-container`, else that of the only container. Returns a 400 error if there is no such container.
pub(super) fn container(request: ResourceRequest<'_>, pod: &Value) -> Result<String, Failure> {
    let names = |list: &str| {
        let containers = pod["spec"][list].as_array().into_iter().flatten();
        containers.filter_map(|container| container["name"].as_str()).map(str::to_owned).collect::<Vec<_>>()
    };
    let regular = names("containers");
    let annotated = pod["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"].as_str();
    let requested = request.call.options.raw("container").filter(|name| !name.is_empty());
    match requested.or(annotated.filter(|name| regular.iter().any(|container| container == name))) {
        Some(name) => {
            let containers = [regular, names("initContainers"), names("ephemeralContainers")].concat();
            let why = || Failure::bad_request(format!("container {name} is not valid for pod {}", request.name));
            containers.into_iter().find(|container| container == name).ok_or_else(why)
        }
        None if regular.len() == 1 => Ok(regular.concat()),
        None => {
            let why = format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                request.name,
                regular.join(" ")
            );
            let init_containers = names("initContainers");
            let init_containers = if init_containers.is_empty() {
                String::new()
            } else {
                format!(" or one of the init containers: [{}]", init_containers.join(" "))
            };
            Err(Failure::bad_request(why + &init_containers))
        }
    }
}
