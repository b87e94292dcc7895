#[versions(v1alpha1(deprecated), v1beta1(deprecated = "use v1", stored), v1)]
#[allow(missing_docs)]
pub(crate) mod database {
    //! The versions of databases.
    #![allow(dead_code)]

    use std::collections::BTreeMap;

    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema)]
    #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
    #[managed(pause = paused)]
    #[serde(rename_all = "camelCase")]
    pub struct DatabaseSpec {
        #[version(renamed(v1beta1, from = size), renamed(v1, from = replicas))]
        pub replica_count: u32,
        #[version(renamed(v1, from = type))]
        #[serde(rename = "class")]
        pub database_class: Option<String>,
        #[version(added(v1beta1, default = Backup { days: 3 }))]
        #[version(removed(v1, default = Backup::of(vec![Backup::new()])))]
        pub backup: Backup,
        #[version(added(v1beta1), retyped(v1, from = Option<u8>, up = text, down = number))]
        pub memory: Option<String>,
        #[version(retyped(v1, from = OldLimit))]
        pub limit: Limit,
        #[version(renamed(v1, from = schedules))]
        #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
        pub backups: Vec<Backup>,
        pub by_zone: BTreeMap<String, Option<Backup>>,
        #[serde(flatten)]
        pub common: Common,
        #[serde(skip)]
        pub cache: Cache,
        pub paused: bool,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Default)]
    pub struct DatabaseStatus {
        #[version(added(v1))]
        pub ready: Option<bool>,
    }

    pub struct Backup {
        pub name: String,
        #[version(renamed(v1, from = old_days))]
        pub days: i32,
    }

    pub struct OldLimit {
        pub backup: Backup,
    }

    #[serde(default)]
    pub struct Common {
        #[version(added(v1))]
        pub port: u16,
    }

    /// All versions share it.
    pub struct Limit {
        pub backups: u32,
    }

    pub struct Cache;
}
