#[provisioner(concurrent, owner = For<WebApp, Options>)]
struct Workload {
    #[provisioner(resource)]
    deployment: apps::v1::Deployment,
    #[provisioner(resource)]
    jobs: Vec<CronJob>,
    #[provisioner(resource)]
    r#type: Service,
    warmup: Warmup,
}
