//! Checks that a driver ignores no setting silently: each option of an application and each field of its source changes the objects that
//! the driver creates, is refused, or is declared as ignored. These are rules 16 to 20 of the [suite](super).

use opgen::testing::ApplicationHarness;

use super::{
    collection::deploying_objects,
    examination::{Accepted, Examination},
    input::{DriverInput, OPTIONS},
    source::{PARTS, SourceBase, change_part, is_version},
};

/// Checks that the driver ignores no option of an application silently: each option with all of its values. With `has_pairs`, also checks
/// each option with all of its values on an application that has another option as well.
pub(super) fn check_options(
    examination: &mut Examination,
    base: &SourceBase,
    harness: &ApplicationHarness,
    has_pairs: bool,
) {
    let Some(plain) = examination.examine(&base.label, harness, base.application.clone()) else { return };
    for option in OPTIONS {
        let first = check_option(examination, base, harness, &plain, option);
        // `first` is the application with the option, as the base of the pairs.
        let Some((first, with_option)) = first.zip(with_option(base, option)).filter(|_| has_pairs) else { continue };
        for other in OPTIONS.into_iter().filter(|other| *other != option) {
            check_option(examination, &with_option, harness, &first, other);
        }
    }
}

/// Returns an application with the first value of an option, and a label that names the option.
fn with_option(base: &SourceBase, option: DriverInput) -> Option<SourceBase> {
    let application = option.set(0, base.application.clone())?;
    Some(SourceBase { label: label_with(base, option), application, ..base.clone() })
}

fn label_with(base: &SourceBase, option: DriverInput) -> String {
    let joint = if base.label.contains(" with ") { "and" } else { "with" };
    format!("{} {joint} {option}", base.label)
}

/// Checks all values, called variants, of an option of an application: each must lead to other objects than `plain`, the application
/// without the option, and than the first value. Returns the application with the first value, if the driver accepts it.
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
        // A change of such an option must keep the name of the object that deploys the application.
        if option.is_changed_in_place() {
            check_identity(examination, &label, plain, &accepted);
        }
        if variant == 0 {
            first = Some(accepted);
        }
    }
    first
}

/// Checks that an option changes the objects: two applications that differ in it must have different objects, unless the option is declared
/// as ignored. Notes an option without effect. Statement 18.
fn check_visible(examination: &mut Examination, label: &str, option: DriverInput, one: &Accepted, other: &Accepted) {
    // With equal specs, the driver can't see the option.
    if one.spec == other.spec || one.objects != other.objects {
        return;
    }
    examination.found_ignored.insert(option);
    if !examination.declared.contains(&option) {
        let problem = format!("{option} has no effect: the objects are equal without it, or with another value");
        examination.report(18, label, problem);
    }
}

/// Checks that the objects from which the CD system deploys an application keep their names when the application changes from `one` to
/// `other`. Returns whether they do. Statement 16.
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

/// Checks that a change of each part of the source, such as its path, changes the objects, and that another version or revision changes the
/// deployed application in place. Statements 17 and 20.
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

/// Checks that each option that is declared as ignored has a reason, and that the driver was found to ignore it. Statement 19.
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
