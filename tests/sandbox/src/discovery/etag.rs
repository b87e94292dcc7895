//! ETags of discovery and OpenAPI documents.

use crate::response::{ApiResponse, Content};

/// An answer that carries the hash of its text, for clients that keep it.
pub(super) fn tagged(mut answer: ApiResponse) -> ApiResponse {
    if let Content::Whole(text) = &answer.content {
        answer.headers.push(("etag", format!("\"{}\"", hash(text))));
    }
    answer.headers.push(("vary", "Accept".to_owned()));
    answer
}

/// SHA-512 in capital hexadecimal digits.
pub(super) fn hash(text: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA512, text);
    digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}
