//! The suite for buckets accepts the buckets in memory and in a folder, and finds each planted mistake.
#![allow(missing_docs)]

#[path = "bucket/flawed_bucket.rs"]
mod flawed_bucket;
#[path = "bucket/flawed_call.rs"]
mod flawed_call;
#[path = "bucket/flawed_store.rs"]
mod flawed_store;
#[path = "bucket/flawed_watch.rs"]
mod flawed_watch;
#[path = "bucket/folder.rs"]
mod folder;
#[path = "bucket/mistake.rs"]
mod mistake;
#[path = "bucket/notes.rs"]
mod notes;
#[path = "bucket/subject.rs"]
mod subject;

use std::{collections::BTreeSet, time::Duration};

use futures::StreamExt as _;
use opgen_testing::bucket::{BucketReport, conformance};

use flawed_store::FlawedSubject;
use mistake::{MISTAKES, Mistake};
use subject::{FolderSubject, MemorySubject};

/// The number of statements.
const STATEMENTS: u32 = 117;

/// The time of a check of a bucket with a mistake, which may wait for what never comes.
const LIMIT: Duration = Duration::from_secs(2);

/// The time of a check of a bucket without a mistake, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The mistakes of calls that do not end.
const ENDLESS: [Mistake; 4] =
    [Mistake::GetNeverEnds, Mistake::GetBlocksThread, Mistake::DroppedGetKeepsLock, Mistake::UnreadWatchBlocksWrites];

/// Parts of the problems of calls that do not end before the deadline.
const ENDLESS_CALLS: [&str; 2] = ["it did not end within", "blocks its thread"];

/// Checks one statement about buckets with a mistake.
async fn report(statement: u32, mistake: Mistake) -> BucketReport {
    conformance(FlawedSubject::new(mistake)).statement(statement).deadline(LIMIT).await
}

fn skipped(report: &BucketReport) -> Vec<u32> {
    report.skipped.iter().map(|skipped| skipped.statement).collect()
}

#[tokio::test]
async fn the_bucket_in_memory_conforms() {
    let report = conformance(MemorySubject).deadline(PATIENCE).await;
    report.assert();
    // It has no restart.
    assert_eq!(skipped(&report), [101, 102, 103]);
    assert_eq!(report.checked.len() + 3, STATEMENTS as usize);
}

#[tokio::test]
async fn the_bucket_in_a_folder_conforms() {
    let report = conformance(FolderSubject).deadline(PATIENCE).await;
    report.assert_complete();
    assert_eq!(report.checked, (1..=STATEMENTS).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_bucket_without_a_mistake_conforms() {
    conformance(FlawedSubject::new(Mistake::None)).deadline(PATIENCE).await.assert_complete();
}

#[tokio::test]
async fn each_planted_mistake_is_found() {
    let reports = MISTAKES.iter().map(|(statement, mistake)| async move {
        let report = report(*statement, *mistake).await;
        (*statement, *mistake, report)
    });
    let reports: Vec<_> = futures::stream::iter(reports).buffer_unordered(8).collect().await;
    let missed = reports.iter().filter(|(_, _, report)| report.is_clean());
    let missed: Vec<_> = missed.map(|(statement, mistake, _)| format!("B{statement} {mistake:?}")).collect();
    assert!(missed.is_empty(), "these mistakes are not found: {missed:?}");
    for (statement, mistake, report) in &reports {
        let finding = &report.findings[0];
        assert_eq!(finding.statement, *statement, "{mistake:?}");
        let is_of_endless_call = ENDLESS_CALLS.iter().any(|problem| finding.problem.contains(problem));
        assert!(!is_of_endless_call || ENDLESS.contains(mistake), "{mistake:?}: {}", finding.problem);
        assert!(!report.to_string().contains("opgen-hidden"), "{mistake:?}: the report has a value");
    }
}

#[test]
fn each_statement_has_a_planted_mistake() {
    let statements: BTreeSet<u32> = MISTAKES.iter().map(|(statement, _)| *statement).collect();
    assert_eq!(statements, (1..=STATEMENTS).collect::<BTreeSet<u32>>());
}

#[tokio::test]
async fn a_finding_says_what_was_expected_and_seen() {
    let text = report(37, Mistake::ZeroMeansAbsent).await.to_string();
    let statement =
        "error: statement B37: `put` with any revision, also 0, is a conflict for a key that was never written";
    assert!(text.contains(statement), "{text}");
    let problem = "put(\"a\", Revision(0)): expected Err(Conflict { key: \"a\" }), seen Ok(2)";
    assert!(text.contains(problem), "{text}");
}

#[tokio::test]
async fn a_call_that_does_not_end_is_a_finding() {
    let text = report(56, Mistake::GetNeverEnds).await.to_string();
    assert!(text.contains("expected an end of get(\"a\"); it did not end within 2s"), "{text}");
    let text = report(57, Mistake::GetBlocksThread).await.to_string();
    assert!(text.contains("expected each call to return or to wait; one blocks its thread after 2s"), "{text}");
    let text = report(68, Mistake::ListIsEndless).await.to_string();
    assert!(text.contains("expected only entries in the first list, seen ListStarted"), "{text}");
}

#[tokio::test]
async fn a_panic_of_a_call_is_a_finding() {
    let text = report(28, Mistake::PutPanics).await.to_string();
    assert!(text.contains("a call panics: a planted mistake at "), "{text}");
}

#[test]
fn a_statement_that_does_not_exist_is_refused() {
    let panic = std::panic::catch_unwind(|| conformance(MemorySubject).statement(999)).err();
    let message = panic.and_then(|panic| panic.downcast_ref::<String>().cloned());
    let expected = format!("there is no statement B999; the statements are B1 to B{STATEMENTS}");
    assert_eq!(message, Some(expected));
}

#[tokio::test]
async fn a_statement_without_its_disturbance_is_skipped() {
    let report = conformance(MemorySubject).statement(103).await;
    assert!(report.is_clean() && report.checked.is_empty(), "{report}");
    assert!(report.to_string().contains("statement B103 is skipped: the subject has no disturbance `Restart`"));
}
