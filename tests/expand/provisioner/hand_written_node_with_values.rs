#[provisioner(access(), inputs(settings: ConfigMap, key: Option<Secret>), output = Plan)]
pub struct Solve;
