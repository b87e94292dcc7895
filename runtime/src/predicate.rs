//! Which changes of an object are worth a pass.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Not,
    sync::Arc,
};

/// Says of a change of an object whether it is worth a pass (frameworks §A5).
///
/// It is asked about objects that stay: that one comes, is marked for deletion, goes, or is made anew under its name is
/// always worth a pass, so no combination can hide an end or a new beginning.
///
/// ```
/// # use k8s_openapi::api::core::v1::Pod;
/// use opgen::Predicate;
///
/// let moved = Predicate::of(|pod: &Pod| pod.status.as_ref().and_then(|status| status.pod_ip.clone()));
/// let news = Predicate::generation().or(Predicate::labels()).or(moved);
/// ```
pub struct Predicate<K>(Arc<Test<K>>);

enum Test<K> {
    Generation,
    Labels,
    Annotations,
    ResourceVersion,
    Finalizers,
    Of(Digest<K>),
    Never,
    And(Predicate<K>, Predicate<K>),
    Or(Predicate<K>, Predicate<K>),
    Not(Predicate<K>),
}

type Digest<K> = Box<dyn Fn(&K) -> u64 + Send + Sync>;

impl<K> Predicate<K> {
    /// What is wanted has changed: `metadata.generation`. Of a kind whose generations the server doesn't count every new version
    /// is such a change: nothing else would ever be.
    pub fn generation() -> Self {
        Self(Arc::new(Test::Generation))
    }

    /// A label came, went or changed.
    pub fn labels() -> Self {
        Self(Arc::new(Test::Labels))
    }

    /// An annotation came, went or changed.
    pub fn annotations() -> Self {
        Self(Arc::new(Test::Annotations))
    }

    /// Anything has changed, status included.
    pub fn resource_version() -> Self {
        Self(Arc::new(Test::ResourceVersion))
    }

    /// A finalizer came or went.
    pub fn finalizers() -> Self {
        Self(Arc::new(Test::Finalizers))
    }

    /// What the function takes out of the object has changed.
    pub fn of<T: Hash>(part: impl Fn(&K) -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(Test::Of(Box::new(move |object| digest(&part(object))))))
    }

    /// No change: only that an object comes, is marked for deletion, goes, or is made anew.
    pub fn never() -> Self {
        Self(Arc::new(Test::Never))
    }

    /// Both say so.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(Arc::new(Test::And(self, other)))
    }

    /// One of them says so.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(Arc::new(Test::Or(self, other)))
    }

    /// Whether it looks at more than the metadata.
    pub(crate) fn needs_object(&self) -> bool {
        match &*self.0 {
            Test::Of(_) => true,
            Test::And(one, other) | Test::Or(one, other) => one.needs_object() || other.needs_object(),
            Test::Not(one) => one.needs_object(),
            _ => false,
        }
    }

    /// What it looks at, as numbers that differ where that does. Without an object only the metadata is looked at.
    pub(crate) fn facts(&self, metadata: &ObjectMeta, object: Option<&K>) -> Facts {
        let mut facts = Vec::new();
        self.collect(metadata, object, &mut facts);
        Facts(facts)
    }

    fn collect(&self, metadata: &ObjectMeta, object: Option<&K>, facts: &mut Vec<u64>) {
        facts.push(match &*self.0 {
            Test::Generation => match metadata.generation {
                None | Some(0) => digest(&metadata.resource_version),
                Some(generation) => digest(&generation),
            },
            Test::Labels => digest(&metadata.labels),
            Test::Annotations => digest(&metadata.annotations),
            Test::ResourceVersion => digest(&metadata.resource_version),
            Test::Finalizers => digest(&metadata.finalizers),
            Test::Of(part) => object.map_or(0, part),
            Test::Never => 0,
            Test::And(one, other) | Test::Or(one, other) => {
                one.collect(metadata, object, facts);
                return other.collect(metadata, object, facts);
            }
            Test::Not(one) => return one.collect(metadata, object, facts),
        });
    }

    /// Whether the change between two states of one object is worth a pass.
    pub(crate) fn passes(&self, old: &Facts, new: &Facts) -> bool {
        self.judge(&mut old.0.iter().zip(&new.0).map(|(old, new)| old != new))
    }

    /// Takes what it looks at from the front, in the order of [`Self::collect`].
    fn judge(&self, differs: &mut dyn Iterator<Item = bool>) -> bool {
        match &*self.0 {
            // Both are judged in any case: each takes its own.
            Test::And(one, other) => one.judge(differs) & other.judge(differs),
            Test::Or(one, other) => one.judge(differs) | other.judge(differs),
            Test::Not(one) => !one.judge(differs),
            _ => differs.next().unwrap_or(true),
        }
    }
}

/// What a predicate has looked at in one state of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts(Vec<u64>);

/// How a change of a primary affects the queue, from the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Significance {
    /// Enqueues nothing.
    #[default]
    None,
    /// Enqueues the object after a write by the operator itself.
    OwnWrite,
    /// Enqueues the object: its finalizers changed.
    Finalizers,
    /// Enqueues the object: the predicate accepts the change, and spec, labels and annotations are unchanged.
    Accepted,
    /// Enqueues the object and ends its backoff: spec, labels or annotations changed. After many such changes in a row, which another
    /// controller makes, the backoff stays.
    UserChange,
    /// Enqueues the object and ends its backoff: it is new, is being deleted, or its annotation requests a pass.
    Request,
}

/// A predicate without its type: whether the change between two states starts a pass.
pub(crate) type Passes = Arc<dyn Fn(&Facts, &Facts) -> bool + Send + Sync>;

fn digest(part: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}

impl<K> Not for Predicate<K> {
    type Output = Self;
    fn not(self) -> Self {
        Self(Arc::new(Test::Not(self)))
    }
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Test::Generation => f.write_str("generation"),
            Test::Labels => f.write_str("labels"),
            Test::Annotations => f.write_str("annotations"),
            Test::ResourceVersion => f.write_str("resourceVersion"),
            Test::Finalizers => f.write_str("finalizers"),
            Test::Of(_) => f.write_str("a part"),
            Test::Never => f.write_str("never"),
            Test::And(one, other) => write!(f, "({one:?} and {other:?})"),
            Test::Or(one, other) => write!(f, "({one:?} or {other:?})"),
            Test::Not(one) => write!(f, "not {one:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Predicate;
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

    type Says = Predicate<ConfigMap>;

    fn object(generation: i64, version: &str, label: &str, text: &str) -> ConfigMap {
        let metadata = ObjectMeta {
            generation: Some(generation),
            resource_version: Some(version.to_owned()),
            labels: Some([("app".to_owned(), label.to_owned())].into()),
            ..ObjectMeta::default()
        };
        ConfigMap { metadata, data: Some([("text".to_owned(), text.to_owned())].into()), ..ConfigMap::default() }
    }

    fn passes(predicate: &Says, old: &ConfigMap, new: &ConfigMap) -> bool {
        let facts = |object: &ConfigMap| predicate.facts(&object.metadata, Some(object));
        predicate.passes(&facts(old), &facts(new))
    }

    #[test]
    fn each_looks_at_its_own() {
        let old = object(1, "1", "a", "x");
        let text = || Says::of(|config| config.data.clone());
        for (new, expected) in [
            (object(1, "2", "a", "x"), [false, false, true, false, false]),
            (object(2, "2", "a", "x"), [true, false, true, false, false]),
            (object(1, "2", "b", "x"), [false, true, true, false, false]),
            (object(1, "2", "a", "y"), [false, false, true, true, false]),
        ] {
            let all = [Says::generation(), Says::labels(), Says::resource_version(), text(), Says::never()];
            assert_eq!(all.map(|one| passes(&one, &old, &new)), expected);
        }
    }

    #[test]
    fn they_combine() {
        let old = object(1, "1", "a", "x");
        let (spec, label) = (object(2, "2", "a", "x"), object(1, "2", "b", "x"));
        let either = Says::generation().or(Says::labels());
        assert!(passes(&either, &old, &spec) && passes(&either, &old, &label));
        let both = Says::generation().and(Says::labels());
        assert!(!passes(&both, &old, &spec) && passes(&both, &old, &object(2, "2", "b", "x")));
        let but = Says::resource_version().and(!Says::labels());
        assert!(passes(&but, &old, &spec) && !passes(&but, &old, &label));
        assert_eq!(format!("{but:?}"), "(resourceVersion and not labels)");
    }

    #[test]
    fn a_kind_that_counts_no_generations_is_judged_by_its_versions() {
        let predicate = Says::generation();
        assert!(passes(&predicate, &object(0, "1", "a", "x"), &object(0, "2", "a", "x")));
        assert!(!passes(&predicate, &object(0, "1", "a", "x"), &object(0, "1", "a", "x")));
    }
}
