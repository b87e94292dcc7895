#[versions(v1alpha1, v1beta1, v1)]
mod tape {
    #[derive(CustomResource, Managed)]
    #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
    pub struct TapeSpec {
        pub mode: Mode,
        pub class: Class,
    }

    #[serde(rename_all = "camelCase")]
    pub enum Mode {
        Full,
        #[version(added(v1beta1, instead = Full), removed(v1, instead = Sized(Limit { value: 3 })))]
        Tape,
        #[version(added(v1, instead = Named { nodes: 3 }))]
        Disk,
        #[version(renamed(v1, from = Snap))]
        Snapshot,
        #[version(added(v1, instead = Snap))]
        Image,
        Sized(Limit),
        Named {
            nodes: u32,
        },
    }

    #[serde(tag = "type")]
    pub enum Class {
        #[version(renamed(v1, from = Small))]
        Shared(Box<Limit>),
        Reserved,
    }

    pub struct Limit {
        #[version(renamed(v1beta1, from = amount))]
        pub value: u32,
    }
}
