//! Implements the metrics of an operator: the registry, the table of all metrics, and the server of `/metrics`.
//!
//! Metrics that mean the same as those of controller-runtime and client-go have their names, labels and buckets, so that dashboards
//! and alerts work unchanged. All others begin with `opgen_`. [`TABLE`] lists them.

mod alert;
pub(crate) mod calls;
pub(crate) mod clusters;
pub(crate) mod controller;
mod cpu_profile;
mod exemplar;
pub(crate) mod handler;
pub(crate) mod histogram;
pub(crate) mod label;
pub(crate) mod live;
mod metric;
pub(crate) mod panel;
mod process;
mod profiling;
mod registry;
mod reviews;
mod sample;
pub(crate) mod server;
mod table;
mod text;

pub use alert::{ALERTS, Alert, AlertSeverity};
pub use metric::{Metric, MetricKind};
pub use prometheus_client::registry::Registry;
pub use registry::Metrics;
pub use server::{MetricsError, MetricsServer};
pub use table::TABLE;
