//! Wraps the client of an upgrade hook so that it can't change the spec of objects of one kind.

use crate::kind::Kind;
use http::{Method, Request};
use kube::client::Body;
use serde_json::Value;

/// Wraps the client of an upgrade hook so that it refuses to change the spec of an existing object of a kind, which belongs to the user:
/// PUT and PATCH requests for such an object whose body has a spec. All other requests pass.
pub(super) fn forbid_spec_changes(client: kube::Client, kind: &Kind) -> kube::Client {
    let (namespace, kind) = (client.default_namespace().to_owned(), kind.clone());
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, kind) = (client.clone(), kind.clone());
        async move {
            if !matches!(*request.method(), Method::PUT | Method::PATCH) || !is_object_of(&kind, request.uri().path()) {
                return client.send(request).await;
            }
            let (parts, body) = request.into_parts();
            let bytes = body.collect_bytes().await.map_err(|error| kube::Error::Service(error.into()))?;
            if has_spec(&bytes) {
                let refusal =
                    format!("an upgrade hook must not change the spec of a {kind}, which belongs to its user");
                return Err(kube::Error::Service(refusal.into()));
            }
            client.send(Request::from_parts(parts, Body::from(bytes))).await
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns whether a path is that of an object of the kind, in any version, and of no subresource.
fn is_object_of(kind: &Kind, path: &str) -> bool {
    // A prefix before `api` or `apis` may come from the URL of the cluster.
    let mut segments = path.trim_matches('/').split('/').skip_while(|segment| !matches!(*segment, "api" | "apis"));
    let group = match segments.next() {
        Some("apis") => segments.next().unwrap_or_default(),
        _ => "",
    };
    // The next segment is the version.
    let after_version: Vec<_> = segments.skip(1).collect();
    let resource_and_name = match after_version.as_slice() {
        ["namespaces", _, in_namespace @ ..] if in_namespace.len() == 2 => in_namespace,
        // The path of a cluster-scoped object, such as a Namespace, also has two segments; those of lists and subresources don't.
        cluster_scoped => cluster_scoped,
    };
    group == kind.group && matches!(resource_and_name, [plural, _] if *plural == kind.plural)
}

/// Returns whether the body of a write has a spec: as a field of an object or of a merge patch, or as the target of an operation of a JSON
/// patch. A body that can't be decoded counts as one with a spec.
fn has_spec(body: &[u8]) -> bool {
    // The empty path of a JSON patch is the whole object.
    let touches_spec = |path: &Value| {
        path.as_str().is_none_or(|path| path.is_empty() || path == "/spec" || path.starts_with("/spec/"))
    };
    match serde_json::from_slice::<Value>(body) {
        // The operation `test` changes nothing, and `move` also removes the value at `from`.
        Ok(Value::Array(operations)) => operations.iter().any(|operation| {
            operation["op"] != "test"
                && (touches_spec(&operation["path"]) || operation["op"] == "move" && touches_spec(&operation["from"]))
        }),
        Ok(object) => object.get("spec").is_some(),
        // The body of a server-side apply may be YAML.
        Err(_) => serde_saphyr::from_slice::<Value>(body).map_or(true, |object| object.get("spec").is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};

    #[test]
    fn only_writes_of_an_object_itself_are_checked_for_a_spec() {
        let (deployment, namespace) = (kind_of::<Deployment>(), kind_of::<Namespace>());
        for (kind, path, expected) in [
            (&deployment, "/apis/apps/v1/namespaces/shop/deployments/web", true),
            (&deployment, "/apis/apps/v1beta1/namespaces/shop/deployments/web", true),
            (&deployment, "/k8s/apis/apps/v1/namespaces/shop/deployments/web", true),
            (&deployment, "/apis/apps/v1/namespaces/shop/deployments/web/status", false),
            (&deployment, "/apis/apps/v1/namespaces/shop/deployments", false),
            (&deployment, "/apis/other/v1/namespaces/shop/deployments/web", false),
            (&deployment, "/api/v1/namespaces/shop", false),
            (&namespace, "/api/v1/namespaces/shop", true),
            (&namespace, "/api/v1/namespaces/shop/status", false),
            (&namespace, "/api/v1/namespaces/shop/configmaps/web", false),
        ] {
            assert_eq!(is_object_of(kind, path), expected, "{path}");
        }
    }

    #[test]
    fn unikorn_n6_a_spec_is_found_in_every_form_of_a_write() {
        for (body, expected) in [
            (r#"{"metadata": {"labels": {"a": "b"}}}"#, false),
            (r#"{"spec": {"size": 1}}"#, true),
            (r#"{"spec": null}"#, true),
            ("metadata: {name: a}", false),
            ("spec: {size: 1}", true),
            (r#"[{"op": "add", "path": "/metadata/labels/a", "value": "b"}]"#, false),
            (r#"[{"op": "test", "path": "/spec/size", "value": 1}]"#, false),
            (r#"[{"op": "remove", "path": "/spec/size"}]"#, true),
            (r#"[{"op": "move", "from": "/spec/size", "path": "/metadata/labels/a"}]"#, true),
            (r#"[{"op": "replace", "path": "", "value": {}}]"#, true),
            (r#"[{"op": "add", "path": "/specification", "value": 1}]"#, false),
            ("{", true),
        ] {
            assert_eq!(has_spec(body.as_bytes()), expected, "{body}");
        }
    }
}
