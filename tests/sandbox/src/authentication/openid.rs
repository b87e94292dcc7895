//! What others need to check tokens by themselves: `/.well-known/openid-configuration` and `/openid/v1/jwks`.

use serde_json::{Value, json};

use super::{ISSUER, key::NoKey};
use crate::sandbox::Server;

/// The discovery document; `jwks_uri` is where [`keys`] are served, with scheme and host.
pub(crate) fn configuration(server: &Server, jwks_uri: &str) -> Result<Value, NoKey> {
    Ok(json!({
        "issuer": ISSUER,
        "jwks_uri": jwks_uri,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [server.authentication.key(server)?.algorithm()],
    }))
}

/// The public keys, of type `application/jwk-set+json`.
pub(crate) fn keys(server: &Server) -> Result<Value, NoKey> {
    Ok(json!({"keys": [server.authentication.key(server)?.public()]}))
}
