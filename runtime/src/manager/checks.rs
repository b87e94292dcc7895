//! `HealthCheck`: a check of the user, and `CheckReport`, the results of the checks of one probe.

use crate::{
    counters::Counters,
    error::{Error, Result},
    panic::{Closure, Panicked},
};
use axum::http::StatusCode;
use futures::{FutureExt, future::BoxFuture};
use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};

/// The maximum duration of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// A named check of the user.
#[derive(Clone)]
pub(crate) struct HealthCheck {
    pub(super) name: String,
    check: Arc<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>,
}

impl HealthCheck {
    /// Creates a check that passes if the future of `check` returns `Ok`. The name is a part of the path `/readyz/<name>` or
    /// `/livez/<name>`.
    pub(super) fn new<F>(name: impl Into<String>, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        Self { name: name.into(), check: Arc::new(move || check().boxed()) }
    }

    /// Runs the check. It fails if its function returns an error, panics, or takes longer than [`CHECK_TIMEOUT`]; the lines of the
    /// result then have the name of the check and the reason.
    pub(super) async fn run(&self, counters: &Counters) -> CheckResult {
        let run = AssertUnwindSafe(async { (self.check)().await }).catch_unwind();
        let failure = match tokio::time::timeout(CHECK_TIMEOUT, run).await {
            Ok(Ok(Ok(()))) => return CheckResult { name: self.name.clone(), is_ok: true, lines: String::new() },
            Ok(Ok(Err(error))) => self.describe(error),
            Ok(Err(payload)) => {
                counters.count_panic(Closure::HealthCheck);
                self.describe(Error::unexpected(Panicked::new(Closure::HealthCheck, &*payload)))
            }
            Err(_) => format!("no answer within {} s", CHECK_TIMEOUT.as_secs()),
        };
        CheckResult { name: self.name.clone(), is_ok: false, lines: format!("{}: {failure}\n", self.name) }
    }

    /// Returns the text of an error for the response of the probe. Everybody may read the response, so the text of a conflict or of an
    /// unexpected error is only logged.
    fn describe(&self, error: Error) -> String {
        match error {
            Error::Yield { message, .. } | Error::UserAction { message, .. } | Error::Terminal { message, .. } => {
                message
            }
            Error::Conflict(source) | Error::Unexpected(source) => {
                tracing::warn!(check = self.name, error = %source, "a health check failed");
                "failed; the reason is in the log".to_owned()
            }
        }
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HealthCheck").field(&self.name).finish()
    }
}

/// A probe of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// While it fails, the container is restarted.
    Live,
    /// While it fails, the Pod is not ready.
    Ready,
}

impl Probe {
    /// Returns the first segment of the probe's path.
    pub(super) fn endpoint(self) -> &'static str {
        match self {
            Self::Live => "livez",
            Self::Ready => "readyz",
        }
    }

    /// Returns the probe for the first segment of a request's path; `None` if it is no probe. `healthz` is the name of
    /// controller-runtime for the liveness probe.
    pub(super) fn at(endpoint: &str) -> Option<Self> {
        match endpoint {
            "livez" | "healthz" => Some(Self::Live),
            "readyz" => Some(Self::Ready),
            _ => None,
        }
    }

    /// Returns the names of the built-in checks of the probe, which every operator has.
    pub(super) fn own_checks(self) -> &'static [&'static str] {
        match self {
            Self::Live => &["tasks", "workers", "lead"],
            Self::Ready => &["tasks", "watches", "lead", "controllers"],
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckResult {
    pub(super) name: String,
    pub(super) is_ok: bool,
    /// The findings of the check, line by line; may be empty.
    pub(super) lines: String,
}

impl CheckResult {
    /// Returns the result of a check that fails if there are lines.
    pub(super) fn of_failures(name: &str, lines: String) -> Self {
        Self { name: name.to_owned(), is_ok: lines.is_empty(), lines }
    }
}

/// The options of a request to a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProbeQuery {
    verbose: bool,
    excluded: Vec<String>,
}

impl ProbeQuery {
    /// Parses a query, for example `verbose&exclude=watches&exclude=queue`. Other parameters are ignored.
    pub(super) fn parse(query: &str) -> Self {
        let mut parsed = Self::default();
        for parameter in query.split('&') {
            match parameter.split_once('=').unwrap_or((parameter, "")) {
                ("verbose", value) => parsed.verbose = !matches!(value, "false" | "0"),
                ("exclude", name) if !name.is_empty() => parsed.excluded.push(name.to_owned()),
                _ => {}
            }
        }
        parsed
    }

    pub(super) fn excludes(&self, name: &str) -> bool {
        self.excluded.iter().any(|excluded| excluded == name)
    }
}

/// The results of the checks of one probe.
pub(super) struct CheckReport {
    pub(super) probe: Probe,
    pub(super) results: Vec<CheckResult>,
}

impl CheckReport {
    /// Returns the status and the body of the response to a query. The status is 200 if all checks that the query doesn't exclude pass,
    /// else 503. With `verbose`, the body lists these checks with their results. Otherwise it has their lines, which say what failed or
    /// what the operator works without, and for a passed liveness probe only `ok`.
    pub(super) fn respond(&self, query: &ProbeQuery) -> (StatusCode, String) {
        let checked: Vec<_> = self.results.iter().filter(|result| !query.excludes(&result.name)).collect();
        let is_ok = checked.iter().all(|result| result.is_ok);
        // A passed readiness probe still has its lines: they name the kinds that the operator works without.
        let is_only_ok = is_ok && self.probe == Probe::Live;
        let mut text = String::new();
        for result in &checked {
            match (query.verbose, result.is_ok) {
                (true, true) => text.push_str(&format!("[+]{} ok\n{}", result.name, indented(&result.lines))),
                (true, false) => text.push_str(&format!("[-]{} failed\n{}", result.name, indented(&result.lines))),
                (false, _) if is_only_ok => {}
                (false, _) => text.push_str(&result.lines),
            }
        }
        let is_known = |name: &&String| self.results.iter().any(|result| result.name == **name);
        let unknown: Vec<_> = query.excluded.iter().filter(|name| !is_known(name)).map(String::as_str).collect();
        if !unknown.is_empty() {
            text.push_str(&format!("warn: there is no check {} to exclude\n", unknown.join(", ")));
        }
        if query.verbose {
            let result = if is_ok { "passed" } else { "failed" };
            text.push_str(&format!("{} check {result}\n", self.probe.endpoint()));
        } else if text.is_empty() && is_only_ok {
            text.push_str("ok\n");
        }
        (status(is_ok), text)
    }

    /// Returns the status and the body of the response for one check; `None` if no check has this name.
    pub(super) fn respond_for(&self, name: &str) -> Option<(StatusCode, String)> {
        let result = self.results.iter().find(|result| result.name == name)?;
        let text = if result.lines.is_empty() { "ok\n".to_owned() } else { result.lines.clone() };
        Some((status(result.is_ok), text))
    }
}

fn status(is_ok: bool) -> StatusCode {
    if is_ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Indents each line by four spaces.
fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a report of three checks, of which `queue` has failed.
    fn report(probe: Probe) -> CheckReport {
        let result =
            |name: &str, is_ok, lines: &str| CheckResult { name: name.to_owned(), is_ok, lines: lines.to_owned() };
        let results = vec![
            result("tasks", true, ""),
            result("watches", true, "Pod: ok\n"),
            result("queue", false, "queue: closed\n"),
        ];
        CheckReport { probe, results }
    }

    fn respond(report: &CheckReport, query: &str) -> (u16, String) {
        let (status, text) = report.respond(&ProbeQuery::parse(query));
        (status.as_u16(), text)
    }

    #[test]
    fn manager_m26_checks_can_be_excluded_listed_and_asked_one_by_one() {
        let ready = report(Probe::Ready);
        assert_eq!(respond(&ready, ""), (503, "Pod: ok\nqueue: closed\n".to_owned()));
        assert_eq!(respond(&ready, "exclude=queue"), (200, "Pod: ok\n".to_owned()));
        let warned = respond(&ready, "timeout=1s&exclude=queue&exclude=stack");
        assert_eq!(warned, (200, "Pod: ok\nwarn: there is no check stack to exclude\n".to_owned()));
        let verbose =
            "[+]tasks ok\n[+]watches ok\n    Pod: ok\n[-]queue failed\n    queue: closed\nreadyz check failed\n";
        assert_eq!(respond(&ready, "verbose"), (503, verbose.to_owned()));
        assert_eq!(respond(&ready, "verbose=true&exclude=queue").1.lines().last(), Some("readyz check passed"));
        assert_eq!(ready.respond_for("watches"), Some((StatusCode::OK, "Pod: ok\n".to_owned())));
        assert_eq!(ready.respond_for("tasks"), Some((StatusCode::OK, "ok\n".to_owned())));
        assert_eq!(ready.respond_for("queue").map(|(status, _)| status), Some(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(ready.respond_for("stack"), None);
    }

    #[test]
    fn a_live_probe_says_ok_or_what_failed() {
        let live = report(Probe::Live);
        assert_eq!(respond(&live, "exclude=queue"), (200, "ok\n".to_owned()));
        assert_eq!(respond(&live, "").0, 503);
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_panics_or_hangs_fails_and_secrets_stay_in_the_log() {
        let counters = Counters::default();
        let lines = async |check: HealthCheck| check.run(&counters).await.lines;
        let yields = HealthCheck::new("queue", async || crate::error::yield_because("Closed", "the queue is closed"));
        assert_eq!(lines(yields).await, "queue: the queue is closed\n");
        let leaks = HealthCheck::new("queue", async || Err(std::io::Error::other("password=hunter2").into()));
        assert_eq!(lines(leaks).await, "queue: failed; the reason is in the log\n");
        let hangs = HealthCheck::new("queue", std::future::pending);
        assert_eq!(lines(hangs).await, "queue: no answer within 5 s\n");
        let panics = HealthCheck::new("queue", || -> std::future::Ready<Result<()>> { panic!("torn") });
        assert_eq!(lines(panics).await, "queue: failed; the reason is in the log\n");
        assert_eq!(counters.panics(Closure::HealthCheck), 1);
        assert!(HealthCheck::new("queue", async || Ok(())).run(&counters).await.is_ok);
    }
}
