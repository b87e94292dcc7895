//! Reports problems of the run without faults: the operator writes no objects, conditions are unmet, or an `observedGeneration` is not
//! current.

use super::baseline::Baseline;
use crate::{
    check::Check,
    object::{conditions, is_not_ready, is_observed, text},
    report::Finding,
    schedule::Schedule,
    target::Target,
};

/// Returns the findings about the undisturbed run: a program that writes nothing, samples that do not become ready, and samples whose
/// status has an `observedGeneration` other than their generation.
pub(crate) fn convergence(target: &Target, baseline: &Baseline) -> Vec<Finding> {
    let finding = |problem: String, hint: &str| Finding {
        check: Check::Convergence,
        problem,
        hint: hint.to_owned(),
        schedule: Schedule::undisturbed(1).to_string(),
        difference: Vec::new(),
        timeline: baseline.timeline.clone(),
    };
    let mut findings = Vec::new();
    if baseline.after_create.desired(&target.name).objects.is_empty() {
        findings.push(finding(
            format!("{} does nothing for its samples: it is not the field manager of any object", target.name),
            "write with field managers that start with its name, and check that it watches the kinds of the samples",
        ));
    }
    for sample in &target.manifests.samples {
        let Some(object) = baseline.after_create.find(sample) else { continue };
        let label = format!("{} {}", text(object, "/kind"), text(object, "/metadata/name"));
        for condition in conditions(object).filter(|condition| is_not_ready(condition)) {
            let [type_, reason, message] = ["/type", "/reason", "/message"].map(|at| text(condition, at));
            findings.push(finding(
                format!("{label} does not become {type_}: {reason}: {message}"),
                "use a sample that can become ready, or fix the cause in the condition",
            ));
        }
        if is_observed(object) == Some(false) {
            let (observed, generation) = (&object["status"]["observedGeneration"], &object["metadata"]["generation"]);
            findings.push(finding(
                format!("{label} has observedGeneration {observed}, but its generation is {generation}"),
                "write observedGeneration from the object that the pass reconciled",
            ));
        }
    }
    findings
}
