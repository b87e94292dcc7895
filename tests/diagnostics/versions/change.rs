// Changes: their places, their versions and their arguments.

//# unknown changes
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replace(v1, from(size), to(limit)))]
    pub struct DatabaseSpec {
        #[version(add(v1))]
        pub size: u32,
        #[version(deprecated(v1))]
        pub limit: u32,
        pub mode: Mode,
    }

    pub enum Mode {
        #[version(rename(v1, from = All))]
        Full,
    }
}

//# a change of a field on the struct
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(added(v1), renamed(v1, from = Base))]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a change of the struct on a field
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(replaced(v1, from(size), to(limit), up = f, down = g))]
        pub size: u32,
        pub limit: u32,
    }
}

//# a change of a variant on the enum
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    #[version(added(v1, instead = Tape))]
    pub enum Mode {
        Full,
        Tape,
    }
}

//# changes of fields on an enum and a variant
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    #[version(replaced(v1, from(Full), to(Tape)))]
    pub enum Mode {
        #[version(retyped(v1, from = u32))]
        Full(u64),
        #[version(moved(v1, from = old.tape))]
        Tape,
    }
}

//# a field that is not in JSON
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[serde(skip)]
        #[version(added(v1))]
        pub cache: Option<u32>,
        #[serde(flatten)]
        #[version(renamed(v1, from = others))]
        pub rest: Rest,
    }
}

//# unknown versions
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1beta))]
        pub size: Option<u32>,
        #[version(removed(v7))]
        pub limit: Option<u32>,
    }
}

//# the oldest version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1alpha1, default = 3))]
        pub size: u32,
    }
}

//# unknown arguments
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, defalt = 3))]
        pub size: u32,
        #[version(added(v1, instead = 3))]
        pub limit: u32,
        #[version(renamed(v1, to = max))]
        pub min: u32,
    }
}

//# an argument twice
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, default = 3, default = 4))]
        pub size: u32,
        #[version(retyped(v1, from = u8, from = u16, up = f, up = f, down = g))]
        pub limit: u32,
    }
}

//# arguments without a value
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1, default))]
        pub size: Option<u32>,
        #[version(renamed(v1, from))]
        pub limit: u32,
        #[version(retyped(v1, from, up, down))]
        pub max: u32,
    }
}

//# arguments of another form
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from(max)))]
        pub limit: u32,
        #[version(removed(v1, moved = true))]
        pub size: u32,
        #[version(retyped(v1, from = u8, up = 3, down(g)))]
        pub class: u32,
        #[version(added(v1, default(max)))]
        pub other: u32,
    }
}

//# arguments that are missing
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1, from(size)))]
    pub struct DatabaseSpec {
        #[version(renamed(v1))]
        pub size: u32,
        #[version(retyped(v1))]
        pub limit: u32,
        #[version(moved(v1))]
        pub port: u32,
        pub mode: Mode,
    }

    pub enum Mode {
        Full,
        #[version(added(v1))]
        Tape,
    }
}

//# a function for one direction
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(retyped(v1, from = u8, up = f))]
        pub size: u32,
        #[version(retyped(v1, from = u8, down = g))]
        pub limit: u32,
    }
}

//# a former name that is a path, and a former path that is a name
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(renamed(v1, from = network.port))]
        pub port: u32,
        #[version(moved(v1, from = host))]
        pub address: Option<String>,
    }
}
