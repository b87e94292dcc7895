//! Lists the reserved names of operators and kinds, such as Rust keywords, and the reasons why they are reserved.

use heck::ToSnakeCase as _;

/// Returns the reason why a name can't be the name of an operator, which is also the name of a package and a crate; `None` if it can.
pub(super) fn name(name: &str) -> Option<String> {
    let ident = name.replace('-', "_");
    if KEYWORDS.contains(&ident.as_str()) {
        return Some("a keyword of Rust".to_owned());
    }
    if let Some(kind) = BUILT_IN_KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(&name.replace('-', ""))) {
        return Some(format!("the name of the Kubernetes kind {kind}"));
    }
    let tables: [(&[&str], &str); 4] = [
        (RUST_CRATES, "a crate of the Rust standard library"),
        (DEPENDENCIES, "a crate that the project depends on"),
        (CARGO_FOLDERS, "a folder of cargo in `target/`"),
        (DEVICES, "a device name on Windows"),
    ];
    tables.iter().find(|(names, _)| names.contains(&ident.as_str())).map(|(_, reason)| (*reason).to_owned())
}

/// Returns the reason why a kind is reserved: as a kind of Kubernetes, or as the name of its module or type in the project. `None` if it
/// is free.
pub(super) fn kind(kind: &str) -> Option<String> {
    if BUILT_IN_KINDS.contains(&kind) {
        return Some("it is a kind of Kubernetes".to_owned());
    }
    let module = kind.to_snake_case();
    if KEYWORDS.contains(&module.as_str()) {
        return Some(format!("its module would be called `{module}`, which is a keyword of Rust"));
    }
    if MODULES.contains(&module.as_str()) {
        return Some(format!("its module would be called `{module}`, like another module of the project"));
    }
    IN_SCOPE.contains(&kind).then(|| format!("the project's code imports another `{kind}`"))
}

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "macro_rules",
    "raw",
];

const RUST_CRATES: &[&str] = &["alloc", "core", "proc_macro", "std", "test"];

#[rustfmt::skip]
const DEPENDENCIES: &[&str] =
    &["k8s_openapi", "kube", "opgen", "opgen_macros", "opgen_testing", "schemars", "serde", "serde_json", "tokio"];

const CARGO_FOLDERS: &[&str] = &["build", "deps", "examples", "incremental", "package"];

#[rustfmt::skip]
const DEVICES: &[&str] = &[
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2", "lpt3",
    "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Modules with a meaning in cargo or the templates.
const MODULES: &[&str] = &["lib", "main", "tests"];

/// Names in scope through the preludes of Rust and opgen, and through imports of the templates.
#[rustfmt::skip]
const IN_SCOPE: &[&str] = &[
    "AsMut", "AsRef", "BTreeMap", "Box", "Clone", "Context", "Copy", "CustomResource", "Debug",
    "Default", "Deserialize", "Display", "DoubleEndedIterator", "Draft", "Drop", "Each", "Eq", "Err", "Error",
    "EventType",
    "ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce", "For", "From", "FromIterator", "Future", "Hash", "Into",
    "IntoFuture", "IntoIterator", "Iterator", "JsonSchema", "Keyed", "KubeSchema", "Managed", "None", "ObjectMeta",
    "Ok", "Operator", "Option", "Ord", "Owner", "PartialEq", "PartialOrd", "Provision", "Provisioner", "Resource",
    "ResourceExt", "Result", "Self", "Send", "Serialize", "Sized", "Some", "Status", "String", "Sync", "Teardown",
    "ToOwned", "ToString", "Vec",
];

/// The kinds of Kubernetes 1.36, which would make `kubectl get` ambiguous.
#[rustfmt::skip]
const BUILT_IN_KINDS: &[&str] = &[
    "APIGroup", "APIGroupList", "APIResourceList", "APIService", "APIVersions", "Binding", "CSIDriver", "CSINode",
    "CSIStorageCapacity", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "ClusterTrustBundle",
    "ComponentStatus", "ConfigMap", "ControllerRevision", "CronJob", "CustomResourceDefinition", "DaemonSet",
    "Deployment", "DeviceClass", "DeviceTaintRule", "EndpointSlice", "Endpoints", "Event", "Eviction", "FlowSchema",
    "HorizontalPodAutoscaler", "IPAddress", "Ingress", "IngressClass", "Job", "Lease", "LeaseCandidate", "LimitRange",
    "LocalSubjectAccessReview", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration", "Namespace", "NetworkPolicy", "Node", "PersistentVolume", "PersistentVolumeClaim",
    "Pod", "PodCertificateRequest", "PodDisruptionBudget", "PodGroup", "PodTemplate", "PriorityClass",
    "PriorityLevelConfiguration", "ReplicaSet", "ReplicationController", "ResourceClaim", "ResourceClaimTemplate",
    "ResourcePoolStatusRequest", "ResourceQuota", "ResourceSlice", "Role", "RoleBinding", "RuntimeClass", "Scale",
    "Secret", "SelfSubjectAccessReview", "SelfSubjectReview", "SelfSubjectRulesReview", "Service", "ServiceAccount",
    "ServiceCIDR", "StatefulSet", "Status", "StorageClass", "StorageVersion", "StorageVersionMigration",
    "SubjectAccessReview", "TokenRequest", "TokenReview", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "VolumeAttachment", "VolumeAttributesClass",
    "Workload", "List",
];
