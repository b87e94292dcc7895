//! Calls the functions of users that convert fields between versions of a kind or return defaults. A panic in a function is caught and
//! affects only the fields of this function.

use serde_json::Value;
use std::panic::catch_unwind;

/// Converts the values of fields. The result has a value for each field of the other version; `None` leaves it out.
///
/// # Errors
/// The text says why these values have no counterpart.
pub type ConvertFields = fn(&[Option<Value>]) -> Result<Vec<Option<Value>>, String>;

/// Calls a function.
pub(super) fn call(function: ConvertFields, values: &[Option<Value>]) -> Result<Vec<Option<Value>>, String> {
    catch_unwind(|| function(values)).unwrap_or_else(|_| Err("the function of the conversion panicked".to_owned()))
}

/// Returns the value of a default; none if the expression of the user panics.
pub(super) fn value_of(default: fn() -> Option<Value>) -> Option<Value> {
    catch_unwind(default).unwrap_or_default()
}
