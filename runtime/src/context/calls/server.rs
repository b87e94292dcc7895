//! What is no object: paths of the API server, and the client itself.

use super::Calls;
use crate::{
    access::{GetPath, Raw, is_below},
    error::{Error, Result},
};
use futures::future::{BoxFuture, FutureExt};

impl<P> Calls<'_, P> {
    /// Reads a path of the API server that is no resource, for example `/metrics`.
    ///
    /// # Errors
    /// As the call fails. Terminal, if the path is none of those that the node declares.
    pub fn get_path<'c>(&'c self, path: &'c str) -> BoxFuture<'c, Result<String>>
    where
        P: GetPath,
    {
        async move {
            let plain = path.split('?').next().unwrap_or(path);
            if !P::PATHS.iter().any(|declared| is_below(plain, declared)) {
                let message = format!("the path {plain} is not declared; add `\"{plain}\": get` to `access(...)`");
                return Err(Error::terminal("NotDeclared", message));
            }
            self.client().get_path(path).await
        }
        .boxed()
    }

    /// The client itself, for what no call does. It can do what the operator's role allows, and nobody holds it against what
    /// this node declares; so `raw(...)` says what it will do, and the role has that.
    pub fn raw_client(&self) -> kube::Client
    where
        P: Raw,
    {
        self.client().kube()
    }
}
