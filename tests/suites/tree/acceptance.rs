//! Whole trees of real operators, from their descriptions (unikorn §9).
//!
//! Charts and registrations at other clusters are recorders: what counts is who is asked, when, and who is not. What would be
//! asked over HTTP is in the options of the controller, where a real operator has its client.

mod application_set;
mod cluster_manager;
mod gates;
mod kubernetes_cluster;
mod status;
mod virtual_cluster;
