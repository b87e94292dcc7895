#[provisioner(access(
    Secret: get, list;
    core::v1::Pod: delete, deletecollection;
    Pod/status: patch, update;
    Pod/eviction: create;
    ConfigMap: apply;
    Secret: watch;
    Secret("tls", "ca") in "kube-system": get, patch;
    Deployment("web")/scale: get;
    Deployment/scale in "kube-system": get, patch;
    Pod/log: get;
    Machine/parts::Pause: update;
    "/metrics": get;
    raw(Pod/exec: create; "/version": get);
))]
pub struct Snapshot;
