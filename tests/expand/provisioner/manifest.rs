#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest = "manifests/agent.yaml")]
    agent: Manifest,
    #[provisioner(manifest("manifests/gauges.yaml", api::Gauge), when = |app| app.spec.gauges)]
    gauges: Manifest,
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(manifest(Deployment, Service), from(config))]
    workload: Manifest,
}
