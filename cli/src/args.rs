//! Defines the command line of `opgen` for clap: subcommands, arguments and help texts.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Kubernetes operators in Rust, generated from annotated structs.
///
/// `opgen new` writes a project: the types of a kind, the tree of its child objects, and the operator's binary. `opgen
/// generate` writes the YAML that follows from them. All other verbs run the project's own operator or a sandbox.
///
/// Data goes to stdout, everything else to stderr. The exit code is 0 for success, 1 for a failure (or drift found by
/// `--check`) and 2 for invalid arguments. NO_COLOR is respected.
#[derive(Debug, Parser)]
#[command(name = "opgen", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Start with: opgen new demo --group demo.example.com --kind Widget")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Format of the data on stdout; mermaid and svg are for trees
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text
    Text,
    /// JSON: one document, or one document per line
    Json,
    /// A mermaid flowchart, for `tree`
    Mermaid,
    /// A self-contained SVG image, for `tree`
    Svg,
}

impl OutputFormat {
    /// Returns the value of `--output` that selects this format.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Mermaid => "mermaid",
            Self::Svg => "svg",
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(New),
    Generate(Generate),
    Check(Check),
    Tree(Tree),
    #[command(subcommand)]
    Rbac(Rbac),
    /// Explain why an object is not ready or not deleted
    ///
    /// Follows its conditions, the objects that it references and those that reference it, its child objects, and the
    /// owners of its finalizers, in the cluster of your kubeconfig and with your rights.
    ///
    /// Runs `<operator> why` of the project around the current folder.
    #[command(after_help = "Example: opgen why widget/example -n default")]
    Why(ObjectArgs),
    /// Request a reconcile of an object now
    ///
    /// Sets its annotation `opgen.dev/reconcile` to the current time. The running operator reconciles it at once, even
    /// if it was parked; unchanged objects are not written again.
    ///
    /// Runs `<operator> reconcile` of the project around the current folder.
    #[command(after_help = "Example: opgen reconcile widget/example -n default")]
    Reconcile(ObjectArgs),
    Profile(Profile),
    Uninstall(Uninstall),
    Dev(Dev),
    Sandbox(Sandbox),
    Completions(Completions),
}

/// Where the objects of a kind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrimaryStore {
    /// In Kubernetes, as custom resources
    Kubernetes,
    /// In NATS, as entries of a key-value bucket
    Nats,
}

/// Write a new operator project
///
/// The project is a workspace of three packages: `api` (the types of the kind), `controller` (the tree of an object's
/// child objects) and `operator` (the binary). `cargo build` there writes the YAML to `deploy/`; `opgen.toml` stores
/// all answers.
///
/// On a terminal, `opgen new` prompts for missing arguments. Elsewhere a missing argument is an error. All files are
/// rendered in memory first: a failure leaves no partial project, and existing files are never overwritten.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen new demo --group demo.example.com --kind Widget")]
pub(crate) struct New {
    /// Name of the operator and its packages: lower case letters, digits and dashes
    pub(crate) name: Option<String>,

    /// API group of the kind: a domain that you own, for example `demo.example.com`
    #[arg(long)]
    pub(crate) group: Option<String>,

    /// The kind in PascalCase and singular, for example `Widget`
    #[arg(long)]
    pub(crate) kind: Option<String>,

    /// Version of the API, for example `v1alpha1` or `v1`
    #[arg(long, value_name = "VERSION", default_value = "v1alpha1")]
    pub(crate) api_version: String,

    /// Make the kind cluster-scoped instead of namespaced
    #[arg(long)]
    pub(crate) cluster_scoped: bool,

    /// Where the objects of the kind are: in Kubernetes, or as entries of a bucket in NATS
    #[arg(long, value_enum, default_value_t = PrimaryStore::Kubernetes)]
    pub(crate) primary: PrimaryStore,

    /// Run the operator without Kubernetes: its child objects are in buckets, too. It needs `--primary nats`
    #[arg(long)]
    pub(crate) without_kubernetes: bool,

    /// Folder of the project; it must not exist, or be empty [default: ./NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,

    /// Checkout of opgen to build against, instead of the released crate
    ///
    /// Inside a checkout, and for an `opgen` that was built from one, that checkout is the default.
    #[arg(long, value_name = "CHECKOUT", env = "OPGEN_PATH")]
    pub(crate) opgen_path: Option<PathBuf>,

    /// Show the files to write, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Write the YAML of a project, or check that it is up to date
///
/// Builds a small program on the project's controller package, in the project's own target folder and with its lock
/// file, and runs it. `cargo build` writes the same bytes; this is quicker, and does nothing at all if nothing has
/// changed since the last time.
///
/// First creates the definitions and samples in a sandbox, which refuses the same errors as an API server: rules that
/// are not valid CEL, defaults that violate their own schema, selectable fields that don't exist. After a refusal
/// nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "In CI: opgen generate --check")]
pub(crate) struct Generate {
    /// A folder inside the project
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Write nothing; print a diff and exit with 1 if a file is missing, stale or different
    #[arg(long)]
    pub(crate) check: bool,

    /// Write nothing; print the changes, and exit with 0
    #[arg(long, conflicts_with = "check")]
    pub(crate) dry_run: bool,
}

/// Compare the YAML of a project with an earlier release, and find breaking changes
///
/// Compares the definitions field by field, by the rules of Kubernetes for changes of an API. A change is breaking for
/// stored objects (they become invalid, lose content or mean something else), for clients (a request that succeeded
/// can fail, or a response has what a client doesn't know), or for both. Also shows which permissions the roles gain
/// and lose.
///
/// The exit code is 1 if a change is breaking.
#[derive(Debug, Args)]
#[command(after_help = "Since the last release: opgen check --against v1.2.0")]
pub(crate) struct Check {
    /// A folder inside the project
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// The release to compare with: a file, a folder, a revision of git that has the generated YAML, or `cluster`: what is installed in
    /// the cluster of the kubeconfig, whose stored objects are checked, too
    #[arg(long, value_name = "RELEASE")]
    pub(crate) against: String,

    /// Don't fail for changes of alpha versions, which Kubernetes allows to change in any way
    #[arg(long)]
    pub(crate) allow_alpha: bool,

    /// Write breaking changes and new permissions to this file, as SARIF for code reviews
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,

    /// Timeout of each request to the API server, in seconds, with `--against cluster`
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) request_timeout: u64,
}

/// Show the tree of the operator's kinds, or the state of one object
///
/// The tree of each kind: its nodes with their child objects, their order, their conditions, and their rights. With
/// KIND/NAME the tree of that object in the cluster of your kubeconfig: for each node the existing objects, whether
/// they are ready, and which ones are missing. It is read with your rights.
///
/// Runs `<operator> tree` of the project around the current folder.
#[derive(Debug, Args)]
#[command(
    after_help = "As an image: opgen tree --output svg > tree.svg\nAn object: opgen tree widget/example -n default"
)]
pub(crate) struct Tree {
    /// A kind, to show only its tree; or an object as KIND/NAME
    #[arg(value_name = "KIND[/NAME]")]
    pub(crate) target: Option<String>,

    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,

    /// The same as `--output mermaid`
    #[arg(long)]
    pub(crate) mermaid: bool,

    /// Arguments for the operator, passed on unchanged
    #[arg(last = true, hide = true)]
    pub(crate) args: Vec<OsString>,
}

/// Explain the operator's rights, or compare them with its requests
///
/// Runs `<operator> rbac` of the project around the current folder.
#[derive(Debug, Subcommand)]
pub(crate) enum Rbac {
    /// Show the origin of every rule of the role: the reconcile loop, or a line of code
    Explain,
    Verify(Verify),
}

/// Compare the operator's requests with the rights of its role, in both directions
///
/// Reads an audit log of the API server. A request that was refused, or that another role allowed, means that the
/// generated role lacks a right; an unused right means that the role is too large, or the log too short. The exit code
/// is 1 if they differ.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen rbac verify /var/log/kubernetes/audit.log")]
pub(crate) struct Verify {
    /// The log, as JSON lines; `-` for standard input
    #[arg(value_name = "AUDIT.log")]
    pub(crate) log: PathBuf,

    /// The user whose requests are compared; by default the operator's ServiceAccount
    #[arg(long)]
    pub(crate) user: Option<String>,
}

/// An object of a kind that the operator controls.
#[derive(Debug, Args)]
pub(crate) struct ObjectArgs {
    /// The object
    #[arg(value_name = "KIND/NAME")]
    pub(crate) object: String,

    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
}

/// Fetch a CPU profile of the running operator, and open it
///
/// Takes a profile of the leader for 30 seconds through a forwarded port, writes it to a file, and opens it with pprof
/// if standard output is a terminal. With `--memory` it prints memory statistics instead. The operator needs the option
/// `--profiling` and the feature `profiling`.
///
/// Runs `<operator> profile` of the project around the current folder.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen profile --seconds 10")]
pub(crate) struct Profile {
    /// Arguments for the operator; `opgen profile -- --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
}

/// Uninstall the operator and delete everything it created
///
/// Runs `<operator> uninstall` of the project around the current folder: it removes the finalizer policy first, then
/// the finalizers, then the manifests of the operator.
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// Arguments for the operator; `opgen uninstall -- --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
}

/// Run the operator of a project during development
///
/// Builds the operator, starts a sandbox (see `opgen sandbox`), installs the kinds and the role there, runs the
/// operator with that role, applies the samples, and shows their state. After every change of the sources, including
/// those of its path dependencies, it builds and restarts the operator; as long as the code doesn't compile, the
/// previous one keeps running.
///
/// When it is ready it prints `export KUBECONFIG=PATH`, with all rights, for a second terminal. Ctrl-C stops everything
/// and removes all temporary files.
///
/// If a kind is in a bucket of NATS, it also starts `nats-server`, or uses the server that NATS_URL names, and prints
/// `export NATS_URL=URL`, for the command `nats`.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen dev examples/webapp")]
pub(crate) struct Dev {
    /// A folder inside the project
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Use the cluster of your kubeconfig instead of a sandbox
    ///
    /// The operator runs locally, with your rights. Its kinds and the samples are applied to the cluster, and stay
    /// there at the end.
    #[arg(long)]
    pub(crate) cluster: bool,

    /// The port of the sandbox on the loopback; 0 is any free port
    #[arg(long, default_value_t = 0, conflicts_with = "cluster")]
    pub(crate) port: u16,

    /// Write a report of the operator's requests to this file at the end: HTML that needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "cluster")]
    pub(crate) report: Option<PathBuf>,

    /// The operator's log filter, by module and level; RUST_LOG overrides it
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    pub(crate) log: String,
}

/// Run an API server on this machine, for experiments
///
/// It behaves like Kubernetes, RBAC included, and needs nothing else: no Docker, no cluster, no Go. When it is ready it
/// prints `export KUBECONFIG=PATH`. Ctrl-C stops it; everything is lost unless `--data` names a file.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen sandbox --data cluster.db")]
pub(crate) struct Sandbox {
    /// The port on the loopback; 0 is any free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,

    /// Store everything in this file, and start with its contents
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,

    /// The folder for the file `kubeconfig`; by default a temporary folder that is removed with the server
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Run no workload controllers and no kubelet: Deployments, Jobs and Pods stay as they are
    #[arg(long)]
    pub(crate) no_workloads: bool,

    /// Require the right to update an owner's finalizers to set `blockOwnerDeletion`, as some clusters do
    #[arg(long)]
    pub(crate) owner_permissions: bool,
}

/// Print the completions of a shell
///
/// For bash: opgen completions bash > ~/.local/share/bash-completion/completions/opgen
#[derive(Debug, Args)]
pub(crate) struct Completions {
    pub(crate) shell: Shell,
}
