//! Chooses the cryptography of TLS connections.

use rustls::crypto::{CryptoProvider, ring};

/// Makes ring the cryptography of TLS, unless the program has chosen one. Without a choice, rustls panics at the first connection of a
/// program that is linked with several.
pub(crate) fn ensure_default() {
    if CryptoProvider::get_default().is_none() {
        // It fails only if another thread has installed one in the meantime.
        let _ = ring::default_provider().install_default();
    }
}
