//! Handles create, update, patch and apply requests for objects that are stored in a bucket.

use super::{
    claim::ResolvedObject,
    commit::Committed,
    failure::{ApiFailure, RequestError},
    fields,
    metadata::metadata_causes,
    object::{
        at, finalizers, generation, has_same_desired_state, is_deleting, is_equal_ignoring, map_mut, metadata_mut,
        name, resource_version, set, uid,
    },
    object_key::KeyedName,
    object_request::ObjectRequest,
    object_schema::{complete, schema_causes},
    patch::PatchDocument,
    secret::encode_string_data,
};
use crate::bucket::error::BucketError;
use opgen_schema::Cause;
use serde_json::Value;

/// An object after a write, and whether the write created it.
#[derive(Debug)]
pub(super) struct WrittenObject {
    pub(super) object: Value,
    pub(super) is_created: bool,
}

/// Whether the `managedFields` of a new state are up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    /// They have to be updated from the changed fields.
    Unknown,
    /// An apply has updated them.
    Done,
}

/// Handles a create request: stores the object of the body, which must have no resourceVersion.
pub(super) async fn create(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    let mut object = request.decode_body()?;
    if resource_version(&object).is_some() {
        return Err(
            ApiFailure::internal_without_reason("resourceVersion should not be set on objects to be created").into()
        );
    }
    request.set_name(&mut object)?;
    create_object(request, object, Ownership::Unknown).await
}

/// Handles an update request, which is tried again after a conflict in the bucket. If the object of the body has a resourceVersion, the
/// second attempt fails with 409, since the conflicting write has changed the version.
pub(super) async fn replace(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    let mut object = request.decode_body()?;
    if name(&object).is_empty() {
        return Err(missing_name(request).into());
    }
    request.set_name(&mut object)?;
    request.store.retry_conflicts(request.name, || replace_current(request, &object)).await
}

/// Makes one attempt of [`replace`]: reads the requested object, and replaces it by the object of the body.
async fn replace_current(request: ObjectRequest<'_>, object: &Value) -> Result<WrittenObject, RequestError> {
    let current = find(request).await?.ok_or_else(|| request.not_found())?;
    if resource_version(object).is_none() && needs_version(request) {
        let why = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &0.into(), why);
        return Err(ApiFailure::invalid(request.kind(), request.name, &[cause]).into());
    }
    update_object(request, &current, object.clone(), Ownership::Unknown).await
}

/// Handles a patch request, which is tried again after a conflict in the bucket. A server-side apply creates an object that does not exist.
pub(super) async fn patch(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    PatchDocument::check_options(request)?;
    request.store.retry_conflicts(request.name, || patch_current(request)).await
}

/// Makes one attempt of [`patch`]: reads the requested object and patches it, or creates it if the patch is an apply and it does not exist.
async fn patch_current(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    match find(request).await? {
        Some(current) => patch_object(request, &PatchDocument::parse(request)?, &current).await,
        None if request.subresource.is_empty() && PatchDocument::is_apply(request) => {
            create_by_apply(request, &PatchDocument::parse(request)?).await
        }
        None => Err(request.not_found().into()),
    }
}

/// Reads the requested object; `None` if it does not exist.
async fn find(request: ObjectRequest<'_>) -> Result<Option<ResolvedObject>, RequestError> {
    match request.key() {
        Some(key) => request.store.resolve(&key).await,
        None => Ok(None),
    }
}

/// Returns whether an update must have a resourceVersion. As in kube-apiserver, it must for Leases and for custom kinds, which are the
/// kinds with a generation here.
fn needs_version(request: ObjectRequest<'_>) -> bool {
    let kind = request.kind();
    kind.has_generation || kind.kind.group == "coordination.k8s.io"
}

/// Returns the error for a request without a name.
fn missing_name(request: ObjectRequest<'_>) -> ApiFailure {
    let name = request.name;
    let why = format!("the name of the object ({name} based on URL) was undeterminable: name must be provided");
    ApiFailure::bad_request(why)
}

/// Applies a patch to an existing object, and stores the result.
async fn patch_object(
    request: ObjectRequest<'_>,
    patch: &PatchDocument,
    current: &ResolvedObject,
) -> Result<WrittenObject, RequestError> {
    let now = request.store.now();
    let mut new = patch.apply_to(request, Some(&current.object), &now)?;
    request.set_name(&mut new)?;
    let ownership = if patch.has_ownership() { Ownership::Done } else { Ownership::Unknown };
    update_object(request, current, new, ownership).await
}

/// Creates an object by a server-side apply, because it does not exist.
///
/// # Errors
/// 409 if the applied object has a `uid`. A conflict in the bucket, after which the request is tried again, if another client has created
/// the object meanwhile.
async fn create_by_apply(request: ObjectRequest<'_>, patch: &PatchDocument) -> Result<WrittenObject, RequestError> {
    let now = request.store.now();
    let mut new = patch.apply_to(request, None, &now)?;
    let requested = uid(&new);
    if !requested.is_empty() {
        let why =
            format!("uid mismatch: the provided object specified uid {requested}, and no existing object was found");
        return Err(ApiFailure::conflict(request.kind(), request.name, &why).into());
    }
    if name(&new).is_empty() {
        return Err(missing_name(request).into());
    }
    request.set_name(&mut new)?;
    match create_object(request, new, Ownership::Done).await {
        // Another client has created the object meanwhile: the next attempt applies to it.
        Err(RequestError::Failure(failure)) if failure.is_name_taken() => {
            Err(BucketError::conflict(request.name).into())
        }
        result => result,
    }
}

/// Prepares, validates and stores a new object: sets its defaults, its name if it has `generateName`, its uid, timestamp and generation.
/// With `dryRun`, it stores nothing.
///
/// # Errors
/// 409 if there is an object of the name, and 422 if the object is invalid.
async fn create_object(
    request: ObjectRequest<'_>,
    mut object: Value,
    ownership: Ownership,
) -> Result<WrittenObject, RequestError> {
    let (store, kind, now) = (request.store, request.kind(), request.store.now());
    encode_string_data(kind, &mut object)?;
    complete(kind, &mut object);
    request.without_server_fields(&mut object);
    if ownership == Ownership::Unknown {
        fields::update(request.writer(&now), None, &mut object);
    }
    request.generate_name(&mut object);
    let metadata = metadata_mut(&mut object);
    metadata.insert("uid".to_owned(), store.random_uid().into());
    metadata.insert("creationTimestamp".to_owned(), now.as_str().into());
    if kind.has_generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    let mut causes = metadata_causes(&object);
    causes.extend(schema_causes(kind, &object, None, false));
    if !causes.is_empty() {
        return Err(ApiFailure::invalid(kind, name(&object), &causes).into());
    }
    let name = name(&object).to_owned();
    let Some(key) = KeyedName::new(&kind.kind, request.namespace, &name).map(|name| name.key()) else {
        let why = format!("an object of {} needs a valid namespace in its path", kind.resource());
        return Err(ApiFailure::bad_request(why).into());
    };
    let already_exists = || RequestError::from(ApiFailure::already_exists(kind, &name));
    match store.resolve(&key).await {
        Ok(None) => {}
        // A failure means that the key has an invalid value, which is not overwritten.
        Ok(Some(_)) | Err(RequestError::Failure(_)) => return Err(already_exists()),
        Err(error) => return Err(error),
    }
    if request.call.options.is_dry_run {
        return Ok(WrittenObject { object, is_created: true });
    }
    match store.create(&key, object).await {
        Ok(object) => Ok(WrittenObject { object, is_created: true }),
        Err(BucketError::Conflict { .. }) => Err(already_exists()),
        Err(error) => Err(error.into()),
    }
}

/// Validates and writes the new state of an existing object, with the fields that only the server sets restored from the stored state. A
/// state that equals the stored one is not written, unless the claim (the copy of an object with finalizers in a second entry) is outdated
/// because an earlier write has failed halfway.
async fn update_object(
    request: ObjectRequest<'_>,
    current: &ResolvedObject,
    mut new: Value,
    ownership: Ownership,
) -> Result<WrittenObject, RequestError> {
    let (store, kind, now, old) = (request.store, request.kind(), request.store.now(), &current.object);
    encode_string_data(kind, &mut new)?;
    complete(kind, &mut new);
    check_preconditions(request, old, &new)?;
    if ownership == Ownership::Unknown {
        fields::update(request.writer(&now), Some(old), &mut new);
    }
    keep_server_fields(&mut new, old);
    if request.subresource == "status" {
        keep_all_but_status(&mut new, old);
    } else {
        if kind.has_status {
            set(map_mut(&mut new), "status", old.get("status").cloned());
        }
        if kind.has_generation && !has_same_desired_state(&new, old, kind.has_status) {
            let next = generation(old).unwrap_or_default() + 1;
            metadata_mut(&mut new).insert("generation".to_owned(), next.into());
        }
    }
    fields::keep_times(old, &mut new);
    let causes = update_causes(request, &new, old);
    if !causes.is_empty() {
        return Err(ApiFailure::invalid(kind, request.name, &causes).into());
    }
    if is_equal_ignoring(&new, old, &["resourceVersion"]) && current.has_settled_claim() {
        return Ok(WrittenObject { object: old.clone(), is_created: false });
    }
    // An object that another client has put into the bucket has no creation timestamp, and gets it with the first write through this API.
    metadata_mut(&mut new).entry("creationTimestamp").or_insert_with(|| now.as_str().into());
    if request.call.options.is_dry_run {
        return Ok(WrittenObject { object: new, is_created: false });
    }
    let Some(key) = request.key() else { return Err(request.not_found().into()) };
    let object = store.update(&key, current, new).await.map(Committed::into_object)?;
    Ok(WrittenObject { object, is_created: false })
}

/// Checks that the resourceVersion and the uid in the new state, if it has them, are those of the stored object.
///
/// # Errors
/// 409 for another version or uid, 422 for a patch that changes the uid, and 500 for a resourceVersion that is no number.
fn check_preconditions(request: ObjectRequest<'_>, old: &Value, new: &Value) -> Result<(), RequestError> {
    let kind = request.kind();
    if let Some(requested) = resource_version(new).filter(|requested| Some(*requested) != resource_version(old)) {
        return Err(match requested.parse::<u64>() {
            Ok(_) => ApiFailure::stale(kind, request.name).into(),
            Err(_) => {
                ApiFailure::internal_without_reason(format!("the resourceVersion {requested:?} is no number")).into()
            }
        });
    }
    let (requested, actual) = (uid(new), uid(old));
    if requested.is_empty() || requested == actual {
        return Ok(());
    }
    if PatchDocument::is_patch(request) {
        let cause = Cause::invalid("metadata.uid", &requested.into(), "field is immutable");
        return Err(ApiFailure::invalid(kind, request.name, &[cause]).into());
    }
    let why = format!("Precondition failed: UID in precondition: {requested}, UID in object meta: {actual}");
    Err(ApiFailure::conflict(kind, request.name, &why).into())
}

/// Restores the metadata that no client can change. A deletion timestamp that only the new state has is not removed: [`update_causes`]
/// refuses the write then.
fn keep_server_fields(new: &mut Value, old: &Value) {
    let old_value = |field: &str| at(old, &["metadata", field]).cloned();
    let metadata = metadata_mut(new);
    for field in ["uid", "creationTimestamp", "generation", "selfLink", "resourceVersion"] {
        set(metadata, field, old_value(field));
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let Some(value) = old_value(field) {
            metadata.insert(field.to_owned(), value);
        }
    }
}

/// Restores everything but the status and `managedFields`, after a write of the status subresource.
fn keep_all_but_status(new: &mut Value, old: &Value) {
    let status = new.get("status").cloned();
    let managed_fields = at(new, &["metadata", "managedFields"]).cloned();
    new.clone_from(old);
    set(map_mut(new), "status", status);
    set(metadata_mut(new), "managedFields", managed_fields);
}

/// Returns the reasons why the new state of an object is invalid: invalid fields, a changed deletion timestamp, or a new finalizer of an
/// object that is being deleted.
fn update_causes(request: ObjectRequest<'_>, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = metadata_causes(new);
    let deleted = |object: &Value| at(object, &["metadata", "deletionTimestamp"]).cloned();
    if deleted(new) != deleted(old) {
        let value = deleted(new).unwrap_or_default();
        causes.push(Cause::invalid("metadata.deletionTimestamp", &value, "field is immutable"));
    }
    if is_deleting(old) && finalizers(new).any(|added| finalizers(old).all(|finalizer| finalizer != added)) {
        let why = "no new finalizers can be added if the object is being deleted";
        causes.push(Cause::forbidden("metadata.finalizers", why));
    }
    causes.extend(schema_causes(request.kind(), new, Some(old), request.subresource == "status"));
    causes
}
