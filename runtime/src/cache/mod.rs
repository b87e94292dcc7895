//! Objects as last seen by a watch: one [`Store`] per kind and scope, written by one feed and read by many.
//!
//! An entry is a [`Header`] (the metadata asked about all the time) beside a value: for primaries the whole object,
//! [`Encoded`] by its kind's [`Codec`] and decoded on read by a [`Reader`]; for children a small projection of it.
//! [`PrimaryCache`] ties the first three together. [`OwnWrites`] keeps a pass from acting on a state that is older than what
//! the operator itself wrote. Nothing in here knows where objects live: a source hands over JSON.

mod change;
mod codec;
mod dictionary;
mod echoes;
mod entry;
mod header;
mod index;
mod key;
mod objects;
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
mod unowned;
mod version;

pub use change::Change;
pub use codec::{Codec, DecodeError, Encoded};
pub use dictionary::Contexts;
pub(crate) use echoes::Echoes;
pub use entry::Entry;
pub use header::{ANNOTATION_PREFIX, Header, HeaderError, OwnerReference};
pub use key::ObjectKey;
pub use objects::{ObjectError, PrimaryCache};
pub use own_writes::OwnWrites;
pub use packed::{PackedList, PackedMap};
pub(crate) use per_object::PerObject;
pub use reader::{ReadError, Reader};
pub(crate) use revision::Revision;
pub use store::Store;
pub(crate) use strip::without_managed_fields;
pub use uid::Uid;
pub(crate) use unowned::Unowned;
pub use version::{ResourceVersion, Seen};
