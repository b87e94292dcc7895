//! What a container has written.

use serde_json::Value;

use crate::{answer::Answer, failure::Failure, object, verb::Asked};

/// Nothing runs, so a container has said only that it is one.
pub(super) fn log(asked: Asked<'_>) -> Result<Answer, Failure> {
    let pod = asked.held()?.object(asked.kind);
    let container = container(asked, &pod)?;
    if object::text(&pod, &["spec", "nodeName"]).is_empty() {
        return Ok(Answer::text(""));
    }
    let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    let state = statuses.into_iter().find(|status| status["name"] == *container).map(|status| &status["state"]);
    if let Some(reason) = state.and_then(|state| state["waiting"]["reason"].as_str()) {
        let (pod, why) = (asked.name, format!("is waiting to start: {reason}"));
        return Err(Failure::bad_request(format!("container {container:?} in pod {pod:?} {why}")));
    }
    Ok(Answer::text(format!("{container} of {}/{}: containers do not run here\n", asked.namespace, asked.name)))
}

/// The container that is meant: the one that is named, or the only one.
pub(super) fn container(asked: Asked<'_>, pod: &Value) -> Result<String, Failure> {
    let names = |list: &str| {
        let containers = pod["spec"][list].as_array().into_iter().flatten();
        containers.filter_map(|container| container["name"].as_str()).map(str::to_owned).collect::<Vec<_>>()
    };
    let own = names("containers");
    let annotated = pod["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"].as_str();
    let named = asked.call.options.other("container").filter(|name| !name.is_empty());
    match named.or(annotated.filter(|name| own.iter().any(|own| own == name))) {
        Some(named) => {
            let all = [own, names("initContainers"), names("ephemeralContainers")].concat();
            let why = || Failure::bad_request(format!("container {named} is not valid for pod {}", asked.name));
            all.into_iter().find(|own| own == named).ok_or_else(why)
        }
        None if own.len() == 1 => Ok(own.concat()),
        None => {
            let why = format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                asked.name,
                own.join(" ")
            );
            let inits = names("initContainers");
            let inits = if inits.is_empty() {
                String::new()
            } else {
                format!(" or one of the init containers: [{}]", inits.join(" "))
            };
            Err(Failure::bad_request(why + &inits))
        }
    }
}
