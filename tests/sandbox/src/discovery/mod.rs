//! Serves discovery of API groups and resources, OpenAPI, metrics and health checks, and renders objects as tables for `kubectl get`.

pub(crate) use not_found::no_page;
pub(crate) use routes::{answer, no_kind};
pub(crate) use selectable::{Selectable, selectable};

mod aggregated;
mod etag;
mod groups;
mod health;
mod metrics;
mod not_found;
mod openapi;
pub(crate) mod print;
mod resources;
mod routes;
mod selectable;
mod version;
