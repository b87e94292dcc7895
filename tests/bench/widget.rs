//! The operator of `Widget` as a program, to be run beside the same operator of other frameworks.
#![allow(unreachable_pub, reason = "a program has no outside")]

mod kind;

opgen::operator!(kind::operator());
