//! Admission webhooks: functions that validate objects, or set their defaults, before the API server stores them.
//!
//! [`Operator::validates`](crate::Operator::validates) and [`Operator::defaults`](crate::Operator::defaults) add them to an operator,
//! and [`Webhook`] has their settings. A function gets an [`Admission`] and returns [`Denied`] to refuse the write.
//! [`testing::AdmissionHarness`](crate::testing::AdmissionHarness) calls them without a cluster.

mod admission;
pub(crate) mod call;
mod certificate;
pub(crate) mod conversion;
mod decode;
mod denied;
pub(crate) mod dispatch;
pub(crate) mod handler;
pub(crate) mod harness;
mod merge;
pub(crate) mod names;
mod object_reader;
mod reading;
pub(crate) mod responder;
mod review;
pub(crate) mod server;
mod settings;
pub(crate) mod trusted;

pub use admission::Admission;
pub use denied::{Denied, DeniedCause};
pub use object_reader::ObjectReader;
pub use reading::{DefaultingWebhook, ValidatingWebhook};
pub use review::Operation;
pub use server::{WebhookServer, WebhookServerError};
pub use settings::{FailurePolicy, Webhook, WebhookError};
pub(crate) use settings::{Mode, WebhookDescription};
