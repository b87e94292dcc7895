//! An operator for tests that keeps a DNS record for each object of the kind `Host`. It may have one of the mistakes that real providers of
//! cloud resources had.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::{
    Operator,
    external::{DeletionPolicy, External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome},
    prelude::*,
};
use opgen_testing::external_service::{ServiceError, ServiceSettings, SimulatedService};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "dns.example.com", version = "v1", kind = "Host", namespaced, status = "Status")]
pub struct HostSpec {
    host: String,
    address: String,
    /// No read of the service shows it.
    password: String,
}

/// A DNS record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub host: String,
    pub address: String,
    pub password: String,
    /// The service sets it if it is 0.
    pub ttl: u32,
    /// The operator does not manage it.
    pub comment: String,
}

/// A mistake of the client or of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    #[default]
    None,
    /// An observation without an id finds nothing.
    IgnoresToken,
    /// Each creation has another token.
    RandomToken,
    /// The token is made of the spec.
    TokenOfSpec,
    /// A creation returns the host name in place of the id.
    WrongId,
    /// A failed creation returns an id.
    SwallowsError,
    /// The deletion of a record that does not exist is an error.
    DeletionOfAbsentFails,
    /// An observation does not show a record that is being deleted.
    HidesDeletion,
    /// An update replaces the whole record.
    ReplacesAll,
    /// A value that the service has set counts as a difference.
    ComparesDefaults,
    /// The masked password counts as a difference.
    ComparesSecrets,
    /// Nothing counts as a difference.
    NeverDiffers,
    /// A creation over the quota is repeated at once.
    SpinsOnQuota,
}

/// The options of the controller: the client of the service.
#[derive(Clone, Debug)]
pub struct Options {
    service: SimulatedService<Entry>,
    mistake: Mistake,
}

impl Default for Options {
    fn default() -> Self {
        Self { service: SimulatedService::new(ServiceSettings::new("DNS record")), mistake: Mistake::None }
    }
}

pub type HostWithOptions = For<Host, Options>;

/// The wanted record. The mistake is not a part of it.
#[derive(Debug, Serialize)]
pub struct Wanted {
    entry: Entry,
    #[serde(skip)]
    mistake: Mistake,
}

fn wanted(draft: &Draft<'_, HostWithOptions>) -> Wanted {
    let HostSpec { host, address, password } = draft.spec.clone();
    Wanted { entry: Entry { host, address, password, ..Entry::default() }, mistake: draft.options().mistake }
}

/// Returns the token by which the service finds a record.
fn tag(mistake: Mistake, token: &str, spec: &HostSpec) -> String {
    let HostSpec { host, address, password } = spec;
    if mistake == Mistake::TokenOfSpec { format!("{host}-{address}-{password}") } else { token.to_owned() }
}

async fn observe(options: &Options, spec: &HostSpec, key: ExternalKey<'_>) -> Result<Option<Observed<Entry>>> {
    let Options { service, mistake } = options;
    let found = match key.id() {
        Some(id) => service.get(id).await?,
        None if *mistake == Mistake::IgnoresToken => None,
        None => service.find(&tag(*mistake, key.token(), spec)).await?,
    };
    let is_hidden = |is_deleting: bool| is_deleting && *mistake == Mistake::HidesDeletion;
    let shown = found.filter(|thing| !is_hidden(thing.is_deleting));
    Ok(shown.map(|thing| Observed::new(thing.id, Entry { password: "***".to_owned(), ..thing.value })))
}

fn is_up_to_date(wanted: &Wanted, observed: &Entry) -> bool {
    let entry = &wanted.entry;
    let is_same = (&entry.host, &entry.address) == (&observed.host, &observed.address);
    match wanted.mistake {
        Mistake::ComparesDefaults => is_same && entry.ttl == observed.ttl,
        Mistake::ComparesSecrets => is_same && entry.password == observed.password,
        Mistake::NeverDiffers => true,
        _ => is_same,
    }
}

async fn create(options: &Options, spec: &HostSpec, entry: &Entry, token: &str) -> Result<String> {
    let Options { service, mistake } = options;
    let tag = match mistake {
        Mistake::RandomToken => format!("{token}-{}", service.calls().len()),
        _ => tag(*mistake, token, spec),
    };
    let created = loop {
        match service.create(&tag, entry.clone()).await {
            Err(ServiceError::QuotaExceeded) if *mistake == Mistake::SpinsOnQuota => {}
            created => break created,
        }
    };
    match created {
        Ok(_) if *mistake == Mistake::WrongId => Ok(entry.host.clone()),
        Err(_) if *mistake == Mistake::SwallowsError => Ok("unknown".to_owned()),
        created => Ok(created?),
    }
}

async fn update(options: &Options, id: &str, wanted: &Wanted) -> Result<UpdateOutcome> {
    let (entry, replaces_all) = (wanted.entry.clone(), options.mistake == Mistake::ReplacesAll);
    let change = move |stored: &mut Entry| {
        let Entry { ttl, comment, .. } = stored.clone();
        *stored = if replaces_all { entry } else { Entry { ttl, comment, ..entry } };
    };
    options.service.change(id, change).await?;
    Ok(UpdateOutcome::Updated)
}

async fn delete(options: &Options, id: &str) -> Result<()> {
    match options.service.delete(id).await {
        Err(ServiceError::NotFound) if options.mistake != Mistake::DeletionOfAbsentFails => Ok(()),
        deleted => Ok(deleted?),
    }
}

/// Defines a DNS record with these constants and functions, and a tree with it and a ConfigMap of its address.
macro_rules! host_tree {
    ($record:ident, $tree:ident, { $($items:tt)* }) => {
        #[derive(Debug, Provisioner)]
        #[provisioner(access(), output = Entry)]
        pub struct $record;

        impl ExternalResource for $record {
            type Owner = HostWithOptions;
            type Spec = Wanted;
            const NAME: &'static str = "DNS record";
            $($items)*

            fn spec(draft: &Draft<'_, Self::Owner>) -> Result<Wanted> {
                Ok(wanted(draft))
            }

            async fn observe(
                cx: &ExternalContext<'_, Self>,
                key: ExternalKey<'_>,
            ) -> Result<Option<Observed<Entry>>> {
                observe(cx.options(), &cx.object().spec, key).await
            }

            fn is_up_to_date(spec: &Wanted, observed: &Entry) -> bool {
                is_up_to_date(spec, observed)
            }

            async fn create(cx: &ExternalContext<'_, Self>, spec: &Wanted, token: &str) -> Result<String> {
                create(cx.options(), &cx.object().spec, &spec.entry, token).await
            }

            async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &Wanted) -> Result<UpdateOutcome> {
                update(cx.options(), id, spec).await
            }

            async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
                delete(cx.options(), id).await
            }
        }

        #[derive(Debug, Provisioner)]
        #[provisioner(serial, owner = HostWithOptions)]
        pub struct $tree {
            record: External<$record>,
            #[provisioner(resource, from(record))]
            config: ConfigMap,
        }

        impl $tree {
            fn config(_: &Host, entry: &Entry) -> ConfigMap {
                let data = [("address".to_owned(), entry.address.clone())].into();
                ConfigMap { data: Some(data), ..ConfigMap::default() }
            }
        }
    };
}

host_tree!(HostRecord, HostTree, {});
host_tree!(PatientRecord, PatientTree, {
    const CREATE_GRACE: Duration = Duration::from_secs(20);
});
host_tree!(RetainedRecord, RetainingTree, {
    const DELETION_POLICY: DeletionPolicy = DeletionPolicy::Retain;
});
host_tree!(ImportedRecord, ImportingTree, {
    fn import(_: &Draft<'_, Self::Owner>) -> Result<Option<String>> {
        Ok(Some("seven".to_owned()))
    }
});

pub fn host(name: &str) -> Host {
    let text = |text: &str| text.to_owned();
    Host::new(name, HostSpec { host: text("www"), address: text("192.0.2.7"), password: text("wren") })
}

/// Returns an operator over a service, with the delay after a yield.
pub fn operator<P>(service: SimulatedService<Entry>, mistake: Mistake, delay: Duration) -> Operator
where
    P: Provision<HostWithOptions> + Provisioner<Inputs = ()>,
{
    let options = Options { service, mistake };
    Operator::new("hosts")
        .controls_with::<HostWithOptions, P>(|controller| controller.options(options).requeue_after(delay))
}
