//! Handles list requests: reads the selected objects of a kind from a bucket, and returns them in one response or page by page.

use super::{
    claim::BucketKeyState,
    compressed_objects::CompressedObjects,
    failure::{ApiFailure, RequestError},
    kind_store::KindStore,
    object::{labels_of, partial_metadata},
    object_key::{KeyMeaning, KeyedName, claim_key, meaning, object_name},
    object_request::ObjectRequest,
    selector::ObjectSelector,
    view::BucketView,
};
use crate::bucket::{entry_list::EntryList, error::BucketError};
use parking_lot::Mutex;
use serde_json::json;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The maximum number of times that the entries are listed. A list is repeated if it has writes that the view does not know yet.
const MAX_LISTS: usize = 3;
/// How long the repetition of a list waits for the view to know the last write in the list.
const VIEW_DELAY: Duration = Duration::from_millis(500);
/// The maximum number of lists that are kept for the requests of their further pages, and how long.
const MAX_SNAPSHOTS: usize = 4;
const SNAPSHOT_LIFE: Duration = Duration::from_secs(60);

/// A listed object as JSON.
#[derive(Clone, Debug)]
pub(super) struct ListedObject {
    pub(super) name: KeyedName,
    pub(super) json: Vec<u8>,
}

/// The selected objects of a kind, in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct ObjectList<O> {
    /// The resourceVersion: a watch from it has all changes that the list lacks.
    pub(super) version: u64,
    pub(super) objects: O,
}

/// The lists of which not all pages are read. They make the pages of a list consistent.
#[derive(Debug, Default)]
pub(super) struct ListSnapshots {
    queue: Mutex<SnapshotQueue>,
}

#[derive(Debug, Default)]
struct SnapshotQueue {
    last_id: u64,
    lists: VecDeque<ListSnapshot>,
}

#[derive(Clone, Debug)]
struct ListSnapshot {
    id: u64,
    expires_at: Instant,
    list: Arc<ObjectList<CompressedObjects>>,
}

impl ListSnapshots {
    /// Keeps a list for the requests of its further pages, and returns its id. The oldest list is dropped if there are too many.
    fn keep(&self, list: Arc<ObjectList<CompressedObjects>>) -> u64 {
        let mut queue = self.queue.lock();
        queue.drop_expired();
        queue.last_id += 1;
        let id = queue.last_id;
        if queue.lists.len() >= MAX_SNAPSHOTS {
            queue.lists.pop_front();
        }
        queue.lists.push_back(ListSnapshot { id, expires_at: Instant::now() + SNAPSHOT_LIFE, list });
        id
    }

    /// Returns the list with this id; `None` if it is dropped or expired.
    fn get(&self, id: u64) -> Option<Arc<ObjectList<CompressedObjects>>> {
        let mut queue = self.queue.lock();
        queue.drop_expired();
        queue.lists.iter().find(|snapshot| snapshot.id == id).map(|snapshot| snapshot.list.clone())
    }

    fn remove(&self, id: u64) {
        self.queue.lock().lists.retain(|snapshot| snapshot.id != id);
    }
}

impl SnapshotQueue {
    fn drop_expired(&mut self) {
        let now = Instant::now();
        self.lists.retain(|snapshot| snapshot.expires_at > now);
    }
}

/// Returns a page of the requested list as JSON. The first page lists the objects; if more pages follow, the list is kept in `snapshots`.
/// The continue token is `<id>-<index>`: the id of the kept list and the index of the next object.
pub(super) async fn page(
    request: ObjectRequest<'_>,
    view: &BucketView,
    snapshots: &ListSnapshots,
) -> Result<Vec<u8>, RequestError> {
    let options = &request.call.options;
    let selector = ObjectSelector::parse(request.namespace, options)?;
    let (snapshot_id, list, start) = match options.continue_token.as_str() {
        "" => (None, Arc::new(compressed_list(request, view, &selector).await?), 0),
        token => {
            let parsed = token.split_once('-').and_then(|(id, start)| Some((id.parse().ok()?, start.parse().ok()?)));
            let (id, start) = parsed.ok_or_else(|| ApiFailure::bad_request("continue key is not valid"))?;
            let list = snapshots.get(id).ok_or_else(|| {
                ApiFailure::expired("The provided continue parameter is too old to display a consistent list result.")
            })?;
            (Some(id), list, start)
        }
    };
    // A limit of 0 means that there is no limit.
    let page = match options.limit {
        0 if start == 0 => list.objects.all(),
        0 => list.objects.page(start, usize::MAX),
        limit => list.objects.page(start, limit),
    };
    let page = page.map_err(|error| ApiFailure::internal(error.to_string()))?;
    let remaining = list.objects.len().saturating_sub(start + page.len());
    let token = match (remaining, snapshot_id) {
        (0, Some(id)) => {
            snapshots.remove(id);
            None
        }
        (0, None) => None,
        (_, snapshot_id) => {
            let id = snapshot_id.unwrap_or_else(|| snapshots.keep(list.clone()));
            Some(format!("{id}-{}", start + page.len()))
        }
    };
    Ok(list_text(request, list.version, &page.json, token.map(|token| (token, remaining))))
}

/// Returns a list object as JSON. `items` are its objects as JSON with commas between them, and `rest` has the continue token and the
/// number of the objects on further pages, if there are more.
pub(super) fn list_text(
    request: ObjectRequest<'_>,
    version: u64,
    items: &[u8],
    rest: Option<(String, usize)>,
) -> Vec<u8> {
    let kind = &request.kind().kind;
    let (name, api_version) = if request.call.is_metadata_only {
        ("PartialObjectMetadataList".to_owned(), "meta.k8s.io/v1".to_owned())
    } else {
        (format!("{}List", kind.kind), kind.api_version())
    };
    let mut metadata = json!({"resourceVersion": version.to_string(), "continue": ""});
    if let Some((token, remaining)) = rest {
        metadata["continue"] = token.into();
        metadata["remainingItemCount"] = remaining.into();
    }
    let head = format!("{{\"kind\":{name:?},\"apiVersion\":{api_version:?},\"metadata\":{metadata},\"items\":[");
    [head.as_bytes(), items, &b"]}"[..]].concat()
}

/// Lists the selected objects.
///
/// # Errors
/// The errors of [`visit_selected`].
pub(super) async fn list(
    request: ObjectRequest<'_>,
    view: &BucketView,
    selector: &ObjectSelector,
) -> Result<ObjectList<Vec<ListedObject>>, RequestError> {
    let mut objects = Vec::new();
    let version = visit_selected(request, view, selector, |object| objects.push(object)).await?;
    Ok(ObjectList { version, objects })
}

/// Lists the selected objects like [`list`], but compressed, since the list is kept until its last page is read.
async fn compressed_list(
    request: ObjectRequest<'_>,
    view: &BucketView,
    selector: &ObjectSelector,
) -> Result<ObjectList<CompressedObjects>, RequestError> {
    let mut objects = CompressedObjects::default();
    let version = visit_selected(request, view, selector, |object| objects.push(&object.json)).await?;
    Ok(ObjectList { version, objects })
}

/// Lists the entries of the bucket, calls `visit` with each object that the selector matches, and returns the resourceVersion of the list.
/// The list has all writes that had ended before the call. An object whose value has become invalid is visited in its last valid state if
/// the process has seen that state, and left out otherwise.
///
/// # Errors
/// The errors of the bucket. 503 if the selector names a single object whose value is invalid.
async fn visit_selected(
    request: ObjectRequest<'_>,
    view: &BucketView,
    selector: &ObjectSelector,
    mut visit: impl FnMut(ListedObject) + Send,
) -> Result<u64, RequestError> {
    let store = request.store;
    view.wait_until_synced().await?;
    let (version, entries) = consistent_entries(store, view).await?;
    for key in object_keys(store, &entries) {
        let Some(name) = object_name(&store.kind.kind, key) else { continue };
        let entry = entries.get(key);
        let read = match &entry {
            // The view has already validated this revision.
            Some(entry) if view.shows(key, entry.revision) => store.read_valid_entry(&name, entry),
            entry => store.read_entry(&name, entry.as_ref()),
        };
        let lacks_entry = entry.is_none();
        let claim = entries.get(&claim_key(key)).map(|claim| store.read_claim(&name, &claim));
        let object = match store.key_state(key, read, claim) {
            BucketKeyState::Nothing => None,
            // The list has only the claim, the copy of an object with finalizers in a second entry. The entry may have been created during
            // the list, so the object is read again.
            BucketKeyState::Object(_) if lacks_entry => store.resolve(key).await?.map(|resolved| resolved.object),
            BucketKeyState::Object(resolved) => Some(resolved.object),
            BucketKeyState::Invalid(why) if selector.names(&name.namespace, &name.name) => {
                return Err(store.invalid_value(key, &why).into());
            }
            BucketKeyState::Invalid(_) => store.last_valid(key),
            BucketKeyState::ClaimOutdated(_) | BucketKeyState::EntryLost(_) => {
                store.resolve(key).await?.map(|resolved| resolved.object)
            }
        };
        let Some(object) = object.filter(|object| selector.matches(&name.namespace, &name.name, &labels_of(object)))
        else {
            continue;
        };
        let is_metadata_only = request.call.is_metadata_only;
        let json = if is_metadata_only { partial_metadata(&object).to_string() } else { object.to_string() };
        visit(ListedObject { name, json: json.into_bytes() });
    }
    Ok(version)
}

/// Lists the entries of the bucket, and returns them with a resourceVersion. A watch from this version delivers all changes that are not in
/// the list. The list is repeated, at most [`MAX_LISTS`] times, while it has writes that the view has not received yet.
async fn consistent_entries(store: &KindStore, view: &BucketView) -> Result<(u64, EntryList), BucketError> {
    let mut attempt = 1;
    loop {
        // The view has all changes up to this version, and so has the list, which starts later.
        let (version, known_revision) = view.progress();
        let entries = store.kind.bucket.list().await?;
        let newest = entries.highest_revision().unwrap_or_default();
        if newest <= known_revision || attempt >= MAX_LISTS {
            return Ok((version, entries));
        }
        // The list has writes that the view has not received. A watch from `version` would report them again, after older states.
        attempt += 1;
        view.wait_for_revision(newest, VIEW_DELAY).await;
    }
}

/// Returns the sorted keys of the objects that have an entry or a claim (the copy of an object with finalizers in a second entry), without
/// duplicates. Logs a warning for each key that is not valid for the kind.
fn object_keys<'a>(store: &KindStore, entries: &'a EntryList) -> Vec<&'a str> {
    let mut keys = Vec::new();
    for key in entries.keys() {
        match meaning(&store.kind.kind, key) {
            KeyMeaning::Object(_) => keys.push(key),
            KeyMeaning::Claim(claimed) => keys.push(claimed),
            KeyMeaning::Reserved => {}
            KeyMeaning::Invalid => entries.get(key).iter().for_each(|entry| store.warn_of_invalid_key(entry)),
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}
