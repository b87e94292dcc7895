//! Implements `opgen check`: compares the YAML of a project with an earlier release.

use std::process::ExitCode;

use crate::{
    args::Check,
    check::{
        Release,
        cluster::{CLUSTER, Kubectl},
        comparison::Comparison,
        to_sarif,
    },
    error::{Error, Result, ResultExt as _},
    project::Project,
    report_file,
    ui::Ui,
};

/// Runs `opgen check`: compares the YAML of the project around the path with a release, or with the cluster for `--against cluster`.
/// Fails if a change is breaking or if a stored object would become invalid.
pub(super) fn run(args: &Check, ui: Ui) -> Result<ExitCode> {
    // A path that can't be written fails before the comparison.
    args.sarif.as_deref().map_or(Ok(()), report_file::check)?;
    let project = Project::find_above(&args.path)?;
    let new = Release::current(&project)?;
    let is_cluster = args.against == CLUSTER;
    let kubectl = Kubectl { request_timeout: args.request_timeout };
    let old = if is_cluster { kubectl.installed(&new)? } else { Release::of(&args.against, &project)? };
    let mut comparison = Comparison::new(&old, &new);
    if is_cluster {
        comparison.invalid_objects = kubectl.invalid_objects(&old, &new)?;
    }
    if let Some(file) = &args.sarif {
        let sarif = format!("{:#}\n", to_sarif(&comparison, args.allow_alpha));
        fs_err::write(file, sarif).or_failed(|| format!("failed to write the report to `{}`", file.display()))?;
    }
    print(&comparison, ui);
    let invalid = comparison.invalid_objects.len();
    if invalid > 0 {
        let fields = if invalid == 1 { "field of a stored object is" } else { "fields of stored objects are" };
        return Err(Error::failed(format!("{invalid} {fields} invalid in the new definitions"))
            .hint("change the objects first, or make the change in a new version"));
    }
    let breaking = comparison.definition_changes.iter().filter(|change| change.is_breaking(args.allow_alpha)).count();
    if breaking > 0 {
        let changes = if breaking == 1 { "change is" } else { "changes are" };
        return Err(Error::failed(format!("{breaking} {changes} breaking since `{}`", args.against))
            .hint("keep what clients and stored objects use, and make the change in a new version"));
    }
    ui.status("Checked", &format!("{} is compatible with `{}`", project.generated.display(), args.against));
    Ok(ExitCode::SUCCESS)
}

/// Prints breaking changes, harmless changes, invalid objects, and gained and lost permissions, in this order; or all of them as JSON.
fn print(comparison: &Comparison, ui: Ui) {
    let (breaking, harmless): (Vec<_>, Vec<_>) =
        comparison.definition_changes.iter().partition(|change| change.breaks.any());
    for change in breaking {
        ui.data(&format!("breaking for {}: {}", change.breaks, change.text()));
    }
    for change in harmless {
        ui.data(&format!("harmless: {}", change.text()));
    }
    for invalid in &comparison.invalid_objects {
        ui.data(&format!("invalid: {invalid}"));
    }
    for role in &comparison.role_changes {
        role.gained.iter().for_each(|permission| ui.data(&format!("{} gains: {permission}", role.role)));
        role.lost.iter().for_each(|permission| ui.data(&format!("{} loses: {permission}", role.role)));
    }
    ui.json(&comparison.to_json());
}
