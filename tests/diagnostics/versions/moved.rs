// Fields that move out of another field.

//# unknown fields on the path
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = netwrk.port))]
        pub port: u32,
        #[version(moved(v1, from = network.prt))]
        pub other: u32,
        pub network: Network,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# a field that is not there in the version before
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        #[version(added(v1))]
        pub network: Option<Network>,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# a former name on the path
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        #[version(renamed(v1, from = net))]
        pub network: Network,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# a field of a type of another module
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        pub network: other::Network,
        #[version(moved(v1, from = name.length))]
        pub length: u32,
        pub name: String,
    }
}

//# a field of the items of a list, and of a variant
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = networks.port))]
        pub port: u32,
        pub networks: Vec<Network>,
        #[version(moved(v1, from = mode.Tape))]
        pub tape: u32,
        pub mode: Mode,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }

    pub enum Mode {
        Tape(u32),
    }
}

//# the former field is still there
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        pub network: Network,
    }

    pub struct Network {
        pub port: u32,
    }
}

//# the former field ends later, and in another way
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1beta1, from = network.port))]
        pub port: u32,
        #[version(moved(v1, from = network.host))]
        pub host: Option<String>,
        pub network: Network,
    }

    pub struct Network {
        #[version(removed(v1, moved))]
        pub port: u32,
        #[version(removed(v1))]
        pub host: Option<String>,
    }
}

//# no field takes the value
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub port: u32,
        pub network: Network,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# another type
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: Option<String>,
        pub network: Network,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# no value for older objects
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        pub network: Option<Network>,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# no value for newer objects
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: Option<u32>,
        pub network: Network,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# two fields of one former field
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        #[version(moved(v1, from = network.port))]
        pub other: u32,
        pub network: Network,
    }

    pub struct Network {
        pub domain: String,
        #[version(removed(v1, moved))]
        pub port: u32,
    }
}

//# the former field is removed without the word
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: Option<u32>,
        pub network: Option<Network>,
    }

    pub struct Network {
        #[version(removed(v1, default = 80))]
        pub port: u32,
    }
}

//# the former field moves with an earlier version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(moved(v1, from = network.port))]
        pub port: u32,
        pub network: Network,
    }

    pub struct Network {
        #[version(removed(v1beta1, moved))]
        pub port: u32,
    }
}
