//! A kind whose objects are made of one object of every other kind.

use k8s_openapi::{
    api::{
        admissionregistration::v1::{
            MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
            ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
        },
        apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
        autoscaling::v2::HorizontalPodAutoscaler,
        batch::v1::{CronJob, Job},
        certificates::v1::CertificateSigningRequest,
        coordination::v1::Lease,
        core::v1::{
            ConfigMap, Endpoints, LimitRange, Namespace, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate,
            ReplicationController, ResourceQuota, Secret, Service, ServiceAccount,
        },
        discovery::v1::EndpointSlice,
        flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
        networking::v1::{Ingress, IngressClass, NetworkPolicy, ServiceCIDR},
        node::v1::RuntimeClass,
        policy::v1::PodDisruptionBudget,
        rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
        resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice},
        scheduling::v1::PriorityClass,
        storage::v1::{CSIDriver, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    kube_aggregator::pkg::apis::apiregistration::v1::APIService,
};
use kube::{CustomResource, ResourceExt as _};
use opgen::{Kind, Typed, prelude::*, shape::Node};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    raw::Raw,
    sample::{self, Whose},
};

/// One object of each kind.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "probe.example.com", version = "v1", kind = "Probe", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProbeSpec {
    /// Decides what is free in the wanted objects.
    pub(crate) seed: i64,
    /// Until it is 1, what can be given up is wanted.
    pub(crate) given_up: i32,
    /// Means nothing to the objects; another number makes another pass.
    pub(crate) pass: i32,
}

pub(crate) fn whose(probe: &Probe) -> Whose {
    Whose { name: probe.name_any(), seed: probe.spec.seed, whole: probe.spec.given_up == 0 }
}

fn wanted<K: Typed>(probe: &Probe) -> Vec<Raw<K>> {
    let (kind, whose) = (K::names(), whose(probe));
    let samples = sample::all().iter().filter(|sample| sample.is_of(&kind) && (whose.whole || !sample.once));
    samples.map(|sample| Raw::new(sample.wanted(&whose))).collect()
}

macro_rules! tree {
    ($($node:ident: $kind:ident,)+) => {
        /// A node for each kind.
        #[derive(Provisioner)]
        #[provisioner(concurrent, owner = Probe)]
        pub(crate) struct EveryKind {
            $(#[provisioner(resource)] $node: Vec<Raw<$kind>>,)+
        }

        impl EveryKind {
            $(fn $node(probe: &Probe) -> Vec<Raw<$kind>> {
                wanted(probe)
            })+
        }
    };
}

tree! {
    pod: Pod,
    pod_template: PodTemplate,
    replication_controller: ReplicationController,
    replica_set: ReplicaSet,
    deployment: Deployment,
    stateful_set: StatefulSet,
    daemon_set: DaemonSet,
    controller_revision: ControllerRevision,
    job: Job,
    cron_job: CronJob,
    config_map: ConfigMap,
    secret: Secret,
    service: Service,
    persistent_volume: PersistentVolume,
    persistent_volume_claim: PersistentVolumeClaim,
    service_account: ServiceAccount,
    endpoints: Endpoints,
    resource_quota: ResourceQuota,
    limit_range: LimitRange,
    namespace: Namespace,
    endpoint_slice: EndpointSlice,
    lease: Lease,
    horizontal_pod_autoscaler: HorizontalPodAutoscaler,
    pod_disruption_budget: PodDisruptionBudget,
    network_policy: NetworkPolicy,
    ingress: Ingress,
    ingress_class: IngressClass,
    service_cidr: ServiceCIDR,
    role: Role,
    role_binding: RoleBinding,
    cluster_role: ClusterRole,
    cluster_role_binding: ClusterRoleBinding,
    validating_webhook_configuration: ValidatingWebhookConfiguration,
    mutating_webhook_configuration: MutatingWebhookConfiguration,
    validating_admission_policy: ValidatingAdmissionPolicy,
    validating_admission_policy_binding: ValidatingAdmissionPolicyBinding,
    mutating_admission_policy: MutatingAdmissionPolicy,
    mutating_admission_policy_binding: MutatingAdmissionPolicyBinding,
    custom_resource_definition: CustomResourceDefinition,
    api_service: APIService,
    certificate_signing_request: CertificateSigningRequest,
    flow_schema: FlowSchema,
    priority_level_configuration: PriorityLevelConfiguration,
    runtime_class: RuntimeClass,
    device_class: DeviceClass,
    resource_claim: ResourceClaim,
    resource_claim_template: ResourceClaimTemplate,
    resource_slice: ResourceSlice,
    priority_class: PriorityClass,
    storage_class: StorageClass,
    csi_driver: CSIDriver,
    csi_storage_capacity: CSIStorageCapacity,
    volume_attachment: VolumeAttachment,
    volume_attributes_class: VolumeAttributesClass,
}

/// The kinds of the tree.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    EveryKind::SHAPE.walk(&mut |stop| {
        if stop.shape.node == Node::Resource {
            kinds.extend(stop.shape.kinds());
        }
    });
    kinds
}
