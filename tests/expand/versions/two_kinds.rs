#[versions(v1(not_served), v2)]
mod storage {
    #[derive(CustomResource, Managed)]
    #[kube(group = "demo.example.com", kind = "Disk", status = "Status")]
    pub struct DiskSpec {
        #[version(added(v2))]
        pub size: Option<Size>,
    }

    #[derive(CustomResource, Managed)]
    #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
    pub enum TapeSpec {
        Small(Size),
        #[version(added(v2, instead = Small(Size { bytes: 0 })))]
        Large,
    }

    pub struct Size {
        #[version(renamed(v2, from = bytes))]
        pub octets: u64,
    }
}
