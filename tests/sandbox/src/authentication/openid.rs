//! Serves OpenID discovery of the token issuer: `/.well-known/openid-configuration` and `/openid/v1/jwks`.

use serde_json::{Value, json};

use super::credentials::ISSUER;
use crate::{failure::Failure, response::ApiResponse, server::Server};

/// Returns the OpenID discovery document of the token issuer.
pub(crate) fn configuration(server: &Server) -> Result<ApiResponse, Failure> {
    Ok(cacheable(&json!({
        "issuer": ISSUER,
        "jwks_uri": format!("{ISSUER}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [key(server)?["alg"]],
    })))
}

/// Returns the public keys as a JSON Web Key Set.
pub(crate) fn keys(server: &Server) -> Result<ApiResponse, Failure> {
    let mut response = cacheable(&json!({"keys": [key(server)?]}));
    response.content_type = "application/jwk-set+json";
    Ok(response)
}

/// Returns the public key that verifies tokens, as a JSON Web Key.
pub(super) fn key(server: &Server) -> Result<Value, Failure> {
    let key = server.authentication.key(server).map_err(|no_key| Failure::internal(no_key.to_string()))?;
    Ok(key.public_jwk())
}

/// Returns a response that everybody may cache for an hour.
fn cacheable(document: &Value) -> ApiResponse {
    let mut response = ApiResponse::object(document);
    response.headers.push(("cache-control", "public, max-age=3600".to_owned()));
    response
}
