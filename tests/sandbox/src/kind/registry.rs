//! `Registry`: looks up the served kinds, built-in and custom.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::{Kind, builtin};

/// The built-in kinds and the kinds that CRDs define now.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// The served versions of each CRD, by its name.
    custom: RwLock<BTreeMap<String, Vec<Arc<Kind>>>>,
}

impl Registry {
    /// Returns the kind with a group, version and plural, as in a request path; `None` if it is not served.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        self.find_first(builtin::by_plural(plural), |kind| {
            kind.group == group && kind.version == version && kind.plural == plural
        })
    }

    /// Returns the kind with an API version and a name, as in `apiVersion` and `kind` of an object; `None` if it is not
    /// served.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.find_first(builtin::by_name(kind), |known| {
            known.kind == kind && known.group == group && known.version == version
        })
    }

    /// Returns the kind of a group resource, such as `deployments.apps`, in its first served version; `None` if it is not
    /// served.
    pub(crate) fn of_group_resource(&self, group_resource: &str) -> Option<Arc<Kind>> {
        let (plural, group) = group_resource.split_once('.').unwrap_or((group_resource, ""));
        self.find_first(builtin::by_plural(plural), |kind| {
            *kind.group_resource == *group_resource && kind.plural == plural && kind.group == group
        })
    }

    /// Returns all kinds: the built-in ones, then the custom ones by the name of their CRD.
    pub(crate) fn all(&self) -> Vec<Arc<Kind>> {
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        builtin::kinds().cloned().chain(custom.values().flatten().cloned()).collect()
    }

    /// Sets the served versions of the CRD with the name `crd`; an empty list removes them.
    pub(crate) fn define(&self, crd: &str, versions: Vec<Arc<Kind>>) {
        let mut custom = self.custom.write().unwrap_or_else(PoisonError::into_inner);
        if versions.is_empty() {
            custom.remove(crd);
        } else {
            custom.insert(crd.to_owned(), versions);
        }
    }

    /// Returns the first of the given built-in kinds, or else of the custom kinds, that satisfies the predicate.
    fn find_first(
        &self,
        mut builtin: impl Iterator<Item = &'static Arc<Kind>>,
        predicate: impl Fn(&Kind) -> bool,
    ) -> Option<Arc<Kind>> {
        builtin.find(|kind| predicate(kind)).cloned().or_else(|| {
            let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
            custom.values().flatten().find(|kind| predicate(kind)).cloned()
        })
    }
}
