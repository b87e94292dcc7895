//! Deletes reservations whose Pods are gone: the second way, beside that of the pools.

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

/// What pools need to know of a reservation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReservationFacts {
    /// The address that it is named after.
    pub(crate) ip: Option<IpAddr>,
}

pub(crate) fn facts(reservation: &OverlappingRangeIPReservation) -> ReservationFacts {
    ReservationFacts { ip: reservation.metadata.name.as_deref().and_then(address_in_name) }
}

/// Keeps reservations as long as their Pods are there.
#[derive(Debug, Provisioner)]
#[provisioner(access(OverlappingRangeIPReservation: delete; Pod: get))]
pub struct ReservationKeeper;

type Cx<'a> = Context<'a, For<OverlappingRangeIPReservation, World>, ReservationKeeper>;

impl Provision<For<OverlappingRangeIPReservation, World>> for ReservationKeeper {
    async fn provision(cx: &Cx<'_>) -> Result<()> {
        let (podref, world) = (&cx.object().spec.podref, cx.options());
        if podref.is_empty() {
            return yield_because("PodRefEmpty", "the reservation names no Pod");
        }
        let Some((namespace, name)) = pod_of(podref).filter(|(_, name)| is_name(name)) else {
            return delete(cx, "it names no Pod").await;
        };
        let is_free = |pod: Option<&PodFacts>| pod.is_none_or(|pod| is_left_by(pod, &world.options));
        if !world.pods.read(|pods| is_free(pods.get(namespace, name)))? {
            cx.report("Validated", "referenced pod exists");
            return Ok(());
        }
        // What the watch shows may be older than the reservation.
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

/// Deletes the reservation as it was judged: one that another Pod has got meanwhile stays.
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

    /// The definition allows none; one that was stored before it did may be there.
    #[tokio::test]
    async fn overlapping_o1_reservation_that_names_no_pod_is_looked_at_again() {
        let spec = OverlappingRangeIPReservationSpec {
            containerid: String::new(),
            podref: String::new(),
            ifname: String::new(),
        };
        let reservation = OverlappingRangeIPReservation::new("10.0.0.1", spec);
        let rehearsal = TreeHarness::<For<OverlappingRangeIPReservation, World>, ReservationKeeper>::new(reservation);
        // No call is made, which would fail here.
        assert!(matches!(rehearsal.up().await, Err(Error::Yield { reason, .. }) if reason == "PodRefEmpty"));
    }
}
