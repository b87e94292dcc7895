//! Adds ETags to discovery and OpenAPI documents.

use crate::response::{ApiResponse, Content};

/// Adds the hash of the body as an ETag, for clients that cache the document.
pub(super) fn with_etag(mut response: ApiResponse) -> ApiResponse {
    if let Content::Whole(text) = &response.content {
        response.headers.push(("etag", format!("\"{}\"", hash(text))));
    }
    response.headers.push(("vary", "Accept".to_owned()));
    response
}

/// Returns the SHA-512 hash in uppercase hexadecimal digits.
pub(super) fn hash(text: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA512, text);
    digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}
