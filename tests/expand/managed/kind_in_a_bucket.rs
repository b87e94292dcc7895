#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", history = 10, replicas = 3, max_age = "30d", storage = "memory"))]
struct UnitSpec {
    image: String,
}
