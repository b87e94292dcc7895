//! Reports what the operator under test did wrong with a simulated external service, as the simulation recorded it.

use super::case::Case;
use crate::report::Finding;

/// Returns a finding about what the program did wrong with the things that an external service stores, such as a thing created twice. The
/// finding is named after the first problem of the run, and lists all of them. `None` without a problem.
pub(crate) fn service_problem(case: &Case<'_>) -> Option<Finding> {
    let problem = case.outcome.service_problems.first()?;
    let hint = "find a thing by its token before a creation, and let `CREATE_GRACE` cover the time until a new one is visible; change only the managed part of a thing; and return the errors of the service, which the operator retries after a delay";
    let lines = case.outcome.service_problems.iter().map(|problem| format!("  {problem}")).collect();
    Some(case.finding(problem.clone(), hint, lines))
}
