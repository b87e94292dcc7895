#[versions(v1beta1, v1)]
pub(super) mod database {
    use super::defaults;

    #[derive(CustomResource, Managed, Serialize)]
    #[kube(group = "demo.example.com", kind = "Database", status = "super::status::Status")]
    struct DatabaseSpec {
        private: u32,
        pub(self) also_private: u32,
        pub(super) of_parent: u32,
        pub(in super::super) of_grandparent: u32,
        pub(in self::super) of_parent_by_self: u32,
        pub(crate) of_crate: u32,
        pub(in crate::api) of_api: u32,
        pub public: u32,
        #[version(added(v1, default = super::DEFAULT))]
        class: super::Class,
        #[version(added(v1, default = self::mode()))]
        #[serde(default = "super::mode", with = "self::text")]
        mode: self::Mode,
        #[version(retyped(v1, from = super::OldSize, up = super::up, down = self::down))]
        size: super::super::Size,
        #[schemars(with = "Option<super::Text>", schema_with = super::text)]
        #[version(added(v1, default = vec![super::text(), self::text(), crate::text()]))]
        texts: Vec<String>,
    }

    pub(super) enum Mode {
        Full(u32),
        #[version(added(v1, instead = Full(super::FULL)))]
        Half { percent: u32 },
    }

    /// All versions share it.
    pub(super) struct Shared {
        private: super::Class,
        pub(super) of_parent: u32,
    }

    fn mode() -> v1::Mode {
        v1::Mode::Full(3)
    }

    impl v1::DatabaseSpec {
        fn total(&self) -> u32 {
            self.private + self.also_private
        }
    }
}
