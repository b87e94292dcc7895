//! The controllers of ippool: they free addresses of deleted Pods, and assign slices of ranges to nodes.

mod allocation;
mod holders;
mod metrics;
mod network_status;
mod options;
mod pod;
mod pool;
mod range;
mod reservation;
mod slice;
mod world;

use std::time::Duration;

use ippool_api::{IPPool, NetworkAttachmentDefinition, NodeSlicePool, OverlappingRangeIPReservation};
use k8s_openapi::api::core::v1::Node;
use opgen::{NamespacedName, prelude::*};

pub use metrics::Metrics;
pub use options::Options;
pub use pool::PoolKeeper;
pub use reservation::ReservationKeeper;
pub use slice::SliceKeeper;
pub use world::World;

/// The requeue interval of a pool with pending Pods or an incomplete cleanup.
const SOON: Duration = Duration::from_secs(5);

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    operator_for(&World::default())
}

/// All three controllers, with the options and metrics of the caller.
pub fn operator_for(world: &World) -> Operator {
    Operator::new("ippool")
        .version(env!("CARGO_PKG_VERSION"))
        .registry(world.metrics.registry())
        .defines::<NodeSlicePool>()
        .controls_with::<For<IPPool, World>, PoolKeeper>(|c| pools(c, world))
        .controls_with::<For<Foreign<NetworkAttachmentDefinition>, World>, SliceKeeper>(|c| slices(c, world))
        .controls_with::<For<OverlappingRangeIPReservation, World>, ReservationKeeper>(|c| reservations(c, world))
}

fn pools(controller: Controller<IPPool>, world: &World) -> Controller<IPPool> {
    let holders = world.holders.clone();
    controller
        .options(world.clone())
        .resync_period(world.options.interval)
        .requeue_after(SOON)
        .lister(&world.pods, pod::facts, move |pod, _| holders.pools_of(pod))
        .lister(&world.reservations, reservation::facts, |_, _| None::<NamespacedName>)
        .sample(&pool::sample())
}

fn slices(
    controller: Controller<Foreign<NetworkAttachmentDefinition>>,
    world: &World,
) -> Controller<Foreign<NetworkAttachmentDefinition>> {
    let (networks, same) = (world.networks.clone(), world.networks.clone());
    controller
        .options(world.clone())
        .without_finalizer()
        .lister(&world.networks, slice::network, move |key, nad| slice::networks_beside(&same, key, nad))
        .lister(&world.slices, |pool: &NodeSlicePool| pool.clone(), |_, pool| slice::networks_of(pool))
        .metadata_lister::<Node, _, _, _>(&world.nodes, |_| (), move |_, ()| slice::all_networks(&networks))
}

fn reservations(
    controller: Controller<OverlappingRangeIPReservation>,
    world: &World,
) -> Controller<OverlappingRangeIPReservation> {
    let interval = world.options.interval;
    controller
        .options(world.clone())
        .without_finalizer()
        .resync_period(interval)
        .requeue_after(interval)
        .reads(&world.pods)
}

type Controller<K> = opgen::Controller<For<K, World>>;

#[cfg(test)]
mod tests {
    use super::*;
    use opgen::manifest::{self, Describe as _};

    #[test]
    fn the_yaml_in_deploy_is_up_to_date() {
        let drift = manifest::check(&operator(), "../deploy").map_err(|drift| drift.to_string());
        assert!(drift.is_ok(), "{}", drift.unwrap_err());
    }

    #[test]
    fn ippool_w2_one_call_gives_all_three_in_order() {
        let project = operator().project().unwrap();
        let kinds: Vec<_> = project.controllers.iter().map(|one| (one.kind.to_string(), one.only_defined)).collect();
        let expected = [
            ("IPPool", false),
            ("NetworkAttachmentDefinition", false),
            ("OverlappingRangeIPReservation", false),
            ("NodeSlicePool", true),
        ];
        assert_eq!(kinds, expected.map(|(kind, defined)| (kind.to_owned(), defined)));
    }
    #[test]
    fn ippool_w4_never_two_of_them_reconcile() {
        // A rolling update has two replicas for a while; only the one with the lead reconciles.
        let deployment = include_str!("../../deploy/base/operator.yaml");
        let has = |text: &str| deployment.lines().any(|line| line.trim() == text);
        assert!(has("- --leader-elect") && has("type: RollingUpdate"), "{deployment}");
    }
}
