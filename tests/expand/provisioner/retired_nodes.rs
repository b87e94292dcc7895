#[provisioner(concurrent, owner = WebApp, retired(cache: Deployment, r#type: ConfigMap))]
pub struct WebAppTree {
    workload: Workload,
}
