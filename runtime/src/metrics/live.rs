//! Defines the values that the registry reads from a running operator at each scrape: queues, caches, watches and clusters.

use super::clusters::ClusterValues;
use crate::{kind::Kind, queue::Stats};
use std::{collections::BTreeMap, time::Duration};

/// The names of the states of a watch, in the order of [`WatchValues::states`].
pub(crate) const WATCH_STATES: [&str; 5] = ["starting", "following", "missing", "forbidden", "failing"];

/// A running operator, whose state is read at each scrape.
pub(crate) trait LiveOperator: Send + Sync {
    fn controllers(&self) -> Vec<ControllerValues>;
    /// Returns the caches by the full name of their kind.
    fn caches(&self) -> BTreeMap<String, CacheValues>;
    /// Returns the watches by the full name of their kind.
    fn watches(&self) -> BTreeMap<String, WatchValues>;
    /// Returns the kinds of the children that resource nodes apply.
    fn children(&self) -> Vec<Kind>;
    /// Returns the values of each connection to another cluster.
    fn clusters(&self) -> Vec<ClusterValues>;
}

/// The queue and the objects of one controller.
#[derive(Clone, Debug)]
pub(crate) struct ControllerValues {
    pub(crate) name: String,
    pub(crate) queue: Stats,
    /// The number of objects whose last pass did not end ready, and for how long the first of them has been so.
    pub(crate) unconverged: (usize, Duration),
}

/// The cached objects of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheValues {
    pub(crate) objects: usize,
    pub(crate) bytes: usize,
}

/// The watches of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WatchValues {
    /// The number of watches in each of [`WATCH_STATES`].
    pub(crate) states: [usize; WATCH_STATES.len()],
    pub(crate) restarts: u64,
    /// The number of objects whose processing panicked.
    pub(crate) panics: u64,
}
