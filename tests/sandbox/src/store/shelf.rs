//! The objects of one kind and their history.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde_json::Value;

use super::{
    Stored, TooOld,
    news::{News, Teller},
    stored::{Draft, key},
};

/// Objects by key, and the changes that led to them.
#[derive(Debug)]
pub(crate) struct Shelf {
    objects: BTreeMap<String, Arc<Stored>>,
    changes: VecDeque<Arc<Change>>,
    /// Changes up to this version are forgotten.
    forgotten: u64,
    history: usize,
    news: Teller,
    /// For those who wait for objects of one name alone: others don't wake them.
    named: Vec<(Box<str>, Teller)>,
}

/// A write and what was there before.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) version: u64,
    /// The new state; of a deletion the last one, under the version of the deletion.
    pub(crate) object: Arc<Stored>,
    pub(crate) before: Option<Arc<Stored>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

impl Change {
    /// Whether it may mean something to those who live by others' lives: owners, deletions, ends.
    pub(crate) fn is_of_life(&self) -> bool {
        let lives = |object: &Stored| !object.owners.is_empty() || object.deleting;
        self.kind == ChangeKind::Deleted || lives(&self.object) || self.before.as_deref().is_some_and(lives)
    }
}

/// Objects by namespace and name.
pub(crate) type Listed = Vec<Arc<Stored>>;

impl Shelf {
    pub(super) fn new(history: usize, forgotten: u64) -> Self {
        let news = Teller::default();
        Self { objects: BTreeMap::new(), changes: VecDeque::new(), forgotten, history, news, named: Vec::new() }
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        if self.objects.is_empty() {
            return None;
        }
        self.objects.get(&key(namespace, name)).cloned()
    }

    pub(super) fn list(&self, namespace: Option<&str>) -> Listed {
        within(&self.objects, namespace)
    }

    pub(super) fn list_at(&self, namespace: Option<&str>, version: u64) -> Result<Listed, TooOld> {
        let later = self.after(version)?;
        if later.is_empty() {
            return Ok(self.list(namespace));
        }
        let mut objects = self.objects.clone();
        for change in later.iter().rev() {
            match &change.before {
                Some(before) => objects.insert(before.key(), before.clone()),
                None => objects.remove(&change.object.key()),
            };
        }
        Ok(within(&objects, namespace))
    }

    /// Writes or removes; says, too, whether the change [is of life](Change::is_of_life).
    pub(super) fn put(
        &mut self,
        version: u64,
        before: Option<Arc<Stored>>,
        draft: Option<Draft>,
    ) -> (Arc<Stored>, bool) {
        let (kind, mut stored) = match (draft, &before) {
            (Some(draft), before) => {
                let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
                (kind, draft.at(version))
            }
            (None, Some(before)) => {
                let last = serde_json::from_slice(&before.json).unwrap_or_default();
                (ChangeKind::Deleted, Stored::new(last, version, &before.api_version))
            }
            (None, None) => (ChangeKind::Deleted, Stored::new(Value::Null, version, "")),
        };
        stored.fresh = kind == ChangeKind::Added;
        let object = Arc::new(stored);
        match kind {
            ChangeKind::Deleted => self.objects.remove(&object.key()),
            ChangeKind::Added | ChangeKind::Modified => self.objects.insert(object.key(), object.clone()),
        };
        let change = Change { kind, version, object: object.clone(), before };
        let of_life = change.is_of_life();
        self.remember(change);
        (object, of_life)
    }

    /// Takes a new object as it is.
    pub(super) fn load(&mut self, object: Arc<Stored>) {
        self.objects.insert(object.key(), object.clone());
        self.remember(Change { kind: ChangeKind::Added, version: object.version, object, before: None });
    }

    fn remember(&mut self, change: Change) {
        for (_, news) in self.named.iter().filter(|(name, _)| *name == change.object.name) {
            news.tell();
        }
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > self.history {
            self.forgotten = self.changes.pop_front().map_or(self.forgotten, |change| change.version);
        }
        self.news.tell();
    }

    /// Takes an object that was kept elsewhere.
    pub(super) fn restore(&mut self, object: Arc<Stored>) {
        self.objects.insert(object.key(), object);
    }

    /// The changes after a version, oldest first.
    pub(super) fn after(&self, version: u64) -> Result<Vec<Arc<Change>>, TooOld> {
        self.some_after(version, usize::MAX)
    }

    /// The first changes after a version.
    pub(super) fn some_after(&self, version: u64, most: usize) -> Result<Vec<Arc<Change>>, TooOld> {
        if version < self.forgotten {
            return Err(TooOld);
        }
        let start = self.changes.partition_point(|change| change.version <= version);
        Ok(self.changes.range(start..).take(most).cloned().collect())
    }

    /// Those who wait for news hear that there is none any more.
    pub(super) fn end_watches(&mut self) {
        self.news = Teller::default();
        self.named.clear();
    }

    pub(super) fn news(&self) -> News {
        self.news.news()
    }

    pub(super) fn news_of(&mut self, name: &str) -> News {
        if let Some((_, news)) = self.named.iter().find(|(own, _)| **own == *name) {
            return news.news();
        }
        self.named.retain(|(_, news)| !news.is_unheard());
        let teller = Teller::default();
        let news = teller.news();
        self.named.push((name.into(), teller));
        news
    }

    pub(super) fn compact(&mut self, version: u64) {
        self.changes.clear();
        self.forgotten = version;
    }
}

fn within(objects: &BTreeMap<String, Arc<Stored>>, namespace: Option<&str>) -> Listed {
    if objects.is_empty() {
        return Listed::new();
    }
    let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) else {
        return objects.values().cloned().collect();
    };
    let prefix = format!("{namespace}/");
    let from_there = objects.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
    from_there.map(|(_, object)| object.clone()).collect()
}
