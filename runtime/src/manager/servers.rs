//! `Servers`: the bound servers of probes, metrics and webhooks, and the tasks that serve them.

use crate::{
    error::yield_because,
    kind::Kind,
    manager::{
        checks::HealthCheck,
        extensions::{Extensions, WEBHOOK_CHECK},
        operator::Operator,
        probes::{self, ProbeTargets},
        run_error::RunError,
    },
    metrics::{Metrics, MetricsServer, server::BoundServer},
    tasks::{OnEnd, Tasks},
    webhook::{
        WebhookServer,
        conversion::Converter,
        dispatch::Dispatcher,
        server::{RunningWebhookServer, ServedOperator},
        trusted::TrustedWebhooks,
    },
};
use futures::FutureExt;
use std::{future::ready, sync::Arc};
use tokio::net::TcpListener;

/// The addresses of the servers of a run, except that of the probes.
pub(super) struct ServerOptions {
    pub(super) metrics: Option<MetricsServer>,
    pub(super) webhooks: Option<WebhookServer>,
}

/// The servers of a run, whose addresses are bound.
pub(super) struct Servers {
    probes: Option<Arc<TcpListener>>,
    metrics: Option<BoundServer>,
    webhooks: Option<RunningWebhookServer>,
    /// The kinds whose objects the operator converts.
    converted: Vec<Kind>,
}

impl Servers {
    /// Binds the addresses of the metrics and of the webhooks, so that an invalid one is an error before anything starts; the listener of
    /// the probes is bound already. A self-signed certificate of the metrics server gets the DNS names of the operator's Service. Without
    /// webhooks, their address is not bound. `client` writes without the Lease, because every replica renews the webhook certificates.
    pub(super) async fn bind(
        (options, probes): (ServerOptions, Option<Arc<TcpListener>>),
        extensions: &Extensions,
        (operator, namespace): (&Operator, &str),
        client: &kube::Client,
    ) -> Result<Self, RunError> {
        let service = format!("{}-metrics.{namespace}.svc", operator.name);
        let names = vec!["localhost".to_owned(), format!("{service}.cluster.local"), service];
        let metrics = match options.metrics {
            Some(server) => {
                if operator.without_kubernetes {
                    server.check_without_kubernetes().map_err(RunError::Metrics)?;
                }
                Some(server.bind(names).await.map_err(RunError::Metrics)?)
            }
            None => None,
        };
        let converted = operator.converted_kinds();
        let kinds = converted.keys().cloned().collect();
        let webhooks = match options.webhooks.filter(|_| operator.has_webhooks()) {
            Some(server) => {
                let trusted = TrustedWebhooks {
                    descriptions: extensions.webhooks.iter().map(|handler| &handler.description).collect(),
                    definitions: converted.keys().map(Kind::full_name).collect(),
                };
                let client = operator.wrap_client(client.clone());
                let (handlers, converter) = (extensions.webhooks.iter().cloned(), Converter::new(converted));
                let dispatcher = Dispatcher::new(handlers, converter, operator.counters(), Some(client.clone()));
                let served = ServedOperator {
                    name: &operator.name,
                    namespace,
                    is_namespaced: operator.namespaced,
                    environment: &operator.environment,
                };
                let server = server.bind().await.map_err(RunError::Webhooks)?;
                Some(server.running(dispatcher, &trusted, &served, client))
            }
            None => {
                if operator.has_webhooks() {
                    tracing::warn!("the webhooks of the operator are not served, since they have no address");
                }
                None
            }
        };
        Ok(Self { probes, metrics, webhooks, converted: kinds })
    }

    /// Spawns the tasks that serve the probes and the metrics into `tasks`. The returned webhooks have tasks of their own, since they end
    /// later. The addresses stay bound while a task is started again.
    pub(super) fn spawn(
        self,
        mut extensions: Extensions,
        targets: ProbeTargets,
        (metrics, client): (Metrics, kube::Client),
        tasks: &mut Tasks,
    ) -> ServedWebhooks {
        let mut webhooks = tasks.sibling();
        if let Some(server) = &self.webhooks {
            extensions.readyz.push(webhook_check(server.clone()));
            spawn_webhooks(server.clone(), &mut webhooks);
        }
        let served = ServedWebhooks { server: self.webhooks, tasks: webhooks };
        if let Some(listener) = self.probes {
            let targets = targets.with_checks(&extensions).with_converted(self.converted);
            tasks.spawn("probes", None, OnEnd::Restart, move || {
                probes::serve(listener.clone(), targets.clone()).boxed()
            });
        }
        if let Some(server) = self.metrics {
            let (server, handlers) = (Arc::new(server), extensions.handlers);
            tasks.spawn("metrics", None, OnEnd::Restart, move || {
                let (server, metrics, client) = (server.clone(), metrics.clone(), client.clone());
                let handlers = handlers.clone();
                async move { server.serve(metrics, handlers, client).await }.boxed()
            });
        }
        served
    }
}

/// The webhooks of a run, which are served longer than anything else: API servers call them until they know that the replica is gone.
pub(super) struct ServedWebhooks {
    server: Option<RunningWebhookServer>,
    tasks: Tasks,
}

impl ServedWebhooks {
    /// Lets the webhooks respond until no API server calls this replica any more, and waits for the requests that are being handled.
    pub(super) async fn drain(&self) {
        if let Some(server) = &self.server {
            server.drain().await;
        }
    }

    /// Ends the tasks of the webhooks, and closes their address.
    pub(super) async fn end(self) {
        self.tasks.end().await;
        if let Some(server) = &self.server {
            server.close();
        }
    }
}

/// Returns the check of `/readyz` that fails until the webhooks are served with a valid certificate that the API server trusts.
fn webhook_check(server: RunningWebhookServer) -> HealthCheck {
    HealthCheck::new(WEBHOOK_CHECK, move || {
        ready(server.problem().map_or(Ok(()), |problem| yield_because("WebhooksNotServed", problem)))
    })
}

/// Spawns the tasks of the webhooks: the server, and the renewal of its certificate, in every replica.
fn spawn_webhooks(server: RunningWebhookServer, tasks: &mut Tasks) {
    if let Some(keeper) = server.keeper.clone() {
        tasks.spawn("certificates of webhooks", None, OnEnd::Restart, move || {
            let keeper = keeper.clone();
            async move { keeper.run().await }.boxed()
        });
    }
    tasks.spawn("webhooks", None, OnEnd::Restart, move || {
        let server = server.clone();
        async move { server.serve().await }.boxed()
    });
}
