//! `ServiceSettings`: how a simulated external service behaves, such as its quota and the duration of deletions.

use std::{fmt, sync::Arc, time::Duration};

/// A function that changes the state of a thing.
pub(super) type Change<T> = Arc<dyn Fn(&mut T) + Send + Sync>;

/// How a [`SimulatedService`](super::SimulatedService) behaves. By default it shows a new thing at once, deletes at once, has no quota and
/// changes nothing by itself.
#[derive(Clone)]
pub struct ServiceSettings<T> {
    pub(super) name: String,
    pub(super) visible_after: Duration,
    pub(super) deletion_time: Duration,
    pub(super) quota: Option<usize>,
    pub(super) is_retained: bool,
    pub(super) existing: Vec<(String, T)>,
    pub(super) completion: Option<Change<T>>,
    pub(super) drift: Option<Change<T>>,
    pub(super) foreign_change: Option<Change<T>>,
}

impl<T> ServiceSettings<T> {
    /// Returns the settings of a service; the name says what its things are, such as `DNS record`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            visible_after: Duration::ZERO,
            deletion_time: Duration::ZERO,
            quota: None,
            is_retained: false,
            existing: Vec::new(),
            completion: None,
            drift: None,
            foreign_change: None,
        }
    }

    /// Makes new things visible to reads only after a time (eventual consistency). A change or deletion of a thing that is not visible
    /// finds none. Default: at once.
    #[must_use]
    pub fn visible_after(mut self, time: Duration) -> Self {
        self.visible_after = time;
        self
    }

    /// Makes deletions take a time. Meanwhile reads show the thing as [being deleted](super::Thing::is_deleting). Default: at once.
    #[must_use]
    pub fn deletion_time(mut self, time: Duration) -> Self {
        self.deletion_time = time;
        self
    }

    /// Limits the number of things. Default: no limit.
    #[must_use]
    pub fn quota(mut self, most: usize) -> Self {
        self.quota = Some(most);
        self
    }

    /// Lets things remain after the deletion of their owners, as with
    /// [`DeletionPolicy::Retain`](opgen::external::DeletionPolicy::Retain). Default: a thing that remains is a finding.
    #[must_use]
    pub fn retained(mut self) -> Self {
        self.is_retained = true;
        self
    }

    /// Adds a thing that another client has created before, such as one that a node imports.
    #[must_use]
    pub fn existing(mut self, id: impl Into<String>, value: T) -> Self {
        self.existing.push((id.into(), value));
        self
    }

    /// Sets what the service changes in each new or changed thing by itself: it fills in defaults or normalizes values.
    #[must_use]
    pub fn completes(mut self, change: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.completion = Some(Arc::new(change));
        self
    }

    /// Sets how another client changes things so that they differ from the desired state. The program has to undo the change. Default: no
    /// such client.
    #[must_use]
    pub fn drift(mut self, change: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.drift = Some(Arc::new(change));
        self
    }

    /// Sets how another client changes a part of things that the program does not manage, such as a comment. An update has to keep this
    /// change. It is used together with [`ServiceSettings::drift`]. A second call of the function must change nothing. Default: no such
    /// client.
    #[must_use]
    pub fn foreign_change(mut self, change: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.foreign_change = Some(Arc::new(change));
        self
    }

    /// Returns the name of the service as a segment of a path: `dns-record` for `DNS record`.
    pub(super) fn path(&self) -> String {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        self.name.chars().map(letter).collect()
    }
}

impl<T> fmt::Debug for ServiceSettings<T> {
    // The state of a thing may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceSettings").field("name", &self.name).finish_non_exhaustive()
    }
}
