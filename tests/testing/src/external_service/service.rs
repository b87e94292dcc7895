//! `SimulatedService`: a handle of a simulated external service. The operator under test calls the service with it, and the test inspects
//! and changes the contents.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::Method;
use opgen_sandbox::fault::{ExternalCalls, Faults};
use serde::Serialize;

use super::{
    contents::ServiceContents,
    error::ServiceError,
    settings::ServiceSettings,
    thing::{ServiceCall, Thing},
};

/// A simulated external service. Clones share its things. See the [module](super) for an example.
///
/// The functions [`get`](Self::get), [`find`](Self::find), [`create`](Self::create), [`change`](Self::change) and
/// [`delete`](Self::delete) are calls of the program: they have the faults of the run and are logged. All others are the view of the test
/// and of other clients: they have no faults.
pub struct SimulatedService<T> {
    contents: Arc<Mutex<ServiceContents<T>>>,
    /// The name of the service in paths.
    path: Arc<str>,
    calls: ExternalCalls,
}

impl<T> Clone for SimulatedService<T> {
    fn clone(&self) -> Self {
        Self { contents: self.contents.clone(), path: self.path.clone(), calls: self.calls.clone() }
    }
}

impl<T> fmt::Debug for SimulatedService<T> {
    // The state of a thing may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedService").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<T: Clone + Serialize + Send> SimulatedService<T> {
    /// Returns a new service without faults.
    #[must_use]
    pub fn new(settings: ServiceSettings<T>) -> Self {
        Self::with_faults(settings, &Faults::none())
    }

    /// Returns a new service whose calls have the faults of a plan, chosen or by a seed.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use opgen_testing::{FaultClass, Faults, external_service::{ServiceSettings, SimulatedService}};
    ///
    /// let faults = Faults::by_chance(7, &[FaultClass::ServerError, FaultClass::Cut], Duration::from_secs(60));
    /// let service = SimulatedService::with_faults(ServiceSettings::<String>::new("DNS record"), &faults);
    /// assert!(service.things().is_empty());
    /// ```
    #[must_use]
    pub fn with_faults(settings: ServiceSettings<T>, faults: &Faults) -> Self {
        let path = settings.path().into();
        let contents = Arc::new(Mutex::new(ServiceContents::new(settings, 0)));
        Self::attached((contents, path), faults)
    }

    /// Returns a handle of existing contents for one process of the program, whose calls have the faults of the run.
    pub(super) fn attached((contents, path): (Arc<Mutex<ServiceContents<T>>>, Arc<str>), faults: &Faults) -> Self {
        Self { contents, path, calls: faults.external_calls() }
    }

    /// Reads the thing with an id; `None` if there is none, or if it is not visible yet.
    ///
    /// # Errors
    /// The error of a fault.
    pub async fn get(&self, id: &str) -> Result<Option<Thing<T>>, ServiceError> {
        let path = id.to_owned();
        self.call(("get", Method::GET), (id, path), |contents| Ok(contents.find(|other, _| other == id))).await
    }

    /// Reads the thing that was created with a token; `None` if there is none, or if it is not visible yet. If several things have the
    /// token, returns the one with the lowest id.
    ///
    /// # Errors
    /// The error of a fault.
    pub async fn find(&self, token: &str) -> Result<Option<Thing<T>>, ServiceError> {
        let path = format!("?token={token}");
        self.call(("find", Method::GET), (token, path), |contents| Ok(contents.find(|_, other| other == token))).await
    }

    /// Creates a thing with a token and returns its id. Each call creates a thing, also with a token that is in use. A trial reports such a
    /// second thing: a program has to look for the token first.
    ///
    /// # Errors
    /// [`ServiceError::QuotaExceeded`]. The error of a fault; the thing may exist nevertheless.
    pub async fn create(&self, token: &str, value: T) -> Result<String, ServiceError> {
        let path = format!("?token={token}");
        self.call(("create", Method::POST), (token, path), |contents| contents.create(token, value)).await
    }

    /// Changes the thing with an id.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]. The error of a fault; the thing may be changed nevertheless.
    pub async fn change(&self, id: &str, change: impl FnOnce(&mut T) + Send) -> Result<(), ServiceError> {
        let path = id.to_owned();
        self.call(("change", Method::PATCH), (id, path), |contents| contents.change(id, change)).await
    }

    /// Begins the deletion of the thing with an id. It succeeds if the deletion has begun already.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]. The error of a fault; the thing may be deleted nevertheless.
    pub async fn delete(&self, id: &str) -> Result<(), ServiceError> {
        let path = id.to_owned();
        self.call(("delete", Method::DELETE), (id, path), |contents| contents.delete(id)).await
    }

    /// Returns all things, whether they are visible or not.
    #[must_use]
    pub fn things(&self) -> Vec<Thing<T>> {
        self.contents().all()
    }

    /// Creates or replaces a thing, as another client.
    pub fn put(&self, id: &str, value: T) {
        self.contents().put(id, value);
    }

    /// Deletes a thing at once, as another client.
    pub fn remove(&self, id: &str) {
        self.contents().remove(id);
    }

    /// Sets the largest number of things; `None` for no limit.
    pub fn set_quota(&self, quota: Option<usize>) {
        self.contents().quota = quota;
    }

    /// Returns how many things were ever created with a token.
    #[must_use]
    pub fn creations(&self, token: &str) -> usize {
        self.contents().creations(token)
    }

    /// Returns the calls of the program so far. A call that was stopped is not among them.
    #[must_use]
    pub fn calls(&self) -> Vec<ServiceCall> {
        self.contents().calls.clone()
    }

    /// Returns the violations so far: a second thing with a token that is in use, and an update that removed what another client had
    /// set.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.contents().violations().to_vec()
    }

    /// Makes a call of the program: executes `work` on the contents, with the faults that the run injects into the call, and logs the call
    /// with `function`, `key` and the error that the client receives. `method` and `path` are those of the call in the timeline.
    async fn call<R>(
        &self,
        (function, method): (&'static str, Method),
        (key, path): (&str, String),
        work: impl FnOnce(&mut ServiceContents<T>) -> Result<R, ServiceError>,
    ) -> Result<R, ServiceError> {
        let called = self.calls.call(&method, (&*self.path, path.as_str()), || {
            let result = work(&mut self.contents());
            let code = result.as_ref().map_or_else(ServiceError::code, |_| 200);
            (code, result)
        });
        let result = match called.await {
            Ok(result) => result,
            Err(fault) => Err(fault.into()),
        };
        let error = result.as_ref().err().cloned();
        self.contents().calls.push(ServiceCall { function, key: key.to_owned(), error });
        result
    }

    fn contents(&self) -> MutexGuard<'_, ServiceContents<T>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use opgen_sandbox::fault::Fault;

    use super::*;

    /// The time until a new thing is visible, and the duration of a deletion.
    const LAG: Duration = Duration::from_secs(5);

    fn service(settings: ServiceSettings<u32>) -> SimulatedService<u32> {
        SimulatedService::new(settings)
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_thing_is_visible_after_the_lag_and_a_deleted_one_until_it_is_gone() {
        let service = service(ServiceSettings::new("disk").visible_after(LAG).deletion_time(LAG));
        let id = service.create("a", 1).await.unwrap();
        assert_eq!((service.get(&id).await.unwrap(), service.find("a").await.unwrap()), (None, None));
        assert_eq!(service.delete(&id).await, Err(ServiceError::NotFound));
        tokio::time::advance(LAG).await;
        assert_eq!(service.find("a").await.unwrap().unwrap().value, 1);
        service.delete(&id).await.unwrap();
        assert!(service.get(&id).await.unwrap().unwrap().is_deleting);
        tokio::time::advance(LAG).await;
        assert_eq!(service.get(&id).await.unwrap(), None);
        assert!(service.things().is_empty());
    }

    /// The token identifies a creation: to create a second thing (here a disk) with the token of an existing one is a defect of the
    /// program.
    #[tokio::test]
    async fn a_second_thing_with_a_token_is_a_violation_unless_the_first_was_deleted() {
        let service = service(ServiceSettings::new("disk"));
        let first = service.create("a", 1).await.unwrap();
        service.delete(&first).await.unwrap();
        service.create("a", 1).await.unwrap();
        assert_eq!((service.creations("a"), service.violations().len()), (2, 0));
        service.create("a", 1).await.unwrap();
        assert_eq!(service.violations().len(), 1);
    }

    #[tokio::test]
    async fn the_calls_have_the_faults_of_the_plan() {
        let faults = Faults::none().at_call(1, Fault::CutAfter);
        let service = SimulatedService::with_faults(ServiceSettings::new("disk").quota(1), &faults);
        assert_eq!(service.create("a", 1).await, Err(ServiceError::Disconnected));
        assert_eq!(service.create("b", 1).await, Err(ServiceError::QuotaExceeded));
        let errors: Vec<_> = service.calls().into_iter().map(|call| call.error.unwrap()).collect();
        assert_eq!(errors, [ServiceError::Disconnected, ServiceError::QuotaExceeded]);
        assert_eq!(service.things().len(), 1);
    }

    #[tokio::test]
    async fn the_service_completes_what_it_stores() {
        let service = service(ServiceSettings::<u32>::new("disk").completes(|size| *size = (*size).max(10)));
        let id = service.create("a", 1).await.unwrap();
        service.change(&id, |size| *size += 5).await.unwrap();
        assert_eq!(service.get(&id).await.unwrap().unwrap().value, 15);
    }
}
