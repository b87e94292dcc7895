//! Installs the default cryptography provider of rustls, which TLS connections use.

use rustls::crypto::{CryptoProvider, ring};

/// Installs ring as the default cryptography provider of rustls, unless the program has installed a provider. If a program is linked with
/// several providers and installs none, rustls panics at the first connection.
pub(crate) fn ensure_default() {
    if CryptoProvider::get_default().is_none() {
        // The call fails only if another thread has installed a provider in the meantime.
        let _ = ring::default_provider().install_default();
    }
}
