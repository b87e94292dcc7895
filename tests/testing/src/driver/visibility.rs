//! Checks that a driver ignores no setting silently: each option of an application and each field of its source changes the objects that
//! the driver creates, is refused, or is declared as ignored. These are rules 16 to 20 of the [suite](super).

use opgen::testing::ApplicationHarness;

use super::{
    collection::deploying_objects,
    examination::{Accepted, Examination},
    input::{DriverInput, OPTIONS},
    source::{PARTS, SourceBase, change_part, is_version},
};

/// Checks all variants of all options of an application; with `has_pairs` also those of each option together with each other one.
pub(super) fn check_options(
    examination: &mut Examination,
    base: &SourceBase,
    harness: &ApplicationHarness,
    has_pairs: bool,
) {
    let Some(plain) = examination.examine(&base.label, harness, base.application.clone()) else { return };
    for option in OPTIONS {
        let first = check_option(examination, base, harness, &plain, option);
        let Some((first, with_option)) = first.zip(with_option(base, option)).filter(|_| has_pairs) else { continue };
        for other in OPTIONS.into_iter().filter(|other| *other != option) {
            check_option(examination, &with_option, harness, &first, other);
        }
    }
}

/// Returns an application with the first variant of an option.
fn with_option(base: &SourceBase, option: DriverInput) -> Option<SourceBase> {
    let application = option.set(0, base.application.clone())?;
    Some(SourceBase { label: label_with(base, option), application, ..base.clone() })
}

fn label_with(base: &SourceBase, option: DriverInput) -> String {
    let joint = if base.label.contains(" with ") { "and" } else { "with" };
    format!("{} {joint} {option}", base.label)
}

/// Checks all variants of an option of an application. `plain` is the application without the option. Returns the application with the
/// first variant, if the driver accepts it.
fn check_option(
    examination: &mut Examination,
    base: &SourceBase,
    harness: &ApplicationHarness,
    plain: &Accepted,
    option: DriverInput,
) -> Option<Accepted> {
    let label = label_with(base, option);
    let mut first: Option<Accepted> = None;
    for variant in 0.. {
        let Some(application) = option.set(variant, base.application.clone()) else { break };
        let label = if variant == 0 { label.clone() } else { format!("{label} (variant {variant})") };
        let Some(accepted) = examination.examine(&label, harness, application) else { continue };
        check_visible(examination, &label, option, plain, &accepted);
        if let Some(first) = &first {
            check_visible(examination, &label, option, first, &accepted);
        }
        if option.is_changed_in_place() {
            check_identity(examination, &label, plain, &accepted);
        }
        if variant == 0 {
            first = Some(accepted);
        }
    }
    first
}

/// Checks that two applications that differ in an option have different objects. Statement 18.
fn check_visible(examination: &mut Examination, label: &str, option: DriverInput, one: &Accepted, other: &Accepted) {
    if one.spec == other.spec || one.objects != other.objects {
        return;
    }
    examination.found_ignored.insert(option);
    if !examination.declared.contains(&option) {
        let problem = format!("{option} has no effect: the objects are equal without it, or with another value");
        examination.report(18, label, problem);
    }
}

/// Checks that the objects that deploy two states of an application have the same names. Returns whether they have. Statement 16.
fn check_identity(examination: &mut Examination, label: &str, one: &Accepted, other: &Accepted) -> bool {
    let kind = examination.driver.deploying_kind();
    let before = deploying_objects(&one.objects, &one.spec, kind.as_ref());
    let after = deploying_objects(&other.objects, &other.spec, kind.as_ref());
    match before.keys().find(|id| !after.contains_key(*id)) {
        None => true,
        Some(id) => {
            examination.report_object(
                16,
                label,
                id,
                "it has another name after the change, so the application is installed again",
            );
            false
        }
    }
}

/// Checks that each part of the source is visible, and that another version changes the application in place. Statements 17 and 20.
pub(super) fn check_source(examination: &mut Examination, base: &SourceBase, harness: &ApplicationHarness) {
    let Some(plain) = examination.examine(&base.label, harness, base.application.clone()) else { return };
    for part in PARTS {
        let Some(source) = change_part(&plain.spec.source, part) else { continue };
        let label = format!("{} with another {part}", base.label);
        let mut spec = plain.spec.clone();
        spec.source = source;
        let Some(objects) = examination.objects(&label, &spec) else { continue };
        let changed = Accepted { spec, objects };
        if changed.objects == plain.objects {
            examination.report(20, &label, format!("the {part} has no effect: the objects are equal with another one"));
        } else if is_version(part) && check_identity(examination, &label, &plain, &changed) {
            check_version_change(examination, &label, &plain, &changed);
        }
    }
}

/// Checks that another version changes each object that deploys the application: otherwise its readiness would still be that of the
/// version before. Statement 17.
fn check_version_change(examination: &mut Examination, label: &str, one: &Accepted, other: &Accepted) {
    let kind = examination.driver.deploying_kind();
    let before = deploying_objects(&one.objects, &one.spec, kind.as_ref());
    let after = deploying_objects(&other.objects, &other.spec, kind.as_ref());
    let unchanged = before.iter().find(|(id, object)| after.get(*id) == Some(*object));
    if let Some((id, _)) = unchanged {
        examination.report_object(17, label, id, "another version does not change it");
    }
}

/// Checks that each declared option is ignored. Statement 19.
pub(super) fn check_declarations(examination: &mut Examination, ignored: &[(DriverInput, String)]) {
    for (option, reason) in ignored {
        if reason.trim().is_empty() {
            examination.report(19, "", format!("{option} is declared as ignored without a reason"));
        }
        if !examination.found_ignored.contains(option) {
            let problem =
                format!("{option} is declared as ignored, and is in the objects or refused in all applications");
            examination.report(19, "", problem);
        }
    }
}
