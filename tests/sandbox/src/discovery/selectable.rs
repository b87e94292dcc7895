//! Determines the fields that a field selector may use.

use crate::kind::Kind;

/// The selectable fields of built-in kinds other than `metadata.name` and `metadata.namespace`, as kube-apiserver
/// defines them, by group and plural.
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
    (
        "events.k8s.io",
        "events",
        &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
    ),
    ("", "secrets", &["type"]),
    ("", "namespaces", &["status.phase"]),
    ("", "nodes", &["spec.unschedulable"]),
    ("", "replicationcontrollers", &["status.replicas"]),
    ("", "services", &["spec.clusterIP", "spec.type"]),
    ("batch", "jobs", &["status.successful"]),
    ("certificates.k8s.io", "certificatesigningrequests", &["spec.signerName"]),
];

/// Whether a field selector may use a field, and the reason why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selectable {
    Yes,
    /// The kind has field labels, and this is not one of them.
    NoLabel,
    /// The kind supports no fields other than name and namespace.
    OnlyMetadata,
}

/// Returns whether a field selector may use a field of a kind; if not, with the reason.
pub(crate) fn selectable(kind: &Kind, field: &str) -> Selectable {
    let field_labels = FIELDS.iter().find(|(group, plural, _)| kind.is(group, plural)).map(|(_, _, fields)| *fields);
    let is_selectable = match field {
        "metadata.name" => true,
        // Kinds in the table support this field only if they are namespaced, all other kinds always.
        "metadata.namespace" => kind.namespaced || field_labels.is_none(),
        _ => match kind.custom() {
            Some(custom) => custom.selectable.iter().any(|path| path == field),
            None => field_labels.is_some_and(|fields| fields.contains(&field)),
        },
    };
    match is_selectable {
        true => Selectable::Yes,
        false if field_labels.is_some() || kind.custom().is_some() => Selectable::NoLabel,
        false => Selectable::OnlyMetadata,
    }
}
