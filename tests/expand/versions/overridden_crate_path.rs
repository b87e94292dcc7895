#[versions(crate = "my::facade", v1beta1, v1)]
pub mod database {
    #[derive(CustomResource, Managed)]
    #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
    #[managed(crate = "my::facade")]
    #[version(replaced(v1, from(endpoint), to(host, port), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u16,
        #[version(added(v1, default = 3))]
        #[valid(at_most(max))]
        pub size: u32,
        #[valid(immutable)]
        pub max: u32,
        pub mode: Mode,
    }

    pub struct DatabaseStatus {
        pub phase: Option<String>,
    }

    pub enum Mode {
        Full,
        #[version(added(v1, instead = Full))]
        Half,
    }
}
