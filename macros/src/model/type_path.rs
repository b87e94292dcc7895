//! Reads type paths: the last segment, its type arguments, and the case of its first letter.

use syn::{GenericArgument, Path, PathArguments, PathSegment, Type};

/// Returns the last segment of a path type: `Option<bool>` of `::core::option::Option<bool>`. Returns `None` for types that are no path,
/// such as tuples, and for `<T as Trait>::Type`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// Returns the types between the angle brackets of a path segment, without lifetimes and constants: `[K, V]` for `Map<'a, K, V>`.
pub(crate) fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Returns whether the last segment starts with a capital letter, as types do. Other paths are resource names (`secrets`) or
/// modules.
pub(crate) fn starts_upper(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}
