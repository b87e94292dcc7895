// The module and its items.

//# not a module
#[versions(v1beta1, v1)]
pub struct DatabaseSpec {
    pub size: u32,
}

//# a module in another file
#[versions(v1beta1, v1)]
pub mod database;

//# no kind
#[versions(v1beta1, v1)]
mod database {
    pub struct Backup {
        #[version(added(v1))]
        pub days: Option<u32>,
    }
}

//# a history of a type that no kind contains
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }

    pub struct Backup {
        #[version(added(v1))]
        pub days: Option<u32>,
    }

    pub struct Plan {
        pub backup: Backup,
    }
}

//# a history of a generic type
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub backup: Option<Backup<u32>>,
    }

    pub struct Backup<T> {
        #[version(added(v1))]
        pub days: Option<T>,
    }
}

//# a history within a generic type
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub page: Page<u32>,
    }

    pub struct Page<T> {
        pub backup: Backup,
        pub other: T,
    }

    pub struct Backup {
        #[version(added(v1))]
        pub days: Option<u32>,
    }
}

//# a history within a tuple struct
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub backups: Backups,
    }

    pub struct Backups(Vec<Backup>);

    pub struct Backup {
        #[version(added(v1))]
        pub days: Option<u32>,
    }
}

//# changes of fields without a place of their own
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub pair: Pair,
        pub class: Class,
    }

    pub struct Pair(#[version(added(v1))] Option<u32>);

    pub enum Class {
        Shared,
        Reserved {
            #[version(added(v1))]
            nodes: Option<u32>,
        },
        Sized(#[version(renamed(v1, from = size))] u32),
    }
}

//# changes of items without a history
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    #[version(replaced(v1))]
    pub struct DatabaseSpec {
        pub size: u32,
    }

    #[version(added(v1))]
    pub type Size = u32;

    pub union Either {
        #[version(added(v1))]
        number: u32,
    }

    impl Size {
        #[version(added(v1))]
        fn zero() {}
    }
}

//# an item with the name of a version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }

    mod v1 {}

    pub struct v1beta1;
}

//# two types of one name
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1))]
        pub size: Option<u32>,
    }

    pub enum DatabaseSpec {}
}

//# items that name a type of each version
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        #[version(added(v1))]
        pub mode: Option<Mode>,
    }

    pub enum Mode {
        Full,
        #[version(added(v1, instead = Full))]
        Tape,
    }

    impl Mode {
        fn other(&self) -> Mode {
            Mode::Full
        }
    }

    impl From<Mode> for u32 {
        fn from(mode: Mode) -> u32 {
            0
        }
    }

    fn tape(mode: v1::Mode) -> Mode {
        Mode::Full
    }

    type Modes = Vec<self::Mode>;

    impl v1::Mode {
        fn is_full(&self) -> bool {
            use super::v1::Mode;
            matches!(self, Mode::Full)
        }
    }
}

//# enums and structs whose JSON has another form
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
        pub class: Class,
        pub size: Size,
        pub text: Text,
    }

    #[serde(untagged)]
    pub enum Mode {
        Full,
        #[version(added(v1, instead = Full))]
        Tape,
    }

    #[serde(tag = "type", content = "value")]
    pub enum Class {
        Shared(Size),
    }

    #[serde(transparent)]
    pub struct Size {
        #[version(renamed(v1, from = size))]
        pub value: u32,
    }

    #[serde(try_from = "String")]
    pub struct Text {
        #[version(renamed(v1, from = text))]
        pub value: String,
    }
}

//# a variant without a tag
#[versions(v1alpha1, v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub mode: Mode,
    }

    pub enum Mode {
        Full,
        #[version(added(v1, instead = Full))]
        Tape,
        #[serde(untagged)]
        Other(String),
    }
}

//# an import with the name of a version
#[versions(v1beta1, v1)]
mod database {
    use k8s_openapi::api::core::v1;
    use k8s_openapi::api::{apps::v1 as apps, batch::v1 as v1beta1};

    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub size: u32,
    }
}

//# a history in the fields of a variant
#[versions(v1beta1, v1)]
mod database {
    #[derive(Managed)]
    #[kube(kind = "Database")]
    pub struct DatabaseSpec {
        pub class: Class,
    }

    pub enum Class {
        Shared(Backup),
        Reserved { backup: Option<Backup> },
        Pair(u32, Vec<Backup>),
    }

    pub struct Backup {
        #[version(added(v1))]
        pub days: Option<u32>,
    }
}
