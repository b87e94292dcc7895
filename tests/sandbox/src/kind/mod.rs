//! Defines the API resources that the server serves: built-in kinds and the kinds of CustomResourceDefinitions.

pub(crate) use api_resource::{Custom, Kind, Origin, SchemaOf, Subresource};
pub(crate) use registry::Registry;

mod api_resource;
pub(crate) mod builtin;
pub(crate) mod custom;
pub(crate) mod definition;
mod registry;
