//! Implements `scale`: the number of replicas of any kind that has the subresource.

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

pub(super) async fn get(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let held = request.stored_object()?;
    request.convert(std::slice::from_ref(&held)).await?;
    let object = held.object(request.kind);
    let paths = paths(request.kind);
    if request.kind.custom().is_some() && at_path(&object, &paths.spec_replicas).is_none() {
        let why = format!("the spec replicas field \".{}\" does not exist", paths.spec_replicas);
        let failure = Failure::internal(format!("Internal error occurred: {why}"));
        return Err(failure.with_causes(vec![json!({"message": why})]));
    }
    read::answer(of_scale(request), StatusCode::OK, scale_of(request.kind, &object))
}

pub(super) async fn replace(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let mut decoded = of_scale(request).decode()?;
    of_scale(request).place(&mut decoded.object)?;
    let versioned = object::version(&decoded.object).is_some();
    loop {
        let held = request.stored_object()?;
        request.convert(std::slice::from_ref(&held)).await?;
        match set(request, &held, &decoded.object).await {
            Ok(written) => return answer(request, written),
            Err(WriteError::Failure(failure, told)) => return Ok(ApiResponse::from(failure).with_warnings(told)),
            Err(WriteError::Conflict) if versioned => return Err(Failure::stale(request.kind, request.name)),
            Err(WriteError::Conflict) => {}
        }
    }
}

pub(super) async fn patch(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let media = Media::of(request)?;
    request.stored_object()?;
    let (patch, _) = Patch::read(of_scale(request), media)?;
    loop {
        let held = request.stored_object()?;
        request.convert(std::slice::from_ref(&held)).await?;
        let attempt = match &patch {
            Patch::Apply(applied) => apply(request, &held, applied).await,
            other => {
                let old = scale_of(request.kind, &held.object(request.kind));
                let mut scale = other.applied_to(of_scale(request), &old)?;
                of_scale(request).place(&mut scale)?;
                set(request, &held, &scale).await
            }
        };
        match attempt {
            Ok(written) => return answer(request, written),
            Err(WriteError::Failure(failure, told)) => return Ok(ApiResponse::from(failure).with_warnings(told)),
            Err(WriteError::Conflict) => {}
        }
    }
}

fn answer(request: ResourceRequest<'_>, written: WriteOutcome) -> Result<ApiResponse, Failure> {
    let scale = scale_of(request.kind, &written.state.object(request.kind));
    Ok(read::answer(of_scale(request), StatusCode::OK, scale)?.with_warnings(written.warnings))
}

/// Returns the request with `Scale` as its kind.
fn of_scale(request: ResourceRequest<'_>) -> ResourceRequest<'_> {
    ResourceRequest { kind: &SCALE, ..request }
}

/// Writes the replicas of a `Scale` into the object that it belongs to.
async fn set(request: ResourceRequest<'_>, held: &Arc<Stored>, scale: &Value) -> Result<WriteOutcome, WriteError> {
    let replicas = replicas(request, scale)?;
    let mut new = held.object(request.kind);
    match object::version(scale) {
        Some(version) => object::metadata_mut(&mut new).insert("resourceVersion".into(), version.into()),
        None => None,
    };
    let uid = object::uid(scale);
    if !uid.is_empty() {
        object::metadata_mut(&mut new).insert("uid".into(), uid.into());
    }
    put(&mut new, &paths(request.kind).spec_replicas, replicas.into());
    // The real server can't convert the previous Scale of a custom resource; therefore nobody owns the replicas
    // afterwards.
    if request.call.verb == Verb::Update && request.kind.custom().is_some() {
        fields::disown_replicas(request, &mut new);
        return write::update(request, held, new, Tracking::Done).await;
    }
    write::update(request, held, new, Tracking::Update).await
}

/// Applies a `Scale` as an apply of the object with only its replicas.
async fn apply(request: ResourceRequest<'_>, held: &Arc<Stored>, applied: &Value) -> Result<WriteOutcome, WriteError> {
    patch::check_applied(of_scale(request), applied)?;
    // The real server takes the lower bits of a number that is too large.
    let replicas = replicas(request, applied)? as i32;
    let mut part = json!({"apiVersion": request.kind.api_version(), "kind": request.kind.kind, "metadata": {"name": request.name}});
    if request.kind.namespaced {
        part["metadata"]["namespace"] = request.namespace.into();
    }
    put(&mut part, &paths(request.kind).spec_replicas, replicas.into());
    let old = held.object(request.kind);
    let mut new = patch::apply(request, Some(&old), &part)?;
    // The real server fails here, too: it treats the Scale as a custom resource of another group.
    if request.kind.custom().is_some() && scale_of(request.kind, &new)["spec"] != scale_of(request.kind, &old)["spec"] {
        let which = format!("{}/{}; autoscaling/v1, Kind=Scale", object::namespace(applied), object::name(applied));
        let why = "to proper version: request to convert CR to an invalid group/version: autoscaling/v1";
        return Err(patch::error_without_reason(format!("failed to convert new object ({which}) {why}")).into());
    }
    request.complete(&mut new);
    write::update(request, held, new, Tracking::Done).await
}

/// Returns the requested replicas. For built-in kinds a negative number makes the `Scale` invalid.
fn replicas(request: ResourceRequest<'_>, scale: &Value) -> Result<i64, Failure> {
    let written = at(scale, &["spec", "replicas"]);
    let Some(replicas) = written.map_or(Some(0), Value::as_i64) else {
        return Err(Failure::bad_request(format!(
            "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal {} into Go struct field ScaleSpec.spec.replicas of type int32",
            written.map_or("value", json_type)
        )));
    };
    if replicas < 0 && request.kind.custom().is_none() {
        let cause = Cause::invalid("spec.replicas", &replicas.into(), "must be greater than or equal to 0");
        return Err(Failure::invalid(&SCALE, request.name, &[cause]));
    }
    Ok(replicas)
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => "number",
    }
}

/// Returns the paths of a kind's replicas and selector.
fn paths(kind: &Kind) -> ScalePaths {
    let own = || ScalePaths {
        spec_replicas: "spec.replicas".into(),
        status_replicas: "status.replicas".into(),
        label_selector: None,
    };
    kind.custom().and_then(|custom| custom.scale.clone()).unwrap_or_else(own)
}

fn scale_of(kind: &Kind, object: &Value) -> Value {
    let paths = paths(kind);
    let number = |path: &str| at_path(object, path).and_then(Value::as_i64).unwrap_or(0);
    let kept = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
    let kept = kept.into_iter().filter_map(|key| Some((key.to_owned(), at(object, &["metadata", key])?.clone())));
    let selector = match (&paths.label_selector, kind.custom()) {
        (Some(path), _) => at_path(object, path).and_then(Value::as_str).unwrap_or_default().to_owned(),
        (None, Some(_)) => String::new(),
        (None, None) => selector(&object["spec"]["selector"]),
    };
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": kept.collect::<Map<_, _>>(),
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

/// Formats a selector in one line; the selector of a ReplicationController is a map of labels.
fn selector(selector: &Value) -> String {
    let of_labels = |labels: &Value| -> Vec<(String, String)> {
        let labels = labels.as_object().into_iter().flatten();
        labels.map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default()))).collect()
    };
    if at(selector, &["matchLabels"]).is_none() && at(selector, &["matchExpressions"]).is_none() {
        return joined(of_labels(selector));
    }
    let mut all = of_labels(&selector["matchLabels"]);
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = text(expression, &["key"]).to_owned();
        let values = expression["values"].as_array();
        let mut values: Vec<_> = values.into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let written = match text(expression, &["operator"]) {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.clone(),
            _ => format!("!{key}"),
        };
        all.push((key, written));
    }
    joined(all)
}

fn joined(mut requirements: Vec<(String, String)>) -> String {
    requirements.sort();
    requirements.into_iter().map(|(_, written)| written).collect::<Vec<_>>().join(",")
}

fn put(object: &mut Value, path: &str, value: Value) {
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let parents: Vec<&str> = parents.split('.').filter(|parent| !parent.is_empty()).collect();
    object::map_at(object, &parents).insert(name.to_owned(), value);
}
