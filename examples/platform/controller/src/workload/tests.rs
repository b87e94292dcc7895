//! Tests the build functions of the tree.

use super::*;
use crate::sample;

#[test]
fn the_replicas_get_what_the_tier_has() {
    let (workload, tier) = (sample::workload(), sample::tier().spec);
    let spec = Backend::deployment(&workload, &tier).spec.unwrap_or_default();
    assert_eq!(spec.replicas, Some(workload.spec.replicas));
    let resources = spec.template.spec.unwrap_or_default().containers.remove(0).resources.unwrap_or_default();
    let requests = resources.requests.unwrap_or_default();
    assert_eq!(requests.get("cpu"), Some(&Quantity(tier.cpu.clone())));
    assert_eq!(requests.get("memory"), resources.limits.unwrap_or_default().get("memory"));
    let larger = TierSpec { cpu: "2".to_owned(), ..tier };
    assert_ne!(Backend::deployment(&workload, &larger).spec.unwrap_or_default().template, spec_of(&workload));
}

/// Returns the template of the Pods in the tier of the sample.
fn spec_of(workload: &Workload) -> PodTemplateSpec {
    Backend::deployment(workload, &sample::tier().spec).spec.unwrap_or_default().template
}

#[test]
fn the_service_finds_the_pods_of_the_deployment() {
    let workload = sample::workload();
    let selector = Backend::service(&workload).spec.unwrap_or_default().selector;
    assert_eq!(selector, spec_of(&workload).metadata.unwrap_or_default().labels);
}

#[test]
fn the_route_leads_to_the_service_while_the_workload_has_a_host() {
    let mut workload = sample::workload();
    let mut service = Backend::service(&workload);
    service.metadata.name = Some("books-http".to_owned());
    let route = WorkloadTree::route(&workload, &service).map(|route| route.spec);
    let route = route.map(|route| (route.host, route.service, route.port));
    assert_eq!(route, Some(("books.example.com".to_owned(), "books-http".to_owned(), PORT)));
    workload.spec.host = None;
    assert!(WorkloadTree::route(&workload, &service).is_none());
}
