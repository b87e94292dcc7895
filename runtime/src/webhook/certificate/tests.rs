//! Tests of the certificates on a sandbox, with a clock that the tests set.

#![allow(clippy::unwrap_used)]

use super::{history::CertificateHistory, keeper::CertificateKeeper};
use crate::{
    client::Client,
    environment::Environment,
    server::certificate::tls_config,
    webhook::{Mode, Webhook, WebhookDescription, names::WebhookNames, trusted::TrustedWebhooks},
};
use jiff::Timestamp;
use k8s_openapi::{
    ByteString,
    api::{admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::Secret},
};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use opgen_sandbox::Sandbox;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

const DAY: i64 = 24 * 3600;
const LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);

/// A clock in seconds since 1970.
#[derive(Clone)]
struct Clock(Arc<AtomicI64>);

impl Clock {
    fn now() -> Self {
        Self(Arc::new(AtomicI64::new(Timestamp::now().as_second())))
    }

    fn read(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }

    fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn environment(&self) -> Environment {
        let clock = self.clone();
        Environment::new(move || clock.read(), || 1)
    }
}

fn description() -> WebhookDescription {
    let kind = crate::kind::kind_of::<Secret>();
    WebhookDescription { mode: Mode::Validate, kind, webhook: Webhook::default(), permissions: &[] }
}

fn keeper(sandbox: &Sandbox, clock: &Clock) -> CertificateKeeper {
    let names = WebhookNames::new("shop", "shop");
    let client = Client::new(sandbox.client());
    let description = description();
    let webhooks = TrustedWebhooks { descriptions: vec![&description], definitions: Vec::new() };
    CertificateKeeper::new(client, ("shop", "default"), &names, &webhooks, (LIFETIME, clock.environment()))
}

/// Creates the configuration of the operator, with a webhook of somebody else in it.
async fn install(sandbox: &Sandbox) -> Api<ValidatingWebhookConfiguration> {
    let webhook = |name: &str| {
        json!({
            "name": name, "clientConfig": {"service": {"namespace": "default", "name": "shop-webhook"}},
            "rules": [], "sideEffects": "None", "admissionReviewVersions": ["v1"],
        })
    };
    let webhooks = [webhook("other.example.com"), webhook(&description().name())];
    let configuration = json!({"metadata": {"name": "shop"}, "webhooks": webhooks});
    let api = Api::all(sandbox.client());
    api.create(&PostParams::default(), &serde_json::from_value(configuration).unwrap()).await.unwrap();
    api
}

/// Returns the number of authorities that the API server trusts, of the other webhook and of the own one.
async fn trusted(api: &Api<ValidatingWebhookConfiguration>) -> Vec<usize> {
    let webhooks = api.get("shop").await.unwrap().webhooks.unwrap();
    let count = |bundle: Vec<u8>| String::from_utf8(bundle).unwrap().matches("BEGIN CERTIFICATE").count();
    webhooks.into_iter().map(|webhook| webhook.client_config.ca_bundle.map_or(0, |bundle| count(bundle.0))).collect()
}

#[tokio::test]
async fn replicas_share_one_certificate_and_the_api_server_trusts_it() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let configurations = install(&sandbox).await;
    let replicas = [(); 3].map(|()| keeper(&sandbox, &clock));
    let refreshed = futures::future::join_all(replicas.iter().map(CertificateKeeper::refresh)).await;
    assert!(refreshed.iter().all(Result::is_ok), "{refreshed:?}");
    let stored = Api::<Secret>::default_namespaced(sandbox.client()).get("shop-webhook-certificates").await.unwrap();
    let json = &stored.data.unwrap()["certificates.json"].0;
    let history: CertificateHistory = serde_json::from_slice(json).unwrap();
    assert_eq!(history.0.len(), 1, "one replica created it");
    for replica in &replicas {
        assert_eq!(replica.served().known(), history);
        assert!(replica.served().current(&clock.environment()).is_some());
    }
    assert_eq!(trusted(&configurations).await, [0, 1]);
}

#[tokio::test]
async fn a_renewal_is_trusted_before_it_is_served_and_the_old_authority_goes_when_its_certificate_is_invalid() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let configurations = install(&sandbox).await;
    let (writer, follower) = (keeper(&sandbox, &clock), keeper(&sandbox, &clock));
    let current = |replica: &CertificateKeeper| replica.served().current(&clock.environment()).unwrap();
    writer.refresh().await.unwrap();
    follower.refresh().await.unwrap();
    let (first, first_of_follower) = (current(&writer), current(&follower));
    let serve_first = || [Arc::ptr_eq(&first, &current(&writer)), Arc::ptr_eq(&first_of_follower, &current(&follower))];
    clock.advance(59 * DAY);
    writer.refresh().await.unwrap();
    assert_eq!(trusted(&configurations).await, [0, 1], "it is not due yet");
    clock.advance(2 * DAY);
    writer.refresh().await.unwrap();
    follower.refresh().await.unwrap();
    assert_eq!(trusted(&configurations).await, [0, 2]);
    assert_eq!(serve_first(), [true, true], "the new one is known, and not served yet");
    clock.advance(3600);
    assert_eq!(serve_first(), [false, false], "both change without another read");
    clock.advance(30 * DAY);
    writer.refresh().await.unwrap();
    assert_eq!(trusted(&configurations).await, [0, 1], "the first certificate is invalid now");
}

#[tokio::test]
async fn a_deleted_secret_gets_the_served_certificates_back() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let replica = keeper(&sandbox, &clock);
    replica.refresh().await.unwrap();
    let before = replica.served().known();
    let secrets = Api::<Secret>::default_namespaced(sandbox.client());
    secrets.delete("shop-webhook-certificates", &DeleteParams::default()).await.unwrap();
    replica.refresh().await.unwrap();
    assert_eq!(replica.served().known(), before);
    assert!(secrets.get_opt("shop-webhook-certificates").await.unwrap().is_some());
}

#[tokio::test]
async fn a_replica_that_finds_no_secret_leaves_the_authorities_of_the_others() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let configurations = install(&sandbox).await;
    let old = keeper(&sandbox, &clock);
    old.refresh().await.unwrap();
    let secrets = Api::<Secret>::default_namespaced(sandbox.client());
    secrets.delete("shop-webhook-certificates", &DeleteParams::default()).await.unwrap();
    clock.advance(DAY);

    // The old replica still serves its certificate until it reads the Secret.
    let new = keeper(&sandbox, &clock);
    new.refresh().await.unwrap();
    assert_eq!(trusted(&configurations).await, [0, 2]);
    assert!(new.served().is_trusted(&clock.environment()));
    new.refresh().await.unwrap();
    assert_eq!(trusted(&configurations).await, [0, 2], "nothing is added twice");

    old.refresh().await.unwrap();
    assert_eq!(old.served().known(), new.served().known());
    clock.advance(301);
    old.refresh().await.unwrap();
    assert_eq!(trusted(&configurations).await, [0, 1], "the authority of the lost certificate is gone");
}

#[tokio::test]
async fn a_certificate_that_can_not_be_used_does_not_block_the_others() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let configurations = install(&sandbox).await;
    keeper(&sandbox, &clock).refresh().await.unwrap();
    let secrets = Api::<Secret>::default_namespaced(sandbox.client());
    let mut stored = secrets.get("shop-webhook-certificates").await.unwrap();
    let data = stored.data.as_mut().unwrap();
    let mut history: serde_json::Value = serde_json::from_slice(&data["certificates.json"].0).unwrap();
    let mut broken = history[0].clone();
    broken["certificate"] = "no certificate".into();
    let mut untrusted = history[0].clone();
    untrusted["authority"] = "no certificate".into();
    history.as_array_mut().unwrap().extend([broken, untrusted]);
    data.insert("certificates.json".to_owned(), ByteString(history.to_string().into_bytes()));
    secrets.replace("shop-webhook-certificates", &PostParams::default(), &stored).await.unwrap();

    let replica = keeper(&sandbox, &clock);
    replica.refresh().await.unwrap();
    assert_eq!(replica.served().known().0.len(), 1);
    assert!(replica.served().is_trusted(&clock.environment()));
    assert_eq!(trusted(&configurations).await, [0, 1]);
    let json = &secrets.get("shop-webhook-certificates").await.unwrap().data.unwrap()["certificates.json"].0;
    let stored: CertificateHistory = serde_json::from_slice(json).unwrap();
    assert_eq!(stored, replica.served().known(), "they are removed from the Secret");
}

#[tokio::test]
async fn a_client_that_trusts_the_bundle_accepts_the_certificate_for_the_service() {
    let names = ["shop-webhook.default.svc".to_owned()];
    let now = Timestamp::now();
    let history = CertificateHistory::default().renewed(&names, now, LIFETIME).unwrap();
    let certificate = history.served(now, "").unwrap();
    let server = tls_config(certificate.certificate.as_bytes(), certificate.key.as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    let bundle = history.bundle(now);
    for authority in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(authority.unwrap()).unwrap();
    }
    let client = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let client = client.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let client = tokio_rustls::TlsConnector::from(Arc::new(client.with_no_client_auth()));
    let handshake = async |name: &'static str| {
        let (near, far) = tokio::io::duplex(1 << 14);
        let server = tokio_rustls::TlsAcceptor::from(server.clone()).accept(far);
        let client = client.connect(ServerName::try_from(name).unwrap(), near);
        tokio::join!(client, server).0.map(drop)
    };
    handshake("shop-webhook.default.svc").await.unwrap();
    let refused = handshake("other.default.svc").await.unwrap_err().to_string();
    assert!(refused.contains("not valid for name"), "{refused}");
}

#[test]
fn other_names_make_a_new_certificate_due_at_once() {
    let (names, now) = (vec!["a.default.svc".to_owned()], Timestamp::now());
    let history = CertificateHistory::default().renewed(&names, now, LIFETIME).unwrap();
    assert!(!history.is_due(&names, now));
    assert!(history.is_due(&["b.default.svc".to_owned()], now));
    assert!(format!("{history:?}").contains("a.default.svc"));
    assert!(!format!("{history:?}").contains("PRIVATE"), "the key is in no log");
}

#[test]
fn a_certificate_for_other_names_is_replaced_at_once() {
    let names = |name: &str| vec![format!("{name}.default.svc")];
    let now = Timestamp::now();
    let old = CertificateHistory::default().renewed(&names("old"), now, LIFETIME).unwrap();
    let renewed = old.renewed(&names("old"), now, LIFETIME).unwrap();
    assert_eq!(
        renewed.served(now, "").unwrap(),
        &old.0[0],
        "a certificate for the same names is trusted before it is served"
    );
    assert!(old.is_due(&names("new"), now));
    let renamed = old.renewed(&names("new"), now, LIFETIME).unwrap();
    assert_eq!(renamed.served(now, "").unwrap().names, names("new"));
}

#[tokio::test]
async fn a_certificate_that_no_configuration_trusts_is_not_served_while_there_is_another() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let configurations = install(&sandbox).await;
    let replica = keeper(&sandbox, &clock);
    let is_trusted = || replica.served().is_trusted(&clock.environment());
    replica.refresh().await.unwrap();
    assert!(is_trusted());
    let first = replica.served().current(&clock.environment()).unwrap();
    configurations.delete("shop", &DeleteParams::default()).await.unwrap();
    clock.advance(61 * DAY);
    replica.refresh().await.unwrap();
    clock.advance(DAY);
    assert_eq!(replica.served().known().0.len(), 2);
    assert!(Arc::ptr_eq(&first, &replica.served().current(&clock.environment()).unwrap()));
    install(&sandbox).await;
    replica.refresh().await.unwrap();
    assert!(!Arc::ptr_eq(&first, &replica.served().current(&clock.environment()).unwrap()));
    assert!(is_trusted());
}

#[tokio::test]
async fn other_keys_of_the_secret_stay() {
    let (sandbox, clock) = (Sandbox::builder().seed(1).start(), Clock::now());
    let secrets = Api::<Secret>::default_namespaced(sandbox.client());
    let foreign = json!({"metadata": {"name": "shop-webhook-certificates"}, "stringData": {"other": "kept"}});
    secrets.create(&PostParams::default(), &serde_json::from_value(foreign).unwrap()).await.unwrap();
    let replica = keeper(&sandbox, &clock);
    replica.refresh().await.unwrap();
    assert!(!replica.served().is_trusted(&clock.environment()), "no configuration is installed");
    let data = secrets.get("shop-webhook-certificates").await.unwrap().data.unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["certificates.json", "other"]);
}
