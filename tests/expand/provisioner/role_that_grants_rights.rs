#[provisioner(serial, owner = WebApp)]
pub struct Tree {
    #[provisioner(resource)]
    account: ServiceAccount,
    #[provisioner(resource(grants(ConfigMap: get, list; Secret("tls", "ca"): get; "/healthz/*": get)))]
    role: Option<ClusterRole>,
}
