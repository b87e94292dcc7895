//! Webhooks of an operator whose certificate and bundle another program manages, as cert-manager does.

use std::{
    fmt::Debug,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use k8s_openapi::{
    ByteString,
    api::{
        admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
        core::v1::Secret,
        rbac::v1::{ClusterRole, Role},
    },
};
use kube::{
    Api, Client, Resource,
    api::{Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::webhook::WebhookServer;
use opgen_tests::{
    Options, Plane, case_on,
    wait::{self, PATIENCE},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    install::generated,
    log,
    site::{NAME, Site},
    webhooks::{NAMESPACE, SERVICE, STALLS, create, free_address, installed, is_served, operator, run, stall},
};

pub(crate) fn cases() -> Vec<Trial> {
    let address = free_address();
    let options = Options::with_webhooks(NAMESPACE, SERVICE, address);
    vec![case_on("webhooks_serve_a_certificate_and_a_bundle_of_another_program", options, move |plane| {
        served(plane, address)
    })]
}

/// A certificate authority, in place of an Issuer.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority"))
    }

    /// Returns a certificate for the Service and its key, in PEM.
    fn issue(&self) -> [String; 2] {
        let host = format!("{SERVICE}.{NAMESPACE}.svc");
        let mut params = CertificateParams::new(vec![host.clone(), format!("{host}.cluster.local")]).expect("names");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().expect("a key");
        [params.signed_by(&key, &self.0).expect("a certificate").pem(), key.serialize_pem()]
    }
}

/// A folder as the kubelet mounts a Secret: the files are links into a folder that one rename replaces.
struct SecretMount {
    folder: PathBuf,
    writes: usize,
}

impl SecretMount {
    fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        for file in ["tls.crt", "tls.key"] {
            std::os::unix::fs::symlink(Path::new("..data").join(file), folder.join(file)).expect("a link");
        }
        Self { folder: folder.to_owned(), writes: 0 }
    }

    /// Replaces the certificate and its key at once.
    fn write(&mut self, [certificate, key]: [String; 2]) {
        let old = fs::read_link(self.folder.join("..data")).ok();
        self.writes += 1;
        let new = PathBuf::from(format!("..2026_{}", self.writes));
        fs::create_dir(self.folder.join(&new)).expect("a folder");
        fs::write(self.folder.join(&new).join("tls.crt"), certificate).expect("a file");
        fs::write(self.folder.join(&new).join("tls.key"), key).expect("a file");
        std::os::unix::fs::symlink(&new, self.folder.join("..data_tmp")).expect("a link");
        fs::rename(self.folder.join("..data_tmp"), self.folder.join("..data")).expect("a rename");
        if let Some(old) = old {
            fs::remove_dir_all(self.folder.join(old)).expect("the old folder");
        }
    }
}

/// Changes an object by JSON patch operations.
async fn change<K>(api: &Api<K>, operations: Value)
where
    K: Clone + Debug + DeserializeOwned,
{
    let patch = Patch::<()>::Json(serde_json::from_value(operations).expect("operations"));
    api.patch(NAME, &PatchParams::default(), &patch).await.unwrap();
}

/// Changes the roles of the operator by the patches of the component.
async fn restrict_roles(site: &Site) {
    let rendered = generated(&operator());
    let operations = |file: &str| {
        let text = rendered.text(&format!("components/cert-manager/{file}")).expect("a patch");
        serde_saphyr::from_str::<Value>(text).expect("YAML")
    };
    change(&site.api::<Role>(), operations("role.yaml")).await;
    change(&Api::<ClusterRole>::all(site.plane.client()), operations("cluster-role.yaml")).await;
}

/// Sets the bundle of all webhooks of the operator, as cert-manager does.
async fn inject(client: &Client, bundle: &str) {
    inject_into::<MutatingWebhookConfiguration>(client, bundle).await;
    inject_into::<ValidatingWebhookConfiguration>(client, bundle).await;
}

async fn inject_into<K>(client: &Client, bundle: &str)
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize,
{
    let api = Api::<K>::all(client.clone());
    let object = json!(api.get(NAME).await.unwrap());
    let operation = |position| {
        let path = format!("/webhooks/{position}/clientConfig/caBundle");
        json!({"op": "add", "path": path, "value": ByteString(bundle.into())})
    };
    let count = object["webhooks"].as_array().map_or(0, Vec::len);
    change(&api, (0..count).map(operation).collect()).await;
}

/// Returns the bundles of all webhooks of the operator.
async fn bundles(client: &Client) -> Vec<Value> {
    let mutating = Api::<MutatingWebhookConfiguration>::all(client.clone()).get(NAME).await.unwrap();
    let validating = Api::<ValidatingWebhookConfiguration>::all(client.clone()).get(NAME).await.unwrap();
    let webhooks = [json!(mutating.webhooks), json!(validating.webhooks)];
    let webhooks = webhooks.iter().flat_map(|webhooks| webhooks.as_array().into_iter().flatten());
    webhooks.map(|webhook| webhook["clientConfig"]["caBundle"].clone()).collect()
}

/// Creates an object as a dry run, and returns the status and the body of the response.
async fn try_to_create(client: &Client, size: i32) -> (u16, Value) {
    let (status, _, body) = create(client, &format!("{STALLS}?dryRun=All"), &stall("probe", size)).await;
    (status, body)
}

async fn served(plane: Arc<Plane>, address: SocketAddr) {
    let site = installed(&plane, address).await;
    restrict_roles(&site).await;
    let (client, folder) = (plane.client(), plane.folder().join("webhook-certificates"));
    let ([first, second], mut mount) = ([Authority::new(), Authority::new()], SecretMount::new(&folder));
    mount.write(first.issue());
    inject(&client, &first.0.pem()).await;
    let replica = run(&site, WebhookServer::new(address).certificate(&folder, "tls.crt", "tls.key")).await;
    is_served(&client).await;
    let (status, body) = try_to_create(&client, 6).await;
    assert_eq!((status, &body["reason"]), (422, &json!("Invalid")), "{body}");

    // A certificate of another authority, which the API server trusts beforehand: no request fails. The API server keeps a connection for
    // each bundle, and only a new connection gets the new certificate, so each round has a bundle of its own.
    let mut both = format!("{}{}", first.0.pem(), second.0.pem());
    inject(&client, &both).await;
    mount.write(second.issue());
    wait::until("the new certificate is loaded", PATIENCE, async || {
        both.push('\n');
        inject(&client, &both).await;
        let (status, body) = try_to_create(&client, 1).await;
        assert_eq!(status, 201, "{body}");
        let renewed = log::lines_with(&["the certificate of a server was renewed", "webhooks"]);
        if renewed.is_empty() { Err("it is not".to_owned()) } else { Ok(()) }
    })
    .await;
    // The API server trusts the first authority only, so it refuses the new certificate, until the bundle changes again. The end of the
    // line makes it another bundle than the one at the start, whose connection is still open.
    inject(&client, &format!("{}\n", first.0.pem())).await;
    wait::until("the API server refuses the new certificate", PATIENCE, async || {
        let (status, body) = try_to_create(&client, 1).await;
        if status == 500 && body.to_string().contains("certificate") { Ok(()) } else { Err(body.to_string()) }
    })
    .await;
    inject(&client, &second.0.pem()).await;
    is_served(&client).await;

    let asked = site.settled().await;
    let of_certificates = |resource: &str| resource == "secrets" || resource.ends_with("webhookconfigurations");
    let managed = asked.with(|entry| of_certificates(&entry.resource));
    assert!(managed.is_empty() && asked.denied().is_empty(), "{managed}{}", asked.denied());
    let secret = site.api::<Secret>().get_opt("live-webhook-certificates").await.unwrap();
    assert!(secret.is_none(), "the operator made a certificate");
    let (bundles, injected) = (bundles(&client).await, json!(ByteString(second.0.pem().into())));
    assert!(!bundles.is_empty() && bundles.iter().all(|bundle| *bundle == injected), "the operator changed a bundle");
    replica.end_now().await;
}
