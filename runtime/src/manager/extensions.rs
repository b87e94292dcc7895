//! `Extensions`: the runnables, health checks, handlers and webhooks that the user of an operator adds to its process.

use super::{
    checks::{HealthCheck, Probe},
    runnable::Runnable,
};
use crate::{
    metrics::handler::MetricsHandler,
    policy::Policies,
    webhook::{WebhookDescription, WebhookError, handler::AdmissionHandler},
};
use std::collections::BTreeSet;

/// The check of `/readyz` that an operator with webhooks has.
pub(super) const WEBHOOK_CHECK: &str = "webhooks";

/// The parts that the user adds to the process of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions {
    pub(super) runnables: Vec<Runnable>,
    pub(super) readyz: Vec<HealthCheck>,
    pub(super) livez: Vec<HealthCheck>,
    pub(super) handlers: Vec<MetricsHandler>,
    pub(crate) webhooks: Vec<AdmissionHandler>,
    pub(crate) policies: Policies,
}

/// A health check, a handler or a webhook can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtensionError {
    /// A health check has the name of another one.
    #[error("there are two checks {path:?}; give each check a name of its own")]
    DuplicateCheck {
        /// The path of the check.
        path: String,
    },
    /// The name of a health check is no part of a path.
    #[error("{name:?} is no name for a health check; use letters, digits, `-`, `_` and `.`")]
    CheckName {
        /// The name.
        name: String,
    },
    /// The metrics server has another handler of this path.
    #[error("there are two handlers of {path:?} on the metrics server; give each handler a path of its own")]
    DuplicateHandler {
        /// The path.
        path: String,
    },
    /// The path of a handler is not absolute, or contains other characters than those of a plain path.
    #[error("{path:?} is no path for a handler of the metrics server; use for example \"/debug/cache\"")]
    HandlerPath {
        /// The path.
        path: String,
    },
    /// An operator that is not the first of its process has webhooks: their configurations would have other names than those of the
    /// process, and so no certificate.
    #[error(
        "operator {name} has webhooks or converts objects, but is not the first operator of its process; make it the first one, or run it in a process \
         of its own"
    )]
    WebhooksOfLaterOperator {
        /// The name of the operator.
        name: String,
    },
    /// A webhook has an invalid setting or the name of another one.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
}

impl Extensions {
    /// Adds the runnables, health checks, handlers, webhooks and policies of another operator of the process.
    pub(super) fn add(&mut self, other: &Self) {
        let Self { runnables, readyz, livez, handlers, webhooks, policies } = other.clone();
        self.runnables.extend(runnables);
        self.readyz.extend(readyz);
        self.livez.extend(livez);
        self.handlers.extend(handlers);
        self.webhooks.extend(webhooks);
        self.policies.validating.extend(policies.validating);
        self.policies.mutating.extend(policies.mutating);
    }

    /// Returns the webhooks without their functions.
    pub(super) fn descriptions(&self) -> Vec<WebhookDescription> {
        self.webhooks.iter().map(|handler| handler.description.clone()).collect()
    }

    /// Checks that the names of health checks, the paths of the handlers of the metrics server and the settings of webhooks are valid, and
    /// that each name and path occurs once. The names of built-in checks and the paths of the metrics server itself are taken.
    ///
    /// # Errors
    /// Fails for the first name, path or setting that is invalid or taken.
    pub(super) fn check(&self) -> Result<(), ExtensionError> {
        for (probe, checks) in [(Probe::Ready, &self.readyz), (Probe::Live, &self.livez)] {
            let mut names: BTreeSet<&str> = probe.own_checks().iter().copied().collect();
            // `/readyz` of an operator with webhooks has one more built-in check.
            if probe == Probe::Ready && !self.webhooks.is_empty() {
                names.insert(WEBHOOK_CHECK);
            }
            for HealthCheck { name, .. } in checks {
                if !is_path_part(name) {
                    return Err(ExtensionError::CheckName { name: name.clone() });
                }
                if !names.insert(name) {
                    return Err(ExtensionError::DuplicateCheck { path: format!("/{}/{name}", probe.endpoint()) });
                }
            }
        }
        let mut paths = BTreeSet::from(MetricsHandler::RESERVED);
        for handler in &self.handlers {
            let path = handler.path();
            if !path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_path_part)) {
                return Err(ExtensionError::HandlerPath { path: path.to_owned() });
            }
            if !paths.insert(path) {
                return Err(ExtensionError::DuplicateHandler { path: path.to_owned() });
            }
        }
        WebhookDescription::check_all(self.webhooks.iter().map(|handler| &handler.description))?;
        Ok(())
    }
}

/// Returns whether a text can stand between two slashes of a path as it is.
fn is_path_part(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character))
}
