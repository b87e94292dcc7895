// The list of versions: their names, their order and their options.

//# no versions
#[versions()]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a text in place of a version
#[versions("v1")]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a version without a comma
#[versions(v1beta1 v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a name that is not a version
#[versions(beta, v1beta1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a stage without a number
#[versions(v1beta, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a version twice
#[versions(v1beta1, v1, v1beta1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a version after a newer one
#[versions(v1, v1beta1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a version before a lower number
#[versions(v2, v10, v3)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# unknown option
#[versions(v1beta1(depricated), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# an option that is no word
#[versions(v1beta1("deprecated"), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# an option twice
#[versions(v1beta1(deprecated, deprecated = "use v1"), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a text for an option without one
#[versions(v1beta1(not_served = "no"), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a number in place of the warning
#[versions(v1beta1(deprecated = 3), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# an empty warning
#[versions(v1beta1(deprecated = ""), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# stored and not served
#[versions(v1beta1(stored, not_served), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# two stored versions
#[versions(v1alpha1(stored), v1beta1(stored), v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# the newest version is not served
#[versions(v1beta1, v1(not_served))]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# the newest version is stored and not served
#[versions(v1beta1, v1(stored, not_served))]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# the newest version is deprecated
#[versions(v1beta1, v1(deprecated))]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# two paths of the crate
#[versions(crate = "my::facade", v1, crate = "other::facade")]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a path of the crate that is no text
#[versions(crate = my::facade, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}
