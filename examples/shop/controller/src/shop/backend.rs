//! The backend tier.

mod pod;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        batch::v1::{CronJob, CronJobSpec, JobSpec, JobTemplateSpec},
        core::v1::{ConfigMap, PodTemplateSpec, Service, ServiceAccount, ServicePort, ServiceSpec},
        policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec},
        scheduling::v1::PriorityClass,
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use opgen::prelude::*;
use sha2::{Digest as _, Sha256};

use super::{Backend, metadata};
use shop_api::{Schedule, Shop};

const TIER: &str = "backend";

/// The port of the Service, and its name.
pub(super) const PORT: (i32, &str) = (80, "http");

/// The annotation of the Pods with a digest of their settings.
const SETTINGS: &str = "shop.example.com/settings";

impl Backend {
    pub(super) fn service(shop: &Shop) -> Service {
        let port = ServicePort {
            name: Some(PORT.1.to_owned()),
            port: PORT.0,
            target_port: Some(IntOrString::Int(shop.spec.backend.port)),
            ..ServicePort::default()
        };
        Service {
            metadata: metadata::named(shop, TIER),
            spec: Some(ServiceSpec {
                selector: Some(metadata::labels(shop, TIER)),
                ports: Some(vec![port]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        }
    }

    pub(super) fn replicas(
        shop: &Shop,
        settings: &ConfigMap,
        account: &ServiceAccount,
        priority: &PriorityClass,
        database: &Service,
    ) -> Result<Deployment> {
        // Changed settings change the template, which restarts the Pods.
        let mut pods = metadata::of_pods(shop, TIER);
        pods.annotations = Some([(SETTINGS.to_owned(), digest(settings)?)].into());
        Ok(Deployment {
            metadata: metadata::named(shop, TIER),
            spec: Some(DeploymentSpec {
                replicas: Some(shop.spec.backend.replicas),
                selector: metadata::selector(shop, TIER),
                template: PodTemplateSpec {
                    metadata: Some(pods),
                    spec: Some(pod::serving(shop, settings, account, priority, database)),
                },
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        })
    }

    pub(super) fn budget(shop: &Shop) -> Option<PodDisruptionBudget> {
        (shop.spec.backend.replicas > 1).then(|| PodDisruptionBudget {
            metadata: metadata::named(shop, TIER),
            spec: Some(PodDisruptionBudgetSpec {
                max_unavailable: Some(IntOrString::Int(1)),
                selector: Some(metadata::selector(shop, TIER)),
                ..PodDisruptionBudgetSpec::default()
            }),
            ..PodDisruptionBudget::default()
        })
    }

    pub(super) fn jobs(
        shop: &Shop,
        account: &ServiceAccount,
        priority: &PriorityClass,
        database: &Service,
    ) -> Vec<CronJob> {
        let job = |schedule: &Schedule| CronJob {
            metadata: metadata::named(shop, &schedule.name),
            spec: CronJobSpec {
                schedule: schedule.cron.clone(),
                concurrency_policy: Some("Forbid".to_owned()),
                job_template: JobTemplateSpec {
                    spec: Some(JobSpec {
                        template: PodTemplateSpec {
                            spec: Some(pod::working(shop, &schedule.command, account, priority, database)),
                            ..PodTemplateSpec::default()
                        },
                        ..JobSpec::default()
                    }),
                    ..JobTemplateSpec::default()
                },
                ..CronJobSpec::default()
            },
            ..CronJob::default()
        };
        shop.spec.schedules.iter().map(job).collect()
    }
}

/// A digest that is equal for equal settings.
fn digest(settings: &ConfigMap) -> Result<String> {
    let digest = Sha256::digest(serde_json::to_vec(&settings.data)?);
    Ok(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}
