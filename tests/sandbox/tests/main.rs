//! How the sandbox behaves, room by room; one program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod admission;
mod appliers;
mod ask;
mod asking;
mod authentication;
mod authorization;
mod bootstrap;
mod collector;
mod conversion;
mod deletion;
mod escalation;
mod events;
mod forms;
mod https;
mod impersonation;
mod jobs;
mod kinds;
mod namespaces;
mod noise;
mod objects;
mod patches;
mod persistence;
mod plain;
mod pods;
mod reading;
mod reviews;
mod roles;
mod scene;
mod schemas;
mod serving;
mod strategy;
mod validation;
mod warnings;
mod workloads;
