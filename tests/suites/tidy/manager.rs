//! The manager of an operator does what controller-runtime's does: each statement about it has a test that carries its number.

use super::numbered::{Statement, have_tests};

/// The statements by their numbers. A test of one begins with `manager_m<number>_`.
const STATEMENTS: [Statement; 33] = [
    (1, "the times of leader election are 15 s, 10 s and 2 s, and each can be set"),
    (2, "the lease duration counts from the candidate's own last observation of a change"),
    (3, "the lock is a Lease, whose name and namespace are options"),
    (4, "the election may have a client of its own, and the Lease labels"),
    (5, "a stop releases the Lease"),
    (6, "the shutdown timeout is 30 s; zero waits for nothing, the maximum for ever, and a lost lead for nothing"),
    (7, "an empty address and `0` disable a server"),
    (8, "an address that can't be bound is an error before anything starts"),
    (9, "every runnable gets the context of its run"),
    (10, "all namespaces are watched, or the chosen ones; reads come from the cache"),
    (11, "a client of the caller gets the options of the operator; objects are JSON"),
    (12, "the lock is a Lease and nothing else, so there is no migration of locks"),
    (20, "a runnable runs until the stop or its own end"),
    (21, "a runnable needs the lead unless it says that it doesn't"),
    (22, "a runnable that is added later starts at once, and not during a stop"),
    (23, "the error of a runnable stops the operator and is returned"),
    (24, "`elected` is true once the runnables with lead have been started, and without an election"),
    (25, "a server is a runnable with or without the lead, and with a shutdown timeout of its own"),
    (26, "handlers and checks have paths of their own, and a path used twice is an error"),
    (27, "a second start is an error"),
    (
        30,
        "servers, runnables before caches, caches, runnables without lead, election, runnables with lead start in this order",
    ),
    (
        31,
        "runnables without lead, those with lead, caches, runnables before caches, servers stop in this order; then the lead",
    ),
    (32, "all end within the shutdown timeout, or an error names what did not"),
    (33, "a lost lead ends the run at once with an error"),
    (34, "a replica that stops before it leads starts nothing that needs the lead"),
    (40, "controllers have a number of workers and distinct names, and panics are counted"),
    (41, "one key is never with two workers, and an event meanwhile runs it once more"),
    (42, "an error is tried again, a terminal error is not"),
    (43, "a success forgets the failures of its key"),
    (44, "the delay of a key doubles from 5 ms to 1000 s"),
    (45, "listed objects have low priority, a requeue keeps the priority, and a higher one raises a key"),
    (46, "of two times the earlier counts, and an add without delay makes a key ready"),
    (47, "the metrics are those of controller-runtime, and exist before the first pass"),
];

#[test]
fn every_statement_about_the_manager_has_a_test_of_its_number() {
    have_tests("manager_m", STATEMENTS);
}
