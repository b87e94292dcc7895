//! Tests of the server on loopback addresses.

use super::*;
use crate::{client::Client, counters::Counters};
use std::net::Ipv4Addr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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
    let address = server.listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { server.serve(metrics(), Client::disconnected().kube()).await });
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

#[tokio::test]
async fn manager_m8_an_address_in_use_is_an_error_before_anything_is_served() {
    let taken = TcpListener::bind(LOOPBACK).await.unwrap();
    let error = MetricsServer::new(taken.local_addr().unwrap()).bind(Vec::new()).await.unwrap_err();
    assert!(matches!(error, MetricsError::Listen { .. }), "{error}");
}

#[tokio::test]
async fn a_request_without_a_token_is_unauthorized_and_a_server_error_is_no_permission() {
    let handler = |client: kube::Client| Handler { metrics: metrics(), reviews: Some(Reviews::new(client)) };
    let handler = handler(Client::disconnected().kube());
    let mut headers = HeaderMap::new();
    let status = async |headers: &HeaderMap| handler.respond(&Method::GET, METRICS_PATH, headers).await.status();
    assert_eq!(status(&headers).await, StatusCode::UNAUTHORIZED);
    headers.insert(header::AUTHORIZATION, http::HeaderValue::from_static("Basic c2hvcA=="));
    assert_eq!(status(&headers).await, StatusCode::UNAUTHORIZED);
    headers.insert(header::AUTHORIZATION, http::HeaderValue::from_static("Bearer token"));
    assert_eq!(status(&headers).await, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(handler.respond(&Method::POST, METRICS_PATH, &headers).await.status(), StatusCode::METHOD_NOT_ALLOWED);
}
