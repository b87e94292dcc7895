//! Tests of the server on loopback addresses.

use super::*;
use crate::{client::Client, counters::Counters, panic::Closure};
use std::net::Ipv4Addr;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn metrics() -> Metrics {
    Metrics::new("shop", Counters::default())
}

/// Returns the response to a request with these headers, as text.
async fn ask(address: SocketAddr, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn a_loopback_address_serves_plain_http_in_both_formats() {
    let server = MetricsServer::new(LOOPBACK).bind(Vec::new()).await.unwrap();
    let address = server.address.local_addr();
    let serving = tokio::spawn(async move { server.serve(metrics(), Vec::new(), Client::disconnected().kube()).await });
    let text = ask(address, "/metrics", "").await;
    assert!(
        text.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{text}"
    );
    assert!(text.contains("# TYPE opgen_throttled_total counter\nopgen_throttled_total 0\n"), "{text}");
    let text = ask(address, "/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n").await;
    assert!(text.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"), "{text}");
    assert!(text.contains("# TYPE opgen_throttled counter\nopgen_throttled_total 0\n"), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(ask(address, "/", "").await.starts_with("HTTP/1.1 404 "));
    serving.abort();
}

#[tokio::test]
async fn plain_http_is_refused_on_an_address_that_others_can_reach() {
    let server = MetricsServer::new(([0, 0, 0, 0], 0).into()).secure(false);
    let error = server.bind(Vec::new()).await.unwrap_err();
    assert!(matches!(error, MetricsError::Insecure { .. }), "{error}");
    assert!(error.hint().contains("--metrics-secure"));
}

#[test]
fn without_kubernetes_nothing_reviews_the_tokens_of_clients() {
    let everywhere = MetricsServer::new(([0, 0, 0, 0], 8443).into());
    let error = everywhere.check_without_kubernetes().unwrap_err();
    assert!(matches!(error, MetricsError::NoReviews { .. }), "{error}");
    assert!(error.hint().contains("loopback"));
    let loopback = MetricsServer::new(LOOPBACK);
    assert!(loopback.check_without_kubernetes().is_ok());
    assert!(loopback.secure(true).check_without_kubernetes().is_err());
}

#[tokio::test]
async fn manager_m8_an_address_in_use_is_an_error_before_anything_is_served() {
    let taken = TcpListener::bind(LOOPBACK).await.unwrap();
    let error = MetricsServer::new(taken.local_addr().unwrap()).bind(Vec::new()).await.unwrap_err();
    assert!(matches!(error, MetricsError::Listen { .. }), "{error}");
}

#[tokio::test]
async fn a_request_without_a_token_is_unauthorized_and_a_server_error_is_no_permission() {
    let handler = |client: kube::Client| Handler {
        metrics: metrics(),
        handlers: Vec::new(),
        reviews: Some(Reviews::new(client)),
    };
    let handler = handler(Client::disconnected().kube());
    let mut headers = HeaderMap::new();
    let request = |method: Method, headers: &HeaderMap| {
        let mut request = Request::new(Full::<Bytes>::default());
        (*request.method_mut(), *request.uri_mut()) = (method, METRICS_PATH.parse().unwrap());
        request.headers_mut().extend(headers.clone());
        request
    };
    let status = async |headers: &HeaderMap| handler.respond(request(Method::GET, headers)).await.status();
    assert_eq!(status(&headers).await, StatusCode::UNAUTHORIZED);
    headers.insert(header::AUTHORIZATION, http::HeaderValue::from_static("Basic c2hvcA=="));
    assert_eq!(status(&headers).await, StatusCode::UNAUTHORIZED);
    headers.insert(header::AUTHORIZATION, http::HeaderValue::from_static("Bearer token"));
    assert_eq!(status(&headers).await, StatusCode::INTERNAL_SERVER_ERROR);
    let posted = handler.respond(request(Method::POST, &headers)).await;
    assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn manager_m26_a_handler_of_the_user_responds_at_its_path() {
    let echo = MetricsHandler::new("/debug/echo", async |request: Request<Vec<u8>>| {
        assert_ne!(request.uri().query(), Some("torn"));
        Response::new([request.method().as_str().as_bytes(), b" ", request.body()].concat())
    });
    let server = MetricsServer::new(LOOPBACK).bind(Vec::new()).await.unwrap();
    let address = server.address.local_addr();
    let (own, counted) = (metrics(), metrics().counters().clone());
    let counters = own.counters().clone();
    let serving = tokio::spawn(async move { server.serve(own, vec![echo], Client::disconnected().kube()).await });
    assert!(ask(address, "/debug/echo", "").await.ends_with("\r\n\r\nGET "));
    assert!(ask(address, "/debug/echo?torn", "").await.starts_with("HTTP/1.1 500 "));
    assert_eq!((counters.panics(Closure::MetricsHandler), counted.panics(Closure::MetricsHandler)), (1, 0));
    assert!(ask(address, "/debug/echoes", "").await.starts_with("HTTP/1.1 404 "));
    assert!(ask(address, "/metrics", "").await.starts_with("HTTP/1.1 200 "));
    serving.abort();
}

#[tokio::test]
async fn profiles_are_served_only_if_they_are_requested() {
    for (profiling, status) in [(false, "HTTP/1.1 404 "), (true, "HTTP/1.1 400 ")] {
        let server = MetricsServer::new(LOOPBACK).profiling(profiling).bind(Vec::new()).await.unwrap();
        let address = server.address.local_addr();
        let serving =
            tokio::spawn(async move { server.serve(metrics(), Vec::new(), Client::disconnected().kube()).await });
        let text = ask(address, "/debug/pprof/profile?seconds=none", "").await;
        assert!(text.starts_with(status), "{text}");
        serving.abort();
    }
}
