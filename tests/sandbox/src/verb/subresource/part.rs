//! Implements the subresources that write only one part of their object.

use serde_json::Value;

use crate::{kind::Kind, object, request::ResourceRequest};

/// Whether the subresource stands for a part of the object, and is read and written as the object is.
pub(super) fn is_part(kind: &Kind, subresource: &str) -> bool {
    match subresource {
        "finalize" => kind.is("", "namespaces"),
        "ephemeralcontainers" | "resize" => kind.is("", "pods"),
        "approval" => kind.is("certificates.k8s.io", "certificatesigningrequests"),
        _ => false,
    }
}

/// Restores all parts of the object that the subresource does not write.
pub(crate) fn restore_unwritten(request: ResourceRequest<'_>, new: &mut Value, old: &Value) {
    let Some(subresource) = request.subresource.filter(|subresource| is_part(request.kind, subresource)) else {
        return;
    };
    let requested = std::mem::replace(new, old.clone());
    let mut keep = |path: &[&str]| {
        let Some((last, above)) = path.split_last() else { return };
        let map = object::map_at(new, above);
        match object::at(&requested, path) {
            Some(value) => map.insert((*last).to_owned(), value.clone()),
            None => map.remove(*last),
        };
    };
    keep(&["metadata", "managedFields"]);
    keep(&["metadata", "resourceVersion"]);
    match subresource {
        "finalize" => {
            ["labels", "annotations", "finalizers", "ownerReferences"]
                .into_iter()
                .for_each(|part| keep(&["metadata", part]));
            keep(&["spec", "finalizers"]);
            if object::at(new, &["spec", "finalizers"]).is_some_and(|own| own.as_array().is_some_and(Vec::is_empty)) {
                object::map_at(new, &["spec"]).remove("finalizers");
            }
        }
        "ephemeralcontainers" => keep(&["spec", "ephemeralContainers"]),
        "approval" => keep(&["status", "conditions"]),
        _ => keep_resources(new, &requested),
    }
}

/// Takes only the resources of the containers from the written Pod, for `resize`.
fn keep_resources(pod: &mut Value, requested: &Value) {
    for list in ["containers", "initContainers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            let wanted = requested["spec"][list].as_array().into_iter().flatten();
            let Some(wanted) = wanted.into_iter().find(|wanted| wanted["name"] == container["name"]) else { continue };
            for part in ["resizePolicy", "resources"] {
                if let (Value::Object(own), Some(value)) = (&mut *container, wanted.get(part)) {
                    own.insert(part.to_owned(), value.clone());
                }
            }
        }
    }
}
