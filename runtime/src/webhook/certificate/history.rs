//! `IssuedCertificate`: a webhook certificate, signed by an authority of its own. `CertificateHistory`: all such certificates. It tells
//! which one to serve, which authorities to trust, and when a new one is due.

use crate::server::certificate::tls_config;
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde::{Deserialize, Serialize};
use std::{fmt, io, time::Duration};

/// How long before its creation a certificate is valid already, for API servers whose clock is late.
const SKEW: Duration = Duration::from_secs(3600);

/// The maximum time between the creation of a certificate and its use, in which API servers learn its authority.
const MAX_OVERLAP_SECONDS: i64 = 3600;

/// After this time, all replicas have read a new Secret: several times the period of their reads.
const MAX_READ_DELAY_SECONDS: i64 = 300;

/// A certificate with its key, and the authority that signed it. The key of the authority is dropped when it has signed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IssuedCertificate {
    /// The DNS names that the certificate is for.
    pub(super) names: Vec<String>,
    /// In PEM, like the certificate and its key.
    pub(super) authority: String,
    pub(super) certificate: String,
    pub(super) key: String,
    /// The times, in seconds since 1970: of the creation, from which on it is served, and from which on it is invalid.
    pub(super) created: i64,
    pub(super) served_from: i64,
    pub(super) expires: i64,
}

impl IssuedCertificate {
    /// Creates a certificate authority with a new key, and a server certificate for the DNS names `names` that this authority signs. Both
    /// are valid from now on, for `lifetime`. The certificate may be served at once.
    ///
    /// # Errors
    /// Fails if a name is not a DNS name, or if the random number generator of the system fails.
    fn create(names: &[String], now: Timestamp, lifetime: Duration) -> io::Result<Self> {
        let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX / 2);
        let created = now.as_second();
        let expires = created.saturating_add(lifetime);
        // Sets the period in which a certificate is valid. It begins before now, for API servers whose clock is late.
        let valid = |mut params: CertificateParams| {
            let time = |second: i64| date_time_ymd(1970, 1, 1) + Duration::from_secs(second.try_into().unwrap_or(0));
            (params.not_before, params.not_after) = (time(created) - SKEW, time(expires));
            params
        };
        let mut authority = valid(CertificateParams::default());
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        authority.distinguished_name.push(DnType::CommonName, format!("webhooks {created}"));
        let authority_key = KeyPair::generate().map_err(io::Error::other)?;
        let signed_authority = authority.self_signed(&authority_key).map_err(io::Error::other)?;
        let mut params = valid(CertificateParams::new(names).map_err(io::Error::other)?);
        params.distinguished_name.push(DnType::CommonName, "webhooks");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = Issuer::new(authority, authority_key);
        let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
        Ok(Self {
            names: names.to_vec(),
            authority: signed_authority.pem(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            created,
            served_from: created,
            expires,
        })
    }

    /// Returns whether the authority that signed the certificate is among `authorities`, in PEM.
    pub(super) fn is_trusted(&self, authorities: &str) -> bool {
        authorities.contains(&self.authority)
    }

    /// Returns whether the certificate can be served: its authority, the certificate and the key can be decoded, and the key belongs to the
    /// certificate.
    fn is_usable(&self) -> bool {
        let authority = CertificateDer::from_pem_slice(self.authority.as_bytes());
        authority.is_ok() && tls_config(self.certificate.as_bytes(), self.key.as_bytes()).is_ok()
    }

    fn is_valid(&self, now: Timestamp) -> bool {
        now.as_second() < self.expires
    }
}

impl fmt::Debug for IssuedCertificate {
    /// Leaves out the private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedCertificate")
            .field("names", &self.names)
            .field("created", &self.created)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// The certificates of the webhooks, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct CertificateHistory(pub(super) Vec<IssuedCertificate>);

impl CertificateHistory {
    /// Returns the certificates that can be served, and the number of certificates that can't be decoded or used.
    pub(super) fn usable(self) -> (Self, usize) {
        let all = self.0.len();
        let usable: Vec<_> = self.0.into_iter().filter(IssuedCertificate::is_usable).collect();
        let unusable = all - usable.len();
        (Self(usable), unusable)
    }

    /// Returns whether the history has a single certificate that is younger than five minutes, for example because the Secret was deleted.
    /// Replicas that have not read the new Secret yet may then still serve certificates that are not in the history.
    pub(super) fn is_new(&self, now: Timestamp) -> bool {
        matches!(&self.0[..], [first] if now.as_second() < first.created.saturating_add(MAX_READ_DELAY_SECONDS))
    }

    /// Returns the certificate to serve. Prefers certificates whose authority is in `trusted` (the authorities in the webhook
    /// configurations), then those whose time `served_from` has come, then the newest. Returns `None` if all have expired.
    pub(super) fn served(&self, now: Timestamp, trusted: &str) -> Option<&IssuedCertificate> {
        let rank = |certificate: &IssuedCertificate| {
            (certificate.is_trusted(trusted), certificate.served_from <= now.as_second())
        };
        // Of several with the same rank, `max_by_key` returns the last one, which is the newest.
        self.0.iter().filter(|certificate| certificate.is_valid(now)).max_by_key(|certificate| rank(certificate))
    }

    /// Returns the authorities of all certificates that have not expired, in PEM. The API server must trust these.
    pub(super) fn bundle(&self, now: Timestamp) -> String {
        self.0
            .iter()
            .filter(|certificate| certificate.is_valid(now))
            .map(|certificate| certificate.authority.as_str())
            .collect()
    }

    /// Returns whether a new certificate must be created: the newest one is not for these DNS names, or two thirds of its lifetime have
    /// passed.
    pub(super) fn is_due(&self, names: &[String], now: Timestamp) -> bool {
        let newest = self.0.last().filter(|newest| newest.names == names);
        newest.is_none_or(|newest| now.as_second() >= newest.created + (newest.expires - newest.created) / 3 * 2)
    }

    /// Returns the history without expired certificates, and with a new certificate for these DNS names. If the history has a certificate
    /// for these names already, the new one is served only after a twelfth of its lifetime, at most an hour, so that API servers trust its
    /// authority before they see it.
    ///
    /// # Errors
    /// Those of [`IssuedCertificate::create`].
    pub(super) fn renewed(&self, names: &[String], now: Timestamp, lifetime: Duration) -> io::Result<Self> {
        let mut history: Vec<_> = self.0.iter().filter(|certificate| certificate.is_valid(now)).cloned().collect();
        let mut new = IssuedCertificate::create(names, now, lifetime)?;
        // With certificates for other names only, the new one is served at once: calls with these would fail.
        if history.iter().any(|certificate| certificate.names == names) {
            new.served_from = new.created + ((new.expires - new.created) / 12).min(MAX_OVERLAP_SECONDS);
        }
        history.push(new);
        Ok(Self(history))
    }
}
