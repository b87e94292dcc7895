//! `opgen new`: a project from a few answers.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::json;

use crate::{
    args::New,
    ask::{Question, answer},
    checkout::{self, Checkout},
    error::{Error, Explain as _, Result},
    names::{ApiVersion, Group, Kind, Name},
    scaffold::{
        answers::{Answers, Opgen, Scope},
        plan,
        render::{Rendered, render},
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

pub(super) fn run(args: &New, ui: Ui) -> Result<ExitCode> {
    let name = answer(args.name.as_deref(), NAME, Name::check)?;
    let shown = args.path.clone().unwrap_or_else(|| PathBuf::from(name.as_str()));
    let root = checkout::resolved(&shown)?;
    readable("--path", &root)?;
    let answers = Answers {
        name,
        group: answer(args.group.as_deref(), GROUP, Group::check)?,
        kind: answer(args.kind.as_deref(), KIND, Kind::check)?,
        version: ApiVersion::check(&args.api_version)?,
        scope: if args.cluster_scoped { Scope::Cluster } else { Scope::Namespaced },
        opgen: opgen(args.opgen_path.as_deref(), &root)?,
    };
    write::check_free(&root)?;
    toolchain::check()?;
    let rendered = render(&plan::project(answers.scope), &answers)?;
    if args.dry_run {
        list(&rendered, &shown, ui);
    } else {
        let progress = ui.progress("Creating", Some(rendered.files().len() as u64));
        write::write(&rendered, &root, |path| progress.step(&shown.join(path).to_string_lossy()))?;
        drop(progress);
        say_done(&answers, &shown, ui);
    }
    ui.json(&json!({
        "path": root,
        "files": rendered.files().map(|(path, _)| path).collect::<Vec<_>>(),
        "written": !args.dry_run,
    }));
    Ok(ExitCode::SUCCESS)
}

fn opgen(given: Option<&Path>, root: &Path) -> Result<Opgen> {
    let checkout = match given {
        Some(folder) => {
            readable("--opgen-path", folder)?;
            Some(Checkout::given(folder)?)
        }
        None => {
            let here = env::current_dir().or_failed(|| "failed to find the current folder".to_owned())?;
            Checkout::around(&here).or_else(Checkout::built_from)
        }
    };
    Ok(checkout.map_or(Opgen::Released, |checkout| Opgen::InFolder(checkout.from(root))))
}

/// A path that files and messages can hold.
fn readable(option: &str, path: &Path) -> Result<()> {
    if path.to_str().is_some() {
        return Ok(());
    }
    Err(Error::usage(format!("`{option}` is `{}`, which is no UTF-8", path.display()))
        .hint("choose a folder whose whole path is UTF-8; the project's own files have to name it"))
}

fn list(rendered: &Rendered, shown: &Path, ui: Ui) {
    for (path, _) in rendered.files() {
        ui.data(&shown.join(path).to_string_lossy());
    }
    ui.status("Planned", &format!("{} files; nothing was written", rendered.files().len()));
}

fn say_done(answers: &Answers, shown: &Path, ui: Ui) {
    let (kind, group, version) = (answers.kind.as_str(), answers.group.as_str(), answers.version.as_str());
    let name = answers.name.as_str();
    ui.status("Created", &format!("operator `{name}` for `{kind}` of `{group}/{version}`"));
    ui.note(&format!("\n  cd {} && cargo build     builds it and leaves its YAML in deploy/", shown.display()));
}
