#[kube(group = "demo.example.com", version = "v1", kind = "Route", status = "Status")]
pub enum RouteSpec {
    Direct(DirectRoute),
    Weighted { weights: Weights },
}
