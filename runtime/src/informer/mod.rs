//! Watches the API server: one shared watch per kind, stores, and event handlers that enqueue primaries.

pub(crate) mod change_origin;
pub(crate) mod child;
pub(crate) mod child_store;
pub(crate) mod event_handler;
pub(crate) mod fan_out;
pub(crate) mod lister;
pub(crate) mod lister_reads;
pub(crate) mod mapped;
pub(crate) mod namespaces;
pub(crate) mod primary;
pub(crate) mod projection;
pub(crate) mod reference;
pub(crate) mod reflector;
pub(crate) mod selection;
pub(crate) mod sharded;
pub(crate) mod shared_watch;
pub(crate) mod source;
pub(crate) mod watch;
