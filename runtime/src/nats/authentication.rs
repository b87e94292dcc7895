//! `Authentication`: how a client authenticates to NATS. Files with credentials are read again for each connection.

use super::error::NatsError;
use async_nats::{Auth, AuthError, ConnectOptions};
use nkeys::KeyPair;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};

/// How a client shows who it is.
#[derive(Clone, Debug)]
pub(super) enum Authentication {
    Anonymous,
    CredentialsFile(PathBuf),
    SeedFile(PathBuf),
    Token(SecretString),
    Password { user: String, password: SecretString },
}

impl Authentication {
    /// Returns options for the NATS client with these credentials. A file is read once now, to report a mistake at once, and again for each
    /// connection.
    ///
    /// # Errors
    /// Fails if the file can't be read, or does not contain such credentials.
    pub(super) fn options(&self) -> Result<ConnectOptions, NatsError> {
        match self {
            Self::Anonymous => Ok(ConnectOptions::new()),
            Self::Token(token) => Ok(ConnectOptions::with_token(token.expose_secret().to_owned())),
            Self::Password { user, password } => {
                Ok(ConnectOptions::with_user_and_password(user.clone(), password.expose_secret().to_owned()))
            }
            Self::CredentialsFile(path) => {
                sign_with_credentials(path, b"")?;
                Ok(sign_at_each_connection(path.clone(), sign_with_credentials))
            }
            Self::SeedFile(path) => {
                sign_with_seed(path, b"")?;
                Ok(sign_at_each_connection(path.clone(), sign_with_seed))
            }
        }
    }
}

/// Returns options that call `sign` with the file and the server's nonce for each connection, so that a replaced file is used.
fn sign_at_each_connection(path: PathBuf, sign: fn(&Path, &[u8]) -> Result<Auth, NatsError>) -> ConnectOptions {
    ConnectOptions::with_auth_callback(move |nonce| std::future::ready(sign(&path, &nonce).map_err(AuthError::new)))
}

/// Signs the server's nonce with the seed of a credentials file, whose first block is a JWT and whose second one is the seed.
fn sign_with_credentials(path: &Path, nonce: &[u8]) -> Result<Auth, NatsError> {
    const FILE_TYPE: &str = "credentials file";
    let text = read(FILE_TYPE, path)?;
    let mut blocks = blocks(&text);
    let jwt = blocks.next().ok_or_else(|| NatsError::file(FILE_TYPE, path, "it has no user JWT"))?;
    let seed = blocks.next().ok_or_else(|| NatsError::file(FILE_TYPE, path, "it has no seed after the user JWT"))?;
    let pair = KeyPair::from_seed(seed).map_err(|error| NatsError::file(FILE_TYPE, path, error))?;
    let mut auth = Auth::new();
    auth.jwt = Some(jwt.to_owned());
    auth.signature = Some(pair.sign(nonce).map_err(|error| NatsError::file(FILE_TYPE, path, error))?);
    Ok(auth)
}

/// Signs the server's nonce with the NKey seed in a file, and names the public key of the seed.
fn sign_with_seed(path: &Path, nonce: &[u8]) -> Result<Auth, NatsError> {
    const FILE_TYPE: &str = "seed file";
    let text = read(FILE_TYPE, path)?;
    let pair = KeyPair::from_seed(text.trim()).map_err(|error| NatsError::file(FILE_TYPE, path, error))?;
    let mut auth = Auth::new();
    auth.nkey = Some(pair.public_key());
    auth.signature = Some(pair.sign(nonce).map_err(|error| NatsError::file(FILE_TYPE, path, error))?);
    Ok(auth)
}

fn read(file_type: &'static str, path: &Path) -> Result<String, NatsError> {
    std::fs::read_to_string(path).map_err(|error| NatsError::file(file_type, path, error))
}

/// Returns the contents of each block of a credentials file, which is the line after `-----BEGIN …-----`. Ends at a block without contents.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines().map(str::trim);
    std::iter::from_fn(move || {
        lines.find(|line| line.starts_with("---") && line.contains("BEGIN"))?;
        lines.next().filter(|line| !line.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credentials_file_is_a_jwt_and_a_seed() {
        let pair = KeyPair::new_user();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("user.creds");
        let text = format!(
            "-----BEGIN NATS USER JWT-----\neyJ0.e30.x-y\n------END NATS USER JWT------\n\n*** IMPORTANT ***\n\n\
             -----BEGIN USER NKEY SEED-----\r\n{}\r\n------END USER NKEY SEED------\r\n",
            pair.seed().unwrap()
        );
        std::fs::write(&path, text).unwrap();
        let auth = sign_with_credentials(&path, b"nonce").unwrap();
        assert_eq!(auth.jwt.as_deref(), Some("eyJ0.e30.x-y"));
        pair.verify(b"nonce", &auth.signature.unwrap()).unwrap();
        std::fs::write(&path, "nothing").unwrap();
        let error = Authentication::CredentialsFile(path).options().unwrap_err().to_string();
        assert!(error.contains("user.creds can't be used: it has no user JWT"), "{error}");
    }

    #[test]
    fn a_seed_file_has_one_seed() {
        let pair = KeyPair::new_user();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("user.nk");
        std::fs::write(&path, format!("{}\n", pair.seed().unwrap())).unwrap();
        let auth = sign_with_seed(&path, b"nonce").unwrap();
        assert_eq!(auth.nkey, Some(pair.public_key()));
        pair.verify(b"nonce", &auth.signature.unwrap()).unwrap();
        std::fs::write(&path, "SUNOSEED").unwrap();
        assert!(Authentication::SeedFile(path).options().is_err());
    }
}
