//! Tests the run of an operator without controllers: the panic of a task, the maximum shutdown timeout, and the options of a client that
//! the caller passes.

use super::*;
use crate::{client::timeouts::Timeouts, manager::runnable::Runnable};
use http::{Request, Response};
use kube::{api::Api, client::Body};
use std::time::Duration;
use tokio::sync::mpsc;

#[tokio::test]
async fn a_controller_that_panics_ends_the_run_with_an_error() {
    let mut controllers = JoinSet::new();
    controllers.spawn(async { panic!("torn") });
    let ended = first_error(&mut controllers).await;
    assert!(matches!(ended, RunError::Controller(_)), "{ended:?}");
}

#[tokio::test]
async fn the_longest_time_to_end_is_no_panic() {
    let operator = Operator::new("idle").shutdown_timeout(Duration::MAX);
    let ended = operator.run_with(Client::disconnected().kube(), RunOptions::default(), async {}).await;
    assert!(ended.is_ok(), "{ended:?}");
}

/// A server that never responds, and the formats that it was asked for.
fn silent_server() -> (kube::Client, mpsc::UnboundedReceiver<Option<http::HeaderValue>>) {
    let (sender, accepted) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<Body>| {
        let _ = sender.send(request.headers().get(http::header::ACCEPT).cloned());
        std::future::pending::<Result<Response<Body>, Infallible>>()
    });
    (kube::Client::new(service, "default"), accepted)
}

#[tokio::test(start_paused = true)]
async fn manager_m11_a_client_of_the_caller_gets_the_options_of_the_operator_and_sends_json() {
    let (client, mut accepted) = silent_server();
    let reads = Runnable::new("reads", async |context| {
        let secrets = Api::<k8s_openapi::api::core::v1::Secret>::default_namespaced(context.client());
        secrets.get("token").await?;
        Ok(())
    });
    let timeouts = Timeouts::default().response(Duration::from_secs(7));
    let operator = Operator::new("idle").timeouts(timeouts).runnable(reads);
    let began = tokio::time::Instant::now();
    let ended = operator.run_with(client, RunOptions::default(), std::future::pending()).await;
    assert!(matches!(&ended, Err(RunError::Runnable { .. })), "{ended:?}");
    assert_eq!((began.elapsed().as_secs(), operator.counters().timeouts()), (7, 1));
    // kube-rs has no protobuf, so built-in kinds come as JSON, too: on purpose not as in controller-runtime.
    let accepted = accepted.recv().await.flatten();
    assert!(accepted.is_none_or(|format| !format.as_bytes().ends_with(b"protobuf")));
}
