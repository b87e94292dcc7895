//! Implements `opgen new`: scaffolds a project from arguments and prompts.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::json;

use crate::{
    args::{New, PrimaryStore},
    checkout::{self, Checkout},
    error::{Error, Result, ResultExt as _},
    names::{ApiVersion, Group, Kind, Name},
    prompt::{Question, answer},
    scaffold::{
        answers::{Answers, ObjectStorage, OpgenSource, ResourceScope},
        plan,
        render::{RenderedProject, render},
        write,
    },
    toolchain,
    ui::Ui,
};

const EXAMPLE: &str = "opgen new demo --group demo.example.com --kind Widget";
const NAME: Question = Question { text: "Name of the operator, like `demo`", argument: "the name", example: EXAMPLE };
const GROUP: Question =
    Question { text: "API group, like `demo.example.com`", argument: "`--group`", example: EXAMPLE };
const KIND: Question = Question { text: "Kind, like `Widget`", argument: "`--kind`", example: EXAMPLE };

/// Runs `opgen new`: creates a project from the arguments and prompts for missing ones. With `--dry-run` it only prints the paths.
pub(super) fn run(args: &New, ui: Ui) -> Result<ExitCode> {
    let storage = object_storage(args)?;
    let name = answer(args.name.as_deref(), NAME, Name::check)?;
    let folder = args.path.clone().unwrap_or_else(|| PathBuf::from(name.as_str()));
    let root = checkout::canonical_path(&folder)?;
    check_utf8("--path", &root)?;
    let answers = Answers {
        name,
        group: answer(args.group.as_deref(), GROUP, Group::check)?,
        kind: answer(args.kind.as_deref(), KIND, Kind::check)?,
        version: ApiVersion::check(&args.api_version)?,
        scope: if args.cluster_scoped { ResourceScope::Cluster } else { ResourceScope::Namespaced },
        storage,
        opgen: opgen_source(args.opgen_path.as_deref(), &root)?,
    };
    write::check_vacant(&root)?;
    toolchain::check()?;
    let rendered = render(&plan::project(answers.scope, answers.storage), &answers)?;
    if args.dry_run {
        print_files(&rendered, &folder, ui);
    } else {
        let progress = ui.progress("Creating", Some(rendered.files().len() as u64));
        write::write(&rendered, &root, |path| progress.step(&folder.join(path).to_string_lossy()))?;
        drop(progress);
        print_summary(&answers, &folder, ui);
    }
    ui.json(&json!({
        "path": root,
        "files": rendered.files().map(|(path, _)| path).collect::<Vec<_>>(),
        "written": !args.dry_run,
    }));
    Ok(ExitCode::SUCCESS)
}

/// Returns where the objects of the kind and its child objects are stored. Fails for `--without-kubernetes` without `--primary nats`.
fn object_storage(args: &New) -> Result<ObjectStorage> {
    match (args.primary, args.without_kubernetes) {
        (PrimaryStore::Kubernetes, false) => Ok(ObjectStorage::Kubernetes),
        (PrimaryStore::Nats, false) => Ok(ObjectStorage::Nats),
        (PrimaryStore::Nats, true) => Ok(ObjectStorage::NatsOnly),
        (PrimaryStore::Kubernetes, true) => {
            Err(Error::usage("`--without-kubernetes` needs a kind whose objects are not in Kubernetes")
                .hint("add `--primary nats`, or remove `--without-kubernetes`"))
        }
    }
}

/// Returns where the crates of opgen come from: the checkout at `opgen_path`, else a checkout around the current folder, else the checkout
/// that this program was built from, else the released crates. `root` is the folder of the new project.
fn opgen_source(opgen_path: Option<&Path>, root: &Path) -> Result<OpgenSource> {
    let checkout = match opgen_path {
        Some(folder) => {
            check_utf8("--opgen-path", folder)?;
            Some(Checkout::open(folder)?)
        }
        None => {
            let current_folder = env::current_dir().or_failed(|| "failed to find the current folder".to_owned())?;
            Checkout::find_above(&current_folder).or_else(Checkout::of_this_build)
        }
    };
    Ok(checkout.map_or(OpgenSource::Released, |checkout| OpgenSource::Checkout(checkout.path_from(root))))
}

/// Fails if a path is not UTF-8, since files and messages contain it.
fn check_utf8(option: &str, path: &Path) -> Result<()> {
    if path.to_str().is_some() {
        return Ok(());
    }
    Err(Error::usage(format!("`{option}` is `{}`, which is not UTF-8", path.display()))
        .hint("choose a folder with a UTF-8 path; the files of the project contain it"))
}

/// Prints the paths that a dry run would write.
fn print_files(rendered: &RenderedProject, folder: &Path, ui: Ui) {
    for (path, _) in rendered.files() {
        ui.data(&folder.join(path).to_string_lossy());
    }
    ui.status("Planned", &format!("{} files; nothing was written", rendered.files().len()));
}

/// Prints what was created, and how to build it.
fn print_summary(answers: &Answers, folder: &Path, ui: Ui) {
    let (kind, group, version) = (answers.kind.as_str(), answers.group.as_str(), answers.version.as_str());
    let name = answers.name.as_str();
    let bucket = match answers.storage {
        ObjectStorage::Kubernetes => String::new(),
        ObjectStorage::Nats | ObjectStorage::NatsOnly => format!(", in the bucket `{}` of NATS", answers.kind.bucket()),
    };
    ui.status("Created", &format!("operator `{name}` for `{kind}` of `{group}/{version}`{bucket}"));
    ui.note(&format!("\n  cd {} && cargo build     builds it and writes its YAML to deploy/", folder.display()));
}
