//! Gives the user's code in a tree node access to non-resource paths of the API server and to the raw client.

use super::Calls;
use crate::{
    access::{GetPath, Raw, is_below},
    error::{Error, Result},
};
use futures::future::{BoxFuture, FutureExt};

impl<P> Calls<'_, P> {
    /// Reads a path of the API server that is not a resource, for example `/metrics`. The path may have a query.
    ///
    /// # Errors
    /// The error of the call. A terminal error if `access(...)` of the node does not declare the path.
    pub fn get_path<'c>(&'c self, path: &'c str) -> BoxFuture<'c, Result<String>>
    where
        P: GetPath,
    {
        async move {
            let without_query = path.split('?').next().unwrap_or(path);
            if !P::PATHS.iter().any(|declared| is_below(without_query, declared)) {
                let message = format!(
                    "the path {without_query} is not declared; add `\"{without_query}\": get` to `access(...)`"
                );
                return Err(Error::terminal("NotDeclared", message));
            }
            self.client().get_path(path).await
        }
        .boxed()
    }

    /// Returns the client itself, for requests that no method here makes. It can do all that the operator's role allows, and its
    /// requests are not checked against the declarations of this node. The role gets the rights that the node declares in
    /// `raw(...)`.
    pub fn raw_client(&self) -> kube::Client
    where
        P: Raw,
    {
        self.client().kube()
    }
}
