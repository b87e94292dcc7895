//! What the closures of `when`, `each` and `key` are asked about.

use crate::{context::Context, managed::Owner, shape::Provisioner};

/// What a predicate or an `each` asks: the object, below `each` the item.
pub fn subject<'a, O: Owner, P: Provisioner>(cx: &Context<'a, O, P>) -> &'a O::Subject {
    cx.subject()
}

// A closure goes through a function that says what it takes, so that its arguments need no types, and what it gives may
// borrow from them. The number is that of the arguments.

/// Asks about one thing.
pub fn ask1<'a, A, R>(a: &'a A, question: impl FnOnce(&'a A) -> R) -> R {
    question(a)
}

/// Asks about two things.
pub fn ask2<'a, A, B, R>(a: &'a A, b: &'a B, question: impl FnOnce(&'a A, &'a B) -> R) -> R {
    question(a, b)
}

/// Asks about three things.
pub fn ask3<'a, A, B, C, R>(a: &'a A, b: &'a B, c: &'a C, question: impl FnOnce(&'a A, &'a B, &'a C) -> R) -> R {
    question(a, b, c)
}

/// Asks about four things.
pub fn ask4<'a, A, B, C, D, R>(
    a: &'a A,
    b: &'a B,
    c: &'a C,
    d: &'a D,
    question: impl FnOnce(&'a A, &'a B, &'a C, &'a D) -> R,
) -> R {
    question(a, b, c, d)
}
