//! An object as any JSON: with nulls, and with all spellings of a number, which no struct has.

use std::{borrow::Cow, marker::PhantomData};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// An object of the kind `K`.
pub(crate) struct Raw<K> {
    object: Value,
    metadata: ObjectMeta,
    kind: PhantomData<fn() -> K>,
}

impl<K> Raw<K> {
    pub(crate) fn new(object: Value) -> Self {
        Self { object, metadata: ObjectMeta::default(), kind: PhantomData }
    }
}

impl<K> Serialize for Raw<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

impl<'de, K> Deserialize<'de> for Raw<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::new)
    }
}

impl<K: kube::Resource<DynamicType = ()>> kube::Resource for Raw<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
