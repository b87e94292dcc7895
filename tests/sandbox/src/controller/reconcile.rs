//! The frame of a controller: it is told what changes, says what that concerns, and brings each of these in order.

use std::{future::Future, sync::Arc};

use futures::future::select_all;
use tokio::time::{Instant, sleep_until};

use super::{Actor, Refused, queue::Queue};
use crate::store::{ChangeKind, LifeChange, News, Store, Stored, TooOld};

/// What a controller does.
pub(crate) trait Controller: Send + 'static {
    /// What it brings in order.
    type Key: Ord + Clone + Send + std::fmt::Debug;

    fn watches(&self) -> Watches;

    /// What is to be brought in order before anything is told.
    fn begin(&self) -> Vec<Self::Key> {
        Vec::new()
    }

    /// The history is lost: everything that is there is told again, and what isn't told is gone.
    fn forget(&mut self) {}

    /// A change, and what it concerns.
    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Self::Key>;

    /// Brings one thing in order.
    fn reconcile(&mut self, actor: &Actor, key: &Self::Key) -> impl Future<Output = Outcome> + Send;
}

/// Which changes a controller is told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Watches {
    Shelves(&'static [&'static str]),
    /// Those of some kinds, and of one more kind those of the objects of one name.
    ShelvesAndName(&'static [&'static str], (&'static str, &'static str)),
    /// Those of all kinds that are [of life](crate::store::Change::is_of_life).
    Lives,
}

/// What an attempt came to.
pub(crate) type Outcome = Result<Next, Refused>;

/// What comes after a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing until something changes.
    Rest,
    /// Another look at that time.
    At(Instant),
}

/// An object as it was told.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The state now; of one that is gone the last.
    pub(crate) object: Arc<Stored>,
    pub(crate) before: Option<Arc<Stored>>,
    pub(crate) gone: bool,
}

/// Runs a controller for ever.
pub(crate) async fn run<C: Controller>(mut controller: C, actor: Actor) {
    let mut ear = Ear::new(&actor.server.store, controller.watches());
    let mut queue = Queue::new();
    controller.begin().into_iter().for_each(|key| queue.add(key));
    loop {
        for (shelf, seen) in ear.hear(&actor.server.store, || controller.forget()) {
            controller.told(&actor, &shelf, &seen).into_iter().for_each(|key| queue.add(key));
        }
        let Some(key) = queue.next(Instant::now()) else {
            ear.wait(queue.due()).await;
            continue;
        };
        // However much there is to do, others get their turn.
        tokio::task::consume_budget().await;
        match controller.reconcile(&actor, &key).await {
            Ok(next) => {
                queue.succeeded(&key);
                if let Next::At(at) = next {
                    queue.add_at(at, key);
                }
            }
            Err(refused) => {
                tracing::debug!(%refused, ?key, "tried again later");
                queue.failed(Instant::now(), key);
            }
        }
    }
}

/// The changes of some kinds, of all objects or of those of a name, and the version that this goes up to.
fn changes_of(
    store: &Store,
    heard: u64,
    wanted: impl Iterator<Item = (&'static str, Option<&'static str>)>,
) -> Result<(u64, Vec<LifeChange>), TooOld> {
    let (version, mut changes) = (store.version(), Vec::new());
    for (shelf, name) in wanted {
        let shelf = Arc::<str>::from(shelf);
        let new = store.changes(&shelf, heard)?.into_iter().filter(|change| change.version <= version);
        let named = new.filter(|change| name.is_none_or(|name| *change.object.name == *name));
        changes.extend(named.map(|change| (shelf.clone(), change)));
    }
    changes.sort_by_key(|(_, change)| change.version);
    Ok((version, changes))
}

/// Objects with the shelves that they are on.
type Told = Vec<(Arc<str>, Seen)>;

/// Hears of changes.
struct Ear {
    watches: Watches,
    /// Up to which version it has heard; `None` before it has heard anything.
    heard: Option<u64>,
    news: Vec<News>,
}

impl Ear {
    fn new(store: &Store, watches: Watches) -> Self {
        let news = match watches {
            Watches::Shelves(shelves) => shelves.iter().map(|shelf| store.news(&Arc::from(*shelf))).collect(),
            Watches::ShelvesAndName(shelves, (shelf, name)) => {
                let whole = shelves.iter().map(|shelf| store.news(&Arc::from(*shelf)));
                whole.chain([store.news_of(&Arc::from(shelf), name)]).collect()
            }
            Watches::Lives => vec![store.lives()],
        };
        Self { watches, heard: None, news }
    }

    /// What happened since; everything that is there if that is not known any more.
    fn hear(&mut self, store: &Store, forget: impl FnOnce()) -> Told {
        let mut is_new = false;
        for news in &mut self.news {
            is_new |= news.has_changed();
            news.mark_unchanged();
        }
        if self.heard.is_some() && !is_new {
            return Vec::new();
        }
        let changes = self.heard.ok_or(TooOld).and_then(|heard| self.changes(store, heard));
        let (version, seen) = changes.unwrap_or_else(|TooOld| {
            forget();
            self.everything(store)
        });
        self.heard = Some(version);
        seen
    }

    fn changes(&self, store: &Store, heard: u64) -> Result<(u64, Told), TooOld> {
        let (version, changes) = match self.watches {
            Watches::Lives => store.life_changes(heard)?,
            Watches::Shelves(shelves) => changes_of(store, heard, shelves.iter().map(|shelf| (*shelf, None)))?,
            Watches::ShelvesAndName(shelves, (shelf, name)) => {
                let whole = shelves.iter().map(|shelf| (*shelf, None));
                changes_of(store, heard, whole.chain([(shelf, Some(name))]))?
            }
        };
        let seen = changes.into_iter().map(|(shelf, change)| {
            let (object, before) = (change.object.clone(), change.before.clone());
            (shelf, Seen { object, before, gone: change.kind == ChangeKind::Deleted })
        });
        Ok((version, seen.collect()))
    }

    fn everything(&self, store: &Store) -> (u64, Told) {
        // What is written while the lists are read is told again as a change.
        let version = store.version();
        let shelves = match self.watches {
            Watches::Lives => store.shelves(),
            Watches::Shelves(shelves) => shelves.iter().map(|shelf| Arc::from(*shelf)).collect(),
            Watches::ShelvesAndName(shelves, (shelf, _)) => {
                shelves.iter().chain([&shelf]).map(|shelf| Arc::from(*shelf)).collect()
            }
        };
        let there = shelves.into_iter().flat_map(|shelf| {
            let (_, items) = store.list(&shelf, None);
            items.into_iter().map(move |object| (shelf.clone(), Seen { object, before: None, gone: false }))
        });
        (version, there.collect())
    }

    async fn wait(&mut self, due: Option<Instant>) {
        let news = select_all(self.news.iter_mut().map(|news| Box::pin(news.changed())));
        match due {
            Some(due) => tokio::select! {
                biased;
                _ = news => {}
                () = sleep_until(due) => {}
            },
            None => drop(news.await),
        }
        // Seen by `hear`.
        self.news.iter_mut().for_each(News::mark_changed);
    }
}
