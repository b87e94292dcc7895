//! A kind with several versions: its objects are converted by the operator, and stored in another version after an upgrade.

#[path = "versions/berth.rs"]
mod berth;
#[path = "versions/protection.rs"]
mod protection;

use std::{
    collections::BTreeMap,
    fmt::Debug,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::{
    NamespaceResourceScope, api::core::v1::ConfigMap,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, Client, Resource, api::ListParams};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, versions::convert, webhook::WebhookServer};
use opgen_tests::{
    Options, Plane, case_on, case_on_controlplane_with,
    wait::{self, PATIENCE},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    install::{apply_quietly, generated},
    log,
    program::readiness,
    site::{NAME, Running, Site},
    webhooks::free_address,
};
use berth::{first, second};

/// The namespace of the operator, known before the plane is.
const NAMESPACE: &str = "default";
const SERVICE: &str = "live-webhook";
const DEFINITION: &str = "berths.berth.example.com";

pub(crate) fn cases() -> Vec<Trial> {
    let (one, replicas) = (free_address(), [free_address(), free_address(), free_address()]);
    let options = |address| Options::with_webhooks(NAMESPACE, SERVICE, address);
    let why = "its Services have one address";
    vec![
        case_on("versions_a_cold_start_converts_stored_objects_and_migrates_them", options(one), move |plane| {
            cold_start(plane, one)
        }),
        case_on_controlplane_with(
            "versions_live_through_upgrade_rotation_restarts_and_rollback",
            why,
            options(replicas[0]),
            move |plane| life(plane, replicas),
        ),
    ]
}

/// The number of objects: `OPGEN_VERSION_OBJECTS`, else 100.
fn objects() -> usize {
    std::env::var("OPGEN_VERSION_OBJECTS").ok().and_then(|count| count.parse().ok()).unwrap_or(100)
}

/// The releases of the operator: the first stores `v1alpha1`, the second `v1`.
#[derive(Clone, Copy)]
enum Release {
    First,
    Second,
}

impl Release {
    fn operator(self) -> Operator {
        let operator = Operator::new(NAME).namespace(NAMESPACE);
        match self {
            Self::First => operator.version("1.0.0").controls::<first::v1::Berth, berth::FirstTree>(),
            Self::Second => operator.version("2.0.0").controls::<second::v1::Berth, berth::SecondTree>(),
        }
    }

    /// Installs its manifests, with its Service.
    async fn install(self, site: &Site) {
        let operator = self.operator();
        site.install(&operator).await;
        let text = generated(&operator).text("base/operator.yaml").expect("the workload").to_owned();
        let services = text.split("\n---\n").filter(|document| document.contains(&format!("  name: {SERVICE}\n")));
        apply_quietly(&site.plane, &services.collect::<Vec<_>>().join("\n---\n")).await;
        apply_quietly(&site.plane, generated(&operator).text("base/policies.yaml").expect("a policy")).await;
    }
}

/// Makes a replica reachable for the API server, or not.
async fn set_ready(site: &Site, address: SocketAddr, is_ready: bool) {
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {
            "name": format!("{SERVICE}-{}", address.port()), "namespace": NAMESPACE,
            "labels": {"kubernetes.io/service-name": SERVICE},
        },
        "endpoints": [{"addresses": [address.ip().to_string()], "conditions": {"ready": is_ready}}],
        "ports": [{"name": "https", "port": address.port(), "protocol": "TCP"}],
    });
    apply_quietly(&site.plane, &slice.to_string()).await;
}

/// A replica, with the address of its webhooks and of its probes.
struct Replica {
    running: Running,
    address: SocketAddr,
    probes: SocketAddr,
}

impl Replica {
    async fn start(site: &Site, release: Release, address: SocketAddr) -> Self {
        let probes = free_address();
        let server = WebhookServer::new(address).lifetime(Duration::from_secs(60));
        let options = RunOptions::default().webhooks(server).probes(probes);
        Self { running: site.run(&release.operator(), options).await, address, probes }
    }

    /// Waits until it is ready, and makes it reachable then, as the endpoints controller does.
    async fn follow(&self, site: &Site) {
        wait::until("the replica is ready", PATIENCE, async || {
            let (status, text) = readiness(self.probes).await?;
            if status == 200 { Ok(()) } else { Err(text) }
        })
        .await;
        set_ready(site, self.address, true).await;
    }

    /// Takes it out of the Service, and ends it.
    async fn end(self, site: &Site) {
        set_ready(site, self.address, false).await;
        self.running.end_now().await;
    }
}

async fn definition(client: &Client) -> CustomResourceDefinition {
    Api::all(client.clone()).get(DEFINITION).await.unwrap()
}

/// Lists all objects. After a change of the definition, the API server asks clients to repeat a list (429) while it fills its cache.
async fn listed<K>(site: &Site) -> Vec<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    wait::until("the API server has filled its cache", PATIENCE, async || {
        match site.api::<K>().list(&ListParams::default()).await {
            Ok(list) => Ok(list.items),
            Err(kube::Error::Api(status)) if status.code == 429 => Err(status.message.clone()),
            Err(error) => panic!("{error}"),
        }
    })
    .await
}

/// Waits until the API server stores objects in this version only.
async fn is_stored_in(client: &Client, version: &str) {
    // Each object is written while three clients write, too.
    let deadline = PATIENCE * (2 + u32::try_from(objects() / 200).unwrap_or_default());
    wait::until(format!("all objects are stored in {version}"), deadline, async || {
        let stored = definition(client).await.status.and_then(|status| status.stored_versions).unwrap_or_default();
        let logged = log::lines_with(&["storage_migration"]).into_iter().rev().take(3).collect::<Vec<_>>().join("\n");
        if stored == [version] { Ok(()) } else { Err(format!("{}\n{logged}", stored.join(", "))) }
    })
    .await;
}

/// Returns a berth of the oldest version.
fn berth(number: usize) -> first::v1alpha1::Berth {
    let spec = first::v1alpha1::BerthSpec {
        size: i32::try_from(number).expect("few berths"),
        endpoint: if number.is_multiple_of(7) {
            format!("pier-{number}:0{number}")
        } else {
            format!("pier-{number}:{number}")
        },
        legacy: number.is_multiple_of(2).then(|| "rope".to_owned()),
        cargo: first::v1alpha1::Cargo::Bulk,
        notes: BTreeMap::new(),
    };
    first::v1alpha1::Berth::new(&format!("berth-{number:04}"), spec)
}

/// Sends a request, and returns the status and the body of the response.
async fn send(client: &Client, request: http::Request<Vec<u8>>) -> (u16, Value) {
    let response = client.send(request.map(Into::into)).await.expect("a response");
    let status = response.status().as_u16();
    let body = http_body_util::BodyExt::collect(response.into_body()).await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

fn url(version: &str, name: &str) -> String {
    format!("/apis/berth.example.com/{version}/namespaces/{NAMESPACE}/berths{name}")
}

async fn cold_start(plane: Arc<Plane>, address: SocketAddr) {
    log::keep();
    let site = Site { plane: plane.clone(), namespace: NAMESPACE.to_owned() };
    let client = plane.client();
    Release::First.install(&site).await;
    let originals: Vec<_> = (1..30).map(berth).collect();
    for original in &originals {
        site.create(original).await;
    }
    // A value that no newer version can hold, which must hinder no other object.
    let mut odd = berth(30);
    odd.spec.endpoint = "nowhere".to_owned();
    site.create(&odd).await;
    Release::Second.install(&site).await;
    let (status, body) = send(&client, http::Request::get(url("v1", "/berth-0001")).body(Vec::new()).unwrap()).await;
    assert_eq!(status, 500, "nobody converts: {body}");
    let replica = Replica::start(&site, Release::Second, address).await;
    replica.follow(&site).await;
    wait::until_object(&site.api::<ConfigMap>(), "berth-0003-berth", "has the converted host", |config| {
        config.data.as_ref().is_some_and(|data| data["host"] == "pier-3")
    })
    .await;
    let stored = listed::<second::v1alpha1::Berth>(&site).await;
    for original in originals.iter().chain([&odd]) {
        let read = stored.iter().find(|read| read.metadata.name == original.metadata.name).expect("all are listed");
        assert_eq!(json!(read.spec), json!(original.spec));
    }
    is_stored_in(&client, "v1").await;
    let odd_again: second::v1alpha1::Berth = site.api().get("berth-0030").await.unwrap();
    assert_eq!(odd_again.spec.endpoint, "nowhere", "it is not lost in the new version");
    let (_, body) = send(&client, http::Request::get(url("v1", "/berth-0030")).body(Vec::new()).unwrap()).await;
    assert_eq!((&body["spec"]["host"], &body["spec"]["length"]), (&Value::Null, &json!(30)), "{body}");
    let named = "v1alpha1: spec.endpoint: the endpoint has no port";
    wait::until("the status names the field", PATIENCE, async || {
        let (_, body) = send(&client, http::Request::get(url("v1", "/berth-0030")).body(Vec::new()).unwrap()).await;
        let status = body["status"].to_string();
        if status.contains(named) { Ok(()) } else { Err(status) }
    })
    .await;
    protection::the_annotation_is_protected(&site).await;
    replica.running.end_now().await;
}

/// A client that writes all the time in one version.
struct Writer {
    version: &'static str,
    client: Client,
    stop: Arc<AtomicBool>,
    requests: Arc<AtomicUsize>,
}

impl Writer {
    /// Adds one to its own note of one object after the other, by reading it and writing it back. Returns how often it did for each.
    async fn run(self, count: usize) -> BTreeMap<String, i64> {
        let (mut written, mut number) = (BTreeMap::new(), 0);
        while !self.stop.load(Ordering::Relaxed) {
            number = number % count + 1;
            let path = url(self.version, &format!("/berth-{number:04}"));
            let (status, mut object) = send(&self.client, http::Request::get(&path).body(Vec::new()).unwrap()).await;
            assert_eq!(status, 200, "{}: {object}", self.version);
            let note = &mut object["spec"]["notes"][self.version];
            *note = (note.as_i64().unwrap_or_default() + 1).into();
            let request = http::Request::put(&path).header("content-type", "application/json");
            let (status, answer) = send(&self.client, request.body(object.to_string().into_bytes()).unwrap()).await;
            match status {
                200 => *written.entry(format!("berth-{number:04}")).or_default() += 1,
                409 => {}
                _ => panic!("{} of berth-{number:04}: {status}: {answer}", self.version),
            }
            self.requests.fetch_add(2, Ordering::Relaxed);
        }
        written
    }
}

async fn life(plane: Arc<Plane>, addresses: [SocketAddr; 3]) {
    log::keep();
    let site = Site { plane: plane.clone(), namespace: NAMESPACE.to_owned() };
    let (client, count) = (plane.client(), objects());
    Release::First.install(&site).await;
    let [a, b, c] = addresses;
    let replicas = [Replica::start(&site, Release::First, a).await, Replica::start(&site, Release::First, b).await];
    for replica in &replicas {
        replica.follow(&site).await;
    }
    let originals: Vec<_> = (1..=count).map(berth).collect();
    for original in &originals {
        site.create(original).await;
    }
    // What only the newest version holds, while the oldest is stored.
    let grain = json!({"spec": {"cargo": "Grain", "berthing": "Buoy"}});
    for number in (1..=count).step_by(5) {
        site.patch::<first::v1::Berth>(&format!("berth-{number:04}"), &grain).await;
    }
    let (stop, requests) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut writers = JoinSet::new();
    for version in ["v1alpha1", "v1beta1", "v1"] {
        let writer = Writer { version, client: client.clone(), stop: stop.clone(), requests: requests.clone() };
        writers.spawn(async move { (version, writer.run(count).await) });
    }
    // The upgrade: each replica in turn.
    Release::Second.install(&site).await;
    let third = Replica::start(&site, Release::Second, c).await;
    third.follow(&site).await;
    let [first_replica, second_replica] = replicas;
    first_replica.end(&site).await;
    second_replica.end(&site).await;
    is_stored_in(&client, "v1").await;
    // Rotations of the certificates under load: a certificate of 60 s is renewed after 40 s.
    let fourth = Replica::start(&site, Release::Second, a).await;
    fourth.follow(&site).await;
    rotated(&site, if count < 1000 { 1 } else { 2 }).await;
    third.end(&site).await;
    let fifth = Replica::start(&site, Release::Second, b).await;
    fifth.follow(&site).await;
    fourth.end(&site).await;
    assert!(!stop.load(Ordering::Relaxed) && writers.len() == 3, "a writer has failed");
    // And back.
    Release::First.install(&site).await;
    let sixth = Replica::start(&site, Release::First, c).await;
    sixth.follow(&site).await;
    fifth.end(&site).await;
    is_stored_in(&client, "v1alpha1").await;
    stop.store(true, Ordering::Relaxed);
    let written: BTreeMap<_, _> = writers.join_all().await.into_iter().collect();
    println!("{} requests of writers", requests.load(Ordering::Relaxed));
    let now = listed::<first::v1::Berth>(&site).await;
    assert_eq!(now.len(), count);
    for original in &originals {
        let name = original.metadata.name.clone().expect("a name");
        let read = now.iter().find(|read| read.metadata.name.as_ref() == Some(&name)).expect("it is listed");
        let old: first::v1alpha1::Berth = convert(read).expect("a conversion");
        let notes: BTreeMap<_, _> = written
            .iter()
            .filter_map(|(version, written)| Some(((*version).to_owned(), *written.get(&name)?)))
            .collect();
        assert_eq!(read.spec.notes, notes, "{name}");
        assert_eq!((&old.spec.endpoint, &old.spec.legacy), (&original.spec.endpoint, &original.spec.legacy), "{name}");
        let is_grain = original.spec.size % 5 == 1;
        assert_eq!(json!(read.spec.cargo) == "Grain" && json!(read.spec.berthing) == "Buoy", is_grain, "{name}");
    }
    sixth.running.end_now().await;
}

/// Waits until the certificates have been renewed so often.
async fn rotated(site: &Site, times: usize) {
    let secrets = site.api::<k8s_openapi::api::core::v1::Secret>();
    let mut seen = std::collections::BTreeSet::new();
    wait::until("the certificates are renewed", Duration::from_secs(60 * 4), async || {
        let secret = secrets.get("live-webhook-certificates").await.map_err(|error| error.to_string())?;
        let data = secret.data.unwrap_or_default();
        let generations: Vec<Value> =
            serde_json::from_slice(&data["certificates.json"].0).map_err(|error| error.to_string())?;
        seen.extend(generations.iter().filter_map(|generation| generation["created"].as_i64()));
        if seen.len() > times { Ok(()) } else { Err(format!("{} certificates", seen.len())) }
    })
    .await;
}
