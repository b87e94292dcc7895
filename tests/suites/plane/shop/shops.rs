//! Shops by the dozen, and whether all they are made of is there, and nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    ops::Deref,
    time::Duration,
};

use k8s_openapi::{
    ByteString,
    api::{
        apps::v1::{ControllerRevision, ReplicaSet},
        batch::v1::Job,
        core::v1::{PersistentVolumeClaim, Pod, Secret},
    },
};
use kube::ResourceExt as _;
use opgen_tests::{Plane, wait};
use serde_json::{Value, json};
use shop_api::{BackendSpec, DatabaseSpec, Shop, ShopSpec};

use super::part::{Part, Parts, wanted};
use crate::operator::{
    mirror::Namespaced,
    owners::{Owners, is_available},
};

/// Dozens of workloads on a busy two-core machine.
const LONG: Duration = Duration::from_secs(180);

pub(crate) struct Shops {
    owners: Owners<Shop>,
    pub(crate) parts: Parts,
}

impl Deref for Shops {
    type Target = Owners<Shop>;
    fn deref(&self) -> &Owners<Shop> {
        &self.owners
    }
}

impl Shops {
    /// A namespace for `count` shops, none of which is there yet.
    pub(crate) async fn new(plane: &Plane, count: usize) -> Self {
        let owners = Owners::new(plane, count, "shop", shop).await;
        Self { parts: Parts::new(plane.client(), &owners.namespace), owners }
    }

    /// Waits until all shops are available, and made of what they are to be made of and nothing else; gives the uids.
    pub(crate) async fn complete(&self) -> BTreeMap<Part, String> {
        wait::until("the shops are complete", LONG, async || {
            let shops = self.api::<Shop>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
            if let Some(shop) = shops.iter().find(|shop| !is_available(*shop)) {
                return Err(format!("{} is not available: {:?}", shop.name_any(), shop.status));
            }
            let there = self.parts.there().await.map_err(|error| error.to_string())?;
            let names: BTreeSet<Part> = there.iter().map(|(part, _)| part.clone()).collect();
            let wanted = shops.iter().flat_map(wanted).collect();
            if names == wanted {
                return Ok(there.into_iter().collect());
            }
            let list = |parts: Vec<&Part>| parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let (missing, more) = (wanted.difference(&names).collect(), names.difference(&wanted).collect());
            Err(format!("missing: {}; too many: {}", list(missing), list(more)))
        })
        .await
    }

    /// Waits until nothing is left of any shop, nor of what others made for them.
    pub(crate) async fn gone(&self) {
        self.mirror.until("are left", 0, |_| false).await;
        wait::until("nothing is left of the shops", LONG, async || {
            let there = self.parts.there().await.map_err(|error| error.to_string())?;
            let others = [
                self.names_of::<Pod>().await?,
                self.names_of::<ReplicaSet>().await?,
                self.names_of::<ControllerRevision>().await?,
                self.names_of::<Job>().await?,
                self.names_of::<PersistentVolumeClaim>().await?,
            ]
            .concat();
            if there.is_empty() && others.is_empty() { Ok(()) } else { Err(format!("{there:?} and {others:?}")) }
        })
        .await;
    }

    pub(crate) async fn names_of<K: Namespaced>(&self) -> Result<Vec<String>, String> {
        let listed = self.api::<K>().list(&Default::default()).await.map_err(|error| error.to_string())?;
        Ok(listed.items.iter().map(|object| format!("{} {}", K::kind(&()), object.name_any())).collect())
    }

    /// The passwords of all shops: to be compared, not shown.
    pub(crate) async fn passwords(&self) -> Passwords {
        let secrets = self.api::<Secret>().list(&Default::default()).await.unwrap().items;
        Passwords(secrets.into_iter().map(|secret| (secret.name_any(), secret.data.unwrap_or_default())).collect())
    }

    /// Changes all shops by a merge patch of their specs.
    pub(crate) async fn change(&self, fields: Value) {
        self.patch::<Shop>(&self.names, &json!({"spec": fields})).await;
    }
}

/// The content of Secrets by name.
#[derive(PartialEq)]
pub(crate) struct Passwords(BTreeMap<String, BTreeMap<String, ByteString>>);

impl Passwords {
    /// Fails with the names of the shops whose password is another one now.
    #[track_caller]
    pub(crate) fn are(&self, earlier: &Self, besides: &[String]) {
        let same = |name: &String| self.0.get(name) == earlier.0.get(name) || besides.contains(name);
        let changed: Vec<_> = earlier.0.keys().filter(|name| !same(name)).collect();
        assert!(changed.is_empty(), "the password changed of {changed:?}");
    }

    /// No two shops have the same one, and it is as long as it is to be.
    #[track_caller]
    pub(crate) fn are_good(&self, count: usize) {
        let passwords: BTreeSet<_> = self.0.values().filter_map(|data| Some(&data.get("password")?.0)).collect();
        assert_eq!((passwords.len(), self.0.len()), (count, count));
        assert!(passwords.iter().all(|password| password.len() == 22));
    }
}

impl Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passwords", self.0.len())
    }
}

/// A shop of that name that has everything a shop can have.
pub(crate) fn shop(name: &str) -> Shop {
    let database = DatabaseSpec { image: "example.com/database:1".to_owned(), replicas: 1, storage: "1Gi".to_owned() };
    let settings = [("currency".to_owned(), "EUR".to_owned())].into();
    let backend = BackendSpec { image: "example.com/backend:1".to_owned(), replicas: 2, port: 8080, settings };
    let schedules = serde_json::from_value(json!([schedule("report")])).unwrap();
    Shop::new(name, ShopSpec { database, backend, host: Some(format!("{name}.example.com")), schedules })
}

/// Work that recurs, but hardly while a test runs.
pub(crate) fn schedule(name: &str) -> Value {
    json!({"name": name, "cron": "59 23 31 12 *", "command": ["work", name]})
}
