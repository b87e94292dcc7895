//! What wakes the objects of a controller, beside their own changes and those of what they are made of.

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
    crate::controller::lister::{Kept, ListedMetadata, ReadView},
};

impl<O: Owner> Controller<O> {
    /// Follows objects of another kind: when one comes, changes or goes, the primaries that `map` names are looked at. A name
    /// without a namespace is one in the namespace of the object. An object that can't be read as `K` is said in the log and
    /// wakes nobody. The role gets the right to list and watch the kind; to read
    /// one, a node declares `get`. Default: what the tree makes and what the spec names are followed.
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
    ///     // Every change of a ConfigMap concerns the Namespace that it is in.
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

    /// Follows objects of another kind, with a say on which of their changes matter; see [`Follow`].
    #[must_use]
    pub fn follows<K: Typed + DeserializeOwned>(mut self, follow: Follow<K>) -> Self {
        self.settings.mapped.push(Mapped::new(follow));
        self
    }

    /// Follows objects of another kind, keeps a part of each in a view that the nodes can read (from the options), and looks at
    /// the primaries that `map` names when that part of an object has changed, or the object has come or gone. So what is
    /// not kept, a heartbeat for example, costs no pass. `map` is asked when an object changes, for what was kept and what
    /// is kept now; a name without a namespace is one in the namespace of the object.
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
        let read = move |json: &[u8]| Ok(keep(&serde_json::from_slice::<K>(json)?));
        self.settings.kept.push(Kept::new(kind_of::<K>(), view.clone(), read, map));
        self
    }

    /// Declares that the nodes read a view that another controller of the operator [keeps](Controller::keeps). The workers of this
    /// controller start when the view has its first list, or is known to have none (the kind is missing, or the role doesn't allow
    /// it). Changes of the view lead to no pass of this controller. Default: a controller waits only for the views that it keeps, and
    /// [`View::read`] yields `CacheNotSynced` until another one is filled.
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

    /// As [`Controller::keeps`], with a part of the metadata; no more than that is asked for and decoded.
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
    ///     // Which nodes there are, and no word of how they are.
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
        let read = move |json: &[u8]| Ok(keep(&serde_json::from_slice::<ListedMetadata>(json)?.metadata));
        self.settings.kept.push(Kept::new(kind_of::<K>(), view.clone(), read, map).of_metadata());
        self
    }

    /// Listens to what is no watch of Kubernetes; see [`Channel`].
    #[must_use]
    pub fn listens(mut self, channel: &Channel) -> Self {
        self.settings.lanes.push(channel.lane());
        self
    }

    /// Which changes of an object are worth a pass. That it comes, is to go, goes or is made anew always is, as is a change of
    /// its finalizers that concerns the controller, and [`RECONCILE`](crate::RECONCILE). Default: a change of what is
    /// wanted: [`Predicate::generation`] of a kind of your own; of a foreign kind all but its status.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<O::Object>) -> Self {
        self.settings.news = Some(News::new(predicate));
        self
    }

    /// As [`Controller::poll`], with a period for each object; `None` falls back to that of the controller.
    #[must_use]
    pub fn poll_by(mut self, period: impl Fn(&O::Object) -> Option<Duration> + Send + Sync + 'static) -> Self {
        self.period = Some(Arc::new(period));
        self
    }
}
