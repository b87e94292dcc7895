//! Calls the closures of the attributes `when`, `each` and `key`, for the code that `#[derive(Provisioner)]` generates.

use crate::{context::Context, managed::Owner, shape::Provisioner};

/// Returns the argument for the closures of `when` and `each`: the object, or the item if the group is itself below an `each`.
pub fn subject<'a, O: Owner, P: Provisioner>(cx: &Context<'a, O, P>) -> &'a O::Subject {
    cx.subject()
}

// The closures of attributes are called through these functions, whose signatures give the closures the types of their arguments
// and let their results borrow from the arguments. The number in the name is the number of arguments.

/// Calls the closure of an attribute with one argument. The signature tells the compiler the types of the closure's parameters, which the
/// user does not write.
pub fn call1<'a, A, R>(a: &'a A, closure: impl FnOnce(&'a A) -> R) -> R {
    closure(a)
}

/// Calls the closure of an attribute with two arguments. The signature tells the compiler the types of the closure's parameters, which the
/// user does not write.
pub fn call2<'a, A, B, R>(a: &'a A, b: &'a B, closure: impl FnOnce(&'a A, &'a B) -> R) -> R {
    closure(a, b)
}

/// Calls the closure of an attribute with three arguments. The signature tells the compiler the types of the closure's parameters, which
/// the user does not write.
pub fn call3<'a, A, B, C, R>(a: &'a A, b: &'a B, c: &'a C, closure: impl FnOnce(&'a A, &'a B, &'a C) -> R) -> R {
    closure(a, b, c)
}

/// Calls the closure of an attribute with four arguments. The signature tells the compiler the types of the closure's parameters, which the
/// user does not write.
pub fn call4<'a, A, B, C, D, R>(
    a: &'a A,
    b: &'a B,
    c: &'a C,
    d: &'a D,
    closure: impl FnOnce(&'a A, &'a B, &'a C, &'a D) -> R,
) -> R {
    closure(a, b, c, d)
}
