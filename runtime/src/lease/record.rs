//! Reads and writes the election record in the spec of a Lease, as client-go does.

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use std::{collections::BTreeMap, time::Duration};

/// Returns the holder of a Lease; `None` if it was released or never held.
pub(crate) fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

/// Returns the lease duration that the holder has written; `None` if there is none or it is not positive.
pub(crate) fn duration(lease: &Lease) -> Option<Duration> {
    let seconds = u64::try_from(lease.spec.as_ref()?.lease_duration_seconds?).ok()?;
    Some(Duration::from_secs(seconds)).filter(|duration| !duration.is_zero())
}

/// The values that a candidate writes into the Lease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'a> {
    pub(super) holder: &'a str,
    pub(super) duration: Duration,
    pub(super) labels: &'a BTreeMap<String, String>,
}

/// Returns the Lease that a candidate writes: `current`, or a new Lease, with the holder, the duration and the labels of the claim, renewed
/// at `now`. Preserves fields that are not part of the election. Counts a transition if the holder changes. Each renewal has another
/// [time](renewal_time).
pub(super) fn with_holder(current: Option<&Lease>, claim: Claim<'_>, now: Timestamp) -> Lease {
    let mut lease = current.cloned().unwrap_or_default();
    let is_renewal = holder(&lease) == Some(claim.holder);
    if !claim.labels.is_empty() {
        let labels = lease.metadata.labels.get_or_insert_default();
        labels.extend(claim.labels.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    let spec = lease.spec.get_or_insert_default();
    if !is_renewal {
        spec.acquire_time = Some(MicroTime(now));
        spec.lease_transitions =
            Some(current.map_or(0, |_| spec.lease_transitions.unwrap_or_default().saturating_add(1)));
    }
    spec.holder_identity = Some(claim.holder.to_owned());
    spec.lease_duration_seconds = i32::try_from(claim.duration.as_secs()).ok();
    let earlier = spec.renew_time.as_ref().filter(|_| is_renewal).map(|time| time.0);
    spec.renew_time = Some(MicroTime(renewal_time(earlier, claim.duration, now)));
    lease
}

/// Returns the time of a renewal: `now`, or one microsecond after the earlier renewal if the wall clock stands still or was set back by
/// less than the lease duration. Other candidates recognize a renewal by its new time, so two consecutive renewals never have the same
/// time.
fn renewal_time(earlier: Option<Timestamp>, lease_duration: Duration, now: Timestamp) -> Timestamp {
    let Some(earlier) = earlier else { return now };
    let behind = earlier.as_microsecond().saturating_sub(now.as_microsecond());
    let limit = i64::try_from(lease_duration.as_micros()).unwrap_or(i64::MAX);
    if (0..limit).contains(&behind) {
        return Timestamp::from_microsecond(earlier.as_microsecond().saturating_add(1)).unwrap_or(now);
    }
    now
}

/// Returns the Lease with an empty holder and a duration of one second, as client-go writes it to release a Lease.
pub(super) fn without_holder(current: &Lease, now: Timestamp) -> Lease {
    let mut lease = current.clone();
    let earlier = lease.spec.unwrap_or_default();
    lease.spec = Some(LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        ..earlier
    });
    lease
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn spec(lease: &Lease) -> Value {
        serde_json::to_value(lease.spec.as_ref().unwrap()).unwrap()
    }

    /// The forms are those of `resourcelock.LeaderElectionRecord` in client-go.
    #[test]
    fn manager_m3_the_record_is_written_as_client_go_writes_it() {
        let labels = BTreeMap::from([("app".to_owned(), "shop".to_owned())]);
        let claim = |holder| Claim { holder, duration: Duration::from_secs(15), labels: &labels };
        let created = with_holder(None, claim("a"), at("2026-01-01T00:00:00.5Z"));
        assert_eq!(created.metadata.labels, Some(labels.clone()));
        let expected = json!({
            "acquireTime": "2026-01-01T00:00:00.500000Z", "holderIdentity": "a", "leaseDurationSeconds": 15,
            "leaseTransitions": 0, "renewTime": "2026-01-01T00:00:00.500000Z",
        });
        assert_eq!(spec(&created), expected);
        let renewed = with_holder(Some(&created), claim("a"), at("2026-01-01T00:00:02Z"));
        let mut expected = spec(&created);
        expected["renewTime"] = json!("2026-01-01T00:00:02.000000Z");
        assert_eq!(spec(&renewed), expected);
        let taken = with_holder(Some(&renewed), claim("b"), at("2026-01-01T00:01:00Z"));
        let (minute, transitions) = (json!("2026-01-01T00:01:00.000000Z"), json!(1));
        assert_eq!((&spec(&taken)["acquireTime"], &spec(&taken)["leaseTransitions"]), (&minute, &transitions));
        let free = without_holder(&taken, at("2026-01-01T00:02:00Z"));
        let expected = json!({
            "acquireTime": "2026-01-01T00:02:00.000000Z", "holderIdentity": "", "leaseDurationSeconds": 1,
            "leaseTransitions": 1, "renewTime": "2026-01-01T00:02:00.000000Z",
        });
        assert_eq!((spec(&free), holder(&free)), (expected, None));
        assert_eq!(spec(&with_holder(Some(&free), claim("b"), at("2026-01-01T00:03:00Z")))["leaseTransitions"], 2);
    }

    #[test]
    fn each_renewal_has_another_time_whatever_the_wall_clock_does() {
        let labels = BTreeMap::new();
        let claim = |holder| Claim { holder, duration: Duration::from_secs(15), labels: &labels };
        let mut lease = with_holder(None, claim("a"), at("2026-01-01T00:00:10Z"));
        for (now, renewed) in [
            // The wall clock stands still twice, and is set back by less and by more than the lease duration.
            ("2026-01-01T00:00:10Z", "2026-01-01T00:00:10.000001Z"),
            ("2026-01-01T00:00:10Z", "2026-01-01T00:00:10.000002Z"),
            ("2026-01-01T00:00:08Z", "2026-01-01T00:00:10.000003Z"),
            ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00.000000Z"),
            // The wall clock is set forward.
            ("2027-01-01T00:00:00.5Z", "2027-01-01T00:00:00.500000Z"),
        ] {
            lease = with_holder(Some(&lease), claim("a"), at(now));
            assert_eq!(spec(&lease)["renewTime"], renewed, "{now}");
            assert_eq!(spec(&lease)["acquireTime"], "2026-01-01T00:00:10.000000Z");
        }
        let taken = with_holder(Some(&lease), claim("b"), at("2026-12-31T23:59:59.75Z"));
        assert_eq!(spec(&taken)["renewTime"], "2026-12-31T23:59:59.750000Z", "it is no renewal");
    }

    #[test]
    fn fields_of_others_are_kept() {
        let mut lease = Lease::default();
        lease.metadata.resource_version = Some("7".to_owned());
        lease.metadata.annotations = Some([("a".to_owned(), "b".to_owned())].into());
        lease.spec.get_or_insert_default().strategy = Some("OldestEmulationVersion".to_owned());
        let labels = BTreeMap::new();
        let claim = Claim { holder: "a", duration: Duration::from_secs(15), labels: &labels };
        let taken = with_holder(Some(&lease), claim, Timestamp::UNIX_EPOCH);
        assert_eq!(taken.metadata, lease.metadata);
        assert_eq!(spec(&taken)["strategy"], "OldestEmulationVersion");
    }
}
