//! The example operators: installed by their committed YAML, run as programs.

use std::{path::Path, sync::Arc};

use kube::{Api, ResourceExt as _, api::DeleteParams};
use opgen_tests::{
    Access, Entries, Plane,
    wait::{self, PATIENCE},
};

use super::{install::apply_quietly, mirror::Namespaced, program::Program, rest, right};

/// An operator in a folder of its own below `examples`.
#[derive(Clone, Copy)]
pub(crate) struct Example {
    /// That folder, the package of its program, its ServiceAccount and its role.
    pub(crate) name: &'static str,
    /// The definition of its kind.
    pub(crate) definition: &'static str,
}

pub(crate) const WEBAPP: Example = Example { name: "webapp", definition: "webapps.demo.example.com" };
pub(crate) const SHOP: Example = Example { name: "shop", definition: "shops.shop.example.com" };

impl Example {
    /// Installs it by its committed YAML, all but the Deployment; gives the access of its ServiceAccount.
    pub(crate) async fn install(&self, plane: &Plane) -> Access {
        let install = self.committed("install.yaml");
        let kept = install.split("\n---\n").filter(|document| !document.lines().any(|line| line == "kind: Deployment"));
        apply_quietly(plane, &kept.collect::<Vec<_>>().join("\n---\n")).await;
        plane.until_established(self.definition).await;
        plane.service_account(&self.namespace(), self.name).await
    }

    /// The definition of its kind alone.
    pub(crate) async fn define(&self, plane: &Plane) {
        let (plural, group) = self.definition.split_once('.').expect("a plural and a group");
        apply_quietly(plane, &self.committed(&format!("base/crds/{group}_{plural}.yaml"))).await;
        plane.until_established(self.definition).await;
    }

    /// A file of it as it is committed.
    pub(crate) fn committed(&self, file: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(self.name);
        let path = folder.join("deploy").join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn namespace(&self) -> String {
        format!("{}-system", self.name)
    }
}

/// An example in a cluster, and what is asked there in its name.
pub(crate) struct Installed {
    pub(crate) example: Example,
    pub(crate) plane: Arc<Plane>,
    pub(crate) access: Access,
    /// What had been asked before: other cases may have had the same account.
    pub(crate) earlier: Entries,
}

impl Installed {
    pub(crate) async fn new(example: Example, plane: Arc<Plane>) -> Self {
        let (access, earlier) = (example.install(&plane).await, plane.audit().await);
        Self { example, plane, access, earlier }
    }

    /// Starts its program and waits until that is ready.
    pub(crate) async fn start(&self) -> Program {
        let mut program = self.begin();
        program.ready().await;
        program
    }

    /// Starts its program.
    pub(crate) fn begin(&self) -> Program {
        Program::start(&self.example, &self.plane, &self.access, &[])
    }

    /// What it asked for since `earlier`.
    pub(crate) async fn asked(&self, earlier: &Entries) -> Entries {
        self.plane.audit().await.since(earlier).by_account(&self.example.namespace(), self.example.name)
    }

    /// Waits until it has asked for nothing for a while, and gives what it has asked for since `earlier`.
    pub(crate) async fn settled(&self, earlier: &Entries) -> Entries {
        rest::settled(async || self.asked(earlier).await).await
    }

    /// Every right of its role was used, and none was missing.
    pub(crate) async fn used_its_role(&self) {
        let asked = self.asked(&Entries::default()).await;
        println!("{} requests, {} of them writes", asked.len(), asked.writes().len());
        right::all_are_used(&self.plane, self.example.name, &asked).await;
    }

    /// Applies the policy that gives new objects their finalizer.
    pub(crate) async fn apply_policy(&self) {
        apply_quietly(&self.plane, &self.example.committed("finalizer-policy.yaml")).await;
    }

    /// Waits until that policy is in force, or is not any more: the admission of new objects is told with a delay.
    pub(crate) async fn policy_is<K: Namespaced>(&self, in_force: bool, make: fn(&str) -> K) {
        let elsewhere = self.plane.namespace("policy").await;
        let api = Api::<K>::namespaced(self.plane.client(), &elsewhere);
        let mut attempt = 0;
        wait::until(format!("the policy is in force: {in_force}"), PATIENCE, async || {
            attempt += 1;
            let probe = make(&format!("probe-{attempt}"));
            let made = api.create(&Default::default(), &probe).await.map_err(|error| error.to_string())?;
            if made.finalizers().is_empty() == in_force { Err(format!("{:?}", made.finalizers())) } else { Ok(()) }
        })
        .await;
        api.delete_collection(&DeleteParams::default(), &Default::default()).await.unwrap();
    }
}
