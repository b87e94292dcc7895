//! Implements the verbs of the API: create, get, list, watch, update, patch and delete, and the subresources.

pub(crate) use body::read_json;
pub(crate) use delete::{FOREGROUND, ORPHAN};
pub(crate) use dispatch::answer;
pub(crate) use subresource::restore_unwritten;

mod body;
mod create;
mod defaulting;
mod delete;
mod dispatch;
mod filter;
mod list;
mod list_options;
mod outcome;
mod owners;
mod patch;
mod read;
mod replace;
mod subresource;
mod watch;
mod write;
