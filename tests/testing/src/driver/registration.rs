//! Checks the Secret with which a driver registers a cluster at its CD system, and deployments into that cluster: rules 22 to 28 of the
//! suite.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use opgen::{
    cd::{ApplicationDestination, ClusterCredentials, Registration},
    shape::{AccessTarget, Verb},
    testing::ApplicationHarness,
};
use serde_json::{Map, Value};

use super::{
    collection::{deploying_objects, without_nulls},
    credential::{self, ENCODED_SECRET},
    examination::{Accepted, Examination},
    facts::missing_verbs,
    input::SECRET,
    name::{is_dns_label, is_dns_subdomain, metadata_problem},
    source::SourceBase,
};
use crate::{object::text, simulation::catch_panic};

/// The owners of remote nodes: their namespace, and their name for messages.
const OWNERS: [(Option<&str>, &str); 2] = [(Some("shop"), "a namespaced owner"), (None, "a cluster-scoped owner")];

/// The URL of the server whose credentials are changed.
const SERVER: &str = "https://blue.example.com:6443";

/// Checks the registration of a cluster with the CD system: the permissions for its Secret, and the Secret that it returns for each server,
/// credentials and owner. Statements 22 to 27.
pub(super) fn check(examination: &mut Examination, registration: Registration) {
    for (namespace, owner) in OWNERS {
        let Some(secret) = secret_of(registration, &credential::with_token(SERVER), namespace) else {
            examination.report(23, "", format!("the function `secret` panics for {owner}"));
            continue;
        };
        check_access(examination, registration, text(&secret, "/metadata/namespace"), owner);
        for CredentialsOfServer { credentials, name } in all_credentials() {
            let Some(secret) = secret_of(registration, &credentials, namespace) else {
                examination.report(23, "", format!("the function `secret` panics for {name} of {owner}"));
                continue;
            };
            check_secret(examination, registration, &secret, &format!("{name} of {owner}"));
            if secret_of(registration, &credentials, namespace).as_ref() != Some(&secret) {
                examination.report(24, "", format!("a second call gives another Secret for {name} of {owner}"));
            }
        }
        check_place(examination, registration, namespace, owner);
        check_credentials(examination, registration, namespace);
    }
}

/// Credentials, with their name for messages.
struct CredentialsOfServer {
    credentials: ClusterCredentials,
    name: String,
}

/// Returns credentials with a token for each server, and the credentials before and after each change of one part, for one server.
fn all_credentials() -> Vec<CredentialsOfServer> {
    let of_servers = credential::servers().into_iter().map(|server| CredentialsOfServer {
        credentials: credential::with_token(&server),
        name: format!("the server {server}"),
    });
    let changed = credential::changes(SERVER).into_iter().flat_map(|change| {
        let name = format!("credentials with {}", change.input);
        [change.from, change.to].map(|credentials| CredentialsOfServer { credentials, name: name.clone() })
    });
    of_servers.chain(changed).collect()
}

/// Returns the Secret with which a driver registers a cluster for an owner in a namespace, without nulls; `None` if the driver panics.
fn secret_of(registration: Registration, credentials: &ClusterCredentials, namespace: Option<&str>) -> Option<Value> {
    catch_panic(|| (registration.secret)(credentials, namespace)).ok().map(without_nulls)
}

/// Checks that the permissions of a registration allow all that the operator does with its Secret in the namespace `place`: rule 22.
fn check_access(examination: &mut Examination, registration: Registration, place: &str, owner: &str) {
    let covers = |target: &AccessTarget| match *target {
        AccessTarget::Objects { kind, subresource, names, namespace } => {
            let kind = kind();
            // Whole Secrets of any name, in the namespace of the Secret or in all.
            let is_of_secrets = kind.group.is_empty() && kind.kind == "Secret" && subresource.is_empty();
            is_of_secrets && names.is_empty() && namespace.is_none_or(|namespace| namespace == place)
        }
        AccessTarget::Url(_) => false,
    };
    let covering = registration.access.iter().filter(|access| covers(&access.target));
    let verbs: Vec<Verb> = covering.flat_map(|access| access.verbs).copied().collect();
    let missing = missing_verbs(&verbs);
    if !missing.is_empty() {
        let problem = format!("the permissions for Secrets in namespace {place:?}, for {owner}, lack {missing}");
        examination.report(22, "", problem);
    }
}

/// The fields of a Secret, and those of its metadata.
const FIELDS: [&str; 6] = ["apiVersion", "kind", "metadata", "type", "data", "stringData"];
const METADATA_FIELDS: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// Checks a Secret by itself: its fields, that its metadata has no credentials, and that it has the key of the kubeconfig. Statements 23,
/// 26 and 27.
fn check_secret(examination: &mut Examination, registration: Registration, secret: &Value, of: &str) {
    if let Some(problem) = secret_problem(secret) {
        examination.report(23, "", format!("the Secret for {of}: {problem}"));
    }
    let metadata = secret["metadata"].to_string();
    if metadata.contains(SECRET) || metadata.contains(ENCODED_SECRET) {
        examination.report(26, "", format!("the metadata of the Secret for {of} has credentials"));
    }
    let has = |key: &str| ["data", "stringData"].iter().any(|data| secret[*data].get(key).is_some());
    if let Some(key) = registration.kubeconfig_key.filter(|key| !has(key)) {
        examination.report(27, "", format!("the data of the Secret for {of} has no key {key}"));
    }
}

/// Returns the first problem of a Secret that registers a cluster: its kind, its name, its namespace, an unexpected field, or its data.
/// `None` if it is valid.
fn secret_problem(secret: &Value) -> Option<String> {
    let is_secret = text(secret, "/apiVersion") == "v1" && text(secret, "/kind") == "Secret";
    let fields_of = |value: &Value| value.as_object().into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>();
    let other = fields_of(secret).into_iter().find(|field| !FIELDS.contains(&field.as_str()));
    let other_of_metadata =
        fields_of(&secret["metadata"]).into_iter().find(|field| !METADATA_FIELDS.contains(&field.as_str()));
    if !is_secret {
        Some("it is no Secret of `v1`".to_owned())
    } else if !is_dns_subdomain(text(secret, "/metadata/name")) {
        Some("it has no name, or one that is not valid".to_owned())
    } else if !is_dns_label(text(secret, "/metadata/namespace")) {
        Some("it has no namespace, or one that is not valid".to_owned())
    } else if let Some(field) = other {
        Some(format!("it has the field `{field}`"))
    } else if let Some(field) = other_of_metadata {
        Some(format!("it has the field `metadata.{field}`"))
    } else if serde_json::from_value::<Secret>(secret.clone()).is_err() {
        // The text of the error is left out: it may quote a secret value.
        Some("its `data` is not base64, or its `stringData` is not text".to_owned())
    } else {
        metadata_problem(&secret["metadata"])
    }
}

/// Checks that the namespace of the Secret depends on the owner only, and its name on the server only: two credentials of a server give one
/// name, and two servers give two names. Statement 25.
fn check_place(examination: &mut Examination, registration: Registration, namespace: Option<&str>, owner: &str) {
    // The operator has no credentials when it looks for unused registrations, but needs their namespace.
    let Some(empty) = secret_of(registration, &ClusterCredentials::default(), namespace) else {
        let problem =
            format!("the function `secret` panics for {owner} and empty credentials, which give the namespace");
        return examination.report(25, "", problem);
    };
    let place = text(&empty, "/metadata/namespace").to_owned();
    // The server of each name of a Secret.
    let mut servers = BTreeMap::<String, String>::new();
    for CredentialsOfServer { credentials, .. } in all_credentials() {
        let Some(secret) = secret_of(registration, &credentials, namespace) else { continue };
        if text(&secret, "/metadata/namespace") != place {
            examination.report(25, "", format!("the namespace for {owner} is another one with empty credentials"));
        }
        let server = credentials.server;
        let name = text(&secret, "/metadata/name").to_owned();
        let has_other_name = |(known_name, known): (&String, &String)| *known == server && *known_name != name;
        if servers.iter().any(has_other_name) {
            examination.report(25, "", format!("the name for {server} depends on the credentials"));
        }
        match servers.insert(name, server.clone()) {
            Some(other) if other != server => {
                examination.report(25, "", format!("the Secrets for {server} and {other} have the same name"));
            }
            _ => {}
        }
    }
}

/// Checks that each change of one part of the credentials changes the data of the Secret, unless the author declared with `ignores` that
/// the driver ignores the part. Notes the ignored parts. Statement 26.
fn check_credentials(examination: &mut Examination, registration: Registration, namespace: Option<&str>) {
    let data = |credentials: &ClusterCredentials| {
        let secret = secret_of(registration, credentials, namespace)?;
        Some((secret["data"].clone(), secret["stringData"].clone()))
    };
    for change in credential::changes(SERVER) {
        let (Some(from), Some(to)) = (data(&change.from), data(&change.to)) else { continue };
        if from != to {
            continue;
        }
        examination.found_ignored.insert(change.input);
        if !examination.declared.contains(&change.input) {
            examination.report(26, "", format!("{} is not in the data of the Secret", change.input));
        }
    }
}

/// Checks that an application below a remote node, whose objects belong in another cluster, is deployed into the registered cluster: the
/// objects differ between two clusters, and are in the namespace of the registration. Statement 28.
pub(super) fn check_application(examination: &mut Examination, registration: Registration, base: &SourceBase) {
    for (namespace, owner) in OWNERS {
        let owner_harness = match namespace {
            Some(namespace) => ApplicationHarness::new().namespace(namespace),
            None => ApplicationHarness::new().cluster_scoped(),
        };
        let plain = examination.examine(&base.label, &owner_harness, base.application.clone());
        // An application that names its cluster itself can't be below a remote node, and one that is refused has nothing to check.
        if plain.is_none_or(|plain| plain.spec.destination != ApplicationDestination::Default) {
            continue;
        }
        // The application in the cluster of the previous server.
        let mut former: Option<Accepted> = None;
        for server in ["https://blue.example.com", "https://red.example.com"] {
            let label = format!("{} of {owner}, below a remote node of {server}", base.label);
            let credentials = credential::with_token(server);
            let secret = secret_of(registration, &credentials, namespace).unwrap_or_default();
            // The remote nodes have equal names, so that the two applications differ only in the clusters.
            let harness = owner_harness.clone().remote("cluster", credentials);
            let spec = match examination.driver.resolve(&harness, base.application.clone()) {
                Ok(spec) => spec,
                Err(problem) => {
                    examination.report(28, &label, problem);
                    continue;
                }
            };
            let Some(objects) = examination.objects(&label, &spec) else {
                examination.report(28, &label, "the driver refuses the registered cluster");
                continue;
            };
            let accepted = Accepted { spec, objects };
            check_registered(examination, &label, &accepted, text(&secret, "/metadata/namespace"));
            if former.as_ref().is_some_and(|former| former.objects == accepted.objects) {
                examination.report(28, &label, "the objects are equal to those for another registered cluster");
            }
            former = Some(accepted);
        }
    }
}

/// Checks that the objects of an application in a registered cluster differ from those for the cluster of the CD system, and that the ones
/// that deploy it are in the namespace `place`, that of the registration's Secret.
fn check_registered(examination: &mut Examination, label: &str, accepted: &Accepted, place: &str) {
    let mut spec = accepted.spec.clone();
    spec.destination = ApplicationDestination::Default;
    if examination.objects(label, &spec).is_some_and(|objects| objects == accepted.objects) {
        examination.report(28, label, "the objects are equal to those for the cluster of the CD system");
    }
    let kind = examination.driver.deploying_kind().filter(|kind| kind.namespaced);
    for id in deploying_objects(&accepted.objects, &accepted.spec, kind.as_ref()).keys() {
        if id.namespace != place {
            examination.report_object(28, label, id, format!("it is not in namespace {place:?}, where the Secret is"));
        }
    }
}
