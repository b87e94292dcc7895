//! `Program`: the trait of a program under test, implemented for opgen operators. `Manifests`: the objects to install for it, and its
//! sample objects.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _, ready};
use http::{Request, Response};
use opgen::{
    Operator, RunOptions,
    bucket::OpenBuckets,
    environment::Environment,
    manifest::{self, Describe as _, KindDescription},
    testing::WebhookResponder,
};
use serde_json::{Value, json};

use crate::stored_kind::{BUCKET_ANNOTATION, UNCONTROLLED_ANNOTATION};

/// The manifests of a program under test.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Manifests {
    /// The objects that are installed before the program runs: namespaces, CustomResourceDefinitions, accounts, roles.
    ///
    /// A CustomResourceDefinition with the annotation [`BUCKET_ANNOTATION`] is not installed: the objects of its kind are in the bucket
    /// that the annotation names.
    pub install: Vec<Value>,
    /// The objects that the program reconciles; the first is created first and deleted last.
    pub samples: Vec<Value>,
}

impl Manifests {
    /// Creates manifests from the objects to install, in this order, and the samples, both as Kubernetes JSON.
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

/// The webhooks of a program: admission, and the conversion of objects. An API server calls them as long as the trial runs, also while the
/// program is stopped, as those of another replica.
#[derive(Clone)]
#[non_exhaustive]
pub struct ProgramWebhooks {
    /// The URL before the path of each webhook, for a Service `https://NAME.NAMESPACE.svc:PORT`.
    pub url: String,
    /// Returns the response to a call. The client is that of the program, for webhooks that read other objects.
    pub respond: Respond,
}

/// The function that responds to the calls of webhooks.
pub type Respond = Arc<dyn Fn(Request<Bytes>, kube::Client) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>;

impl ProgramWebhooks {
    /// Returns the webhooks whose URLs begin with `url`, with the function that responds to their calls.
    pub fn new(url: impl Into<String>, respond: Respond) -> Self {
        Self { url: url.into(), respond }
    }
}

impl fmt::Debug for ProgramWebhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramWebhooks").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A program that controls objects through an API server: an opgen [`Operator`], or any other controller.
pub trait Program: Send + Sync {
    /// Returns the name of the program and of its ServiceAccount, and the prefix of its field managers.
    fn name(&self) -> String;

    /// Returns the namespace of the program's ServiceAccount.
    fn namespace(&self) -> String;

    /// Returns the objects to install, and the samples.
    ///
    /// # Errors
    /// If the manifests can't be generated; the text is the reason.
    fn manifests(&self) -> Result<Manifests, String>;

    /// Returns the webhooks of the program, whose configurations are in the manifests. Default: none.
    fn webhooks(&self) -> Option<ProgramWebhooks> {
        None
    }

    /// Returns the longest time between two calls while there is work to do, jitter included.
    fn longest_pause(&self) -> Duration;

    /// Starts a new process, which runs until the future is dropped.
    fn run(&self, client: kube::Client, environment: Environment) -> BoxFuture<'static, Result<(), String>>;

    /// Starts a new process of a program whose kinds are in buckets, which are key-value stores; see [`Manifests::install`]. The buckets
    /// stay from one process to the next. Default: an error, since [`run`](Self::run) has no buckets.
    fn run_with_buckets(
        &self,
        client: kube::Client,
        environment: Environment,
        buckets: Arc<dyn OpenBuckets>,
    ) -> BoxFuture<'static, Result<(), String>> {
        drop((client, environment, buckets));
        let problem = "the program has kinds in buckets and does not implement `Program::run_with_buckets`";
        ready(Err(problem.to_owned())).boxed()
    }
}

/// An opgen operator, built anew for each process.
pub(crate) struct OpgenProgram<F> {
    build: F,
    /// Whether an admission policy adds the finalizer to new objects.
    policy: bool,
    identity: OnceLock<Identity>,
}

/// The name and scope of an operator; deriving them takes longer than a run.
#[derive(Debug, Default)]
struct Identity {
    name: String,
    namespace: String,
    namespaced: bool,
}

impl<F: Fn() -> Operator + Send + Sync> OpgenProgram<F> {
    /// Returns a program that calls `build` for each process. With `policy`, its manifests have the admission policy that adds the
    /// finalizer.
    pub(crate) fn new(build: F, policy: bool) -> Self {
        Self { build, policy, identity: OnceLock::new() }
    }

    /// Returns the name and scope of the operator, built once; empty if the operator is invalid.
    fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| {
            // The error is reported when the manifests are rendered.
            let Ok(project) = (self.build)().project() else { return Identity::default() };
            Identity { name: project.name, namespace: project.namespace, namespaced: project.namespaced }
        })
    }

    /// Returns the namespace that the operator watches; `None` if it watches all.
    fn watched_namespace(&self) -> Option<String> {
        let identity = self.identity();
        identity.namespaced.then(|| identity.namespace.clone())
    }
}

impl<F: Fn() -> Operator + Send + Sync> Program for OpgenProgram<F> {
    fn name(&self) -> String {
        self.identity().name.clone()
    }

    fn namespace(&self) -> String {
        self.identity().namespace.clone()
    }

    /// Generates the manifests of the operator: definitions, roles, webhooks, policies, and the samples.
    fn manifests(&self) -> Result<Manifests, String> {
        let project = (self.build)().project().map_err(|error| error.to_string())?;
        let rendered = manifest::files(&project).map_err(|error| error.to_string())?;
        let mut manifests = Manifests::default();
        let mut install = |path: &str, filter: fn(&Value) -> bool| -> Result<(), String> {
            let Some(text) = rendered.text(path) else { return Ok(()) };
            manifests.install.extend(documents(text)?.into_iter().filter(filter));
            Ok(())
        };
        // The operator runs in this process, so its Deployment is not installed.
        install("base/operator.yaml", |object| object["kind"] == "Namespace")?;
        for file in rendered.files.iter().filter(|file| file.path.starts_with("base/crds/")) {
            install(&file.path, |_| true)?;
        }
        install("base/webhooks.yaml", |_| true)?;
        install("base/policies.yaml", |_| true)?;
        if self.policy {
            install("finalizer-policy.yaml", |_| true)?;
        }
        // A trial calls the webhooks in the process, without a certificate.
        manifests.install.extend(manifest::documents_without_certificates(&project));
        manifests.install.extend(project.controllers.iter().filter_map(definition_in_bucket));
        for file in rendered.files.iter().filter(|file| file.path.starts_with("samples/")) {
            manifests.samples.extend(documents(&file.text)?);
        }
        Ok(manifests)
    }

    /// Returns the webhooks of the operator, which respond in this process; `None` if it has none.
    fn webhooks(&self) -> Option<ProgramWebhooks> {
        let responder = WebhookResponder::new(&(self.build)())?;
        let url = format!("https://{}.{}.svc:443", responder.service(), self.identity().namespace);
        let respond: Respond = Arc::new(move |request, client| {
            let responder = responder.clone().with_client(client);
            async move { responder.respond(request).await }.boxed()
        });
        Some(ProgramWebhooks::new(url, respond))
    }

    /// Returns the longest pause of the operator with a margin.
    fn longest_pause(&self) -> Duration {
        // A tenth of the pause for jitter, and five seconds for the duration of a pass.
        (self.build)().longest_pause().mul_f64(1.1) + Duration::from_secs(5)
    }

    fn run(&self, client: kube::Client, environment: Environment) -> BoxFuture<'static, Result<(), String>> {
        run_operator((self.build)(), self.watched_namespace(), client, environment)
    }

    /// Starts a new process of the operator, whose kinds in buckets are in those that `buckets` opens.
    fn run_with_buckets(
        &self,
        client: kube::Client,
        environment: Environment,
        buckets: Arc<dyn OpenBuckets>,
    ) -> BoxFuture<'static, Result<(), String>> {
        run_operator((self.build)().buckets(buckets), self.watched_namespace(), client, environment)
    }
}

/// Returns the CustomResourceDefinition of a kind whose objects are in a bucket (a key-value store), with an annotation that names the
/// bucket, and one for a kind without a controller. `None` for a kind whose objects are in Kubernetes.
fn definition_in_bucket(described: &KindDescription) -> Option<Value> {
    let bucket = described.bucket.as_ref()?;
    let mut definition = described.crd.clone()?;
    definition["kind"] = json!("CustomResourceDefinition");
    definition["metadata"]["annotations"][BUCKET_ANNOTATION] = json!(bucket.name);
    if described.only_defined {
        definition["metadata"]["annotations"][UNCONTROLLED_ANNOTATION] = json!("true");
    }
    Some(definition)
}

/// Runs an operator, for one namespace or for all if `namespace` is `None`, until the future is dropped. The future ends with the error of
/// the operator as text.
pub(crate) fn run_operator(
    operator: Operator,
    namespace: Option<String>,
    client: kube::Client,
    environment: Environment,
) -> BoxFuture<'static, Result<(), String>> {
    let operator = operator.environment(environment);
    let options = namespace.into_iter().fold(RunOptions::default(), RunOptions::namespace);
    async move {
        // The operator gets no shutdown signal.
        let never = std::future::pending::<()>();
        operator.run_with(client, options, never).await.map_err(|error| error.to_string())
    }
    .boxed()
}

/// Returns the namespace that an operator watches; `None` if it watches all, or if it is invalid.
pub(crate) fn watched_namespace(operator: &Operator) -> Option<String> {
    let project = operator.project().ok()?;
    project.namespaced.then_some(project.namespace)
}

/// Parses the YAML documents of a generated manifest.
fn documents(yaml: &str) -> Result<Vec<Value>, String> {
    serde_saphyr::from_multiple(yaml).map_err(|error| format!("failed to parse a generated manifest: {error}"))
}
