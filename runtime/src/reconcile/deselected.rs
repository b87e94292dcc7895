//! Reconciles primaries that the cache does not have: deleted objects, and objects outside the selection.
//!
//! Only the API server knows which of the two an object is. One live read decides, and its result holds until the watch delivers
//! the object.

use crate::{
    cache::{Header, ObjectKey},
    error::{Error, Result},
    informer::source::UncachedObject,
    reconcile::{
        control_loop::Loop,
        next::{Next, NextPass},
    },
};

impl Loop {
    /// Records that the watch has delivered a state of an object. With a selector, the result of an earlier live read, which told whether
    /// the object is deleted or no longer selected, does not hold any more. A finalizer of another operator wakes the task that waits for
    /// one.
    pub(crate) fn note_watch_event(&self, header: &Header) {
        if self.source.has_selector() {
            self.settled.forget(&header.key);
        }
        self.note_finalizers(header);
    }

    /// Runs a pass over an object that the cache does not have. Without a label or field selector the object is deleted; else a live read
    /// decides whether it is deleted, or exists outside the selection. In the latter case the pass tears it down like a deleted object,
    /// if it has the finalizer.
    pub(crate) async fn reconcile_uncached(&self, key: &ObjectKey) -> Result<NextPass> {
        if !self.source.has_selector() {
            return self.finish_deleted(key).await.map(NextPass::from);
        }
        // An earlier live read found nothing to do, and the watch has not delivered the object since.
        if !self.settled.begin_read(key) {
            return Ok(Next::AwaitChange.into());
        }
        let json = match self.source.read_uncached(key).await? {
            UncachedObject::Deleted => {
                let next = self.finish_deleted(key).await?;
                self.settled.settle(key);
                return Ok(next.into());
            }
            // The watch will deliver the object, which enqueues it.
            UncachedObject::Selected => {
                self.settled.settle(key);
                return Ok(Next::AwaitChange.into());
            }
            UncachedObject::Deselected(json) => json,
        };
        let entry = self.source.objects().separate_entry(&json).map_err(Error::unexpected)?;
        if !entry.header.finalizers.contains(&self.finalizer) {
            // The references of the object stay, since another installation of the operator may control the object and need them.
            self.forget(key);
            self.settled.settle(key);
            return Ok(Next::AwaitChange.into());
        }
        match self.decode(&entry) {
            Ok(primary) => self.tear_down(&entry, primary.as_ref()).await,
            Err(error) => self.tear_down_undecodable(&entry, error).await.map(NextPass::from),
        }
    }

    /// Drops the state of a deleted object, and releases its references: removes the finalizers that it put on other objects.
    async fn finish_deleted(&self, key: &ObjectKey) -> Result<Next> {
        self.forget(key);
        self.release_all_references(key).await?;
        Ok(Next::AwaitChange)
    }

    /// Lists the objects outside the selection that have the finalizer, for example because they left the selection while no
    /// operator ran. Their next passes read them live again. The orphan collector enqueues them.
    pub(crate) async fn list_deselected(&self) -> Result<Vec<ObjectKey>> {
        if !self.source.has_selector() {
            return Ok(Vec::new());
        }
        let keys = self.source.list_deselected(&self.finalizer).await?;
        keys.iter().for_each(|key| self.settled.forget(key));
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{
        cache::{Encoded, Entry, Header, PrimaryCache, ReadError, ResourceVersion, Uid},
        client::Client,
        engine::controller_state::{ControllerFacts, ControllerState},
        environment::Environment,
        event::EventRecorder,
        informer::{
            source::{Selection, Source},
            watch::Health,
        },
        kind::{Kind, kind_of},
        reconcile::{
            control_loop::LoopOptions,
            reconciler::{DecodedPrimary, Reconciler},
        },
        shape::{Node, Shape},
        versions::FieldProblem,
    };
    use futures::future::BoxFuture;
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    use serde_json::{Value, json};
    use std::sync::Arc;

    const FINALIZER: &str = "shop.example.com/live";

    /// A source whose cache is empty, since the only object has left the selection.
    #[derive(Debug)]
    struct DeselectedSource {
        health: Health,
        objects: PrimaryCache,
        object: Value,
    }

    impl Source for DeselectedSource {
        fn kind(&self) -> &Kind {
            self.health.kind()
        }

        fn objects(&self) -> &PrimaryCache {
            &self.objects
        }

        fn health(&self) -> &Health {
            &self.health
        }

        fn has_selector(&self) -> bool {
            true
        }

        /// Returns the object as one outside the selection.
        fn read_uncached<'a>(&'a self, _: &'a ObjectKey) -> BoxFuture<'a, Result<UncachedObject>> {
            let json = self.object.to_string().into_bytes();
            Box::pin(async move { Ok(UncachedObject::Deselected(json)) })
        }

        fn add_finalizer<'a>(&'a self, object: &'a Header, _: &'a str) -> BoxFuture<'a, Result<ResourceVersion>> {
            Box::pin(async move { Ok(object.resource_version.clone()) })
        }

        fn remove_finalizer<'a>(&'a self, _: &'a Header, _: &'a str) -> BoxFuture<'a, Result<ResourceVersion>> {
            Box::pin(async move { Ok(ResourceVersion::from("9")) })
        }

        /// Writes nothing, and returns the given version.
        fn write_status<'a>(
            &'a self,
            _: &'a Header,
            version: &'a ResourceVersion,
            _: Value,
        ) -> BoxFuture<'a, Result<ResourceVersion>> {
            Box::pin(async move { Ok(version.clone()) })
        }
    }

    /// A reconciler that decodes nothing; its tree has no nodes.
    struct EmptyReconciler;

    impl Reconciler for EmptyReconciler {
        /// Fails for every object.
        fn decode(&self, entry: &Entry<Encoded>) -> Result<Box<dyn DecodedPrimary + '_>, ReadError> {
            let source = serde_json::from_str::<u8>("{}").unwrap_err();
            Err(ReadError::Form { key: entry.header.key.clone(), source })
        }

        fn forget(&self, _: &ObjectKey) {}

        /// Returns a tree without nodes.
        fn shape(&self) -> &'static Shape {
            static EMPTY: Shape = Shape { node: Node::SERIAL, access: &[], children: &[] };
            &EMPTY
        }

        fn owns_status(&self) -> bool {
            true
        }

        fn conversion_problems(&self, _: &Value) -> Vec<FieldProblem> {
            Vec::new()
        }
    }

    /// Returns a loop whose only object has left the selection `class=a`.
    fn control_loop(object: Value) -> Loop {
        let facts = ControllerFacts {
            operator: "live".to_owned(),
            namespace: "live-system".to_owned(),
            environment: Environment::system(),
            recorder: EventRecorder::disabled(),
            counters: Default::default(),
            metrics: Default::default(),
        };
        let state = ControllerState::new(Client::disconnected(), facts);
        let health = Health::new(kind_of::<ConfigMap>());
        let source = DeselectedSource { health, objects: PrimaryCache::default(), object };
        let options = LoopOptions {
            finalizer: FINALIZER.to_owned(),
            selection: Selection { labels: [("class".to_owned(), "a".to_owned())].into(), ..Selection::default() },
            predicate: None,
            condition_prefix: String::new(),
        };
        Loop::new(Arc::new(state), Arc::new(source), Box::new(EmptyReconciler), options)
    }

    #[tokio::test]
    async fn the_state_of_an_object_that_has_left_the_selection_is_dropped() {
        for finalizers in [json!([FINALIZER]), json!([])] {
            let metadata = json!({
                "name": "a", "namespace": "shop", "uid": "1", "resourceVersion": "2", "finalizers": finalizers,
            });
            let control_loop = control_loop(json!({"metadata": metadata}));
            let (key, uid) = (ObjectKey::namespaced("shop", "a"), Uid::from("1"));
            // The writes of the last pass in which the object was selected.
            let shared = &control_loop.shared;
            shared.record_primary_write(&key, &uid, &ResourceVersion::from("2"));
            shared.own_writes.record(&key, &uid, Some(kind_of::<Pod>()), &ResourceVersion::from("3"));
            control_loop.states.note_readiness(&key, &uid, false);
            let next = control_loop.reconcile_uncached(&key).await.unwrap();
            assert_eq!(next.when, Next::AwaitChange);
            assert!(shared.own_writes.is_empty(), "{finalizers}: {:?}", shared.own_writes);
            assert_eq!(control_loop.states.uid_of(&key), None, "{finalizers}");
        }
    }
}
