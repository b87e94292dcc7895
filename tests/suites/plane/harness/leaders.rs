//! The check of the leaders, with audit logs that contain what an election must prevent.

use std::{fmt::Write as _, time::Duration};

use libtest_mimic::Trial;
use opgen_tests::{LeadReport, audit, leaders::Handover};
use serde_json::json;

pub(crate) fn cases() -> Vec<Trial> {
    let case = |name: &str, body: fn()| {
        Trial::test(format!("leaders::{name}"), move || {
            body();
            Ok(())
        })
    };
    vec![
        case("terms_handovers_and_gaps_are_read_from_an_audit_log", measured),
        case("a_write_during_the_term_of_another_replica_is_found", overlapping),
        case("a_write_after_the_own_release_is_found", after_release),
        case("a_write_whose_outcome_is_unknown_counts", unknown),
        case("the_next_write_of_the_lease_decides_whether_one_of_unknown_outcome_was_stored", decided),
        case("refused_writes_dry_runs_and_reads_do_not_count", without_effect),
    ]
}

/// An audit log with one event per millisecond, unless a time is set.
#[derive(Default)]
struct Events {
    text: String,
    milliseconds: u64,
    count: usize,
}

impl Events {
    fn at(mut self, milliseconds: u64) -> Self {
        self.milliseconds = milliseconds;
        self
    }

    fn add(mut self, user: &str, verb: &str, resource: &str, code: u16, holder: Option<&str>) -> Self {
        let time =
            |milliseconds: u64| format!("2026-01-01T00:00:{:02}.{:03}000Z", milliseconds / 1000, milliseconds % 1000);
        let is_lease = resource == "leases";
        let query = if verb == "dry-run" { "?dryRun=All" } else { "" };
        let event = json!({
            "auditID": self.count.to_string(), "stage": "ResponseComplete", "requestURI": format!("/apis/{resource}{query}"),
            "verb": if verb == "dry-run" { "patch" } else { verb }, "user": {"username": user},
            "objectRef": {"resource": resource, "namespace": "system", "name": if is_lease { "lock" } else { "object" }},
            "responseStatus": {"code": code},
            "requestObject": holder.map(|holder| json!({"spec": {"holderIdentity": holder}})),
            "requestReceivedTimestamp": time(self.milliseconds), "stageTimestamp": time(self.milliseconds + 1),
        });
        writeln!(self.text, "{event}").unwrap();
        (self.milliseconds, self.count) = (self.milliseconds + 1, self.count + 1);
        self
    }

    /// Adds a write of the Lease; without an identity it is a release.
    fn lease(self, user: &str, identity: &str) -> Self {
        self.add(user, "update", "leases", 200, Some(identity))
    }

    fn write(self, user: &str, code: u16) -> Self {
        self.add(user, "patch", "configmaps", code, None)
    }

    fn report(&self) -> LeadReport {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        std::fs::write(&path, &self.text).unwrap();
        let entries = audit::read(&path);
        let users = LeadReport::candidates(&entries, "system", "lock");
        LeadReport::new(&entries, "system", "lock", &users)
    }
}

/// A leader that writes and then disappears, so that another one takes the expired Lease at 4 s.
fn expired() -> Events {
    Events::default().lease("a", "a_1_x").write("a", 200).at(1_000).write("a", 201).at(4_000).lease("b", "b_2_y")
}

fn milliseconds(times: &[Duration]) -> Vec<u128> {
    times.iter().map(Duration::as_millis).collect()
}

fn measured() {
    let events = expired().write("b", 200).at(5_000).lease("b", "").at(5_200).lease("c", "c_3_z").write("c", 200);
    // The container of `c` is restarted.
    let report = events.at(6_000).lease("c", "c_3_new").write("c", 200).report();
    assert_eq!((report.terms.len(), report.writes, report.violations.len()), (4, 5, 0), "{report}");
    let handovers: Vec<_> = report.handovers().map(|(handover, ..)| handover).collect();
    assert_eq!(handovers, [Handover::Expiry, Handover::Release, Handover::Restart]);
    let max = |kind| report.gaps_after(kind).max().unwrap();
    let max = [max(Handover::Expiry), max(Handover::Release), max(Handover::Restart), report.margins().max().unwrap()];
    assert_eq!(milliseconds(&max), [3_000, 200, 799, 3_000]);
    let (time, next) = report.successor("a", "2026-01-01T00:00:03Z".parse().unwrap()).unwrap();
    assert_eq!((time.as_millis(), next.identity.as_str()), (1_000, "b_2_y"));
    assert!(report.successor("b", "2026-01-01T00:00:03Z".parse().unwrap()).is_none());
}

fn overlapping() {
    let report = expired().write("b", 200).write("a", 200).write("b", 200).report();
    let [violation] = &report.violations[..] else { panic!("{report}") };
    assert!(violation.contains("a patch configmaps") && violation.contains("b_2_y held the Lease"), "{violation}");
}

fn after_release() {
    let report = Events::default().lease("a", "a_1_x").lease("a", "").write("a", 200).report();
    let [violation] = &report.violations[..] else { panic!("{report}") };
    assert!(violation.contains("nobody held the Lease"), "{violation}");
}

fn unknown() {
    for code in [0, 500, 504] {
        assert_eq!(expired().write("a", code).report().violations.len(), 1, "{code}");
        // It may have stored the Lease.
        let claim = Events::default().lease("a", "a_1_x").add("b", "update", "leases", code, Some("b_2_y"));
        assert_eq!(claim.write("a", 200).report().violations.len(), 1, "{code}");
    }
}

fn decided() {
    for code in [0, 500, 504] {
        let claimed = || Events::default().lease("a", "a_1_x").add("b", "update", "leases", code, Some("b_2_y"));
        // The holder renews the Lease, so the claim was not stored.
        let report = claimed().write("a", 200).lease("a", "a_1_x").write("a", 200).report();
        assert_eq!((report.terms.len(), report.violations.len()), (1, 0), "{report}");
        // The claim was stored, and a write of the former holder was received after it.
        let report = claimed().write("a", 200).write("b", 200).lease("b", "b_2_y").report();
        assert_eq!((report.terms.len(), report.violations.len()), (2, 1), "{report}");
        // Another process takes the Lease, which tells nothing of the time before.
        let report = claimed().write("a", 200).lease("c", "c_3_z").report();
        assert_eq!((report.terms.len(), report.violations.len()), (2, 1), "{report}");
    }
}

fn without_effect() {
    let events = expired().write("a", 403).write("a", 409).add("a", "dry-run", "configmaps", 200, None);
    let events = events.add("a", "get", "configmaps", 200, None).add("a", "update", "leases", 409, Some("a_1_x"));
    let report = events.write("b", 200).report();
    assert!(report.violations.is_empty() && report.terms.len() == 2, "{report}");
}
