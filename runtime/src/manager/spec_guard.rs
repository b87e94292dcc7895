//! Wraps the client of an upgrade hook so that it can't change the spec of objects of one kind.

use crate::kind::Kind;
use http::{Method, Request};
use kube::client::Body;
use serde_json::Value;

/// Wraps a client so that it refuses requests that change the spec of an existing object of a kind.
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
    let mut segments = path.trim_matches('/').split('/').skip_while(|segment| !matches!(*segment, "api" | "apis"));
    let group = match segments.next() {
        Some("apis") => segments.next().unwrap_or_default(),
        _ => "",
    };
    let rest: Vec<_> = segments.skip(1).collect();
    let rest = match rest.as_slice() {
        ["namespaces", _, rest @ ..] if rest.len() == 2 => rest,
        rest => rest,
    };
    group == kind.group && matches!(rest, [plural, _] if *plural == kind.plural)
}

/// Returns whether the body of a write has a spec, as an object, as a merge patch, or as an operation of a JSON patch. A body that
/// can't be decoded counts as one that has.
fn has_spec(body: &[u8]) -> bool {
    let touches_spec = |path: &Value| {
        path.as_str().is_none_or(|path| path.is_empty() || path == "/spec" || path.starts_with("/spec/"))
    };
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Array(operations)) => operations.iter().any(|operation| {
            operation["op"] != "test"
                && (touches_spec(&operation["path"]) || operation["op"] == "move" && touches_spec(&operation["from"]))
        }),
        Ok(object) => object.get("spec").is_some(),
        // An apply may be YAML.
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
