// The syntax of changes.

//# no changes
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version()]
        pub size: u32,
    }
}

//# no parentheses
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version]
        pub size: u32,
        #[version = "v1"]
        pub limit: u32,
    }
}

//# a text in place of a change
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version("v1")]
        pub size: u32,
    }
}

//# a version in place of a change
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(v1)]
        pub size: u32,
    }
}

//# a change without a version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added())]
        pub size: u32,
        #[version(renamed(from = limit))]
        pub max: u32,
        #[version(added)]
        pub min: u32,
    }
}

//# two changes without a comma
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1) removed(v1))]
        pub size: u32,
    }
}

//# two arguments without a comma
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1 default = 3))]
        pub size: u32,
    }
}

//# a text in place of an argument
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, "3"))]
        pub size: u32,
    }
}

//# no value after the sign
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, default =))]
        pub size: u32,
        #[version(renamed(v1, from = "max"))]
        pub limit: u32,
    }
}

//# an argument in brackets
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, default[3]))]
        pub size: u32,
    }
}

//# a former name that is no name
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = self))]
        pub size: u32,
        #[version(moved(v1, from = network.0))]
        pub port: u32,
    }
}

//# names that are no names in a replacement
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from("endpoint"), to(host), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}
