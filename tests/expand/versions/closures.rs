#[versions(v1beta1, v1)]
mod database {
    #[derive(CustomResource, Managed)]
    #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
    #[version(replaced(v1, from(endpoint), to(host, port), up = split, down = |host, mut port| join(host, port)))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u16,
        #[version(retyped(
            v1,
            from = Backup,
            up = move |backup| backup.old_name,
            down = |name: String| -> Result<v1beta1::Backup, super::Error> { super::backup(name) }
        ))]
        pub backup: String,
    }

    pub struct Backup {
        #[version(renamed(v1, from = old_name))]
        pub name: String,
    }
}
