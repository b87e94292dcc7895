//! JSON as text.

use serde::Serialize;

/// Writes a value behind a text. Only what is no JSON can't be written, and here it is values and words alone.
pub(crate) fn append(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    if let Err(error) = serde_json::to_writer(text, value) {
        unreachable!("{error}");
    }
}
