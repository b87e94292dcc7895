//! Caches the objects that watches report: one [`Store`] per kind and scope, with one writer and many readers.
//!
//! An entry is a [`Header`], the metadata that controllers read on every event, and a value. For primaries the value is the whole
//! object, [`Encoded`] by its kind's [`Codec`] and decoded on read by a [`Reader`]; for children it is a small projection.
//! [`PrimaryCache`] combines store and codec. [`OwnWrites`] prevents a pass from using a state that is older than the operator's
//! own last write. This module does not depend on where objects live: a source passes JSON to it.

mod change;
mod codec;
mod entry;
mod header;
mod index;
mod key;
mod objects;
mod own_write_events;
mod own_writes;
mod packed;
mod per_object;
mod reader;
mod revision;
mod store;
mod strip;
#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests;
mod text;
mod uid;
mod version;

pub use change::Change;
pub use codec::{Codec, DecodeError, Encoded};
pub use entry::Entry;
pub use header::{ANNOTATION_PREFIX, Header, HeaderError, OwnerReference};
pub use key::ObjectKey;
pub use objects::{ObjectError, PrimaryCache};
pub(crate) use own_write_events::OwnWriteEvents;
pub use own_writes::OwnWrites;
pub use packed::{PackedList, PackedMap};
pub(crate) use per_object::PerObject;
pub use reader::{ReadError, Reader};
pub(crate) use revision::Revision;
pub use store::Store;
pub(crate) use strip::without_managed_fields;
pub use uid::Uid;
pub use version::{ResourceVersion, WatchProgress};
