//! Implements the Kubernetes API for kinds whose objects are in key-value buckets. The operator's own process answers the requests.
//!
//! [`BucketApi`] serves get, list, watch, create, replace, patch, apply and delete as kube-apiserver does, from one bucket for
//! each kind. The value of an entry is the object as JSON. It may lack everything but the spec, so that clients without any
//! knowledge of Kubernetes can write it.
//!
//! An object with finalizers has a *claim*, an entry of its own: when another client deletes or purges the object, the claim shows it
//! with a deletion timestamp until its finalizers are removed.

mod call;
mod change_window;
mod claim;
mod commit;
mod compressed_objects;
mod delete;
mod discovery;
mod failure;
mod fields;
mod joined_objects;
mod kind;
mod kind_store;
mod list;
mod metadata;
mod object;
mod object_key;
mod object_request;
mod object_schema;
mod patch;
mod path;
mod response;
mod secret;
mod selector;
mod service;
mod stored;
mod view;
mod view_task;
mod watch;
mod write;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;

pub(crate) use kind::BucketKind;
pub(crate) use service::BucketApi;
