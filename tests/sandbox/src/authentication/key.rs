//! Implements the key that signs ServiceAccount tokens.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest,
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
        RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
    },
};
use serde_json::{Value, json};

/// The key of a sandbox with a seed. A seeded run repeats bit by bit, including its tokens; therefore its key is
/// public. Without a seed the key is secret.
const SEEDED: &[u8] = include_bytes!("../../table/seeded-key.der");

/// The header before a public key in its `SubjectPublicKeyInfo` (RFC 5280): the algorithm.
const RSA_HEADER: [u8; 24] = [
    0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    0x03, 0x82, 0x01, 0x0f, 0x00,
];
const P256_HEADER: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A key pair that signs tokens and verifies them.
#[derive(Debug)]
pub(super) struct SigningKey {
    pair: Pair,
    /// The digest of the public key, which Kubernetes uses as the key id.
    id: String,
}

/// A key pair of one of the two supported algorithms.
#[derive(Debug)]
enum Pair {
    Rsa(Box<RsaKeyPair>),
    P256(Box<EcdsaKeyPair>),
}

/// The error if there is no key: the machine provided no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no key to sign tokens with")]
pub(crate) struct NoKey;

impl SigningKey {
    /// Creates a key pair. A sandbox with a seed always has the same key.
    pub(super) fn new(seeded: bool) -> Result<Self, NoKey> {
        if seeded {
            return Ok(Self::from_pair(Pair::Rsa(Box::new(RsaKeyPair::from_pkcs8(SEEDED).map_err(|_| NoKey)?))));
        }
        Self::parse(&Self::generate()?)
    }

    /// Creates a key as PKCS #8 (RFC 5958).
    pub(super) fn generate() -> Result<Vec<u8>, NoKey> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        document.map(|document| document.as_ref().to_vec()).map_err(|_| NoKey)
    }

    /// Reads a key that [`Self::generate`] created.
    pub(super) fn parse(document: &[u8]) -> Result<Self, NoKey> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document, &SystemRandom::new());
        Ok(Self::from_pair(Pair::P256(Box::new(pair.map_err(|_| NoKey)?))))
    }

    /// Returns the signing key of a key pair, with the id that kube-apiserver derives from its public key.
    fn from_pair(pair: Pair) -> Self {
        let public = match &pair {
            Pair::Rsa(pair) => [&RSA_HEADER[..], pair.public_key().as_ref()].concat(),
            Pair::P256(pair) => [&P256_HEADER[..], pair.public_key().as_ref()].concat(),
        };
        let id = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, &public));
        Self { pair, id }
    }

    /// Returns a token with these claims (RFC 7519).
    pub(super) fn token(&self, claims: &Value) -> Result<String, NoKey> {
        let header = json!({"alg": self.algorithm(), "kid": self.id});
        let [header, claims] = [header, claims.clone()].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let text = format!("{header}.{claims}");
        let signature = match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
                    .map_err(|_| NoKey)?;
                signature
            }
            Pair::P256(pair) => pair.sign(&SystemRandom::new(), text.as_bytes()).map_err(|_| NoKey)?.as_ref().to_vec(),
        };
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Returns whether `signature` is the signature of a text by this key.
    pub(super) fn verifies(&self, text: &[u8], signature: &[u8]) -> bool {
        match &self.pair {
            Pair::Rsa(pair) => {
                UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key()).verify(text, signature).is_ok()
            }
            Pair::P256(pair) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key()).verify(text, signature).is_ok()
            }
        }
    }

    /// Returns the name of the signature algorithm in the token header (RFC 7518).
    fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
        }
    }

    /// Returns the public key as a JSON Web Key (RFC 7517).
    pub(super) fn public_jwk(&self) -> Value {
        let mut key = match &self.pair {
            Pair::Rsa(pair) => {
                let PublicKeyComponents::<Vec<u8>> { n, e } = pair.public().into();
                json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode(n), "e": URL_SAFE_NO_PAD.encode(e)})
            }
            Pair::P256(pair) => {
                // An uncompressed point is a tag byte and two coordinates of the same length.
                let (x, y) = pair.public_key().as_ref().split_at(33);
                json!({"kty": "EC", "crv": "P-256", "x": URL_SAFE_NO_PAD.encode(&x[1..]), "y": URL_SAFE_NO_PAD.encode(y)})
            }
        };
        key["use"] = "sig".into();
        key["kid"] = self.id.as_str().into();
        key["alg"] = self.algorithm().into();
        key
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_verifies_only_its_own_signatures() {
        let (random, seeded) = (SigningKey::new(false).unwrap(), SigningKey::new(true).unwrap());
        for (key, foreign) in [(&random, &seeded), (&seeded, &random)] {
            let token = key.token(&json!({"sub": "a"})).unwrap();
            let (text, signature) = token.rsplit_once('.').unwrap();
            let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
            assert!(key.verifies(text.as_bytes(), &signature));
            assert!(!key.verifies(b"another", &signature) && !foreign.verifies(text.as_bytes(), &signature));
        }
        assert_eq!(seeded.token(&json!({})).unwrap(), SigningKey::new(true).unwrap().token(&json!({})).unwrap());
        assert_ne!(random.public_jwk()["kid"], SigningKey::new(false).unwrap().public_jwk()["kid"]);
    }
}
