#[provisioner(concurrent, owner = WebApp)]
pub struct WebAppTree {
    #[provisioner(resource)]
    config: ConfigMap,
    migration: Migration,
    warmup: Warmup,
    #[provisioner(after(migration, warmup), from(config, migration))]
    workload: Workload,
    #[provisioner(resource, from(workload.service, workload.r#type))]
    r#type: ConfigMap,
}
