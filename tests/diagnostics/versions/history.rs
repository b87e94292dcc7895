// The history of fields: when they begin, change and end, and their values.

//# added twice
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1beta1, default = 3), added(v1, default = 4))]
        pub size: u32,
    }
}

//# added and moved
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, default = 3))]
        #[version(moved(v1, from = network.size))]
        pub size: u32,
        pub network: Network,
    }

    pub struct Network {
        #[version(removed(v1, moved))]
        pub size: u32,
    }
}

//# removed twice
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(removed(v1beta1), removed(v1))]
        pub size: Option<u32>,
    }
}

//# removed before it is added
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1), removed(v1beta1))]
        pub size: Option<u32>,
        #[version(added(v1), removed(v1))]
        pub limit: Option<u32>,
    }
}

//# renamed before it is added, and after it is removed
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1beta1), renamed(v1beta1, from = length))]
        pub size: Option<u32>,
        #[version(removed(v1beta1), renamed(v1, from = max))]
        pub limit: Option<u32>,
        #[version(added(v1), retyped(v1beta1, from = Option<u8>))]
        pub port: Option<u32>,
    }
}

//# renamed twice in one version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = a), renamed(v1, from = b))]
        pub size: u32,
        #[version(retyped(v1, from = u8), retyped(v1, from = u16))]
        pub limit: u32,
    }
}

//# a rename to the same name, and a retype to the same type
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = size))]
        pub size: u32,
        #[version(renamed(v1beta1, from = max), renamed(v1, from = limit))]
        pub limit: u32,
        #[version(retyped(v1, from = Option<u8>))]
        pub port: Option<u8>,
    }
}

//# no value for older objects, of a type that serde does not read
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1))]
        pub size: u32,
        #[version(added(v1))]
        #[serde(default)]
        pub limit: u32,
    }
}

//# no value for newer objects
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(removed(v1))]
        pub size: u32,
    }
}

//# no value, since the type has become an option later
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1beta1), retyped(v1, from = u32, up = f, down = g))]
        pub size: Option<u32>,
    }
}

//# two fields of one name in a version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = limit))]
        pub size: u32,
        pub limit: u32,
    }
}

//# two former names are one
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = length))]
        pub size: u32,
        #[version(renamed(v1beta1, from = length))]
        pub limit: u32,
    }
}

//# two fields of one name in JSON
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = max))]
        pub size: u32,
        #[serde(rename = "max")]
        pub limit: u32,
    }
}

//# a field twice
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(removed(v1))]
        pub size: Option<u32>,
        #[version(added(v1))]
        pub size: Option<u32>,
    }
}

//# a key of a list that changes
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
        pub backups: Vec<Backup>,
    }

    pub struct Backup {
        #[version(renamed(v1, from = id))]
        pub name: String,
    }
}

//# an invalid change has one message
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v7))]
        pub size: u32,
        #[version(removed(v1, moved, default))]
        pub limit: u32,
    }
}
