//! `BucketApi`: answers Kubernetes API requests for the kinds whose objects are in key-value buckets.

use super::{
    call::{ApiCall, ApiVerb},
    delete::{DeletedObject, DeletionOptions, delete, delete_collection, removed_status},
    discovery,
    failure::{ApiFailure, RequestError},
    kind::BucketKind,
    kind_store::KindStore,
    list::{self, ListSnapshots},
    object_request::ObjectRequest,
    path::ApiPath,
    response,
    view::BucketView,
    view_task::FollowedView,
    watch::watch,
    write::{WrittenObject, create, patch, replace},
};
use crate::environment::Environment;
use axum::body::Body;
use http::{Request, Response, StatusCode};
use parking_lot::Mutex;
use std::sync::Arc;

/// The Kubernetes API for kinds in buckets. Clones share it; it ends, with its watches, when the last one is dropped.
#[derive(Clone, Debug)]
pub(crate) struct BucketApi {
    kinds: Arc<[ServedKind]>,
}

/// A kind with its view, an index of its objects that a task keeps up to date. The first list or watch starts the task.
#[derive(Debug)]
struct ServedKind {
    store: Arc<KindStore>,
    view: Mutex<Option<FollowedView>>,
    snapshots: ListSnapshots,
}

impl BucketApi {
    /// Returns the API of some kinds, each in a bucket of its own.
    pub(crate) fn new(kinds: Vec<BucketKind>, environment: Environment) -> Self {
        let served = |kind: BucketKind| ServedKind {
            store: Arc::new(KindStore::new(kind, environment.clone())),
            view: Mutex::default(),
            snapshots: ListSnapshots::default(),
        };
        Self { kinds: kinds.into_iter().map(served).collect() }
    }

    /// Returns whether the path of a request is that of objects of a kind in a bucket.
    pub(crate) fn serves(&self, path: &str) -> bool {
        ApiPath::parse(path).is_some_and(|path| self.kind_of(&path).is_some())
    }

    fn kind_of(&self, path: &ApiPath) -> Option<&ServedKind> {
        self.kinds.iter().find(|served| path.is_of(&served.store.kind.kind))
    }

    /// Answers a request: a request for objects of a kind in a bucket, or a discovery request. Any other path is answered with 404.
    pub(crate) async fn respond(&self, request: Request<kube::client::Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let path = ApiPath::parse(parts.uri.path());
        let Some((path, served)) = path.and_then(|path| Some((path.clone(), self.kind_of(&path)?))) else {
            let kinds: Vec<&BucketKind> = self.kinds.iter().map(|served| &served.store.kind).collect();
            return match discovery::respond(&kinds, parts.uri.path()) {
                Some(found) => response::json(StatusCode::OK, found.to_string().into_bytes()),
                None => response::failure(&ApiFailure::no_such_path()),
            };
        };
        let body = match body.collect_bytes().await {
            Ok(body) => body,
            Err(error) => return response::failure(&ApiFailure::bad_request(error.to_string())),
        };
        let call = ApiCall::new(&parts, body.into());
        let result = served.respond(&path, &call).await;
        result.unwrap_or_else(|error| response::failure(&error.into_failure(&served.store.kind, &path.name)))
    }
}

impl ServedKind {
    /// Returns the view, the index of the objects of the kind. Starts its task if it does not run: at the first call, and after the task
    /// has ended with the tokio runtime that ran it.
    fn view(&self) -> Arc<BucketView> {
        let mut view = self.view.lock();
        if view.as_ref().is_some_and(FollowedView::has_ended) {
            *view = None;
        }
        view.get_or_insert_with(|| FollowedView::start(self.store.clone())).view.clone()
    }

    /// Answers a request for objects of the kind, by its verb.
    ///
    /// # Errors
    /// 404 for an unknown subresource and for a namespace of a cluster-scoped kind, 405 for an unsupported verb, and the error of the verb.
    async fn respond(&self, path: &ApiPath, call: &ApiCall) -> Result<Response<Body>, RequestError> {
        let kind = &self.store.kind;
        let has_path = match path.subresource.as_str() {
            "" => kind.kind.namespaced || path.namespace.is_empty(),
            "status" => kind.has_status,
            _ => false,
        };
        if !has_path {
            return Err(ApiFailure::no_such_path().into());
        }
        let verb = call.verb(!path.name.is_empty())?;
        if !path.subresource.is_empty() && verb == ApiVerb::Delete {
            return Err(ApiFailure::method_not_allowed().into());
        }
        let request = ObjectRequest {
            store: &self.store,
            call,
            namespace: &path.namespace,
            name: &path.name,
            subresource: &path.subresource,
        };
        match verb {
            ApiVerb::Get => get(request).await,
            ApiVerb::List => {
                let text = list::page(request, &self.view(), &self.snapshots).await?;
                Ok(response::json(StatusCode::OK, text))
            }
            ApiVerb::Watch => Ok(response::response(StatusCode::OK, watch(request, &self.view()).await?)),
            ApiVerb::Create => written_response(request, create(request).await?),
            ApiVerb::Update => written_response(request, replace(request).await?),
            ApiVerb::Patch => written_response(request, patch(request).await?),
            ApiVerb::Delete => {
                let status = match delete(request, &DeletionOptions::parse(request)?).await? {
                    DeletedObject::Marked(object) => object,
                    DeletedObject::Removed(object) => removed_status(request, &object),
                };
                Ok(response::object(StatusCode::OK, &status, false))
            }
            ApiVerb::DeleteCollection => {
                let options = DeletionOptions::parse(request)?;
                let text = delete_collection(request, &options, &self.view()).await?;
                Ok(response::json(StatusCode::OK, text))
            }
        }
    }
}

/// Answers a request for one object, which is read from the bucket.
async fn get(request: ObjectRequest<'_>) -> Result<Response<Body>, RequestError> {
    let key = request.key().ok_or_else(|| request.not_found())?;
    let resolved = request.store.resolve(&key).await?.ok_or_else(|| request.not_found())?;
    Ok(response::object(StatusCode::OK, &resolved.object, request.call.is_metadata_only))
}

/// Returns the response with an object after a write.
fn written_response(request: ObjectRequest<'_>, written: WrittenObject) -> Result<Response<Body>, RequestError> {
    let code = if written.is_created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(response::object(code, &written.object, request.call.is_metadata_only))
}
