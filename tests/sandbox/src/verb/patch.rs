//! Implements the verb `patch`: reads the patch, applies it, and retries after a conflict.

use http::StatusCode;
use serde_json::Value;

use super::{
    outcome::WriteOutcome,
    read,
    write::{self, Tracking, WriteError},
};
use crate::{
    authorization,
    call::{Strictness, Verb},
    failure::{Cause, Failure},
    kind::Origin,
    object,
    patch::{Media, Patch},
    request::ResourceRequest,
    response::ApiResponse,
};

/// Handles a patch: applies it to the current object and writes the result; repeats this after a conflict. A server-side apply creates an
/// object that does not exist.
pub(super) async fn patch(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let media = Media::of(request)?;
    let mut parsed = None;
    loop {
        let stored = request.server.store.get(&request.kind.group_resource, request.namespace, request.name);
        // Only an apply creates an object that does not exist, and not on a subresource.
        if stored.is_none() && (media != Media::Apply || request.subresource.is_some()) {
            return Err(Failure::not_found(request.kind, request.name));
        }
        // Parses the patch once, after the lookup, so that a missing object is reported before an invalid patch.
        let (patch, warnings) = match parsed.take() {
            Some(parsed) => parsed,
            None => Patch::read(request, media)?,
        };
        let result = match &stored {
            Some(stored) => patch_existing(request, &patch, &warnings, stored).await,
            None => create_by_apply(request, &patch, &warnings).await,
        };
        match result {
            Ok(written) => {
                let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
                return Ok(read::write_response(request, code, written.state)?.with_warnings(written.warnings));
            }
            Err(WriteError::Failure(failure, unknown_fields)) => {
                return Ok(ApiResponse::from(failure).with_warnings(unknown_fields));
            }
            // Applies the patch again to the current object. A patch with a resourceVersion then fails, because the version has changed.
            Err(WriteError::Conflict) => parsed = Some((patch, warnings)),
        }
    }
}

/// Creates the object of a server-side apply, which also requires the permission to create. Returns a 409 error if the apply contains a
/// uid, since no object has this uid.
async fn create_by_apply(
    request: ResourceRequest<'_>,
    patch: &Patch,
    warnings: &[String],
) -> Result<WriteOutcome, WriteError> {
    super::create::reject_terminating(request, request.name)?;
    let new = patch.created_object(request)?;
    let uid = object::uid(&new);
    if !uid.is_empty() {
        let why = format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        return Err(Failure::conflict(request.kind, request.name, &why).into());
    }
    let (new, warnings) = complete_patched(request, patch, new, &Value::Null, warnings)?;
    let mut call = request.call.clone();
    call.verb = Verb::Create;
    authorization::authorize(request.server, &call)?;
    let written = write::create(request, new, Tracking::Done).await.map_err(|error| error.with_warnings(&warnings))?;
    Ok(WriteOutcome { warnings: [warnings, written.warnings].concat(), ..written })
}

/// Applies the patch to the stored object, completes and writes the result. Returns the written object with all warnings.
async fn patch_existing(
    request: ResourceRequest<'_>,
    patch: &Patch,
    warnings: &[String],
    stored: &std::sync::Arc<crate::store::Stored>,
) -> Result<WriteOutcome, WriteError> {
    request.convert(std::slice::from_ref(stored)).await?;
    let old = stored.object(request.kind);
    let new = patch.apply_to(request, &old)?;
    // An apply has updated `managedFields` already.
    let tracking = if matches!(patch, Patch::Apply(_)) { Tracking::Done } else { Tracking::Update };
    let (new, warnings) = complete_patched(request, patch, new, &old, warnings)?;
    let written =
        write::update(request, stored, new, tracking).await.map_err(|error| error.with_warnings(&warnings))?;
    Ok(WriteOutcome { warnings: [warnings, written.warnings].concat(), ..written })
}

/// Completes the patched object: checks its kind and name, prunes unknown fields and sets defaults. Returns the object
/// and the warnings for the client.
fn complete_patched(
    request: ResourceRequest<'_>,
    patch: &Patch,
    mut new: Value,
    old: &Value,
    warnings: &[String],
) -> Result<(Value, Vec<String>), WriteError> {
    let strictness = request.call.options.field_validation.unwrap_or(Strictness::Warn);
    // Only the error message of strict validation needs the object before pruning.
    let unpruned = (strictness == Strictness::Strict).then(|| new.clone());
    if let Err(failure) = check_type(request, patch, &new, old) {
        let has_no_type = request.kind.custom().is_none() && object::text(&new, &["kind"]).is_empty();
        // Kubernetes decodes an object without a type anyway, and warns about its unknown fields.
        let unknown = crate::schema::prune(request.kind.schema(), &mut new);
        let unknown_fields: Vec<_> = unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
        return Err(WriteError::from(failure).with_warnings(if has_no_type { &unknown_fields } else { &[] }));
    }
    let unknown = request.complete(&mut new).into_iter().map(|field| format!("unknown field {field:?}"));
    let mut all_warnings = warnings.to_vec();
    // An apply with unknown fields was refused already; other pruned fields get no warning.
    if !matches!(patch, Patch::Apply(_)) {
        all_warnings.extend(unknown);
    }
    match strictness {
        Strictness::Strict if !all_warnings.is_empty() => {
            let unpruned = unpruned.unwrap_or_default();
            return Err(patch
                .decoding_error(&unpruned, old, &format!("strict decoding error: {}", all_warnings.join(", ")))
                .into());
        }
        Strictness::Strict | Strictness::Ignore => all_warnings.clear(),
        Strictness::Warn => {}
    }
    // A patch may have removed the name, which the path does not replace.
    let has_name = !object::name(&new).is_empty();
    let result =
        request.set_name_from_path(&mut new).and_then(|()| if has_name { Ok(()) } else { Err(request.missing_name()) });
    match result {
        Ok(()) => Ok((new, all_warnings)),
        Err(failure) => Err(WriteError::from(failure).with_warnings(&all_warnings)),
    }
}

/// Rejects a patch that changes or removes `kind` or `apiVersion` of the object. The errors are those of kube-apiserver, which differ
/// between custom and built-in kinds.
fn check_type(request: ResourceRequest<'_>, patch: &Patch, new: &Value, old: &Value) -> Result<(), Failure> {
    let kind = request.kind;
    let (api_version, kind_name) = (object::text(new, &["apiVersion"]), object::text(new, &["kind"]));
    if api_version == kind.api_version() && kind_name == kind.kind {
        return Ok(());
    }
    if let (Origin::Custom(_), false) = (&kind.origin, kind_name.is_empty() || api_version.is_empty()) {
        let mut causes = Vec::new();
        for (field, value, expected) in
            [("kind", kind_name, kind.kind.clone()), ("apiVersion", api_version, kind.api_version())]
        {
            if value != expected {
                causes.push(Cause::invalid(field, &value.into(), &format!("must be {expected}")));
            }
        }
        // The error names the kind and group in the patched object.
        let mut failure = Failure::invalid(kind, request.name, &causes);
        let (group, _) = api_version.split_once('/').unwrap_or(("", api_version));
        failure.message = failure.message.replacen(&kind.qualified(), &format!("{kind_name}.{group}"), 1);
        failure.details.insert("kind".into(), kind_name.into());
        failure.details.insert("group".into(), group.into());
        return Err(failure);
    }
    if request.kind.custom().is_none() && kind_name.is_empty() {
        return Err(request.missing_name());
    }
    let why = if kind_name.is_empty() {
        format!("Object 'Kind' is missing in '{new}'")
    } else {
        request.other_type(api_version, kind_name)
    };
    Err(patch.decoding_error(new, old, &why))
}
