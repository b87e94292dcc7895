//! `Admission`: the admission request that a webhook handles, with its objects decoded.

use super::review::{AdmissionRequest, Operation};
use k8s_openapi::api::authentication::v1::UserInfo;
use parking_lot::Mutex;
use serde_json::Value;
use std::{fmt, sync::Arc};

/// The maximum length of a warning, in characters. API servers truncate longer ones.
const MAX_WARNING: usize = 256;

/// The write that a webhook is called for: the objects, the user, and what the client wants to do. Clones are the same write.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// use opgen::webhook::{Admission, Denied};
///
/// fn check_size(request: &Admission<ConfigMap>) -> Result<(), Denied> {
///     let entries = request.object().data.as_ref().map_or(0, |data| data.len());
///     if entries > 50 {
///         request.warn("more than 50 entries are slow to read");
///     }
///     if entries > 100 {
///         return Err(Denied::invalid("data", "has more than 100 entries; use several ConfigMaps"));
///     }
///     Ok(())
/// }
/// ```
pub struct Admission<K>(Arc<AdmissionState<K>>);

struct AdmissionState<K> {
    request: Arc<AdmissionRequest>,
    objects: AdmittedObjects<K>,
    warnings: Mutex<Vec<String>>,
}

/// The decoded objects of an admission request.
pub(super) enum AdmittedObjects<K> {
    /// The new object of a creation or an update, and the stored one.
    Stored { new: K, old: Option<K> },
    /// The object that is deleted.
    Deleted(K),
}

impl<K> Admission<K> {
    /// Creates an admission from a request of the API server and its decoded objects.
    pub(super) fn new(request: Arc<AdmissionRequest>, objects: AdmittedObjects<K>) -> Self {
        Self(Arc::new(AdmissionState { request, objects, warnings: Mutex::default() }))
    }

    /// Returns the object of the write: the new one, or the old one of a deletion.
    pub fn object(&self) -> &K {
        match &self.0.objects {
            AdmittedObjects::Stored { new: object, .. } | AdmittedObjects::Deleted(object) => object,
        }
    }

    /// Returns the object as the client wants to store it; `None` for a deletion.
    pub fn new_object(&self) -> Option<&K> {
        match &self.0.objects {
            AdmittedObjects::Stored { new, .. } => Some(new),
            AdmittedObjects::Deleted(_) => None,
        }
    }

    /// Returns the stored object; `None` for a creation. It is also `None` if the stored object can't be decoded as `K`, so that an
    /// update can repair it; [`Admission::old_json`] returns that one as well.
    pub fn old_object(&self) -> Option<&K> {
        match &self.0.objects {
            AdmittedObjects::Stored { old, .. } => old.as_ref(),
            AdmittedObjects::Deleted(old) => Some(old),
        }
    }

    /// Returns the new object as JSON, with the fields that `K` doesn't have; null for a deletion.
    pub fn new_json(&self) -> &Value {
        &self.0.request.object
    }

    /// Returns the stored object as JSON; null for a creation.
    pub fn old_json(&self) -> &Value {
        &self.0.request.old_object
    }

    /// Returns the write.
    pub fn operation(&self) -> Operation {
        self.0.request.operation
    }

    /// Returns the user that sent the request, with its groups.
    pub fn user(&self) -> &UserInfo {
        &self.0.request.user_info
    }

    /// Returns the name of the object. It is empty if the API server generates it.
    pub fn name(&self) -> &str {
        &self.0.request.name
    }

    /// Returns the namespace of the object; `None` for a cluster-scoped kind.
    pub fn namespace(&self) -> Option<&str> {
        self.0.request.namespace.as_deref().filter(|namespace| !namespace.is_empty())
    }

    /// Returns the subresource that is written, for example `status`; `None` for the object itself.
    pub fn subresource(&self) -> Option<&str> {
        self.0.request.sub_resource.as_deref().filter(|name| !name.is_empty())
    }

    /// Returns whether nothing will be stored (`--dry-run=server`). A webhook has no side effects, whether this is set or not.
    pub fn is_dry_run(&self) -> bool {
        self.0.request.dry_run == Some(true)
    }

    /// Adds a warning, which `kubectl` prints, whether the write is allowed or denied. Control characters become spaces, and the text
    /// is cut after 256 characters.
    pub fn warn(&self, text: impl AsRef<str>) {
        let plain = text.as_ref().chars().map(|character| if character.is_control() { ' ' } else { character });
        self.0.warnings.lock().push(plain.take(MAX_WARNING).collect());
    }

    /// Removes and returns the warnings that [`Admission::warn`] has added.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.warnings.lock())
    }
}

impl<K> Clone for Admission<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Admission<K> {
    /// Leaves out the objects, since they may be Secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdmissionRequest { name, namespace, operation, .. } = self.0.request.as_ref();
        f.debug_struct("Admission")
            .field("operation", operation)
            .field("namespace", namespace)
            .field("name", name)
            .finish_non_exhaustive()
    }
}
