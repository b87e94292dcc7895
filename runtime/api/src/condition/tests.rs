#![allow(clippy::unwrap_used)]

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn summaries(status: &Status) -> Vec<(&str, &str, &str)> {
    status.conditions.iter().map(|one| (one.type_.as_str(), one.status.as_str(), one.reason.as_str())).collect()
}

#[test]
fn condition_k1_reconciling_leaves_ready_unknown() {
    let mut status = Status::default();
    status.reconciling("working", 1, at(1));
    let wanted = [
        ("Available", "False", "Reconciling"),
        ("Ready", "Unknown", "Reconciling"),
        ("Reconciling", "True", "Reconciling"),
    ];
    assert_eq!(summaries(&status), wanted);
}

#[test]
fn condition_k2_ready_ends_reconciling_and_stalled_with_the_same_words() {
    let mut status = Status::default();
    status.stalled("Broken", "it broke", 1, at(1));
    status.ready("Reconciled", "done", 1, at(2));
    let wanted = [("Available", "True"), ("Ready", "True")];
    assert_eq!(status.conditions.iter().map(|c| (c.type_.as_str(), c.status.as_str())).collect::<Vec<_>>(), wanted);
    assert!(status.conditions.iter().all(|one| one.reason == "Reconciled" && one.message == "done"));
}

#[test]
fn condition_k3_stalled_is_not_ready_and_not_reconciling() {
    let mut status = Status::default();
    status.stalled("Broken", "it broke", 1, at(1));
    let wanted = [("Available", "False", "Broken"), ("Ready", "False", "Broken"), ("Stalled", "True", "Broken")];
    assert_eq!(summaries(&status), wanted);
    status.reconciling("working", 2, at(2));
    assert_eq!(
        summaries(&status).last(),
        Some(&("Reconciling", "True", "Reconciling")),
        "an abnormal condition that is over is gone"
    );
}

#[test]
fn condition_k5_the_list_is_sorted_the_message_trimmed_and_the_generation_set() {
    let mut conditions = Vec::new();
    set(&mut conditions, "Zeta", Truth::True, "R", " m \n", 3, at(1));
    set(&mut conditions, "Alpha", Truth::True, "R", "m", 3, at(1));
    assert_eq!(conditions.iter().map(|one| one.type_.as_str()).collect::<Vec<_>>(), ["Alpha", "Zeta"]);
    assert_eq!((conditions[1].message.as_str(), conditions[1].observed_generation), ("m", Some(3)));
}

#[test]
fn a_transition_time_moves_with_the_status_of_its_condition_only() {
    let mut conditions = Vec::new();
    set(&mut conditions, "Ready", Truth::False, "A", "a", 1, at(10));
    set(&mut conditions, "Ready", Truth::False, "B", "b", 2, at(20));
    assert_eq!(conditions[0].last_transition_time.0, at(10));
    set(&mut conditions, "Ready", Truth::True, "B", "b", 2, at(30));
    assert_eq!(conditions[0].last_transition_time.0, at(30));
}

#[test]
fn condition_k6_a_pass_that_changes_nothing_gives_the_same_bytes() {
    let mut status = Status::default();
    status.reconciling("working", 1, at(1));
    status.ready("Reconciled", "done", 1, at(2));
    let before = serde_json::to_string(&status).unwrap();
    for second in 3..8 {
        let verdict = Verdict::new(Truth::True, VerdictState::Ready, "Reconciled", "done");
        verdict.set(&mut status.conditions, 1, at(second));
    }
    assert_eq!(serde_json::to_string(&status).unwrap(), before);
}

#[test]
fn a_controller_with_a_prefix_leaves_all_other_conditions_and_the_generation_alone() {
    let mut status = Status::default();
    status.ready("Reconciled", "done", 3, at(1));
    let mut verdict = Verdict::new(Truth::False, VerdictState::Reconciling, "Waiting", "for a zone");
    verdict.prefix = "Dns".to_owned();
    let before = status.clone();
    status.say(&verdict, 4, at(2));
    let (dns, others): (Vec<_>, Vec<_>) =
        status.conditions.clone().into_iter().partition(|one| one.type_.starts_with("Dns"));
    assert_eq!((others, status.observed_generation), (before.conditions, Some(3)));
    let dns: Vec<_> = dns.iter().map(|one| (one.type_.as_str(), one.status.as_str())).collect();
    let wanted = [("DnsAvailable", "False"), ("DnsReady", "Unknown"), ("DnsReconciling", "True")];
    assert_eq!(dns, wanted);
}

#[test]
fn a_condition_type_is_a_name_with_or_without_a_domain() {
    for text in ["Available", "DnsAvailable", "dns.example.com/Available", "a-b_c.D"] {
        assert!(is_type(text), "{text}");
    }
    for text in ["", "-Available", "Dns Available", "Dns/", "Dns/Available", "example..com/A", "a/b/c", "Ä"] {
        assert!(!is_type(text), "{text}");
    }
}
