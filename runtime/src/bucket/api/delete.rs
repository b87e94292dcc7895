//! Handles delete requests: removes objects from a bucket, or marks those with finalizers as being deleted.

use super::{
    failure::{ApiFailure, RequestError},
    joined_objects::JoinedObjects,
    list::{self, ListedObject},
    object::{has_finalizers, is_deleting, mark_deleted, resource_version, uid},
    object_request::ObjectRequest,
    selector::ObjectSelector,
    view::BucketView,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, Preconditions};
use serde_json::{Value, json};

/// The effect of a deletion.
#[derive(Debug)]
pub(super) enum DeletedObject {
    /// The object is removed. This was its last state.
    Removed(Value),
    /// The object has a deletion timestamp, and finalizers that hold it.
    Marked(Value),
}

/// The options of a deletion. The propagation policy and the grace period have no meaning in a bucket.
#[derive(Debug, Default)]
pub(super) struct DeletionOptions {
    preconditions: Preconditions,
    is_dry_run: bool,
}

impl DeletionOptions {
    /// Reads the options of a delete request: the preconditions from the body, and `dryRun` from the body or the query.
    ///
    /// # Errors
    /// 400 if the body is no `DeleteOptions`.
    pub(super) fn parse(request: ObjectRequest<'_>) -> Result<Self, ApiFailure> {
        let is_dry_run = request.call.options.is_dry_run;
        if request.call.body.is_empty() {
            return Ok(Self { is_dry_run, ..Self::default() });
        }
        let decoded: Result<DeleteOptions, _> = serde_json::from_slice(&request.call.body);
        let body =
            decoded.map_err(|error| ApiFailure::bad_request(format!("error decoding DeleteOptions: {error}")))?;
        let is_dry_run_in_body = body.dry_run.is_some_and(|stages| !stages.is_empty());
        Ok(Self { preconditions: body.preconditions.unwrap_or_default(), is_dry_run: is_dry_run || is_dry_run_in_body })
    }

    /// Checks that the object has the uid and the resourceVersion that the preconditions require.
    ///
    /// # Errors
    /// 409 if it has another one.
    fn check(&self, request: ObjectRequest<'_>, object: &Value) -> Result<(), ApiFailure> {
        let actual_version = resource_version(object).unwrap_or_default();
        let Preconditions { uid: requested_uid, resource_version: requested_version } = &self.preconditions;
        for (field, requested, actual) in
            [("UID", requested_uid, uid(object)), ("ResourceVersion", requested_version, actual_version)]
        {
            if let Some(requested) = requested.as_deref().filter(|requested| *requested != actual) {
                let why = format!(
                    "the {field} in the precondition ({requested}) does not match the {field} in record ({actual})"
                );
                return Err(ApiFailure::conflict(request.kind(), request.name, &why));
            }
        }
        Ok(())
    }
}

/// Deletes the object of the path: sets its deletion timestamp if it has finalizers, and removes it otherwise. The deletion is tried again
/// after a conflict in the bucket.
pub(super) async fn delete(
    request: ObjectRequest<'_>,
    options: &DeletionOptions,
) -> Result<DeletedObject, RequestError> {
    let key = request.key().ok_or_else(|| request.not_found())?;
    request.store.retry_conflicts(request.name, || delete_current(request, &key, options)).await
}

/// Makes one attempt of [`delete`] for the object with this key, without a retry after a conflict. With `dryRun`, it writes nothing.
async fn delete_current(
    request: ObjectRequest<'_>,
    key: &str,
    options: &DeletionOptions,
) -> Result<DeletedObject, RequestError> {
    let current = request.store.resolve(key).await?.ok_or_else(|| request.not_found())?;
    let object = &current.object;
    options.check(request, object)?;
    if !has_finalizers(object) {
        if !options.is_dry_run {
            request.store.remove(key, &current).await?;
        }
        return Ok(DeletedObject::Removed(current.object));
    }
    if is_deleting(object) {
        return Ok(DeletedObject::Marked(current.object));
    }
    let mut marked = object.clone();
    mark_deleted(&mut marked, &request.store.now());
    if !options.is_dry_run {
        marked = request.store.update(key, &current, marked).await?.into_object();
    }
    Ok(DeletedObject::Marked(marked))
}

/// Deletes all selected objects, and returns a list object with their last states as JSON. Objects that another client has removed
/// meanwhile are left out.
pub(super) async fn delete_collection(
    request: ObjectRequest<'_>,
    options: &DeletionOptions,
    view: &BucketView,
) -> Result<Vec<u8>, RequestError> {
    let selector = ObjectSelector::parse(request.namespace, &request.call.options)?;
    let selected = list::list(request, view, &selector).await?;
    let mut deleted = JoinedObjects::default();
    for ListedObject { name, .. } in selected.objects {
        let object_request = ObjectRequest { namespace: &name.namespace, name: &name.name, ..request };
        let object = match delete(object_request, options).await {
            Ok(DeletedObject::Removed(object) | DeletedObject::Marked(object)) => object,
            Err(RequestError::Failure(failure)) if failure.code == 404 => continue,
            Err(error) => return Err(error),
        };
        deleted.push(object.to_string().as_bytes());
    }
    Ok(list::list_text(request, selected.version, &deleted.json, None))
}

/// Returns the `Status` object that answers the deletion of an object without finalizers.
pub(super) fn removed_status(request: ObjectRequest<'_>, object: &Value) -> Value {
    let kind = &request.kind().kind;
    let mut details = json!({"name": request.name, "kind": kind.plural, "uid": uid(object)});
    if !kind.group.is_empty() {
        details["group"] = kind.group.as_ref().into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}
