//! Applications in other clusters, which a CD system in the operator's cluster deploys. A ConfigMap stands for the object of the CD system.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams};
use opgen::{
    Kind,
    cd::{
        Application, ApplicationDestination, ApplicationSpec, ClusterCredentials, Driver, InCluster,
        InvalidApplication, Registration,
    },
    prelude::*,
    scope::Kubeconfig,
    shape::{Access, SourceLocation, Verb},
};
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until, until_gone, until_object},
};
use serde_json::{Value, json};

use super::{
    Note, NoteSpec, Site,
    cluster::{Network, SecondCluster},
    is_gone, note, note_says, records, text,
};

/// Deploys applications by ConfigMaps.
struct Maps;

/// The name of the Secret that registers the cluster `blue`.
const REGISTRATION: &str = "registered-blue.example.com";

const SECRETS: &[Access] = &[Access::to(
    secret_kind,
    &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete],
    SourceLocation::UNKNOWN,
)];

fn core_kind(kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: "".into(), version: "v1".into(), kind: kind.into(), plural: plural.into(), namespaced: true }
}

fn secret_kind() -> Kind {
    core_kind("Secret", "secrets")
}

impl Driver for Maps {
    const NAME: &'static str = "Maps";
    const ACCESS: &'static [Access] = &[Access::applied(|| core_kind("ConfigMap", "configmaps"))];
    const REGISTRATION: Option<Registration> =
        Some(Registration { access: SECRETS, secret: registration, kubeconfig_key: None });

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let cluster = match &application.destination {
            ApplicationDestination::Registered(name) => name,
            _ => "none",
        };
        Ok(vec![json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": application.object_name},
            "data": {"text": cluster},
        })])
    }
}

fn registration(credentials: &ClusterCredentials, owner_namespace: Option<&str>) -> Value {
    let host = credentials.server.trim_start_matches("https://");
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": format!("registered-{host}"), "namespace": owner_namespace},
        "stringData": {"token": credentials.token},
    })
}

/// The text of a note is the name of the Secret with the kubeconfig.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct Tree {
    #[provisioner(application(Maps))]
    here: Application,
    #[provisioner(remote)]
    inside: Inside,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct Inside {
    #[provisioner(application(Maps))]
    registered: Application,
    #[provisioner(application(InCluster<Maps>))]
    there: Application,
}

impl Tree {
    fn here(_: &Note) -> Application {
        chart()
    }

    fn inside(note: &Note) -> Kubeconfig {
        Kubeconfig::secret(&note.spec.text)
    }
}

impl Inside {
    fn registered(_: &Note) -> Application {
        chart()
    }

    fn there(_: &Note) -> Application {
        chart()
    }
}

fn chart() -> Application {
    Application::chart("https://charts.example.com", "web", "1.0.0")
}

fn operator(site: &Site, clusters: &[&Arc<SecondCluster>]) -> Operator {
    let environment = SecondCluster::reachable_from(site.environment(), clusters);
    site.operator().environment(environment).controls::<Note, Tree>()
}

/// The names of the objects of the application `name`, each with the cluster that it names.
async fn applications(configs: &kube::Api<ConfigMap>, name: &str) -> Vec<(String, String)> {
    let configs = configs.list(&Default::default()).await.unwrap().items;
    let is_wanted = |config: &&ConfigMap| config.name_any().starts_with(&format!("{name}-"));
    configs.iter().filter(is_wanted).map(|config| (config.name_any(), text(config).to_owned())).collect()
}

fn token(secret: &Secret) -> Option<Vec<u8>> {
    Some(secret.data.as_ref()?.get("token")?.0.clone())
}

/// The CD system in the operator's cluster gets the credentials, and the one in the other cluster deploys the rest.
pub(super) async fn shared(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let _running = site.start(&operator(&site, &[&blue])).await;
    blue.publish(&site).await;
    site.create(&note("blue")).await;
    note_says(&site, "Provisioned").await;
    let configs = site.api::<ConfigMap>();
    let [(_, cluster)] = &applications(&configs, "registered").await[..] else { panic!("one application") };
    assert_eq!(cluster, REGISTRATION);
    assert!(applications(&blue.configs(), "registered").await.is_empty());
    let [(_, cluster)] = &applications(&blue.configs(), "there").await[..] else { panic!("one application there") };
    assert_eq!(cluster, "none");
    let [(_, cluster)] = &applications(&configs, "here").await[..] else { panic!("one application here") };
    assert_eq!(cluster, "none");

    // A deletion and an edit are repaired.
    let secrets = site.api::<Secret>();
    let uid = secrets.get(REGISTRATION).await.unwrap().uid();
    secrets.delete(REGISTRATION, &Default::default()).await.unwrap();
    until_object(&secrets, REGISTRATION, "is made again", |secret| secret.uid() != uid).await;
    let edit = json!({"stringData": {"token": "edited"}});
    secrets.patch(REGISTRATION, &PatchParams::default(), &Patch::Merge(&edit)).await.unwrap();
    until_object(&secrets, REGISTRATION, "has the token", |secret| token(secret).as_deref() == Some(b"first")).await;
    // Changed credentials reach it without any other change.
    blue.accept("second");
    blue.publish(&site).await;
    until("the registration has the new token", PATIENCE * 2, async || {
        let secret = secrets.get(REGISTRATION).await.map_err(|error| error.to_string())?;
        if token(&secret).as_deref() == Some(b"second") { Ok(()) } else { Err("it has the old one".to_owned()) }
    })
    .await;

    // It ends with its last user.
    second_is_provisioned(&site, "blue").await;
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    assert!(secrets.get_opt(REGISTRATION).await.unwrap().is_some(), "the other one uses it");
    site.delete::<Note>("two").await;
    until_gone(&site.api::<Note>(), "two").await;
    assert!(secrets.get_opt(REGISTRATION).await.unwrap().is_none());
    assert!(applications(&blue.configs(), "there").await.is_empty());
    assert_eq!(records(&site).await, Vec::<String>::new());
}

/// Creates the note `two` for the kubeconfig in a Secret, and waits until it is available.
async fn second_is_provisioned(site: &Site, secret: &str) {
    site.create(&Note::new("two", NoteSpec { text: secret.to_owned(), ..NoteSpec::default() })).await;
    until_object(&site.api::<Note>(), "two", "is available", |note| {
        super::available(note.status.as_ref()).is_some_and(|(truth, ..)| truth == "True")
    })
    .await;
}

/// The kubeconfigs have different tokens for one server. The registration has the token of the first one, until its last application is
/// removed.
pub(super) async fn two_kubeconfigs(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let _running = site.start(&operator(&site, &[&blue])).await;
    blue.publish(&site).await;
    site.create(&note("blue")).await;
    note_says(&site, "Provisioned").await;
    blue.accept_also("second");
    blue.publish_as(&site, "azure").await;
    second_is_provisioned(&site, "azure").await;
    let asked = site.settled().await;
    let writes = asked.resource("secrets").name(REGISTRATION).writes();
    assert_eq!(writes.len(), 1, "{writes}");
    let secrets = site.api::<Secret>();
    let registration = secrets.get(REGISTRATION).await.unwrap();
    assert_eq!(token(&registration).as_deref(), Some(&b"first"[..]));

    // Without applications of the first one, it gets the token of the second one.
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    let is_second = |secret: &Secret| token(secret).as_deref() == Some(b"second");
    let changed = until_object(&secrets, REGISTRATION, "has the second token", is_second).await;
    assert_eq!(changed.uid(), registration.uid(), "it was deleted while it was used");
    site.settled().await;
    site.delete::<Note>("two").await;
    until_gone(&site.api::<Note>(), "two").await;
    assert!(secrets.get_opt(REGISTRATION).await.unwrap().is_none());
    assert_eq!(records(&site).await, Vec::<String>::new());
}

/// Nothing can be removed there any more, so no finalizer is waited for.
pub(super) async fn gone(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let _running = site.start(&operator(&site, &[&blue])).await;
    blue.publish(&site).await;
    site.create(&note("blue")).await;
    note_says(&site, "Provisioned").await;
    let configs = site.api::<ConfigMap>();
    let [(name, _)] = &applications(&configs, "registered").await[..] else { panic!("one application") };
    let finalizer = json!({"metadata": {"finalizers": ["example.com/removal"]}});
    configs.patch(name, &PatchParams::default(), &Patch::Merge(&finalizer)).await.unwrap();
    blue.set_network(Network::Refused);
    site.api::<Secret>().delete("blue", &Default::default()).await.unwrap();
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    is_gone(&configs, name).await;
    assert!(site.api::<Secret>().get_opt(REGISTRATION).await.unwrap().is_none());
    assert_eq!(records(&site).await, Vec::<String>::new());
}

/// An application here, beside a remote node without one.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct Beside {
    #[provisioner(application(Maps))]
    here: Application,
    #[provisioner(remote)]
    inside: super::Inside,
}

impl Beside {
    fn here(_: &Note) -> Application {
        chart()
    }

    fn inside(_: &Note) -> Kubeconfig {
        Kubeconfig::secret("blue")
    }
}

/// The role has no permission for registrations, and nothing asks for them.
pub(super) async fn beside(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let environment = SecondCluster::reachable_from(site.environment(), &[&blue]);
    let _running = site.start(&site.operator().environment(environment).controls::<Note, Beside>()).await;
    blue.publish(&site).await;
    site.create(&note("blue/one")).await;
    note_says(&site, "Provisioned").await;
    site.settled().await;
    let asked = site.asked().await.resource("secrets").with(|entry| entry.verb != "get");
    assert!(asked.is_empty(), "{asked}");
}
