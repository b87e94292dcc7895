#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(CustomResource, Managed)]
    #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
    #[serde(rename_all = "camelCase")]
    #[version(replaced(v1beta1, from(endpoint), to(host, port), up = split, down = join))]
    #[version(replaced(v1, from(host, port), to(full_address), up = names::merge, down = <Name as Part>::split))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u16,
        pub full_address: Address,
        #[version(moved(v1beta1, from = network.ports.metrics_port))]
        pub metrics: Option<u16>,
        #[version(moved(v1, from = network.host_name))]
        pub host_name: Option<String>,
        #[version(removed(v1))]
        pub network: Option<Box<Network>>,
    }

    pub struct Address {
        #[version(renamed(v1, from = old_text))]
        pub text: String,
    }

    #[serde(rename_all = "camelCase")]
    pub struct Network {
        pub ports: Ports,
        pub host_name: Option<String>,
    }

    #[serde(rename_all = "camelCase")]
    pub struct Ports {
        #[version(removed(v1beta1, moved, default = 80))]
        pub metrics_port: u16,
    }

    fn split(endpoint: String) -> Result<(String, u16), String> {
        endpoint.split_once(':').ok_or("no port")
    }

    mod names {}
}
