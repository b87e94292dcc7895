//! Runs the admission chain: mutating and validating plugins, policies and webhooks in the order of kube-apiserver.

use super::{plugin, policy, reinvocation::Reinvocation, review::Review, webhook};
use crate::failure::Failure;

/// Runs the mutating plugins, policies and webhooks in the order of kube-apiserver. Runs a second round if a policy or
/// webhook with `reinvocationPolicy: IfNeeded` must be reinvoked.
pub(crate) async fn mutate(review: &mut Review<'_>) -> Result<(), Failure> {
    let mut reinvocation = Reinvocation::default();
    loop {
        run_mutating_plugins(review).await?;
        policy::mutate(review, &mut reinvocation)?;
        webhook::mutate(review, &mut reinvocation).await?;
        if !reinvocation.start_next_round() {
            return Ok(());
        }
    }
}

/// Runs the mutating admission plugins in the order of kube-apiserver. Before them, `NamespaceLifecycle` checks the namespace of the write.
async fn run_mutating_plugins(review: &mut Review<'_>) -> Result<(), Failure> {
    plugin::namespace_lifecycle::admit(review)?;
    plugin::limit_ranger::mutate(review);
    plugin::service_account::mutate(review).await?;
    plugin::taint_nodes::mutate(review);
    plugin::priority::mutate(review)?;
    plugin::default_tolerations::mutate(review);
    plugin::default_storage_class::mutate(review);
    plugin::storage_protection::mutate(review);
    plugin::default_ingress_class::mutate(review);
    Ok(())
}

/// Runs the validating plugins, policies and webhooks in the order of kube-apiserver.
pub(crate) async fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    policy::validate_expressions(review)?;
    plugin::limit_ranger::validate(review)?;
    plugin::service_account::validate(review)?;
    plugin::pod_security::validate(review)?;
    plugin::priority::validate(review)?;
    plugin::owner_references::validate(review)?;
    policy::validate(review)?;
    webhook::validate(review).await?;
    plugin::resource_quota::validate(review).await?;
    Ok(())
}
