//! Tests the generated charts with Helm and the generated kustomizations with kustomize, on an API server.

mod accepted;
mod certificate;
mod options;
mod release;
mod rendered;

use libtest_mimic::Trial;
use opgen_tests::case_with_tools;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_with_tools("charts_have_no_findings_and_refuse_wrong_values", rendered::values_are_checked),
        case_with_tools("a_release_runs_the_pod_of_the_plain_manifests", rendered::pods_are_equal),
        case_with_tools("every_option_of_an_operator_is_a_value_of_its_chart", options::all_reach_the_operator),
        case_with_tools("a_chart_and_an_overlay_use_cert_manager_alike", certificate::chart_and_overlay),
        case_with_tools("the_api_server_accepts_charts_and_kustomizations", accepted::dry_run),
        case_with_tools("an_upgrade_of_a_release_changes_its_definitions", release::upgrade),
        case_with_tools("releases_of_one_chart_are_independent", release::side_by_side),
    ]
}
