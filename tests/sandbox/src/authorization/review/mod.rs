//! Handles reviews of access and identity: SubjectAccessReview, SelfSubjectRulesReview, TokenReview and related kinds.

pub(crate) use handler::answer;

mod access;
mod handler;
mod rules;
mod user;
