//! The macros where nothing that they might lean on is in scope.
//!
//! That no name of an expansion is a bare one is asserted token by token in the unit tests of `opgen-macros`; here a compiler
//! agrees. kube's own derive is no part of this: its output does name `std` and the prelude.

/// opgen under another name, as a renamed dependency has it.
mod renamed {
    pub(super) use ::opgen as facade;
}

/// The kind, in a scope that kube's derive can live with.
mod api {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    /// The derive must not lean on `opgen` in scope either.
    #[derive(CustomResource, opgen::Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[kube(group = "demo.example.com", version = "v1", kind = "Hidden", namespaced, status = "opgen::Status")]
    #[managed(crate = "super::renamed::facade")]
    pub(super) struct HiddenSpec {
        pub(super) pause: Option<bool>,
    }

    /// What there can be several of.
    #[derive(Clone, Debug)]
    pub(super) struct Part {
        pub(super) name: String,
    }
}

#[no_implicit_prelude]
#[deny(warnings, missing_docs)]
mod hostile {
    use ::k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};

    use super::api::{Hidden, Part};

    /// Shadows what an expansion could have meant by these.
    #[allow(dead_code, reason = "only there to be in the way")]
    mod shadows {
        pub(super) struct Option;
        pub(super) struct Result;
        pub(super) struct Vec;
        pub(super) struct Box;
        pub(super) struct String;
        pub(super) mod std {}
        pub(super) mod core {}
        pub(super) mod opgen {}
    }
    #[allow(unused_imports, reason = "only there to be in the way")]
    use shadows::{Box, Option, Result, String, Vec, core, opgen, std};

    #[derive(::opgen::Provisioner)]
    #[provisioner(serial, owner = Hidden)]
    pub(super) struct Tree {
        #[provisioner(resource)]
        config: ConfigMap,
        group: Group,
        gate: Gate,
        terms: Terms,
    }

    impl Tree {
        fn config(_: &Hidden) -> ConfigMap {
            ::std::default::Default::default()
        }
    }

    #[derive(::opgen::Provisioner)]
    #[provisioner(concurrent, owner = Hidden, crate = "super::renamed::facade")]
    struct Group {
        #[provisioner(resource)]
        secret: ::std::option::Option<Secret>,
        #[provisioner(resource)]
        secrets: ::std::vec::Vec<Secret>,
    }

    impl Group {
        fn secret(_: &Hidden) -> ::std::option::Option<Secret> {
            ::std::option::Option::None
        }

        fn secrets(_: &Hidden) -> ::std::vec::Vec<Secret> {
            ::std::vec::Vec::new()
        }
    }

    #[derive(::opgen::Provisioner)]
    #[provisioner(up = concurrent, down = serial, owner = Hidden, retired(old: ConfigMap))]
    struct Terms {
        giver: Giver,
        #[provisioner(from(giver), after(giver))]
        taker: Taker,
        #[provisioner(
            resource(once, adopt("helm"), delete = "background", timeout = "10m"),
            if_api,
            when = |hidden| hidden.spec.pause.is_none()
        )]
        key: Secret,
        #[provisioner(resource, from(taker.config, giver))]
        note: ConfigMap,
        #[provisioner(each = parts, key = |part| &part.name)]
        parts: PartTree,
        #[provisioner(resource)]
        space: ::std::option::Option<Namespace>,
        #[provisioner(resource, after(space), deleted_with(space))]
        spare: ConfigMap,
    }

    impl Terms {
        fn key(_: &Hidden) -> Secret {
            ::std::default::Default::default()
        }

        fn note(_: &Hidden, config: &ConfigMap, (): &()) -> ConfigMap {
            ::std::clone::Clone::clone(config)
        }

        fn space(_: &Hidden) -> ::std::option::Option<Namespace> {
            ::std::option::Option::None
        }

        fn spare(_: &Hidden) -> ConfigMap {
            ::std::default::Default::default()
        }
    }

    fn parts(_: &Hidden) -> ::std::vec::Vec<Part> {
        ::std::vec::Vec::new()
    }

    #[derive(::opgen::Provisioner)]
    #[provisioner(serial, owner = Hidden, inputs(given: ()))]
    struct Taker {
        #[provisioner(resource, from(given))]
        config: ConfigMap,
    }

    impl Taker {
        fn config(_: &Hidden, (): &()) -> ConfigMap {
            ::std::default::Default::default()
        }
    }

    #[derive(::opgen::Provisioner)]
    #[provisioner(serial, owner = ::opgen::Each<Hidden, Part>)]
    struct PartTree {
        #[provisioner(resource)]
        config: ConfigMap,
    }

    impl PartTree {
        fn config(_: &Part) -> ConfigMap {
            ::std::default::Default::default()
        }
    }

    #[derive(::opgen::Provisioner)]
    #[provisioner(access(), output = ())]
    struct Giver;

    impl ::opgen::Provision<Hidden> for Giver {
        async fn provision(cx: &::opgen::Context<'_, Hidden, Self>) -> ::opgen::Result<()> {
            cx.set_output(());
            ::std::result::Result::Ok(())
        }

        async fn deprovision(_: &::opgen::Teardown<'_, Hidden, Self>) -> ::opgen::Result<()> {
            ::std::result::Result::Ok(())
        }
    }

    #[derive(::opgen::Provisioner)]
    #[provisioner(access(Secret: get, apply; Secret/status: patch))]
    struct Gate;

    impl ::opgen::Provision<Hidden> for Gate {
        async fn provision(_: &::opgen::Context<'_, Hidden, Self>) -> ::opgen::Result<()> {
            ::std::result::Result::Ok(())
        }

        async fn deprovision(_: &::opgen::Teardown<'_, Hidden, Self>) -> ::opgen::Result<()> {
            ::std::result::Result::Ok(())
        }
    }
}

/// A binary: its `main` is not the one of these suites.
#[allow(dead_code, reason = "compiled, never run")]
mod binary {
    use super::{api::Hidden, hostile::Tree};

    mod std {}

    opgen::operator! {
        name: "hidden",
        Hidden => Tree { resync_period: "60s", events: false, workers: 2, finalizer: "demo.example.com/hidden" },
    }
}

#[test]
fn expansions_compile_where_every_name_is_hidden() {
    use opgen::{Managed, Provisioner};

    let names: Vec<_> = hostile::Tree::SHAPE.children.iter().map(|edge| edge.name).collect();
    assert_eq!(names, ["config", "group", "gate", "terms"]);
    let paused = api::Hidden::new("a", api::HiddenSpec { pause: Some(true) });
    assert!(paused.paused() && !api::Hidden::new("b", api::HiddenSpec { pause: None }).paused());
    assert_eq!(api::Hidden::kind().full_name(), "hiddens.demo.example.com");
}
