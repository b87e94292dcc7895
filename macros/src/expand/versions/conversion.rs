//! Expands the conversion of a type from one version to the next.

use super::{
    callee::callee,
    qualified::{Qualify, qualified},
};
use crate::model::versions::{End, Member, Origin, Replacement, VersionedType, VersionsModule};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Meta, Type};

/// Implements `Versioned` for a type in the version with the index `version`: its conversion between the version before and this one, in
/// both directions. Expands to nothing for the oldest version.
pub(super) fn expand_conversion(module: &VersionsModule, versioned: &VersionedType, version: usize) -> TokenStream {
    let (krate, private) = (&module.paths.krate, &module.paths.private);
    let name = versioned.name();
    let Some(old) = version.checked_sub(1) else { return TokenStream::new() };
    let conversion = Conversion { module, versioned, old, new: version };
    let body = if versioned.is_enum() { conversion.of_enum() } else { conversion.of_struct() };
    quote! {
        #[automatically_derived]
        impl #krate::versions::Versioned for #name {
            fn conversion() -> #krate::versions::Conversion {
                #[allow(unused_imports)]
                use #private::versions::Infallible as _;
                #body
            }
        }
    }
}

/// The conversion of a type from the version `old` to the next one.
struct Conversion<'a> {
    module: &'a VersionsModule,
    versioned: &'a VersionedType,
    old: usize,
    new: usize,
}

impl Conversion<'_> {
    /// Returns the conversion of a struct: the fields that change with the version `new`, and the conversions of unchanged fields whose
    /// types have changes of their own.
    fn of_struct(&self) -> TokenStream {
        let krate = &self.module.paths.krate;
        let members = self.versioned.members.iter().filter(|member| !member.hints.skip);
        let (mut changes, mut fields) = (Vec::new(), Vec::new());
        for member in members {
            match self.change_of(member) {
                Some(change) => changes.push(change),
                None if member.is_in(self.old) && member.is_in(self.new) => fields.extend(self.nested(member)),
                None => {}
            }
        }
        let replaced = self.versioned.replacements.iter().filter(|replaced| replaced.version == self.new);
        changes.extend(replaced.map(|replaced| self.replacement(replaced)));
        quote! { #krate::versions::Conversion::of_struct(::core::convert::Into::into([#(#changes),*])) #(#fields)* }
    }

    /// Returns the method call that adds the conversion of a field that both versions have; `None` if the type of the field is the same in
    /// both.
    fn nested(&self, member: &Member) -> Option<TokenStream> {
        let (conversion, keys) = (self.conversion_of(member.type_in(self.new)?)?, &member.hints.list_keys);
        let conversion = some(conversion);
        if member.hints.flatten {
            return Some(quote! { .with_flattened(#conversion) });
        }
        let name = self.versioned.json_name(member, self.new);
        Some(quote! { .with_field(#name, &[#(#keys),*], #conversion) })
    }

    /// Returns the `FieldChange` of a field between the versions `old` and `new`: the field is moved, added, removed, retyped or renamed.
    /// Returns `None` if the field does not change, or if it is part of a replacement, which `of_struct` handles.
    fn change_of(&self, member: &Member) -> Option<TokenStream> {
        let krate = &self.module.paths.krate;
        let (old, new) = (self.old, self.new);
        let change = quote! { #krate::versions::FieldChange };
        let path = |version: usize| {
            let name = self.versioned.json_name(member, version);
            quote! { &[&[#name]] }
        };
        if member.since == new {
            let (path, ty) = (path(new), member.type_in(new)?);
            return match &member.origin {
                Origin::Moved(from) => {
                    let (from, nested) = (self.moved_path(from), self.nested_conversion(ty));
                    Some(quote! { #change::moved(&[&[#(#from),*]], #path, #nested) })
                }
                Origin::Added(default) => {
                    let default = self.default(default.as_deref(), ty, new);
                    Some(quote! { #change::added(#path, #default) })
                }
                Origin::First | Origin::Replacement => None,
            };
        }
        if member.until == new {
            let End::Removed(default) = &member.end else { return None };
            let (path, default) = (path(old), self.default(default.as_deref(), member.type_in(old)?, old));
            return Some(quote! { #change::removed(#path, #default) });
        }
        if !member.is_in(old) || !member.is_in(new) {
            return None;
        }
        if let Some(change) = self.retyped(member) {
            return Some(change);
        }
        let (old_name, new_name) = (self.versioned.json_name(member, old), self.versioned.json_name(member, new));
        if old_name == new_name {
            return None;
        }
        let (old, new, nested) = (path(old), path(new), self.nested_conversion(member.type_in(new)?));
        let moved = quote! { #change::moved(#old, #new, #nested) };
        let keys = &member.hints.list_keys;
        Some(if keys.is_empty() {
            moved
        } else {
            quote! { #moved.with_list_keys(&[#(#keys),*]) }
        })
    }

    /// Returns the `FieldChange` of a field whose type changes with the version `new`; `None` if its type stays. Each direction is
    /// converted by the user's function `up` or `down`, or by `TryFrom` without these functions.
    fn retyped(&self, member: &Member) -> Option<TokenStream> {
        let krate = &self.module.paths.krate;
        let retype = member.retypes.iter().find(|retype| retype.version == self.new)?;
        let (old_type, new_type) = (self.at(self.old, &retype.from), member.type_in(self.new)?.to_token_stream());
        let function = |given: &Option<Expr>, source: &TokenStream, target: &TokenStream| {
            let (sources, targets) = (std::slice::from_ref(source), std::slice::from_ref(target));
            let conversion = || quote! { <#target as ::core::convert::TryFrom<#source>>::try_from };
            let function = given.as_ref().map_or_else(conversion, |given| callee(given, sources));
            self.function(&function, sources, targets)
        };
        let (up, down) = (function(&retype.up, &old_type, &new_type), function(&retype.down, &new_type, &old_type));
        let name = |version: usize| self.versioned.json_name(member, version);
        let (old, new) = (name(self.old), name(self.new));
        Some(quote! { #krate::versions::FieldChange::replaced(&[&[#old]], &[&[#new]], #up, #down) })
    }

    /// Returns an `Option` of a function that returns the default of a field, for objects of a version without the field. `version` is the
    /// index of the version with the field, in which the types in the default are resolved. Expands to `None` without a default.
    fn default(&self, value: Option<&Expr>, ty: &Type, version: usize) -> TokenStream {
        let private = &self.module.paths.private;
        let Some(value) = value else { return quote! { ::core::option::Option::None } };
        let (ty, value) = (self.at(version, ty), self.at(version, value));
        quote! {
            ::core::option::Option::Some(|| {
                let value: #ty = #value;
                #private::versions::write(value).unwrap_or_default()
            })
        }
    }

    /// Returns the `FieldChange` of a change `replaced(from(...), to(...))`: the user's functions `up` and `down` convert the old fields to
    /// the new fields and back.
    fn replacement(&self, replaced: &Replacement) -> TokenStream {
        let krate = &self.module.paths.krate;
        let fields = |members: &[usize], version: usize| -> (Vec<String>, Vec<TokenStream>) {
            let members = members.iter().filter_map(|index| self.versioned.members.get(*index));
            let names_and_types = members.filter_map(|member| {
                let ty = self.at(version, member.type_in(version)?);
                Some((self.versioned.json_name(member, version), ty))
            });
            names_and_types.unzip()
        };
        let (old_names, old_types) = fields(&replaced.from, self.old);
        let (new_names, new_types) = fields(&replaced.to, self.new);
        let up = self.function(&callee(&replaced.up, &old_types), &old_types, &new_types);
        let down = self.function(&callee(&replaced.down, &new_types), &new_types, &old_types);
        quote! {
            #krate::versions::FieldChange::replaced(&[#(&[#old_names]),*], &[#(&[#new_names]),*], #up, #down)
        }
    }

    /// Returns a closure from JSON values to JSON values that calls the user's conversion function: it deserializes one argument for each
    /// of the types `sources`, and serializes the result, which is one value or a tuple of the types `targets`.
    fn function(&self, function: &TokenStream, sources: &[TokenStream], targets: &[TokenStream]) -> TokenStream {
        let private = &self.module.paths.private;
        let reads = sources
            .iter()
            .enumerate()
            .map(|(index, ty)| quote! { #private::versions::read::<#ty>(values.get(#index))? });
        let names = (0..targets.len()).map(|index| Ident::new(&format!("target_{index}"), Span::call_site()));
        let names: Vec<_> = names.collect();
        let pattern = match names.as_slice() {
            [name] => quote! { #name },
            names => quote! { (#(#names),*) },
        };
        quote! {
            |values| {
                let #pattern = #private::versions::Converted(#function(#(#reads),*)).into_result()?;
                ::core::result::Result::Ok(::core::convert::Into::into([
                    #(#private::versions::write::<#targets>(#names)?),*
                ]))
            }
        }
    }

    /// Returns the JSON names on a path of fields such as `network.port`, in the version before (`old`).
    fn moved_path(&self, path: &[Ident]) -> Vec<String> {
        let fields = self.module.fields_on_path(self.versioned, path, self.old);
        fields.iter().map(|(within, field)| within.json_name(field, self.old)).collect()
    }

    /// Returns the conversion function of a type that is, or contains, a type with a history; `None` for other types, which all versions
    /// share. The expansion requires `Versioned` of the type, so that a wrapper whose content can't be converted is a compile error.
    fn conversion_of(&self, ty: &Type) -> Option<TokenStream> {
        let krate = &self.module.paths.krate;
        let has_history = self.module.versioned_type_in(ty).is_some();
        has_history.then(|| quote! { <#ty as #krate::versions::Versioned>::conversion })
    }

    /// Returns the conversion of a type as an `Option`.
    fn nested_conversion(&self, ty: &Type) -> TokenStream {
        self.conversion_of(ty).map_or_else(|| quote! { ::core::option::Option::None }, some)
    }

    /// Returns the conversion of an enum: the variants that are added, removed or renamed with the version `new`, and the conversions of
    /// the contents of variants that both versions have.
    fn of_enum(&self) -> TokenStream {
        let krate = &self.module.paths.krate;
        let tag = self.versioned.hints.tagging.as_ref().and_then(|tag| match tag {
            Meta::NameValue(pair) => Some(&pair.value),
            _ => None,
        });
        let tag = tag.map_or_else(
            || quote! { ::core::option::Option::None },
            |tag| quote! { ::core::option::Option::Some(#tag) },
        );
        let change = quote! { #krate::versions::VariantChange };
        let (mut changes, mut contents) = (Vec::new(), Vec::new());
        for member in &self.versioned.members {
            let name = |version: usize| self.versioned.json_name(member, version);
            match (&member.origin, &member.end) {
                (Origin::Added(Some(value)), _) if member.since == self.new => {
                    let (name, instead) = (name(self.new), self.instead(value, self.old));
                    changes.push(quote! { #change::Added(#name, #instead) });
                }
                (_, End::Removed(Some(value))) if member.until == self.new => {
                    let (name, instead) = (name(self.old), self.instead(value, self.new));
                    changes.push(quote! { #change::Removed(#name, #instead) });
                }
                _ if member.is_in(self.old) && member.is_in(self.new) => {
                    let (old, new) = (name(self.old), name(self.new));
                    changes.extend((old != new).then(|| quote! { #change::Renamed(#old, #new) }));
                    let conversion = member.ty.as_ref().and_then(|ty| self.conversion_of(ty)).map(some);
                    contents.extend(conversion.map(|conversion| quote! { .with_variant(#new, #conversion) }));
                }
                _ => {}
            }
        }
        quote! {
            #krate::versions::Conversion::of_enum(#tag, ::core::convert::Into::into([#(#changes),*])) #(#contents)*
        }
    }

    /// Returns a closure that returns the JSON of the variant `value` of the version with the index `version`. Objects of that version show
    /// it in place of a variant that the version doesn't have.
    fn instead(&self, value: &Expr, version: usize) -> TokenStream {
        let (private, name) = (&self.module.paths.private, self.versioned.name());
        let path = self.at::<Type>(version, &syn::parse_quote! { #name });
        let value = self.content_at(version, value);
        quote! { || #private::versions::write(#path::#value).unwrap_or_default() }
    }

    /// Returns the expression of a variant whose content names the types of a version: in `Size(Unit::Gi)`, the path `Unit::Gi` gets the
    /// module of that version before it.
    fn content_at(&self, version: usize, value: &Expr) -> Expr {
        let mut value = value.clone();
        let at = |content: &mut Expr| *content = Expr::Verbatim(self.at(version, &*content));
        match &mut value {
            Expr::Call(call) => call.args.iter_mut().for_each(at),
            Expr::Struct(value) => value.fields.iter_mut().map(|field| &mut field.expr).for_each(at),
            _ => {}
        }
        value
    }

    /// Returns a type or an expression in which the types of the module have the path of a version's module. The expansion is in the module
    /// of the version `new`, whose types need no path.
    fn at<T: ToTokens + Clone + Qualify>(&self, version: usize, part: &T) -> TokenStream {
        if version == self.new { part.to_token_stream() } else { qualified(self.module, version, part) }
    }
}

/// Returns an expression in `Some`.
fn some(value: TokenStream) -> TokenStream {
    quote! { ::core::option::Option::Some(#value) }
}
