//! Implements the subresource `scale`: reads and writes the replicas of an object as an `autoscaling/v1 Scale`.

use std::sync::{Arc, LazyLock, OnceLock};

use http::StatusCode;
use opgen_schema::ScalePaths;
use serde_json::{Map, Value, json};

use crate::{
    call::Verb,
    failure::{Cause, Failure},
    fields,
    kind::{Kind, Origin, SchemaOf},
    object::{self, at, at_path, text},
    patch::{self, Media, Patch},
    request::ResourceRequest,
    response::ApiResponse,
    store::Stored,
    verb::{
        outcome::WriteOutcome,
        read,
        write::{self, Tracking, WriteError},
    },
};

/// The kind `autoscaling/v1 Scale`, which is served only as a subresource of other kinds.
static SCALE: LazyLock<Arc<Kind>> = LazyLock::new(|| {
    Arc::new(Kind {
        group: "autoscaling".into(),
        version: "v1".into(),
        kind: "Scale".into(),
        list_kind: "ScaleList".into(),
        plural: "scales".into(),
        singular: "scale".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: Vec::new(),
        subresources: Vec::new(),
        schema: SchemaOf::Table(OnceLock::new()),
        group_resource: "scales.autoscaling".into(),
        origin: Origin::Builtin,
    })
});

/// Returns the `Scale` of an object. Returns a 500 error if a custom resource does not have the replicas field.
pub(super) async fn get(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let stored = request.stored_object()?;
    request.convert(std::slice::from_ref(&stored)).await?;
    let object = stored.object(request.kind);
    let paths = paths(request.kind);
    if request.kind.custom().is_some() && at_path(&object, &paths.spec_replicas).is_none() {
        let why = format!("the spec replicas field \".{}\" does not exist", paths.spec_replicas);
        let failure = Failure::internal(format!("Internal error occurred: {why}"));
        return Err(failure.with_causes(vec![json!({"message": why})]));
    }
    read::object_response(scale_request(request), StatusCode::OK, scale_of(request.kind, &object))
}

/// Handles an update of the `Scale`. If another write comes in between, an update with a resourceVersion fails, and an update without one
/// is repeated.
pub(super) async fn replace(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let mut decoded = scale_request(request).decode()?;
    scale_request(request).set_name_from_path(&mut decoded.object)?;
    let has_version = object::version(&decoded.object).is_some();
    loop {
        let stored = request.stored_object()?;
        request.convert(std::slice::from_ref(&stored)).await?;
        match write_replicas(request, &stored, &decoded.object).await {
            Ok(written) => return scale_response(request, written),
            Err(WriteError::Failure(failure, failure_warnings)) => {
                return Ok(ApiResponse::from(failure).with_warnings(failure_warnings));
            }
            Err(WriteError::Conflict) if has_version => return Err(Failure::stale(request.kind, request.name)),
            Err(WriteError::Conflict) => {}
        }
    }
}

/// Handles a patch of the `Scale`: applies it to the `Scale` of the object, and writes the replicas into the object.
/// Repeats it after a conflict.
pub(super) async fn patch(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let media = Media::of(request)?;
    // A missing object is reported before an invalid patch.
    request.stored_object()?;
    let (patch, _) = Patch::read(scale_request(request), media)?;
    loop {
        let stored = request.stored_object()?;
        request.convert(std::slice::from_ref(&stored)).await?;
        let result = match &patch {
            Patch::Apply(configuration) => apply(request, &stored, configuration).await,
            other => {
                let old = scale_of(request.kind, &stored.object(request.kind));
                let mut scale = other.apply_to(scale_request(request), &old)?;
                scale_request(request).set_name_from_path(&mut scale)?;
                write_replicas(request, &stored, &scale).await
            }
        };
        match result {
            Ok(written) => return scale_response(request, written),
            Err(WriteError::Failure(failure, failure_warnings)) => {
                return Ok(ApiResponse::from(failure).with_warnings(failure_warnings));
            }
            Err(WriteError::Conflict) => {}
        }
    }
}

/// Returns the response with the `Scale` of the written object.
fn scale_response(request: ResourceRequest<'_>, outcome: WriteOutcome) -> Result<ApiResponse, Failure> {
    let scale = scale_of(request.kind, &outcome.state.object(request.kind));
    Ok(read::object_response(scale_request(request), StatusCode::OK, scale)?.with_warnings(outcome.warnings))
}

/// Returns the request with the kind `Scale` instead of the kind of the scaled object, to decode and encode a `Scale`.
fn scale_request(request: ResourceRequest<'_>) -> ResourceRequest<'_> {
    ResourceRequest { kind: &SCALE, ..request }
}

/// Writes the replicas of a `Scale` into the scaled object. Copies the uid and the resourceVersion of the `Scale`, too, so that the write
/// fails if the stored object has others.
async fn write_replicas(
    request: ResourceRequest<'_>,
    stored: &Arc<Stored>,
    scale: &Value,
) -> Result<WriteOutcome, WriteError> {
    let replicas = replicas(request, scale)?;
    let mut new = stored.object(request.kind);
    match object::version(scale) {
        Some(version) => object::metadata_mut(&mut new).insert("resourceVersion".into(), version.into()),
        None => None,
    };
    let uid = object::uid(scale);
    if !uid.is_empty() {
        object::metadata_mut(&mut new).insert("uid".into(), uid.into());
    }
    set_at_path(&mut new, &paths(request.kind).spec_replicas, replicas.into());
    // The real server can't convert the previous Scale of a custom resource, so that no field manager owns the replicas afterwards.
    if request.call.verb == Verb::Update && request.kind.custom().is_some() {
        fields::disown_replicas(request, &mut new);
        return write::update(request, stored, new, Tracking::Done).await;
    }
    write::update(request, stored, new, Tracking::Update).await
}

/// Handles a server-side apply of a `Scale`: applies an object of the scaled kind that contains only the name and the replicas.
async fn apply(
    request: ResourceRequest<'_>,
    stored: &Arc<Stored>,
    configuration: &Value,
) -> Result<WriteOutcome, WriteError> {
    patch::check_applied(scale_request(request), configuration)?;
    // The real server takes the lower bits of a number that is too large.
    let replicas = replicas(request, configuration)? as i32;
    let mut partial = json!({"apiVersion": request.kind.api_version(), "kind": request.kind.kind, "metadata": {"name": request.name}});
    if request.kind.namespaced {
        partial["metadata"]["namespace"] = request.namespace.into();
    }
    set_at_path(&mut partial, &paths(request.kind).spec_replicas, replicas.into());
    let old = stored.object(request.kind);
    let mut new = patch::apply(request, Some(&old), &partial)?;
    // As the real server, fails if the replicas of a custom resource change: it tries to convert the Scale like a custom resource.
    if request.kind.custom().is_some() && scale_of(request.kind, &new)["spec"] != scale_of(request.kind, &old)["spec"] {
        let scale =
            format!("{}/{}; autoscaling/v1, Kind=Scale", object::namespace(configuration), object::name(configuration));
        let why = "to proper version: request to convert CR to an invalid group/version: autoscaling/v1";
        return Err(patch::error_without_reason(format!("failed to convert new object ({scale}) {why}")).into());
    }
    request.complete(&mut new);
    write::update(request, stored, new, Tracking::Done).await
}

/// Returns the requested replicas, 0 if they are omitted. Returns a 400 error if they are no integer, or a 422 error if
/// they are negative for a built-in kind.
fn replicas(request: ResourceRequest<'_>, scale: &Value) -> Result<i64, Failure> {
    let value = at(scale, &["spec", "replicas"]);
    let Some(replicas) = value.map_or(Some(0), Value::as_i64) else {
        return Err(Failure::bad_request(format!(
            "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal {} into Go struct field ScaleSpec.spec.replicas of type int32",
            value.map_or("value", json_type)
        )));
    };
    if replicas < 0 && request.kind.custom().is_none() {
        let cause = Cause::invalid("spec.replicas", &replicas.into(), "must be greater than or equal to 0");
        return Err(Failure::invalid(&SCALE, request.name, &[cause]));
    }
    Ok(replicas)
}

/// Returns the name of a JSON type in messages of Go's decoder.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => "number",
    }
}

/// Returns the paths of a kind's replicas and selector: those in the CRD of a custom kind, else `spec.replicas` and `status.replicas`.
fn paths(kind: &Kind) -> ScalePaths {
    let builtin_paths = || ScalePaths {
        spec_replicas: "spec.replicas".into(),
        status_replicas: "status.replicas".into(),
        label_selector: None,
    };
    kind.custom().and_then(|custom| custom.scale.clone()).unwrap_or_else(builtin_paths)
}

/// Builds the `Scale` of an object: its metadata, replicas and selector.
fn scale_of(kind: &Kind, object: &Value) -> Value {
    let paths = paths(kind);
    let number = |path: &str| at_path(object, path).and_then(Value::as_i64).unwrap_or(0);
    let metadata = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
    let metadata =
        metadata.into_iter().filter_map(|key| Some((key.to_owned(), at(object, &["metadata", key])?.clone())));
    let selector = match (&paths.label_selector, kind.custom()) {
        (Some(path), _) => at_path(object, path).and_then(Value::as_str).unwrap_or_default().to_owned(),
        (None, Some(_)) => String::new(),
        (None, None) => format_selector(&object["spec"]["selector"]),
    };
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata.collect::<Map<_, _>>(),
        "spec": {}, "status": {"replicas": number(&paths.status_replicas)},
    });
    // Zero is omitted, because the Go field has `omitempty`.
    if number(&paths.spec_replicas) != 0 {
        scale["spec"]["replicas"] = number(&paths.spec_replicas).into();
    }
    if !selector.is_empty() {
        scale["status"]["selector"] = selector.into();
    }
    scale
}

/// Formats a label selector as a query, such as `app=web,tier in (a,b)`. The selector of a ReplicationController is a plain map of labels.
fn format_selector(selector: &Value) -> String {
    let label_requirements = |labels: &Value| -> Vec<(String, String)> {
        let labels = labels.as_object().into_iter().flatten();
        labels.map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default()))).collect()
    };
    if at(selector, &["matchLabels"]).is_none() && at(selector, &["matchExpressions"]).is_none() {
        return join_requirements(label_requirements(selector));
    }
    let mut requirements = label_requirements(&selector["matchLabels"]);
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = text(expression, &["key"]).to_owned();
        let values = expression["values"].as_array();
        let mut values: Vec<_> = values.into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let requirement = match text(expression, &["operator"]) {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.clone(),
            _ => format!("!{key}"),
        };
        requirements.push((key, requirement));
    }
    join_requirements(requirements)
}

/// Joins the requirements of a selector with commas, sorted by their keys. Each item is a key and the text of its requirement.
fn join_requirements(mut requirements: Vec<(String, String)>) -> String {
    requirements.sort();
    requirements.into_iter().map(|(_, requirement)| requirement).collect::<Vec<_>>().join(",")
}

/// Sets the field at a dotted path, and creates its parents.
fn set_at_path(object: &mut Value, path: &str, value: Value) {
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let parents: Vec<&str> = parents.split('.').filter(|parent| !parent.is_empty()).collect();
    object::map_at(object, &parents).insert(name.to_owned(), value);
}
