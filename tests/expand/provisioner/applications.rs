#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(application(ArgoCd))]
    cert_manager: Application,
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(application(flux::HelmCharts), from(config), when = |app| app.spec.monitored)]
    monitoring: Application,
}
