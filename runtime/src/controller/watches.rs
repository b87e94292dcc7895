//! Adds event sources to a controller: watches of other kinds, views, channels, a predicate and poll periods.

use crate::{
    cache::ObjectKey,
    informer::view::View,
    kind::{Typed, kind_of},
    managed::Owner,
    predicate::Predicate,
    reconcile::change::News,
    reference::NamespacedName,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use std::{hash::Hash, sync::Arc, time::Duration};
use {
    super::{
        Controller,
        channel::Channel,
        mapped::{Follow, Mapped},
    },
    crate::controller::lister::{ListedMetadata, ReadView, ViewSource},
};

impl<O: Owner> Controller<O> {
    /// Watches objects of another kind. When one is created, changed or deleted, the primaries that `map` names are enqueued. A
    /// name without a namespace is in the namespace of the object. An object that can't be decoded as `K` is logged and enqueues
    /// no primary. The role gets the right to list and watch the kind; a node that reads an object declares `get`. Default: the
    /// controller watches the children of its tree and the objects that specs reference.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    /// # use opgen::{NamespacedName, Operator, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Tree {
    /// #     #[provisioner(resource)]
    /// #     settings: ConfigMap,
    /// # }
    /// # impl Tree {
    /// #     fn settings(_: &Namespace) -> ConfigMap { ConfigMap::default() }
    /// # }
    /// # let operator =
    /// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
    ///     // Every change of a ConfigMap enqueues its Namespace.
    ///     c.watches(|config: &ConfigMap| {
    ///         config.metadata.namespace.clone().map(|name| NamespacedName { name, namespace: None })
    ///     })
    /// });
    /// ```
    #[must_use]
    pub fn watches<K, N>(self, map: impl Fn(&K) -> N + Send + Sync + 'static) -> Self
    where
        K: Typed + DeserializeOwned,
        N: IntoIterator<Item = NamespacedName>,
    {
        self.follows(Follow::by(map))
    }

    /// Watches objects of another kind, with a predicate that decides which changes matter; see [`Follow`].
    #[must_use]
    pub fn follows<K: Typed + DeserializeOwned>(mut self, follow: Follow<K>) -> Self {
        self.settings.mapped.push(Mapped::new(follow));
        self
    }

    /// Watches objects of another kind and fills a view with the projection `keep` of each. The nodes get the view from the
    /// options and read it without a call. When the projection of an object changes, or the object is created or deleted, the
    /// primaries that `map` names are enqueued; so a change outside the projection, such as a heartbeat, costs no pass. `map` is
    /// called with the old and with the new projection. A name without a namespace is in the namespace of the object.
    #[must_use]
    pub fn keeps<K, V, X, N>(
        mut self,
        view: &View<V, X>,
        keep: impl Fn(&K) -> V + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        K: Typed + DeserializeOwned,
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let project = move |json: &[u8]| Ok(keep(&serde_json::from_slice::<K>(json)?));
        self.settings.kept.push(ViewSource::new(kind_of::<K>(), view.clone(), project, map));
        self
    }

    /// Declares that the nodes read a view that another controller of the operator [fills](Controller::keeps). The workers of
    /// this controller start when the first list of the view is complete, or when there can be none because the kind is missing
    /// or forbidden. Changes of the view start no pass of this controller. Default: a controller waits only for the views that it
    /// fills, and [`View::read`] of another view yields `CacheNotSynced` until that is filled.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, ResourceQuota};
    /// # use opgen::{NamespacedName, Operator, View, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Quotas {
    /// #     #[provisioner(resource)]
    /// #     quota: ResourceQuota,
    /// # }
    /// # impl Quotas {
    /// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
    /// # }
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Node>)]
    /// # struct Reports {
    /// #     #[provisioner(resource)]
    /// #     report: ConfigMap,
    /// # }
    /// # impl Reports {
    /// #     fn report(_: &Node) -> ConfigMap { ConfigMap::default() }
    /// # }
    /// let nodes = View::<()>::default();
    /// # let operator =
    /// Operator::new("teams")
    ///     .controls_with::<Foreign<Namespace>, Quotas>(|c| {
    ///         c.keeps_metadata::<Node, _, _, _>(&nodes, |_| (), |_, ()| [NamespacedName::cluster("default")])
    ///     })
    ///     .controls_with::<Foreign<Node>, Reports>(|c| c.reads(&nodes))
    /// # ;
    /// ```
    #[must_use]
    pub fn reads<V, X>(mut self, view: &View<V, X>) -> Self
    where
        V: Send + Sync + 'static,
        X: Send + Sync + 'static,
    {
        self.settings.read.push(ReadView::new(view));
        self
    }

    /// As [`Controller::keeps`], with a projection of the metadata. The operator requests and decodes only the metadata.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{Namespace, Node, ResourceQuota};
    /// # use opgen::{NamespacedName, Operator, View, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Tree {
    /// #     #[provisioner(resource)]
    /// #     quota: ResourceQuota,
    /// # }
    /// # impl Tree {
    /// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
    /// # }
    /// # let operator =
    /// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
    ///     // The names of the Nodes, without their status.
    ///     let nodes = View::<()>::default();
    ///     c.keeps_metadata::<Node, _, _, _>(&nodes, |_| (), |_, ()| [NamespacedName::cluster("default")])
    /// });
    /// ```
    #[must_use]
    pub fn keeps_metadata<K, V, X, N>(
        mut self,
        view: &View<V, X>,
        keep: impl Fn(&ObjectMeta) -> V + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        K: Typed,
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let project = move |json: &[u8]| Ok(keep(&serde_json::from_slice::<ListedMetadata>(json)?.metadata));
        self.settings.kept.push(ViewSource::new(kind_of::<K>(), view.clone(), project, map).with_metadata_only());
        self
    }

    /// Enqueues the primaries that are pushed into a channel, for events from outside Kubernetes; see [`Channel`].
    #[must_use]
    pub fn listens(mut self, channel: &Channel) -> Self {
        self.settings.lanes.push(channel.add_lane());
        self
    }

    /// Decides which updates of a primary start a pass. Its creation, its deletion, its re-creation under the same name, a change
    /// of a finalizer that matters to the controller, and the annotation [`RECONCILE`](crate::RECONCILE) always do. Default:
    /// [`Predicate::generation`] for a kind of your own; for a foreign kind every change outside its status.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<O::Object>) -> Self {
        self.settings.news = Some(News::new(predicate));
        self
    }

    /// As [`Controller::poll`], with a period for each object. For an object with `None` the period of the controller holds.
    #[must_use]
    pub fn poll_by(mut self, period: impl Fn(&O::Object) -> Option<Duration> + Send + Sync + 'static) -> Self {
        self.poll_period = Some(Arc::new(period));
        self
    }
}
