//! Lists the built-in kinds of Kubernetes with plural and scope, and ranks all kinds by the order in which their objects are created.

use crate::kind::Kind;
use std::borrow::Cow;

macro_rules! kinds {
    ($($group:literal $version:literal { $($kind:ident $plural:ident $namespaced:literal,)* })*) => {
        &[$($(|| Kind {
            group: Cow::Borrowed($group),
            version: Cow::Borrowed($version),
            kind: Cow::Borrowed(stringify!($kind)),
            plural: Cow::Borrowed(stringify!($plural)),
            namespaced: $namespaced,
        },)*)*]
    };
}

/// The built-in kinds that a manifest can use without a Rust type, in their stable versions. Any other kind needs its Rust type
/// in the attribute of the node.
const KINDS: &[fn() -> Kind] = kinds! {
    "" "v1" {
        ConfigMap configmaps true, Endpoints endpoints true, LimitRange limitranges true, Namespace namespaces false,
        PersistentVolume persistentvolumes false, PersistentVolumeClaim persistentvolumeclaims true, Pod pods true,
        PodTemplate podtemplates true, ReplicationController replicationcontrollers true,
        ResourceQuota resourcequotas true, Secret secrets true, Service services true,
        ServiceAccount serviceaccounts true,
    }
    "admissionregistration.k8s.io" "v1" {
        MutatingWebhookConfiguration mutatingwebhookconfigurations false,
        ValidatingAdmissionPolicy validatingadmissionpolicies false,
        ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings false,
        ValidatingWebhookConfiguration validatingwebhookconfigurations false,
    }
    "apiextensions.k8s.io" "v1" { CustomResourceDefinition customresourcedefinitions false, }
    "apiregistration.k8s.io" "v1" { APIService apiservices false, }
    "apps" "v1" {
        DaemonSet daemonsets true, Deployment deployments true, ReplicaSet replicasets true,
        StatefulSet statefulsets true,
    }
    "autoscaling" "v1" { HorizontalPodAutoscaler horizontalpodautoscalers true, }
    "autoscaling" "v2" { HorizontalPodAutoscaler horizontalpodautoscalers true, }
    "batch" "v1" { CronJob cronjobs true, Job jobs true, }
    "coordination.k8s.io" "v1" { Lease leases true, }
    "discovery.k8s.io" "v1" { EndpointSlice endpointslices true, }
    "flowcontrol.apiserver.k8s.io" "v1" {
        FlowSchema flowschemas false, PriorityLevelConfiguration prioritylevelconfigurations false,
    }
    "networking.k8s.io" "v1" {
        Ingress ingresses true, IngressClass ingressclasses false, NetworkPolicy networkpolicies true,
    }
    "node.k8s.io" "v1" { RuntimeClass runtimeclasses false, }
    "policy" "v1" { PodDisruptionBudget poddisruptionbudgets true, }
    "rbac.authorization.k8s.io" "v1" {
        ClusterRole clusterroles false, ClusterRoleBinding clusterrolebindings false, Role roles true,
        RoleBinding rolebindings true,
    }
    "scheduling.k8s.io" "v1" { PriorityClass priorityclasses false, }
    "storage.k8s.io" "v1" { CSIDriver csidrivers false, StorageClass storageclasses false, }
};

/// Finds a built-in kind by its `apiVersion` and `kind`. Returns it as a function, as [`Access`](super::Access) needs it; `None` if the
/// kind is not built-in.
pub(crate) fn find(api_version: &str, kind: &str) -> Option<fn() -> Kind> {
    KINDS.iter().copied().find(|known| {
        let known = known();
        known.kind == kind && known.api_version() == api_version
    })
}

/// Returns the rank of a kind: objects are created in the order of ranks, from 0, and deleted in reverse order.
///
/// Namespaces, definitions, classes and ServiceAccounts come before the objects that depend on them. Admission webhooks and API
/// services come last: the API server calls them during other requests, and a workload of a lower rank may serve them.
pub(crate) fn rank(kind: &Kind) -> u8 {
    match (kind.group.as_ref(), kind.kind.as_ref()) {
        ("", "Namespace") => 0,
        ("apiextensions.k8s.io" | "scheduling.k8s.io" | "storage.k8s.io" | "node.k8s.io", _)
        | ("networking.k8s.io", "IngressClass") => 1,
        ("", "ServiceAccount") => 2,
        ("rbac.authorization.k8s.io", _) => 3,
        ("", "ConfigMap" | "Secret" | "LimitRange" | "ResourceQuota")
        | ("networking.k8s.io", "NetworkPolicy")
        | ("policy", _) => 4,
        ("", "PersistentVolume" | "PersistentVolumeClaim") => 5,
        ("", "Service") => 6,
        ("admissionregistration.k8s.io" | "apiregistration.k8s.io", _) => 9,
        // The other built-in kinds, such as workloads.
        _ if find(&kind.api_version(), &kind.kind).is_some() => 7,
        // A custom resource: its controller may be one of the workloads.
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::{
        api::{
            admissionregistration::v1::*, apps::v1::*, autoscaling, batch::v1::*, coordination::v1::*, core::v1::*,
            discovery::v1::*, flowcontrol::v1::*, networking::v1::*, node::v1::*, policy::v1::*, rbac::v1::*,
            scheduling::v1::*, storage::v1::*,
        },
        apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
        kube_aggregator::pkg::apis::apiregistration::v1::APIService,
    };

    macro_rules! kinds_of {
        ($($type:ty),* $(,)?) => { vec![$(kind_of::<$type>()),*] };
    }

    #[test]
    fn the_list_agrees_with_the_types_of_k8s_openapi() {
        let mut typed = kinds_of![
            APIService,
            CSIDriver,
            ClusterRole,
            ClusterRoleBinding,
            ConfigMap,
            CronJob,
            CustomResourceDefinition,
            DaemonSet,
            Deployment,
            EndpointSlice,
            Endpoints,
            FlowSchema,
            Ingress,
            IngressClass,
            Job,
            Lease,
            LimitRange,
            MutatingWebhookConfiguration,
            Namespace,
            NetworkPolicy,
            PersistentVolume,
            PersistentVolumeClaim,
            Pod,
            PodDisruptionBudget,
            PodTemplate,
            PriorityClass,
            PriorityLevelConfiguration,
            ReplicaSet,
            ReplicationController,
            ResourceQuota,
            Role,
            RoleBinding,
            RuntimeClass,
            Secret,
            Service,
            ServiceAccount,
            StatefulSet,
            StorageClass,
            ValidatingAdmissionPolicy,
            ValidatingAdmissionPolicyBinding,
            ValidatingWebhookConfiguration,
            autoscaling::v1::HorizontalPodAutoscaler,
            autoscaling::v2::HorizontalPodAutoscaler,
        ];
        let mut known: Vec<_> = KINDS.iter().map(|kind| kind()).collect();
        typed.sort();
        known.sort();
        assert_eq!(known, typed);
    }

    #[test]
    fn dependencies_have_lower_ranks_than_their_dependents() {
        let ranks = kinds_of![
            Namespace,
            CustomResourceDefinition,
            ServiceAccount,
            ClusterRole,
            ConfigMap,
            PersistentVolumeClaim,
            Service,
            Deployment,
        ];
        let ranks: Vec<_> = ranks.iter().map(rank).collect();
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
        // A custom resource comes after the workloads and before the admission webhooks.
        let custom = Kind { group: "gauge.example.org".into(), kind: "Gauge".into(), ..kind_of::<ConfigMap>() };
        let (workload, last) = (rank(&kind_of::<Deployment>()), rank(&kind_of::<ValidatingWebhookConfiguration>()));
        assert!(workload < rank(&custom) && rank(&custom) < last);
    }
}
