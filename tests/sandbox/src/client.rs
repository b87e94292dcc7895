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
        client(self.clone(), user)
    }

    /// Returns a client with the rights of a user whose calls pass through [`Faults`](crate::fault::Faults). It begins
    /// the next life; calls of earlier clients get no response any more.
    #[must_use]
    pub fn client_through(&self, user: User, faults: &crate::fault::Faults) -> kube::Client {
        client_through(self.clone(), user, faults)
    }
}

fn client(sandbox: Sandbox, user: User) -> kube::Client {
    let namespace = user.home().unwrap_or("default").to_owned();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user) = (sandbox.clone(), user.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            Ok::<_, kube::Error>(sandbox.call(user, Request::from_parts(head, body)).await)
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns a client whose calls pass through faults. It begins the next life.
fn client_through(sandbox: Sandbox, user: User, faults: &crate::fault::Faults) -> kube::Client {
    let (faults, life) = (faults.clone(), faults.begin());
    let namespace = user.home().unwrap_or("default").to_owned();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user, faults) = (sandbox.clone(), user.clone(), faults.clone());
        async move {
            let (head, body) = request.into_parts();
            let request = Request::from_parts(head, body.collect_bytes().await?);
            let answer = crate::fault::call(&sandbox, user, (&faults, life), request).await;
            answer.map_err(|broken| kube::Error::Service(Box::new(broken)))
        }
    });
    kube::Client::new(service, namespace)
}
