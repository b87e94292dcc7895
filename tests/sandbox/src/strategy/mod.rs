//! Implements the create and update strategies of the kinds: defaults, metadata, status and generation.

pub(crate) use default::set_defaults;
pub(crate) use metadata::{fill_metadata, generate_name, keep_metadata};
pub(crate) use prepare::{prepare_create, prepare_update};
pub(crate) use update::{creates_on_update, is_completed_by_an_update, revalidates_metadata, updates_unconditionally};
pub(crate) use warning::warnings;

pub(crate) mod daemon_set;
mod default;
mod defaults;
mod generation;
mod job;
mod metadata;
mod namespace;
pub(crate) mod normalize;
mod pod;
mod prepare;
mod secret;
pub(crate) mod service;
pub(crate) mod service_address;
mod signing_request;
mod special;
mod status;
mod template_labels;
mod update;
mod warning;
