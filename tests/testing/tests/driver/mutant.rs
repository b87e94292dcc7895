//! A driver with a planted mistake: `Mutant<N>` has the mistake `N`, and `Mutant<0>` has none.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU32, Ordering},
};

use opgen::{
    Kind,
    cd::{
        ApplicationDestination, ApplicationSource, ApplicationSpec, ClusterCredentials, Driver, InvalidApplication,
        Registration,
    },
    shape::{Access, SourceLocation, Verb},
};
use opgen_testing::driver::{DriverInput, DriverReport, conformance};
use serde_json::{Value, json};

pub(super) struct Mutant<const N: u32>;

/// A planted mistake: the statement that it violates, what it is, and the suite for a driver with it.
pub(super) type Mistake = (u32, &'static str, fn() -> DriverReport);

pub(super) const MISTAKES: &[Mistake] = &[
    (1, "no name", report::<10>),
    (2, "a kind twice", report::<20>),
    (2, "no kind", report::<21>),
    (3, "no permission to delete", report::<30>),
    (3, "a permission for a subresource", report::<31>),
    (3, "a permission for some names", report::<32>),
    (4, "all applications are refused", report::<40>),
    (5, "a panic", report::<50>),
    (6, "a number that changes", report::<60>),
    (6, "a random order", report::<61>),
    (7, "only the source", report::<70>),
    (8, "another version of the API", report::<80>),
    (8, "no name of the object", report::<81>),
    (9, "the reverse order", report::<90>),
    (10, "no namespace for a cluster-scoped owner", report::<100>),
    (10, "a namespace that the permission does not cover", report::<101>),
    (11, "a name with an underscore", report::<110>),
    (12, "the name of the application as a label", report::<120>),
    (12, "the version as a label", report::<121>),
    (13, "a status", report::<130>),
    (13, "an owner", report::<131>),
    (14, "an empty list", report::<140>),
    (14, "a null in a list", report::<141>),
    (15, "the name of the application as the name of the object", report::<150>),
    (15, "a name that is cut off", report::<151>),
    (15, "an object twice", report::<152>),
    (16, "a name with the version", report::<160>),
    (16, "a name that depends on the values", report::<161>),
    (17, "the version in the source only", report::<170>),
    (18, "an option without effect", report::<180>),
    (18, "labels without effect unless the namespace is created", report::<181>),
    (18, "a key without effect", report::<182>),
    (18, "a group without effect", report::<183>),
    (19, "a needless declaration", needless_declaration),
    (19, "a declaration without a reason", declaration_without_reason),
    (20, "a repository without effect", report::<200>),
    (21, "an error with a value", report::<210>),
    (21, "an error of two lines", report::<211>),
    (22, "no permission to watch Secrets", report::<220>),
    (22, "a permission for Secrets in another namespace", report::<221>),
    (23, "a Secret without a namespace", report::<230>),
    (23, "an immutable Secret", report::<231>),
    (23, "data that is not base64", report::<232>),
    (24, "a Secret with a number that changes", report::<240>),
    (25, "a name by the token", report::<250>),
    (25, "a name by the host without the port", report::<251>),
    (26, "no password", report::<260>),
    (26, "the token in an annotation", report::<261>),
    (27, "another key in the data", report::<270>),
    (28, "the registered cluster is refused", report::<280>),
    (28, "objects in another namespace than the Secret", report::<281>),
];

fn report<const N: u32>() -> DriverReport {
    conformance::<Mutant<N>>().run()
}

fn needless_declaration() -> DriverReport {
    conformance::<Mutant<0>>().ignores(DriverInput::Values, "it has a reason").run()
}

fn declaration_without_reason() -> DriverReport {
    conformance::<Mutant<180>>().ignores(DriverInput::ServerSideApply, " ").run()
}

const KEY: &str = "kubeconfig";
const NAMESPACE: &str = "deployer";

const VERBS: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];
const WITHOUT_DELETE: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch];
const WITHOUT_WATCH: &[Verb] = &[Verb::Get, Verb::List, Verb::Create, Verb::Patch, Verb::Delete];

const GOOD: &[Access] = &[Access::applied(source), Access::applied(release)];
const TWICE: &[Access] = &[Access::applied(source), Access::applied(source), Access::applied(release)];
const NOT_DELETABLE: &[Access] =
    &[Access::applied(source), Access::to(release, WITHOUT_DELETE, SourceLocation::UNKNOWN)];
const OF_STATUS: &[Access] = &[Access::applied(source).subresource("status"), Access::applied(release)];
const OF_NAMES: &[Access] = &[Access::applied(source), Access::applied(release).named(&["web"])];
const ELSEWHERE: &[Access] = &[Access::applied(source), Access::applied(release).within("elsewhere")];

const SECRETS: &[Access] = &[Access::to(secrets, VERBS, SourceLocation::UNKNOWN)];
const UNWATCHED: &[Access] = &[Access::to(secrets, WITHOUT_WATCH, SourceLocation::UNKNOWN)];
const SECRETS_ELSEWHERE: &[Access] = &[Access::to(secrets, VERBS, SourceLocation::UNKNOWN).within("elsewhere")];

fn kind(group: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: group.into(), version: "v1".into(), kind: kind.into(), plural: plural.into(), namespaced: true }
}

fn source() -> Kind {
    kind("deployer.example.com", "Source", "sources")
}

fn release() -> Kind {
    kind("deployer.example.com", "Release", "releases")
}

fn secrets() -> Kind {
    kind("", "Secret", "secrets")
}

impl<const N: u32> Driver for Mutant<N> {
    const NAME: &'static str = if N == 10 { " " } else { "Deployer" };
    const ACCESS: &'static [Access] = match N {
        20 => TWICE,
        21 => &[],
        30 => NOT_DELETABLE,
        31 => OF_STATUS,
        32 => OF_NAMES,
        101 => ELSEWHERE,
        _ => GOOD,
    };
    const REGISTRATION: Option<Registration> = Some(Registration {
        access: match N {
            220 => UNWATCHED,
            221 => SECRETS_ELSEWHERE,
            _ => SECRETS,
        },
        secret: secret::<N>,
        kubeconfig_key: Some(KEY),
    });

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::Chart { repository, chart, version } = &application.source else {
            return Err(InvalidApplication::new("the deployer has charts only"));
        };
        if repository.starts_with("oci://") {
            return Err(InvalidApplication::new("the deployer has charts of a repository only"));
        }
        refuse::<N>(application)?;
        assert!(N != 50 || application.values.is_none(), "a planted mistake");
        let url = if N == 200 { "https://charts.example.com" } else { repository.as_str() };
        let source_spec = json!({"url": url, "version": (N == 170).then_some(version)});
        let mut spec = release_spec::<N>(application)?;
        spec["chart"] = chart.as_str().into();
        if N != 170 {
            spec["version"] = version.as_str().into();
        }
        let object = |kind: &Kind, spec: Value| {
            let version = if N == 80 { "deployer.example.com/v2".to_owned() } else { kind.api_version() };
            let metadata = metadata::<N>(application, version_of(application));
            let mut object = json!({"apiVersion": version, "kind": kind.kind, "metadata": metadata, "spec": spec});
            if N == 130 {
                object["status"] = json!({"phase": "New"});
            }
            object
        };
        let (source, release) = (object(&source(), source_spec), object(&release(), spec));
        Ok(match N {
            70 => vec![source],
            90 => vec![release, source],
            152 => vec![source, release.clone(), release],
            _ => vec![source, release],
        })
    }
}

fn version_of(application: &ApplicationSpec) -> &str {
    match &application.source {
        ApplicationSource::Chart { version, .. } => version,
        _ => "none",
    }
}

/// Refuses applications by mistake.
fn refuse<const N: u32>(application: &ApplicationSpec) -> Result<(), InvalidApplication> {
    let indexed = application.parameters.iter().find(|parameter| parameter.name.contains('['));
    let is_remote = matches!(application.destination, ApplicationDestination::Kubeconfig { .. });
    match (N, indexed) {
        (40, _) => Err(InvalidApplication::new("the deployer deploys nothing")),
        (210, Some(parameter)) => Err(InvalidApplication::new(format!("{} is not possible", parameter.value))),
        (211, Some(parameter)) => Err(InvalidApplication::new(format!("it has a parameter:\n{}", parameter.name))),
        (280, _) if is_remote => Err(InvalidApplication::new("the deployer reads no kubeconfig")),
        _ => Ok(()),
    }
}

static COUNT: AtomicU32 = AtomicU32::new(0);

fn count() -> String {
    COUNT.fetch_add(1, Ordering::Relaxed).to_string()
}

fn metadata<const N: u32>(application: &ApplicationSpec, version: &str) -> Value {
    let own = application.owner_namespace.as_deref();
    let namespace = match N {
        100 => own,
        281 => Some(NAMESPACE),
        _ => Some(own.unwrap_or(NAMESPACE)),
    };
    let object_name = &application.object_name;
    let name = match N {
        81 => None,
        110 => Some(object_name.replace('-', "_")),
        150 => Some(application.name.clone()),
        151 => Some(object_name.chars().take(50).collect()),
        160 => Some(format!("{object_name}-{version}")),
        161 if application.values.is_some() => Some(format!("{object_name}-with-values")),
        _ => Some(object_name.clone()),
    };
    let mut metadata = json!({"name": name, "namespace": namespace});
    match N {
        60 => metadata["annotations"] = json!({"example.com/count": count()}),
        120 => metadata["labels"] = json!({"example.com/name": application.name}),
        121 => metadata["labels"] = json!({"example.com/version": version}),
        131 => metadata["ownerReferences"] = json!([{"kind": "Stack", "name": "one"}]),
        _ => {}
    }
    metadata
}

/// Returns the spec of a release, without the chart and its version. Nulls stand for fields that it has not.
fn release_spec<const N: u32>(application: &ApplicationSpec) -> Result<Value, InvalidApplication> {
    let mut parameters: Vec<(String, String)> =
        application.parameters.iter().map(|parameter| (parameter.name.clone(), parameter.value.clone())).collect();
    if N == 61 {
        parameters = parameters.into_iter().collect::<HashMap<_, _>>().into_iter().collect();
    }
    let ignored = application.ignored_differences.iter().map(|ignored| match N {
        183 => json!({"kind": ignored.kind, "pointers": ignored.pointers}),
        _ => json!({"group": ignored.group, "kind": ignored.kind, "pointers": ignored.pointers}),
    });
    let ignored: Vec<Value> = ignored.collect();
    let cluster = match &application.destination {
        ApplicationDestination::Default => Value::Null,
        ApplicationDestination::Registered(name) => json!({"name": name}),
        ApplicationDestination::Kubeconfig { namespace, name, .. } if N == 182 => {
            json!({"namespace": namespace, "secret": name})
        }
        ApplicationDestination::Kubeconfig { namespace, name, key } => {
            json!({"namespace": namespace, "secret": name, "key": key})
        }
        _ => return Err(InvalidApplication::new("the deployer knows no such cluster")),
    };
    let has_labels = N != 181 || application.create_namespace;
    let labels = Some(&application.namespace_labels).filter(|labels| has_labels && !labels.is_empty());
    let annotations = Some(&application.namespace_annotations).filter(|annotations| !annotations.is_empty());
    let mut spec = json!({
        "release": application.release,
        "namespace": application.namespace,
        "createNamespace": application.create_namespace,
        "namespaceLabels": labels,
        "namespaceAnnotations": annotations,
        "parameters": Some(parameters).filter(|parameters| N == 140 || !parameters.is_empty()),
        "values": application.values,
        "serverSideApply": application.server_side_apply && N != 180,
        "ignoredDifferences": Some(ignored).filter(|ignored| !ignored.is_empty()),
        "allowDegraded": application.allows_degraded,
        "cluster": cluster,
    });
    if N == 141 {
        spec["files"] = json!(["values.yaml", application.release]);
    }
    Ok(spec)
}

fn secret<const N: u32>(cluster: &ClusterCredentials, owner_namespace: Option<&str>) -> Value {
    let token = cluster.token.as_deref().unwrap_or_default();
    let server = match N {
        250 => format!("{}{token}", cluster.server),
        251 => cluster.server.rsplit_once(':').map_or(cluster.server.as_str(), |(host, _)| host).to_owned(),
        _ => cluster.server.clone(),
    };
    let server = server.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("-{other}-"),
    });
    let credentials = json!({
        "server": cluster.server,
        "serverName": cluster.tls_server_name,
        "insecure": cluster.insecure_skip_tls_verify,
        "authority": cluster.certificate_authority_data,
        "certificate": cluster.client_certificate_data,
        "key": cluster.client_key_data,
        "token": cluster.token,
        "user": cluster.username,
        "password": cluster.password.as_deref().filter(|_| N != 260),
    });
    let namespace = owner_namespace.or((N != 230).then_some(NAMESPACE));
    let mut secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": format!("cluster-{}-end", server.collect::<String>()), "namespace": namespace},
        "stringData": {KEY: credentials.to_string()},
    });
    match N {
        231 => secret["immutable"] = true.into(),
        232 => secret["data"] = json!({"more": "not base64!"}),
        240 => secret["metadata"]["annotations"] = json!({"example.com/count": count()}),
        261 => secret["metadata"]["annotations"] = json!({"example.com/token": token}),
        270 => secret["stringData"] = json!({"value": credentials.to_string()}),
        _ => {}
    }
    secret
}
