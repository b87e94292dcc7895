#[provisioner(concurrent, owner = WebApp)]
pub struct WebAppTree {
    #[provisioner(resource(once))]
    password: Secret,
    #[provisioner(resource(adopt))]
    config: ConfigMap,
    #[provisioner(resource(once, adopt("helm", "kubectl")))]
    key: Option<Secret>,
    #[provisioner(resource(delete = "foreground"))]
    service: Service,
    #[provisioner(resource(timeout = "1h30m"))]
    data: PersistentVolumeClaim,
    #[provisioner(resource(once, adopt, delete = "background", timeout = "10m"), if_api)]
    web: Deployment,
}
