//! Serves CPU profiles and memory statistics of the process at two paths of the metrics server.

use super::{
    cpu_profile::{self, NoProfile},
    handler::{MEMORY_PATH, MetricsHandler, PROFILE_PATH},
};
use http::{Method, Request, Response, StatusCode, header};
use std::{fs, time::Duration};

/// The duration of a CPU profile in seconds: by default, as for programs in Go, and at most.
const DEFAULT_SECONDS: u64 = 30;
const MAX_SECONDS: u64 = 300;

/// The lines of `/proc/self/status` and `/proc/self/smaps_rollup` that say something about memory.
const MEMORY_LINES: [&str; 8] =
    ["VmPeak:", "VmSize:", "VmHWM:", "VmRSS:", "RssAnon:", "RssFile:", "VmData:", "Private_Dirty:"];

/// Returns the handlers of `/debug/pprof/profile` and `/debug/memory`.
pub(super) fn handlers() -> [MetricsHandler; 2] {
    [MetricsHandler::new(PROFILE_PATH, respond_with_profile), MetricsHandler::new(MEMORY_PATH, respond_with_memory)]
}

/// Takes a CPU profile for the seconds that the query of the request gives, and responds with the profile in the format of pprof.
async fn respond_with_profile(request: Request<Vec<u8>>) -> Response<Vec<u8>> {
    let duration = match (request.method(), seconds_of(request.uri().query())) {
        (&Method::GET, Ok(seconds)) => Duration::from_secs(seconds),
        (&Method::GET, Err(message)) => return text(StatusCode::BAD_REQUEST, &message),
        _ => return text(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed"),
    };
    match cpu_profile::take(duration).await {
        Ok(profile) => response(StatusCode::OK, "application/octet-stream", profile),
        Err(NoProfile::Busy) => text(StatusCode::CONFLICT, "another CPU profile is being taken"),
        Err(NoProfile::Unavailable(reason)) => text(StatusCode::NOT_IMPLEMENTED, &reason),
    }
}

/// Responds with the memory statistics of Linux, one per line, in KiB.
async fn respond_with_memory(request: Request<Vec<u8>>) -> Response<Vec<u8>> {
    if request.method() != Method::GET {
        return text(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed");
    }
    let files =
        ["/proc/self/status", "/proc/self/smaps_rollup"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let lines: Vec<_> = files.iter().flat_map(|file| file.lines()).filter(|line| is_about_memory(line)).collect();
    match lines.is_empty() {
        true => text(StatusCode::NOT_IMPLEMENTED, "this system has no memory statistics in /proc"),
        false => text(StatusCode::OK, &lines.join("\n")),
    }
}

fn is_about_memory(line: &str) -> bool {
    MEMORY_LINES.iter().any(|name| line.starts_with(name))
}

/// Returns the number of a query such as `seconds=10`, or the default without this parameter. Other parameters are ignored.
///
/// # Errors
/// Fails with a message for the client if the value is not a number from 1 to `MAX_SECONDS`.
fn seconds_of(query: Option<&str>) -> Result<u64, String> {
    let parameter = query.unwrap_or_default().split('&').find_map(|parameter| parameter.strip_prefix("seconds="));
    let Some(value) = parameter else { return Ok(DEFAULT_SECONDS) };
    let seconds = value.parse().ok().filter(|seconds| (1..=MAX_SECONDS).contains(seconds));
    seconds.ok_or_else(|| format!("`seconds` must be a number from 1 to {MAX_SECONDS}"))
}

fn text(status: StatusCode, text: &str) -> Response<Vec<u8>> {
    response(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
}

/// Returns a response with this status, content type and body.
fn response(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    response
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    #[cfg(feature = "profiling")]
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    /// Returns the status and the body of a handler's response to a request.
    async fn send(handler: &MetricsHandler, method: Method, uri: &str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(uri).body(Vec::new()).unwrap();
        let response = handler.respond(request, &crate::counters::Counters::default()).await.unwrap();
        (response.status(), String::from_utf8_lossy(response.body()).into_owned())
    }

    #[test]
    fn a_profile_takes_thirty_seconds_unless_the_query_says_otherwise() {
        assert_eq!(
            (seconds_of(None), seconds_of(Some("debug=1")), seconds_of(Some("a=1&seconds=5"))),
            (Ok(30), Ok(30), Ok(5))
        );
        for query in ["seconds=0", "seconds=301", "seconds=", "seconds=-1", "seconds=1.5"] {
            assert_eq!(seconds_of(Some(query)), Err("`seconds` must be a number from 1 to 300".to_owned()), "{query}");
        }
    }

    #[tokio::test]
    async fn a_request_that_makes_no_sense_is_refused() {
        let [profile, memory] = handlers();
        assert_eq!(send(&profile, Method::GET, "/debug/pprof/profile?seconds=x").await.0, StatusCode::BAD_REQUEST);
        for handler in [profile, memory] {
            assert_eq!(send(&handler, Method::POST, handler.path()).await.0, StatusCode::METHOD_NOT_ALLOWED);
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_memory_of_the_process_is_shown() {
        let (status, text) = send(&handlers()[1], Method::GET, MEMORY_PATH).await;
        assert_eq!(status, StatusCode::OK);
        assert!(text.lines().any(|line| line.starts_with("VmRSS:") && line.ends_with(" kB")), "{text}");
    }

    #[cfg(not(feature = "profiling"))]
    #[tokio::test]
    async fn without_the_feature_a_profile_names_the_feature() {
        let (status, text) = send(&handlers()[0], Method::GET, PROFILE_PATH).await;
        assert_eq!(status, StatusCode::NOT_IMPLEMENTED);
        assert!(text.contains("the feature `profiling`"), "{text}");
    }

    #[cfg(feature = "profiling")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_profile_names_the_functions_that_ran() {
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = is_over.clone();
        let busy = tokio::task::spawn_blocking(move || busy_function_of_the_test(&stop));
        let request = Request::get("/debug/pprof/profile?seconds=1").body(Vec::new()).unwrap();
        let response = respond_with_profile(request).await;
        is_over.store(true, Ordering::Relaxed);
        busy.await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let profile = String::from_utf8_lossy(response.body()).into_owned();
        assert!(profile.contains("busy_function_of_the_test"), "{} bytes", profile.len());
    }

    /// Uses CPU time until `is_over`, so that samples of the profile have its name.
    #[cfg(feature = "profiling")]
    #[inline(never)]
    fn busy_function_of_the_test(is_over: &AtomicBool) {
        let mut number = 0_u64;
        while !is_over.load(Ordering::Relaxed) {
            number = std::hint::black_box(number.wrapping_mul(31).wrapping_add(1));
        }
    }
}
