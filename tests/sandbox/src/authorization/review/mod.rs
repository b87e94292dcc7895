//! Reviews of access and identity: SubjectAccessReview, SelfSubjectRulesReview, TokenReview and their kin.

pub(crate) use handler::answer;

mod access;
mod handler;
mod rules;
mod user;
