//! Adds the controller of `HelmDeployment` to an operator.

use super::{
    deployment::{HelmDeployment, HelmDeploymentSpec},
    node::HelmTree,
    settings::HelmSettings,
};
use crate::{
    controller::DEFAULT_PASS_LIMIT, engine::desired::MANAGED_BY_LABEL, manager::operator::Operator, queue::Backoff,
};
use std::time::Duration;

/// The number of releases for which `helm` runs at a time.
const WORKERS: usize = 4;
/// The time after which a release that is not ready is read again.
const POLL: Duration = Duration::from_secs(5);
/// The time after which a release that is ready is read again.
const RESYNC: Duration = Duration::from_secs(600);
/// The longest time after which a failed run is repeated.
const MAX_RETRY: Duration = Duration::from_secs(300);
/// The maximum number of runs of a pass: four that repair the release, an upgrade, and two that read the release.
const RUNS: u32 = 7;

impl Operator {
    /// Adds the controller that deploys the charts of the driver [`Helm`](crate::cd::helm::Helm): it controls the kind
    /// [`HelmDeployment`](crate::cd::helm::HelmDeployment) with the program `helm`. See [`cd::helm`](crate::cd::helm) for an example.
    ///
    /// Four releases are deployed at a time. A release that is not ready is read again after five seconds, one that is ready after ten
    /// minutes, and a failed run is repeated after five seconds to five minutes. Objects of other operators are left alone: those
    /// without the label `app.kubernetes.io/managed-by` with the name of this one.
    #[must_use]
    pub fn deploys_with_helm<S: HelmSettings>(self) -> Self {
        let name = self.name.clone();
        self.controls_with::<HelmDeployment, HelmTree<S>>(|controller| {
            controller
                .labels([(MANAGED_BY_LABEL, &name)])
                .workers(WORKERS)
                .requeue_after(POLL)
                .resync_period(RESYNC)
                .backoff(Backoff::Exponential { base: POLL, cap: MAX_RETRY })
                // Enough for a pass in which each run of `helm` takes its maximum duration.
                .pass_limit(DEFAULT_PASS_LIMIT.max(S::DEADLINE.saturating_mul(RUNS)))
                .sample(&sample(&name))
        })
    }
}

/// Returns the sample `HelmDeployment` for the manifests of an operator, with the label by which the operator selects it.
fn sample(operator: &str) -> HelmDeployment {
    let spec = HelmDeploymentSpec {
        repository: "https://stefanprodan.github.io/podinfo".to_owned(),
        chart: "podinfo".to_owned(),
        version: "6.9.2".to_owned(),
        release: "podinfo".to_owned(),
        namespace: "default".to_owned(),
        ..HelmDeploymentSpec::default()
    };
    let mut sample = HelmDeployment::new("podinfo", spec);
    sample.metadata.labels = Some([(MANAGED_BY_LABEL.to_owned(), operator.to_owned())].into());
    sample
}
