//! Operators of kinds in buckets do what a runtime for NATS does: each statement about it has a test that carries its number.

use super::numbered::{Statement, have_tests};

/// The statements by their numbers. A test of one begins with `nats_u<number>_`.
const STATEMENTS: [Statement; 26] = [
    (1, "a primary is in a bucket, and its status is in its entry"),
    (2, "children are in Kubernetes or in buckets"),
    (3, "other objects and entries are inputs that are only read"),
    (4, "changes of external resources are found by a period, not by events"),
    (5, "an operator names the kinds that it has, and no others"),
    (6, "a child names the kind and the key of its owner"),
    (7, "the mark has the true key, whatever its length, and labels are valid"),
    (10, "a pass that fails is repeated with a growing delay"),
    (11, "a change of a child only enqueues its owner"),
    (12, "children whose owner was deleted while no operator ran are removed"),
    (13, "the process may do its last work when it stops"),
    (14, "parts may be added after an operator was built"),
    (20, "an entry that is no object is never tried again"),
    (21, "a success forgets the failures of a key"),
    (22, "a failure adds the key again with a delay"),
    (23, "a key can be added with a delay"),
    (24, "operations on one key become one pass with the last value"),
    (25, "a deletion and a purge are the same"),
    (30, "a stop waits for passes in flight, and begins none"),
    (31, "fatal problems end the run with an error, and others are waited for"),
    (32, "a period enqueues all primaries again"),
    (33, "leader election, metrics and finalizers are those of other kinds"),
    (40, "a deletion that no event tells, and an object without an owner, are no special cases"),
    (41, "events about entries are recorded"),
    (42, "events have the reasons of opgen, and name the child"),
    (43, "a child that exists without a mark is reported and left alone"),
];

#[test]
fn every_statement_about_buckets_has_a_test_of_its_number() {
    have_tests("nats_u", STATEMENTS);
}
