//! Defines the command line for clap: verbs, arguments and their help texts.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Kubernetes operators in Rust, generated from annotated structs.
///
/// `opgen new` writes a project: the types of a kind, the tree of what it is made of, and the binary that runs it.
/// `opgen generate` writes the YAML that follows from them. Everything else is asked of the project's own operator.
///
/// Data goes to stdout, everything else to stderr. The exit code is 0 for done, 1 for failed (or drift found by
/// `--check`) and 2 for a command that can't be meant. NO_COLOR is honoured.
#[derive(Debug, Parser)]
#[command(name = "opgen", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Start with: opgen new demo --group demo.example.com --kind Widget")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// What stdout carries; mermaid and svg are for trees
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// For programs: one JSON document, or one a line
    Json,
    /// A flowchart, for `tree`
    Mermaid,
    /// A drawing that needs nothing else, for `tree`
    Svg,
}

impl OutputFormat {
    /// The value of `--output`.
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
    Tree(Tree),
    #[command(subcommand)]
    Rbac(Rbac),
    /// Say why an object is not ready, or not gone: down to the cause
    ///
    /// Walks its conditions, what it names and what names it, what it is made of, and who holds it by finalizers, in the
    /// cluster of your kubeconfig and with your rights.
    ///
    /// Runs `<operator> why` of the project around the current folder.
    #[command(after_help = "Example: opgen why widget/example -n default")]
    Why(ObjectArgs),
    /// Ask for a pass over an object, now
    ///
    /// Sets its annotation `opgen.dev/reconcile` to the time. The running operator passes over it at once, also if it had
    /// been parked; what is as wanted is not written again.
    ///
    /// Runs `<operator> reconcile` of the project around the current folder.
    #[command(after_help = "Example: opgen reconcile widget/example -n default")]
    Reconcile(ObjectArgs),
    Uninstall(Uninstall),
    Dev(Dev),
    Sandbox(Sandbox),
    Completions(Completions),
}

/// Write a new operator project
///
/// The project is a workspace of three packages: `api` (the types of the kind), `controller` (the tree of what an
/// object is made of) and `operator` (the binary). `cargo build` there leaves the YAML in `deploy/`; `opgen.toml`
/// keeps every answer given here.
///
/// On a terminal, what is missing is asked for. Elsewhere it is an error. All files are made in memory first: whatever
/// goes wrong, nothing is half written, and nothing that exists is overwritten.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen new demo --group demo.example.com --kind Widget")]
pub(crate) struct New {
    /// Name of the operator and its packages: lower case letters, digits and dashes
    pub(crate) name: Option<String>,

    /// API group of the kind: a domain that is yours, for example `demo.example.com`
    #[arg(long)]
    pub(crate) group: Option<String>,

    /// The kind in PascalCase and singular, for example `Widget`
    #[arg(long)]
    pub(crate) kind: Option<String>,

    /// Version of the API, for example `v1alpha1` or `v1`
    #[arg(long, value_name = "VERSION", default_value = "v1alpha1")]
    pub(crate) api_version: String,

    /// Make objects of the kind belong to the cluster, not to a namespace
    #[arg(long)]
    pub(crate) cluster_scoped: bool,

    /// Folder of the project; it must not exist, or be empty [default: ./NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,

    /// Checkout of opgen to build against, in place of the released crate
    ///
    /// Inside a checkout, and for an `opgen` that was built from one, that checkout is the default.
    #[arg(long, value_name = "CHECKOUT", env = "OPGEN_PATH")]
    pub(crate) opgen_path: Option<PathBuf>,

    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Write the YAML of a project, or check that it is up to date
///
/// Builds a small program on the project's controller package, in the project's own target folder and with its lock
/// file, and runs it. `cargo build` leaves the same bytes; this is quicker, and does nothing at all when nothing has
/// changed since the last time.
///
/// The definitions and samples are first created in a sandbox, which refuses what an API server refuses: rules that are
/// no CEL, defaults that break their own schema, selectable fields that don't exist. Nothing is written then.
#[derive(Debug, Args)]
#[command(after_help = "In CI: opgen generate --check")]
pub(crate) struct Generate {
    /// A folder inside the project
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Write nothing; print a diff and exit with 1 if a file is missing, stale or different
    #[arg(long)]
    pub(crate) check: bool,

    /// Write nothing; print what would change, and exit with 0
    #[arg(long, conflicts_with = "check")]
    pub(crate) dry_run: bool,
}

/// Show what the operator's objects are made of, or how one of them fares
///
/// The tree of each kind: its nodes with what they are made of, in which order, on which terms, and what they may do.
/// With KIND/NAME the tree of that object in the cluster of your kubeconfig: for each node the objects that are there,
/// whether they are ready, and what is missing. It is read with your rights.
///
/// Runs `<operator> tree` of the project around the current folder.
#[derive(Debug, Args)]
#[command(
    after_help = "For a slide: opgen tree --output svg > tree.svg\nAn object: opgen tree widget/example -n default"
)]
pub(crate) struct Tree {
    /// A kind, to see its tree alone; or an object as KIND/NAME
    #[arg(value_name = "KIND[/NAME]")]
    pub(crate) target: Option<String>,

    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,

    /// The same as `--output mermaid`
    #[arg(long)]
    pub(crate) mermaid: bool,

    /// Passed on to the operator as it is
    #[arg(last = true, hide = true)]
    pub(crate) args: Vec<OsString>,
}

/// Explain the operator's rights, or compare them with what it did
///
/// Runs `<operator> rbac` of the project around the current folder.
#[derive(Debug, Subcommand)]
pub(crate) enum Rbac {
    /// Say for every rule of the role who asks for it: the loop, or a line of code
    Explain,
    Verify(Verify),
}

/// Compare what the operator did with what its role grants, both ways
///
/// Reads an audit log of the API server. What was refused, or was allowed by another role, makes the generated role too
/// small; a right that was never used makes it too large, or the log too short. The exit code is 1 if they differ.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen rbac verify /var/log/kubernetes/audit.log")]
pub(crate) struct Verify {
    /// The log, as JSON lines; `-` for standard input
    #[arg(value_name = "AUDIT.log")]
    pub(crate) log: PathBuf,

    /// The user whose requests are looked at; by default the operator's ServiceAccount
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

/// Take the operator out of the cluster, and leave nothing of it behind
///
/// Runs `<operator> uninstall` of the project around the current folder: the finalizer policy goes first, then the
/// finalizers, then what the operator was installed with.
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// Passed on to the operator; `opgen uninstall -- --help` lists what it takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
}

/// Run the operator of a project while you write it
///
/// Builds the operator, starts a sandbox (see `opgen sandbox`), installs the kinds and the role there, runs the operator
/// with that role, applies the samples, and shows how they fare. After every change of the sources, those of packages it
/// depends on by path among them, the operator is built and started again; as long as it doesn't compile, the one before
/// goes on.
///
/// When it is ready it prints `export KUBECONFIG=PATH`, with all rights, for a second terminal. Ctrl-C ends everything and
/// leaves nothing behind.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen dev examples/webapp")]
pub(crate) struct Dev {
    /// A folder inside the project
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Take the cluster of your kubeconfig in place of a sandbox
    ///
    /// The operator runs here, with your rights. Its kinds and the samples are applied there, and stay when it ends.
    #[arg(long)]
    pub(crate) cluster: bool,

    /// The port of the sandbox on the loopback; 0 is any that is free
    #[arg(long, default_value_t = 0, conflicts_with = "cluster")]
    pub(crate) port: u16,

    /// Write a page of what the operator asked for to this file at the end: HTML that needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "cluster")]
    pub(crate) report: Option<PathBuf>,

    /// What the operator logs, by module and level, where RUST_LOG doesn't say
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    pub(crate) log: String,
}

/// Run an API server on this machine, for trying things out
///
/// It answers as Kubernetes does, RBAC included, and needs nothing else: no Docker, no cluster, no Go. When it is ready it
/// prints `export KUBECONFIG=PATH`. Ctrl-C ends it, and everything is gone unless `--data` names a file.
#[derive(Debug, Args)]
#[command(after_help = "Example: opgen sandbox --data cluster.db")]
pub(crate) struct Sandbox {
    /// The port on the loopback; 0 is any that is free
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,

    /// Keep everything in this file, and begin with what is there
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,

    /// Where the file `kubeconfig` is written; by default a folder that goes with the server
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Leave Deployments, Jobs and Pods as they are, instead of bringing them to life
    #[arg(long)]
    pub(crate) no_workloads: bool,

    /// Ask for the right to update an owner's finalizers where `blockOwnerDeletion` is set, as some clusters do
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
