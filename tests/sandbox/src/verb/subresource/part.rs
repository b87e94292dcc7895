//! Implements the subresources that write only some fields of an object, such as `finalize`, `approval` and `resize`.

use serde_json::Value;

use crate::{kind::Kind, object, request::ResourceRequest};

/// Returns whether the subresource is read and written like the object itself, except that a write changes only some of its fields.
pub(super) fn writes_some_fields(kind: &Kind, subresource: &str) -> bool {
    match subresource {
        "finalize" => kind.is("", "namespaces"),
        "ephemeralcontainers" | "resize" => kind.is("", "pods"),
        "approval" => kind.is("certificates.k8s.io", "certificatesigningrequests"),
        _ => false,
    }
}

/// Restores all fields of `new` that the subresource of the request does not write to their old values. Does nothing for a write of the
/// object itself, and for subresources such as `status` and `scale`.
pub(crate) fn restore_unwritten(request: ResourceRequest<'_>, new: &mut Value, old: &Value) {
    let Some(subresource) = request.subresource.filter(|subresource| writes_some_fields(request.kind, subresource))
    else {
        return;
    };
    let requested = std::mem::replace(new, old.clone());
    // Sets a field to its requested value, or removes it if the request omits it.
    let mut take_requested = |path: &[&str]| {
        let Some((field, parents)) = path.split_last() else { return };
        let map = object::map_at(new, parents);
        match object::at(&requested, path) {
            Some(value) => map.insert((*field).to_owned(), value.clone()),
            None => map.remove(*field),
        };
    };
    take_requested(&["metadata", "managedFields"]);
    take_requested(&["metadata", "resourceVersion"]);
    match subresource {
        "finalize" => {
            ["labels", "annotations", "finalizers", "ownerReferences"]
                .into_iter()
                .for_each(|field_name| take_requested(&["metadata", field_name]));
            take_requested(&["spec", "finalizers"]);
            if object::at(new, &["spec", "finalizers"])
                .is_some_and(|finalizers| finalizers.as_array().is_some_and(Vec::is_empty))
            {
                object::map_at(new, &["spec"]).remove("finalizers");
            }
        }
        "ephemeralcontainers" => take_requested(&["spec", "ephemeralContainers"]),
        "approval" => take_requested(&["status", "conditions"]),
        // The only other subresource here is `resize`.
        _ => take_requested_resources(new, &requested),
    }
}

/// Sets the resources and resize policies of the containers to those of the requested Pod, which the subresource `resize` may change.
/// Matches the containers by name.
fn take_requested_resources(pod: &mut Value, requested: &Value) {
    for list in ["containers", "initContainers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            let requested_container = requested["spec"][list].as_array().into_iter().flatten();
            let Some(requested_container) = requested_container
                .into_iter()
                .find(|requested_container| requested_container["name"] == container["name"])
            else {
                continue;
            };
            for field in ["resizePolicy", "resources"] {
                if let (Value::Object(fields), Some(value)) = (&mut *container, requested_container.get(field)) {
                    fields.insert(field.to_owned(), value.clone());
                }
            }
        }
    }
}
