//! Defines `Predicate`, which decides which changes of an object enqueue a primary.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Not,
    sync::Arc,
};

/// Decides whether an update of an object enqueues a primary, as `predicate.Predicate` of controller-runtime does.
///
/// It applies to updates of an existing object only. The creation of an object, its `deletionTimestamp`, its deletion, and its
/// recreation under the same name always enqueue, whatever the predicate is.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::Pod;
/// use opgen::Predicate;
///
/// let pod_ip = Predicate::of(|pod: &Pod| pod.status.as_ref().and_then(|status| status.pod_ip.clone()));
/// let predicate = Predicate::generation().or(Predicate::labels()).or(pod_ip);
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
    /// Accepts updates that change `metadata.generation`, that is, the spec. For a kind without generations it accepts every new
    /// resourceVersion.
    pub fn generation() -> Self {
        Self(Arc::new(Test::Generation))
    }

    /// Accepts updates that change the labels.
    pub fn labels() -> Self {
        Self(Arc::new(Test::Labels))
    }

    /// Accepts updates that change the annotations.
    pub fn annotations() -> Self {
        Self(Arc::new(Test::Annotations))
    }

    /// Accepts all updates, including those of the status.
    pub fn resource_version() -> Self {
        Self(Arc::new(Test::ResourceVersion))
    }

    /// Accepts updates that change the finalizers.
    pub fn finalizers() -> Self {
        Self(Arc::new(Test::Finalizers))
    }

    /// Accepts updates that change the value which `part` returns for the object.
    pub fn of<T: Hash>(part: impl Fn(&K) -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(Test::Of(Box::new(move |object| digest(&part(object))))))
    }

    /// Accepts no updates.
    pub fn never() -> Self {
        Self(Arc::new(Test::Never))
    }

    /// Accepts updates that both predicates accept.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(Arc::new(Test::And(self, other)))
    }

    /// Accepts updates that at least one of the predicates accepts.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(Arc::new(Test::Or(self, other)))
    }

    /// Returns whether the predicate reads more than the metadata.
    pub(crate) fn needs_object(&self) -> bool {
        match &*self.0 {
            Test::Of(_) => true,
            Test::And(one, other) | Test::Or(one, other) => one.needs_object() || other.needs_object(),
            Test::Not(one) => one.needs_object(),
            _ => false,
        }
    }

    /// Returns the hashes of the values that the predicate compares, for one state of an object. `object` is `None` if only the metadata
    /// is watched.
    pub(crate) fn facts(&self, metadata: &ObjectMeta, object: Option<&K>) -> Facts {
        let mut facts = Vec::new();
        self.collect(metadata, object, &mut facts);
        Facts(facts)
    }

    /// Appends the hash of each value that the predicate compares, one per leaf of the expression of `And`, `Or` and `Not`, in order. The
    /// hash of a value of a missing object is 0.
    fn collect(&self, metadata: &ObjectMeta, object: Option<&K>, facts: &mut Vec<u64>) {
        facts.push(match &*self.0 {
            Test::Generation => match metadata.generation {
                // A kind without generations.
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

    /// Returns whether the predicate accepts the update between two states of an object, from the hashes of [`Self::facts`] for each state.
    pub(crate) fn passes(&self, old: &Facts, new: &Facts) -> bool {
        self.evaluate(&mut old.0.iter().zip(&new.0).map(|(old, new)| old != new))
    }

    /// Evaluates the expression of the predicate. For each of its leaves, consumes one item of `differs`, which is whether the update
    /// changed the value of the leaf, in the order of [`Self::collect`].
    fn evaluate(&self, differs: &mut dyn Iterator<Item = bool>) -> bool {
        match &*self.0 {
            // `&` and `|` evaluate both operands, since each operand has to consume its items.
            Test::And(one, other) => one.evaluate(differs) & other.evaluate(differs),
            Test::Or(one, other) => one.evaluate(differs) | other.evaluate(differs),
            Test::Not(one) => !one.evaluate(differs),
            _ => differs.next().unwrap_or(true),
        }
    }
}

/// The hashes of the values that a predicate compares, for one state of an object.
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
    /// Enqueues the object and ends its backoff: spec, labels or annotations changed. After many such changes in a row, which
    /// come from another controller, the backoff stays.
    UserChange,
    /// Enqueues the object and ends its backoff: it is new, is being deleted, or its annotation requests a pass.
    Request,
}

/// A predicate without its type: whether the change between two states starts a pass.
pub(crate) type Passes = Arc<dyn Fn(&Facts, &Facts) -> bool + Send + Sync>;

/// Returns the hash of a value.
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
    /// Writes the predicate as an expression: `(resourceVersion and not labels)`.
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

    type ConfigMapPredicate = Predicate<ConfigMap>;

    /// Returns a ConfigMap with this generation, resourceVersion, value of the label `app`, and text in its data.
    fn object(generation: i64, version: &str, label: &str, text: &str) -> ConfigMap {
        let metadata = ObjectMeta {
            generation: Some(generation),
            resource_version: Some(version.to_owned()),
            labels: Some([("app".to_owned(), label.to_owned())].into()),
            ..ObjectMeta::default()
        };
        ConfigMap { metadata, data: Some([("text".to_owned(), text.to_owned())].into()), ..ConfigMap::default() }
    }

    /// Returns whether the predicate accepts the update from `old` to `new`.
    fn passes(predicate: &ConfigMapPredicate, old: &ConfigMap, new: &ConfigMap) -> bool {
        let facts = |object: &ConfigMap| predicate.facts(&object.metadata, Some(object));
        predicate.passes(&facts(old), &facts(new))
    }

    #[test]
    fn each_predicate_accepts_changes_of_its_own_field() {
        let old = object(1, "1", "a", "x");
        let text = || ConfigMapPredicate::of(|config| config.data.clone());
        // `expected` has the result of each of the `predicates` below for the update from `old` to `new`.
        for (new, expected) in [
            (object(1, "2", "a", "x"), [false, false, true, false, false]),
            (object(2, "2", "a", "x"), [true, false, true, false, false]),
            (object(1, "2", "b", "x"), [false, true, true, false, false]),
            (object(1, "2", "a", "y"), [false, false, true, true, false]),
        ] {
            let predicates = [
                ConfigMapPredicate::generation(),
                ConfigMapPredicate::labels(),
                ConfigMapPredicate::resource_version(),
                text(),
                ConfigMapPredicate::never(),
            ];
            assert_eq!(predicates.map(|predicate| passes(&predicate, &old, &new)), expected);
        }
    }

    #[test]
    fn predicates_combine_with_or_and_and_not() {
        let old = object(1, "1", "a", "x");
        let (spec, label) = (object(2, "2", "a", "x"), object(1, "2", "b", "x"));
        let either = ConfigMapPredicate::generation().or(ConfigMapPredicate::labels());
        assert!(passes(&either, &old, &spec) && passes(&either, &old, &label));
        let both = ConfigMapPredicate::generation().and(ConfigMapPredicate::labels());
        assert!(!passes(&both, &old, &spec) && passes(&both, &old, &object(2, "2", "b", "x")));
        let not_labels = ConfigMapPredicate::resource_version().and(!ConfigMapPredicate::labels());
        assert!(passes(&not_labels, &old, &spec) && !passes(&not_labels, &old, &label));
        assert_eq!(format!("{not_labels:?}"), "(resourceVersion and not labels)");
    }

    #[test]
    fn a_kind_without_generations_is_compared_by_resource_version() {
        let predicate = ConfigMapPredicate::generation();
        assert!(passes(&predicate, &object(0, "1", "a", "x"), &object(0, "2", "a", "x")));
        assert!(!passes(&predicate, &object(0, "1", "a", "x"), &object(0, "1", "a", "x")));
    }
}
