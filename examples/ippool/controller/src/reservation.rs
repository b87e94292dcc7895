//! The controller of reservations: deletes those whose Pods are gone. The controller of pools deletes reservations as well.

use std::net::IpAddr;

use ippool_api::OverlappingRangeIPReservation;
use k8s_openapi::api::core::v1::Pod;
use opgen::prelude::*;

use crate::{
    World,
    allocation::{is_left_by, is_name, pod_of},
    pod::{PodFacts, facts as facts_of_pod},
    range::address_in_name,
};

/// The facts of a reservation that the controller of pools needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReservationFacts {
    /// The address in its name.
    pub(crate) ip: Option<IpAddr>,
}

pub(crate) fn facts(reservation: &OverlappingRangeIPReservation) -> ReservationFacts {
    ReservationFacts { ip: reservation.metadata.name.as_deref().and_then(address_in_name) }
}

/// Deletes a reservation when its Pod no longer exists.
#[derive(Debug, Provisioner)]
#[provisioner(access(OverlappingRangeIPReservation: delete; Pod: get))]
pub struct ReservationKeeper;

type Cx<'a> = Context<'a, For<OverlappingRangeIPReservation, World>, ReservationKeeper>;

impl Provision<For<OverlappingRangeIPReservation, World>> for ReservationKeeper {
    async fn provision(cx: &Cx<'_>) -> Result<()> {
        let (podref, world) = (&cx.object().spec.podref, cx.options());
        if podref.is_empty() {
            return yield_because("PodRefEmpty", "the reservation references no Pod");
        }
        let Some((namespace, name)) = pod_of(podref).filter(|(_, name)| is_name(name)) else {
            return delete(cx, "it references no Pod").await;
        };
        let is_free = |pod: Option<&PodFacts>| pod.is_none_or(|pod| is_left_by(pod, &world.options));
        if !world.pods.read(|pods| is_free(pods.get(namespace, name)))? {
            cx.report("Validated", "referenced pod exists");
            return Ok(());
        }
        // The lister may be older than the reservation.
        let pod = cx.in_namespace(namespace).find::<Pod>(name).await?.as_ref().map(facts_of_pod);
        if is_free(pod.as_ref()) {
            return delete(cx, "its Pod is gone").await;
        }
        yield_because("Reconciling", "waiting for the watch of Pods")
    }

    async fn deprovision(_: &Teardown<'_, For<OverlappingRangeIPReservation, World>, Self>) -> Result<()> {
        Ok(())
    }
}

/// Deletes the reservation if it has not changed, so that a new reservation of another Pod is kept.
async fn delete(cx: &Cx<'_>, why: &str) -> Result<()> {
    if cx.delete_as_read(cx.object()).await? {
        cx.options().metrics.reservation_cleaned();
        cx.event(EventType::Normal, "OrphanedReservationDeleted", &format!("the reservation was deleted: {why}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ippool_api::OverlappingRangeIPReservationSpec;
    use opgen::testing::TreeHarness;

    use super::*;

    /// The definition requires a Pod, but older objects may have none.
    #[tokio::test]
    async fn overlapping_o1_reservation_that_names_no_pod_is_looked_at_again() {
        let spec = OverlappingRangeIPReservationSpec {
            containerid: String::new(),
            podref: String::new(),
            ifname: String::new(),
        };
        let reservation = OverlappingRangeIPReservation::new("10.0.0.1", spec);
        let rehearsal = TreeHarness::<For<OverlappingRangeIPReservation, World>, ReservationKeeper>::new(reservation);
        // A call would fail here.
        assert!(matches!(rehearsal.up().await, Err(Error::Yield { reason, .. }) if reason == "PodRefEmpty"));
    }
}
