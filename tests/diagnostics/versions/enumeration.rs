// The history of enums.

//# unknown variant
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        Full,
        #[version(added(v1, instead = Ful))]
        Tape,
    }
}

//# not a variant
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        Full,
        Sized(u32),
        #[version(added(v1, instead = Mode::Full))]
        Tape,
        #[version(added(v1, instead = 3))]
        Disk,
        #[version(added(v1, instead = Self::Sized(3)))]
        Cloud,
        #[version(added(v1, instead = "Full"))]
        None,
    }
}

//# a variant that the version does not have
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        Full,
        #[version(added(v1beta1, instead = Full))]
        Incremental,
        #[version(added(v1beta1, instead = Incremental))]
        Tape,
        #[version(removed(v1, instead = Disk))]
        Disk,
        #[version(removed(v1, instead = Disk))]
        Cloud,
    }
}

//# a variant with another name in the version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        #[version(renamed(v1, from = Snap))]
        Snapshot,
        #[version(added(v1, instead = Snapshot))]
        Tape,
        #[version(removed(v1, instead = Snap))]
        Disk,
    }
}

//# a version without variants
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        #[version(added(v1beta1, instead = Full))]
        Full,
    }
}

//# all variants are removed
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        #[version(removed(v1, instead = Tape))]
        Full,
        #[version(removed(v1, instead = Full))]
        Tape,
    }
}

//# two variants of one name in a version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        Full,
        #[version(renamed(v1, from = Full))]
        All,
    }
}
