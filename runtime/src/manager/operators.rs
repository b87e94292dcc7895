//! `Operators`: the operators that run in one process, with the checks before their start.

use super::{
    extensions::{ExtensionError, Extensions},
    operator::Operator,
    run_error::RunError,
};
use crate::{informer::child_store::conflicting_reads, kind::Kind};
use std::collections::BTreeSet;

/// The operators of one process.
#[derive(Clone, Copy)]
pub(super) struct Operators<'o> {
    /// The operator whose options are those of the process.
    pub(super) first: &'o Operator,
    others: &'o [Operator],
}

impl<'o> Operators<'o> {
    /// Returns the only operator of a process.
    pub(super) fn one(operator: &'o Operator) -> Self {
        Self::new(operator, &[])
    }

    pub(super) fn new(first: &'o Operator, others: &'o [Operator]) -> Self {
        Self { first, others }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = &'o Operator> {
        std::iter::once(self.first).chain(self.others)
    }

    /// Returns the kinds of all controllers, in order.
    pub(super) fn kinds(self) -> Vec<Kind> {
        self.iter().flat_map(|operator| operator.factories.iter().map(|factory| factory.kind())).collect()
    }

    /// Returns the kinds whose objects a shared watch delivers to consumers that decode them as Rust types, in the versions of these
    /// types: the primaries of controllers without selectors, and the objects of mapped kinds and listers that need more than metadata.
    pub(super) fn kinds_decoded(self) -> Vec<Kind> {
        let mut decoded = Vec::new();
        for operator in self.iter() {
            for factory in &operator.factories {
                let settings = operator.settings_of(factory.as_ref());
                decoded.extend(settings.selection.is_all().then(|| factory.kind()));
                let mapped = settings.watches.iter().filter(|mapped| !mapped.metadata_only);
                decoded.extend(mapped.map(|mapped| mapped.kind().clone()));
                let listers = settings.listers.iter().filter(|lister| !lister.metadata_only);
                decoded.extend(listers.map(|lister| lister.kind().clone()));
            }
        }
        decoded
    }

    /// Returns a description of the first upgrade hook, for the error that it needs a leader; `None` if no controller has a hook.
    pub(super) fn upgrade_hook(self) -> Option<String> {
        let mut factories = self.iter().flat_map(|operator| &operator.factories);
        let hooked = factories.find(|factory| factory.settings().upgrade.is_some());
        hooked.map(|factory| format!("the upgrade hook of the controller of {}", factory.kind()))
    }

    /// Logs that the operators start.
    pub(super) fn log_start(self) {
        for operator in self.iter() {
            tracing::info!(operator = operator.name, version = operator.version, "starting");
        }
    }

    /// Checks the operators before anything starts: their names are distinct, no two controllers write the same conditions, the manifests
    /// of the trees can be parsed, no tree reads a kind in two versions, only the first operator has webhooks, and the extensions are
    /// valid. Returns the extensions of all operators: runnables, health checks, handlers, webhooks and policies.
    ///
    /// # Errors
    /// Fails for the first mistake.
    pub(super) fn check(self) -> Result<Extensions, Box<RunError>> {
        let (mut names, mut extensions) = (BTreeSet::new(), Extensions::default());
        for operator in self.iter() {
            if !names.insert(&operator.name) {
                return Err(Box::new(RunError::DuplicateOperator { name: operator.name.clone() }));
            }
            operator.check_conditions().map_err(RunError::Conditions)?;
            for factory in &operator.factories {
                let checked = factory.shape().check_manifests();
                checked.map_err(|source| RunError::Manifest { kind: factory.kind(), source })?;
                if let Some((one, other)) = conflicting_reads(factory.shape()) {
                    let versions = [one.api_version(), other.api_version()];
                    return Err(Box::new(RunError::ReadVersions { kind: factory.kind(), read: one, versions }));
                }
            }
            // The certificate and the configurations of the process have the names of the first operator.
            if !std::ptr::eq(operator, self.first) && operator.has_webhooks() {
                let name = operator.name.clone();
                return Err(Box::new(RunError::Extension(ExtensionError::WebhooksOfLaterOperator { name })));
            }
            extensions.add(&operator.extensions);
        }
        extensions.check().map_err(RunError::Extension)?;
        Ok(extensions)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::webhook::Admission;
    use k8s_openapi::api::core::v1::ConfigMap;

    #[test]
    fn only_the_first_operator_of_a_process_has_webhooks() {
        let plain = Operator::new("teams");
        let with_webhook = Operator::new("shops").validates(|_: &Admission<ConfigMap>| Ok(()));
        assert!(Operators::new(&with_webhook, std::slice::from_ref(&plain)).check().is_ok());
        let refused = Operators::new(&plain, std::slice::from_ref(&with_webhook)).check().unwrap_err();
        assert!(
            refused.to_string().starts_with("operator shops has webhooks or converts objects, but is not the first"),
            "{refused}"
        );
    }
}
