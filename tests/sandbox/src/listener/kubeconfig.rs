//! Writes the kubeconfig of the server.

use std::{fs, io, net::SocketAddr, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Returns the text of a kubeconfig with one cluster, whose certificate authority is the PEM text `authority`, and one
/// user, whose bearer token is `token`.
pub(super) fn format(address: SocketAddr, authority: &str, token: &str) -> String {
    let authority = STANDARD.encode(authority);
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: sandbox\n  \
           cluster:\n    \
             server: https://{address}\n    \
             certificate-authority-data: {authority}\n\
         users:\n\
         - name: sandbox-admin\n  \
           user:\n    \
             token: {token:?}\n\
         contexts:\n\
         - name: sandbox\n  \
           context:\n    \
             cluster: sandbox\n    \
             user: sandbox-admin\n    \
             namespace: default\n\
         current-context: sandbox\n"
    )
}

/// Writes the kubeconfig atomically, readable only by the owner because it contains the token. Returns an error if the
/// path exists and is not a regular file.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        let message = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let temporary = path.with_extension("new");
    // An earlier process may have left a temporary file with other permissions. Without one, `remove_file` fails with
    // `NotFound`.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(&temporary)?, text.as_bytes())?;
    fs::rename(&temporary, path)
}
