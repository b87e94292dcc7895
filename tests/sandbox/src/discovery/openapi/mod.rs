//! Builds the OpenAPI documents of the served kinds from the built-in definitions and the CustomResourceDefinitions.

pub(super) use document::{document, index};

mod components;
mod descriptions;
mod document;
mod gnostic;
mod operations;
mod reference;
mod registered;
pub(super) mod swagger;
