#[provisioner(serial, owner = WebApp)]
pub struct WebAppTree {
    #[provisioner(resource)]
    config: ConfigMap,
    workload: Workload,
    #[provisioner(resource)]
    ingress: Option<Ingress>,
}
