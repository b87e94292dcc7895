//! Which fields a field selector may name.

use crate::kind::Kind;

/// Beside `metadata.name` and `metadata.namespace`: fields of the table's kinds, as kube-apiserver indexes them.
const FIELDS: &[(&str, &str, &[&str])] = &[
    (
        "",
        "pods",
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
    ),
    (
        "",
        "events",
        &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
    ),
    ("", "secrets", &["type"]),
    ("", "namespaces", &["status.phase"]),
    ("", "nodes", &["spec.unschedulable"]),
    ("", "replicationcontrollers", &["status.replicas"]),
    ("", "services", &["spec.clusterIP", "spec.type"]),
    ("apps", "replicasets", &["status.replicas"]),
    ("batch", "jobs", &["status.successful"]),
    ("certificates.k8s.io", "certificatesigningrequests", &["spec.signerName"]),
];

/// Whether a field selector may name the field.
pub(crate) fn selectable(kind: &Kind, field: &str) -> bool {
    if matches!(field, "metadata.name")
        || (field == "metadata.namespace" && (kind.namespaced || kind.custom().is_some()))
    {
        return true;
    }
    match kind.custom() {
        Some(custom) => custom.selectable.iter().any(|path| path == field),
        None => FIELDS.iter().any(|(group, plural, fields)| kind.is(group, plural) && fields.contains(&field)),
    }
}
