#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(CustomResource, Managed, Deserialize)]
    #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
    pub struct DatabaseSpec {
        /// A field without a value for older objects has the default of its type, in each version that has it.
        #[version(added(v1beta1))]
        pub protected: bool,
        #[version(added(v1beta1), removed(v1))]
        pub mode: String,
        #[version(added(v1))]
        #[serde(default = "three")]
        pub replicas: i32,
    }
}
