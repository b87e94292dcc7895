//! External nodes: tree nodes that each manage a thing (a resource outside of Kubernetes) such as a DNS record or a database user.
//!
//! A field of the type [`External<T>`](External) is such a node. The type `T` implements [`ExternalResource`]: functions that find,
//! create, change and delete the thing. The node calls them so that there is exactly one thing, even if the process ends
//! between two calls.
//!
//! # Example
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use opgen::external::{External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome};
//! use opgen::prelude::*;
//! use serde::{Deserialize, Serialize};
//! # use kube::CustomResource;
//! # use schemars::JsonSchema;
//! # #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! # #[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
//! # pub struct WebAppSpec { host: String, address: String }
//! # #[derive(Debug)]
//! # pub struct DnsClient;
//! # impl DnsClient {
//! #     async fn by_id(&self, _: &str) -> Result<Option<(String, Entry)>> { Ok(None) }
//! #     async fn by_tag(&self, _: &str) -> Result<Option<(String, Entry)>> { Ok(None) }
//! #     async fn create(&self, _: &Entry, _tag: &str) -> Result<String> { Ok(String::new()) }
//! #     async fn replace(&self, _: &str, _: &Entry) -> Result<()> { Ok(()) }
//! #     async fn delete_if_exists(&self, _: &str) -> Result<()> { Ok(()) }
//! # }
//!
//! #[derive(Serialize, PartialEq)]
//! pub struct Entry {
//!     host: String,
//!     address: String,
//! }
//!
//! // `output` is the type of the observed state, which later nodes can read.
//! #[derive(Provisioner)]
//! #[provisioner(access(), output = Entry)]
//! struct DnsRecord;
//!
//! impl ExternalResource for DnsRecord {
//!     // The options of the controller have the client of the DNS service.
//!     type Owner = For<WebApp, DnsClient>;
//!     type Spec = Entry;
//!     const NAME: &'static str = "DNS record";
//!
//!     fn spec(app: &Draft<'_, Self::Owner>) -> Result<Entry> {
//!         Ok(Entry { host: app.spec.host.clone(), address: app.spec.address.clone() })
//!     }
//!
//!     async fn observe(cx: &ExternalContext<'_, Self>, key: ExternalKey<'_>) -> Result<Option<Observed<Entry>>> {
//!         let found = match key.id() {
//!             Some(id) => cx.options().by_id(id).await?,
//!             None => cx.options().by_tag(key.token()).await?,
//!         };
//!         Ok(found.map(|(id, entry)| Observed::new(id, entry)))
//!     }
//!
//!     fn is_up_to_date(spec: &Entry, observed: &Entry) -> bool {
//!         spec == observed
//!     }
//!
//!     async fn create(cx: &ExternalContext<'_, Self>, spec: &Entry, token: &str) -> Result<String> {
//!         cx.options().create(spec, token).await
//!     }
//!
//!     async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &Entry) -> Result<UpdateOutcome> {
//!         cx.options().replace(id, spec).await?;
//!         Ok(UpdateOutcome::Updated)
//!     }
//!
//!     async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
//!         cx.options().delete_if_exists(id).await
//!     }
//! }
//!
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = For<WebApp, DnsClient>)]
//! struct Tree {
//!     record: External<DnsRecord>,
//!     #[provisioner(resource, from(record))]
//!     config: ConfigMap,
//! }
//!
//! impl Tree {
//!     fn config(_: &WebApp, entry: &Entry) -> ConfigMap {
//!         ConfigMap { data: Some([("host".into(), entry.host.clone())].into()), ..ConfigMap::default() }
//!     }
//! }
//! ```
//!
//! # The token
//! Before a node calls [`ExternalResource::create`], it writes a record: a ConfigMap in the namespace of the operator, with a token. The
//! token is a hash of the operator, the object with its uid, and the path of the node. If the process ends after the call, the next
//! pass observes by the token before it creates anything, and takes over what it finds. If somebody deletes the record, the next
//! observation finds the thing by the same token.
//!
//! So the API of the thing has to find it by the token. One of these is enough:
//! - a tag, a label or a comment that a list can filter by;
//! - an id or a name that is made of the token: then a second creation fails, and a read by that name finds the thing;
//! - an idempotency key, if the API returns the thing of a key without a change. The key must not outlive the thing, since a thing that
//!   is created again has the same token.
//!
//! An API that shows a new thing only after some time needs [`ExternalResource::CREATE_GRACE`]: after a call of `create` whose result is
//! not known, the node waits this long before it calls `create` again, or before it believes at a removal that there is nothing.
//!
//! # Observations
//! A pass observes the thing after a start of the operator, after a change of the spec, and after [`ExternalResource::PERIOD`]. All
//! other passes make no call. A thing that differs from the spec is updated, and one that is gone is created again. It is also updated
//! if the hash of the spec in the record differs, so that a change of a password, which no observation shows, is applied.
//!
//! # Removal
//! [`ExternalResource::DELETION_POLICY`] decides about the thing when the owner is deleted or the node is no longer wanted. A thing that is
//! deleted is observed until it is gone; the finalizer of the owner stays until then. After that, the record is removed.
//!
//! An owner that is created again under the name of one that was deleted by force takes over its record with the thing.
//!
//! # Errors
//! An error of a function is the outcome of the node and is retried with the backoff of the controller. Ids are shown in messages and in
//! the record; specs and observed states are not. The record has a salted hash of the spec: whoever can read it can check a guess.
//!
//! # Tests
//! `opgen_testing::trial_with_service` tries an operator over a simulation of the service, with a stop at each of its calls and with other
//! faults. It finds mistakes of the functions: a thing that is created twice, left or not repaired.
//!
//! # Limits
//! - Records and things of an owner that is deleted by force or with `kubectl delete --cascade=orphan`, and of a field that is removed from
//!   the tree, are not collected. As long as the tree has another external node, the deletion of the owner reports each record of a
//!   removed field by an event with the reason `ExternalResourceOrphaned`.
//! - An external node can't be below a remote node: that is an error at compile time. The cluster may end before the thing is deleted.
//! - An imported thing whose record is deleted is not found by a removal, since it has no token.
//! - A record that somebody deletes within the grace period of a creation may lead to a second thing.
//! - The functions get no outputs of other nodes.

mod node;
mod orphan;
mod record;
mod resource;
mod thing;

pub use node::External;
pub(crate) use orphan::report_remaining_records;
pub use resource::{DeletionPolicy, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome};
