#[provisioner(serial, owner = WebApp, inputs(settings: ConfigMap, plan: Plan, key: Option<Secret>))]
pub struct Workload {
    #[provisioner(resource, from(settings, key))]
    service: Service,
    #[provisioner(when = |app, service| app.spec.public && service.spec.is_some(), from(service))]
    check: Check,
    #[provisioner(resource, when = is_single, from(plan))]
    note: ConfigMap,
    #[provisioner(from(plan))]
    nodes: Nodes,
}
