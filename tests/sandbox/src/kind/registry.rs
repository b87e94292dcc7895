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
    /// Returns the kind that a path names; `None` if it is not served.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        self.first(builtin::by_plural(plural), |kind| {
            kind.group == group && kind.version == version && kind.plural == plural
        })
    }

    /// Returns the kind that an object names; `None` if it is not served.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.first(builtin::by_name(kind), |known| {
            known.kind == kind && known.group == group && known.version == version
        })
    }

    /// Returns the kind of a group resource in the first served version; `None` if it is not served.
    pub(crate) fn of_group_resource(&self, group_resource: &str) -> Option<Arc<Kind>> {
        let (plural, group) = group_resource.split_once('.').unwrap_or((group_resource, ""));
        self.first(builtin::by_plural(plural), |kind| {
            *kind.group_resource == *group_resource && kind.plural == plural && kind.group == group
        })
    }

    /// Returns all kinds: the built-in ones, then the custom ones by the name of their CRD.
    pub(crate) fn all(&self) -> Vec<Arc<Kind>> {
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        builtin::kinds().cloned().chain(custom.values().flatten().cloned()).collect()
    }

    /// Sets the served versions of a CRD; an empty list removes them.
    pub(crate) fn define(&self, crd: &str, versions: Vec<Arc<Kind>>) {
        let mut custom = self.custom.write().unwrap_or_else(PoisonError::into_inner);
        if versions.is_empty() {
            custom.remove(crd);
        } else {
            custom.insert(crd.to_owned(), versions);
        }
    }

    /// Returns the first of the given built-in kinds, or else of the custom kinds, that satisfies the predicate.
    fn first(
        &self,
        mut builtin: impl Iterator<Item = &'static Arc<Kind>>,
        wanted: impl Fn(&Kind) -> bool,
    ) -> Option<Arc<Kind>> {
        builtin.find(|kind| wanted(kind)).cloned().or_else(|| {
            let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
            custom.values().flatten().find(|kind| wanted(kind)).cloned()
        })
    }
}
