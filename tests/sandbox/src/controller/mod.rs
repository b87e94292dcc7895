//! Implements the controllers of a cluster: garbage collection, namespaces, CustomResourceDefinitions, quotas and
//! workloads.

use client::{ApiError, ControllerClient};
use reconcile::{Action, ChangeEvent, Controller, EventSources, ObjectKey, ReconcileResult};

pub(crate) use start::start;
pub(crate) use tasks::Controllers;

pub(crate) mod accounts;
mod api_services;
mod cd;
mod client;
mod collector;
mod crd;
mod crd_client;
mod crd_removal;
mod flow_schemas;
mod namespaces;
mod naming;
mod protection;
mod queue;
mod quotas;
mod reconcile;
mod start;
mod tasks;
mod tokens;
mod workload;
