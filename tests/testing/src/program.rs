//! What is tried.

use std::{sync::OnceLock, time::Duration};

use futures::future::{BoxFuture, FutureExt as _};
use opgen::{
    Environment, Operator, RunOptions,
    manifest::{self, Described as _},
};
use serde_json::Value;

/// What an installation of a program consists of.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Manifests {
    /// What stands in the cluster before the program runs: namespaces, definitions, accounts, roles.
    pub install: Vec<Value>,
    /// What it is to work on; the first is made first and deleted last.
    pub samples: Vec<Value>,
}

impl Manifests {
    /// What is installed, in this order, and the samples, as JSON objects of Kubernetes.
    ///
    /// ```
    /// # use opgen_testing::Manifests;
    /// # use serde_json::json;
    /// let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gardener-system"}});
    /// let sample = json!({"apiVersion": "example.com/v1", "kind": "Garden", "metadata": {"name": "home"}});
    /// let manifests = Manifests::new([namespace], [sample]);
    /// assert_eq!(manifests.samples.len(), 1);
    /// ```
    #[must_use]
    pub fn new(install: impl IntoIterator<Item = Value>, samples: impl IntoIterator<Item = Value>) -> Self {
        Self { install: install.into_iter().collect(), samples: samples.into_iter().collect() }
    }
}

/// Something that controls objects by calls to an API server: an opgen [`Operator`], or one that is written otherwise.
pub trait Program: Send + Sync {
    /// Its name; also that of its ServiceAccount, and what the names of its field managers begin with.
    fn name(&self) -> String;

    /// The namespace of its ServiceAccount.
    fn namespace(&self) -> String;

    /// What is installed, and the samples.
    ///
    /// # Errors
    /// If it can't be said, in words.
    fn manifests(&self) -> Result<Manifests, String>;

    /// For how long it may do nothing although there is something to do, jitter included.
    fn longest_pause(&self) -> Duration;

    /// A fresh process: it runs until it is dropped.
    fn run(&self, client: kube::Client, environment: Environment) -> BoxFuture<'static, Result<(), String>>;
}

/// An operator of opgen, made anew for each process.
pub(crate) struct OfOpgen<F> {
    make: F,
    /// Whether a policy puts the finalizer on new objects.
    policy: bool,
    facts: OnceLock<Facts>,
}

/// What every process is to know; to derive it takes longer than a process lives.
#[derive(Debug, Default)]
struct Facts {
    name: String,
    namespace: String,
    namespaced: bool,
}

impl<F: Fn() -> Operator + Send + Sync> OfOpgen<F> {
    pub(crate) fn new(make: F, policy: bool) -> Self {
        Self { make, policy, facts: OnceLock::new() }
    }

    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| {
            // What is wrong with it is said where its manifests are rendered.
            let Ok(project) = (self.make)().project() else { return Facts::default() };
            Facts { name: project.name, namespace: project.namespace, namespaced: project.namespaced }
        })
    }
}

impl<F: Fn() -> Operator + Send + Sync> Program for OfOpgen<F> {
    fn name(&self) -> String {
        self.facts().name.clone()
    }

    fn namespace(&self) -> String {
        self.facts().namespace.clone()
    }

    fn manifests(&self) -> Result<Manifests, String> {
        let project = (self.make)().project().map_err(|error| error.to_string())?;
        let rendered = manifest::files(&project).map_err(|error| error.to_string())?;
        let mut manifests = Manifests::default();
        let mut install = |path: &str, wanted: fn(&Value) -> bool| -> Result<(), String> {
            let Some(text) = rendered.text(path) else { return Ok(()) };
            manifests.install.extend(documents(text)?.into_iter().filter(wanted));
            Ok(())
        };
        // The operator itself runs here, so its Deployment is left out.
        install("operator.yaml", |object| object["kind"] == "Namespace")?;
        for file in rendered.files.iter().filter(|file| file.path.starts_with("crds/")) {
            install(&file.path, |_| true)?;
        }
        install("rbac.yaml", |_| true)?;
        if self.policy {
            install("finalizer-policy.yaml", |_| true)?;
        }
        for file in rendered.files.iter().filter(|file| file.path.starts_with("samples/")) {
            manifests.samples.extend(documents(&file.text)?);
        }
        Ok(manifests)
    }

    fn longest_pause(&self) -> Duration {
        // A tenth of jitter, and what a pass itself may take.
        (self.make)().longest_pause().mul_f64(1.1) + Duration::from_secs(5)
    }

    fn run(&self, client: kube::Client, environment: Environment) -> BoxFuture<'static, Result<(), String>> {
        let operator = (self.make)().environment(environment);
        let facts = self.facts();
        let own = facts.namespaced.then(|| facts.namespace.clone());
        let options = own.into_iter().fold(RunOptions::default(), RunOptions::namespace);
        async move {
            let never = std::future::pending::<()>();
            operator.run_with(client, options, never).await.map_err(|error| error.to_string())
        }
        .boxed()
    }
}

fn documents(yaml: &str) -> Result<Vec<Value>, String> {
    serde_saphyr::from_multiple(yaml).map_err(|error| format!("a generated manifest can't be read: {error}"))
}
