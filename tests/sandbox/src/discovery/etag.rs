//! Adds ETags to discovery and OpenAPI documents.

use crate::response::{ApiResponse, Content};

/// Adds the hash of the body as an ETag, for clients that cache the document.
pub(super) fn tagged(mut answer: ApiResponse) -> ApiResponse {
    if let Content::Whole(text) = &answer.content {
        answer.headers.push(("etag", format!("\"{}\"", hash(text))));
    }
    answer.headers.push(("vary", "Accept".to_owned()));
    answer
}

/// Returns the SHA-512 hash in uppercase hexadecimal digits.
pub(super) fn hash(text: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA512, text);
    digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}
