#[versions(v1beta1, v1)]
pub mod database {
    use kube::CustomResource;
    use opgen::Managed;

    /// The desired state of a database.
    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone)]
    #[kube(group = "demo.example.com", kind = "Database", namespaced, status = "opgen::Status")]
    #[serde(rename_all = "camelCase")]
    pub struct DatabaseSpec {
        /// The number of replicas.
        #[version(renamed(v1, from = desired_size))]
        pub replica_count: u32,
        #[version(added(v1))]
        pub image: Option<String>,
    }
}
