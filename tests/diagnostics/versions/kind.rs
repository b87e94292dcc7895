// The kinds of the module.

//# keys that the list of versions sets
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database", version = "v1")]
    #[kube(storage = false, served = true, deprecated = "use v1")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# no kind in the settings
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(group = "demo.example.com")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a kind that is not a name
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "My database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a kind that is not managed
#[versions(v1beta1, v1)]
mod database {
    #[derive(CustomResource, Clone)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# two kinds of one name
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }

    #[derive(opgen::Managed)]
    #[kube(kind = "Database")]
    pub struct OtherSpec {
        pub size: u32,
    }
}

//# a kind with the name of a type
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub other: Option<Database>,
    }

    pub struct Database {
        #[version(added(v1))]
        pub size: Option<u32>,
    }
}
