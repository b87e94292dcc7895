// Fields that replace others.

//# no fields
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(), to(), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}

//# unknown fields
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpont), to(host, port), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}

//# a field twice
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint, endpoint), to(host), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}

//# a field on both sides
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint, host), to(host), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}

//# lists of another form
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from = endpoint, to = host, up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}

//# no functions
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host)))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}

//# a field that begins or ends otherwise
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host), up = split, down = join))]
    pub struct DatabaseSpec {
        #[version(removed(v1beta1, default = text()))]
        pub endpoint: String,
        #[version(added(v1, default = text()))]
        pub host: String,
    }
}

//# a field that is replaced twice
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1beta1, from(endpoint), to(host), up = f, down = g))]
    #[version(replaced(v1, from(endpoint), to(port), up = f, down = g))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u32,
    }
}

//# a field that ends before it begins
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host), up = f, down = g))]
    #[version(replaced(v1beta1, from(host), to(port), up = f, down = g))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u32,
    }
}

//# a new name in the version of the replacement
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host), up = split, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        #[version(renamed(v1, from = address))]
        pub host: String,
    }
}

//# a field that is not in JSON
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host), up = split, down = join))]
    pub struct DatabaseSpec {
        #[serde(flatten)]
        pub endpoint: Endpoint,
        pub host: String,
    }
}

//# functions that are no functions
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host, port), up = split(3), down = "join"))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u32,
    }
}

//# closures with another number of parameters
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host, port), up = |host, port| split(host, port), down = |host| host))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
        pub port: u32,
        #[version(retyped(v1, from = u8, up = || 3, down = |limit, _| limit))]
        pub limit: u32,
    }
}

//# closures that return a future
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(endpoint), to(host), up = async |endpoint| endpoint, down = join))]
    pub struct DatabaseSpec {
        pub endpoint: String,
        pub host: String,
    }
}
