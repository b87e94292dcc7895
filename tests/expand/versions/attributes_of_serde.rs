#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(CustomResource, Managed, Serialize, Deserialize)]
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
        /// An absent field is left out.
        #[version(retyped(v1, from = String, up = Some, down = text))]
        pub host: Option<String>,
    }

    #[derive(Serialize, Deserialize)]
    pub struct Limits {
        pub cpu: Option<String>,
        #[serde(default)]
        pub memory: Option<String>,
        #[serde(default = "three")]
        pub replicas: Option<i32>,
        #[serde(skip_serializing_if = "is_empty")]
        pub zone: Option<String>,
        #[serde(with = "text")]
        pub disk: Option<i32>,
        #[serde(flatten)]
        pub others: Option<Others>,
        pub names: Vec<Option<String>>,
    }

    #[derive(Serialize, Default)]
    #[serde(default)]
    pub struct Labels {
        pub team: Option<String>,
    }

    /// An absent field could have another default than `None`.
    #[derive(Serialize)]
    #[serde(default)]
    pub struct Others {
        pub tier: Option<String>,
    }

    #[derive(serde::Serialize)]
    pub enum Source {
        Empty,
        Snapshot(Option<String>),
        Copy { region: Option<String> },
    }

    /// It is not in JSON.
    pub struct Cache {
        pub size: Option<i32>,
    }
}
