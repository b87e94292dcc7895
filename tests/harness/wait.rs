//! Waits for conditions with a deadline; the only module of the suites that sleeps.

use std::{fmt::Debug, panic::Location, time::Duration};

use kube::Api;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

/// The default deadline, long enough for a busy machine with two cores.
pub const PATIENCE: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(25);

/// Calls `probe` every 25 ms until it returns a value. `what` describes the condition in the message of the panic.
///
/// # Panics
/// After `deadline`, with `what`, the place of the call and the error of the last probe.
#[track_caller]
pub fn until<T>(
    what: impl Into<String>,
    deadline: Duration,
    mut probe: impl AsyncFnMut() -> Result<T, String>,
) -> impl Future<Output = T> {
    let (caller, what) = (Location::caller(), what.into());
    async move {
        let found = within(deadline, async || probe().await).await;
        found.unwrap_or_else(|seen| panic!("{caller}: not within {deadline:?}: {what}; last seen: {seen}"))
    }
}

/// Calls `probe` every 25 ms until it returns a value, at least once.
///
/// # Errors
/// Fails with the error of the last probe after `deadline`.
pub async fn within<T>(deadline: Duration, mut probe: impl AsyncFnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        match probe().await {
            Ok(value) => return Ok(value),
            Err(seen) if start.elapsed() >= deadline => return Err(seen),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Waits until the object `name` exists and `accept` accepts it, and returns the object.
#[track_caller]
pub fn until_object<K>(api: &Api<K>, name: &str, what: &str, accept: impl Fn(&K) -> bool) -> impl Future<Output = K>
where
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    until(format!("`{name}` {what}"), PATIENCE, async move || match api.get_opt(name).await {
        Ok(Some(object)) if accept(&object) => Ok(object),
        Ok(Some(object)) => Err(show(&object)),
        Ok(None) => Err("no such object".to_owned()),
        Err(error) => Err(format!("an error: {error}")),
    })
}

/// Waits until the object `name` is gone.
#[track_caller]
pub fn until_gone<K>(api: &Api<K>, name: &str) -> impl Future<Output = ()>
where
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    until(format!("`{name}` is gone"), PATIENCE, async move || match api.get_opt(name).await {
        Ok(None) => Ok(()),
        Ok(Some(object)) => Err(show(&object)),
        Err(error) => Err(format!("an error: {error}")),
    })
}

/// Returns an object as readable JSON without managedFields.
fn show(object: &impl Serialize) -> String {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(metadata) = value.get_mut("metadata").and_then(|metadata| metadata.as_object_mut()) {
        metadata.remove("managedFields");
    }
    serde_json::to_string_pretty(&value).unwrap_or_default()
}
