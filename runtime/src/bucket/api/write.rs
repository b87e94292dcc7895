//! Handles create, update, patch and apply requests for objects that are stored in a bucket.

use super::{
    claim::ResolvedObject,
    commit::Committed,
    failure::{ApiFailure, RequestError},
    fields,
    metadata::metadata_causes,
    object::{
        at, finalizers, generation, has_same_desired_state, is_deleting, is_same_but_for, map_mut, metadata_mut, name,
        resource_version, set, uid,
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

/// Handles a create.
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

/// Handles an update. It is repeated after a conflict in the bucket. If the object has a resourceVersion, the repetition fails with a
/// 409, since that version is not the current one any more.
pub(super) async fn replace(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    let mut object = request.decode_body()?;
    if name(&object).is_empty() {
        return Err(missing_name(request).into());
    }
    request.set_name(&mut object)?;
    request.store.retry_conflicts(request.name, || replace_current(request, &object)).await
}

/// Replaces the current state of the object of the path.
async fn replace_current(request: ObjectRequest<'_>, object: &Value) -> Result<WrittenObject, RequestError> {
    let current = find(request).await?.ok_or_else(|| request.not_found())?;
    if resource_version(object).is_none() && needs_version(request) {
        let why = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &0.into(), why);
        return Err(ApiFailure::invalid(request.kind(), request.name, &[cause]).into());
    }
    update_object(request, &current, object.clone(), Ownership::Unknown).await
}

/// Handles a patch, which is applied again after a conflict. An apply creates an object that does not exist.
pub(super) async fn patch(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    PatchDocument::check_options(request)?;
    request.store.retry_conflicts(request.name, || patch_current(request)).await
}

/// Patches the current state of the object of the path.
async fn patch_current(request: ObjectRequest<'_>) -> Result<WrittenObject, RequestError> {
    match find(request).await? {
        Some(current) => patch_object(request, &PatchDocument::parse(request)?, &current).await,
        None if request.subresource.is_empty() && PatchDocument::is_apply(request) => {
            create_by_apply(request, &PatchDocument::parse(request)?).await
        }
        None => Err(request.not_found().into()),
    }
}

/// Reads the object of the path; `None` if it does not exist.
async fn find(request: ObjectRequest<'_>) -> Result<Option<ResolvedObject>, RequestError> {
    match request.key() {
        Some(key) => request.store.resolve(&key).await,
        None => Ok(None),
    }
}

/// Returns whether an update must name the version that it replaces. As in kube-apiserver, it must for custom kinds (which have a
/// generation here) and Leases.
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

/// Creates an object by an apply, because there is none with its name.
///
/// # Errors
/// 409 if the apply has a `uid`. A conflict, after which the request is tried again, if another client has created the object.
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
        // Another client created it in between: the next attempt changes that object.
        Err(RequestError::Failure(failure)) if failure.is_name_taken() => {
            Err(BucketError::conflict(request.name).into())
        }
        result => result,
    }
}

/// Creates an object.
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
    let taken = || RequestError::from(ApiFailure::already_exists(kind, &name));
    match store.resolve(&key).await {
        Ok(None) => {}
        // A failure means that the key has an invalid value, which is not overwritten.
        Ok(Some(_)) | Err(RequestError::Failure(_)) => return Err(taken()),
        Err(error) => return Err(error),
    }
    if request.call.options.is_dry_run {
        return Ok(WrittenObject { object, is_created: true });
    }
    match store.create(&key, object).await {
        Ok(object) => Ok(WrittenObject { object, is_created: true }),
        Err(BucketError::Conflict { .. }) => Err(taken()),
        Err(error) => Err(error.into()),
    }
}

/// Writes a new state of an object. A state that equals the stored one is written only if an earlier write has left its claim outdated.
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
    if is_same_but_for(&new, old, &["resourceVersion"]) && current.has_settled_claim() {
        return Ok(WrittenObject { object: old.clone(), is_created: false });
    }
    // An object that another client has created gets the timestamp with its first write through the API.
    metadata_mut(&mut new).entry("creationTimestamp").or_insert_with(|| now.as_str().into());
    if request.call.options.is_dry_run {
        return Ok(WrittenObject { object: new, is_created: false });
    }
    let Some(key) = request.key() else { return Err(request.not_found().into()) };
    let object = store.update(&key, current, new).await.map(Committed::into_object)?;
    Ok(WrittenObject { object, is_created: false })
}

/// Checks that a write is for the object and the version that are stored.
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

/// Restores the metadata that no write changes. A deletion timestamp that the object did not have stays: [`update_causes`] refuses it.
fn keep_server_fields(new: &mut Value, old: &Value) {
    let kept = |field: &str| at(old, &["metadata", field]).cloned();
    let metadata = metadata_mut(new);
    for field in ["uid", "creationTimestamp", "generation", "selfLink", "resourceVersion"] {
        set(metadata, field, kept(field));
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let Some(value) = kept(field) {
            metadata.insert(field.to_owned(), value);
        }
    }
}

/// Restores everything but the status and `managedFields`.
fn keep_all_but_status(new: &mut Value, old: &Value) {
    let status = new.get("status").cloned();
    let managed_fields = at(new, &["metadata", "managedFields"]).cloned();
    new.clone_from(old);
    set(map_mut(new), "status", status);
    set(metadata_mut(new), "managedFields", managed_fields);
}

/// Returns the errors of a new state.
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
