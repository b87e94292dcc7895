//! Provides the sandbox as a `kube::Client`, without a socket.

use http::Request;
use tower::service_fn;

use crate::{Sandbox, User};

impl Sandbox {
    /// Returns a client with all rights.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client_of(User::admin("admin"))
    }

    /// Returns a client with the rights of a user. Its default namespace is that of the ServiceAccount, or `default`.
    #[must_use]
    pub fn client_of(&self, user: User) -> kube::Client {
        client_without_faults(self.clone(), user)
    }

    /// Returns a client with the rights of a user whose calls pass through [`Faults`](crate::fault::Faults). It starts
    /// a new life, as a restart of the process does: calls of earlier clients get no response any more.
    #[must_use]
    pub fn client_through(&self, user: User, faults: &crate::fault::Faults) -> kube::Client {
        client_with_faults(self.clone(), user, (faults, faults.begin()))
    }

    /// Returns a client as [`Sandbox::client_through`] does, for a further sandbox that the same process uses: it starts no new
    /// life, so that the earlier clients of the current life still get responses.
    #[must_use]
    pub fn client_in_same_life(&self, user: User, faults: &crate::fault::Faults) -> kube::Client {
        client_with_faults(self.clone(), user, (faults, faults.life()))
    }
}

/// Returns a client whose calls reach the sandbox directly, as the user.
fn client_without_faults(sandbox: Sandbox, user: User) -> kube::Client {
    let namespace = user.home().unwrap_or("default").to_owned();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user) = (sandbox.clone(), user.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            Ok::<_, kube::Error>(sandbox.call(user, Request::from_parts(parts, body)).await)
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns a client whose calls pass through `faults`, as calls of the given life: one run of the operator process. Calls of a life that
/// has ended get no response.
fn client_with_faults(sandbox: Sandbox, user: User, (faults, life): (&crate::fault::Faults, u32)) -> kube::Client {
    let faults = faults.clone();
    let namespace = user.home().unwrap_or("default").to_owned();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user, faults) = (sandbox.clone(), user.clone(), faults.clone());
        async move {
            let (parts, body) = request.into_parts();
            let request = Request::from_parts(parts, body.collect_bytes().await?);
            let response = crate::fault::call(&sandbox, user, (&faults, life), request).await;
            response.map_err(|connection_fault| kube::Error::Service(Box::new(connection_fault)))
        }
    });
    kube::Client::new(service, namespace)
}
