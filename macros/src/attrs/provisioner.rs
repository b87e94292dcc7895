//! Parses the input of `#[derive(Provisioner)]`: the item and its `#[provisioner(...)]` attributes.

use super::{
    access,
    list::{parenthesized_list, skip_until},
};
use crate::diag::Diags;
use proc_macro2::{Ident, TokenStream};
use syn::{
    Attribute, Data, DeriveInput, Expr, Field, Fields, LitStr, Path, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// One key of `#[provisioner(...)]`, on a struct or a field. The stage `check` decides which key belongs where.
pub(crate) struct ProvisionerArg {
    pub(crate) key: Ident,
    pub(crate) value: ArgValue,
}

pub(crate) enum ArgValue {
    /// A key alone.
    Flag,
    Type(Box<Type>),
    Path(Path),
    Access(Vec<access::AccessEntry>),
    /// Paths of nodes: `after(config, workload.service)`, `deleted_with(namespace)`.
    Nodes(Vec<NodePath>),
    /// Names with types: `inputs(config: ConfigMap)`.
    NamedTypes(Vec<NamedType>),
    /// Options of a resource: `resource(once, adopt("helm"), delete = "foreground")`.
    ResourceOptions(Vec<ResourceOption>),
    /// `manifest = "agent.yaml"`, `manifest("agent.yaml", Gauge)`, `manifest(ConfigMap, Deployment)`.
    Manifest(Manifest),
    /// The driver of an application: `application(ArgoCd)`.
    Driver(Box<Type>),
    /// Options of a remote node: `remote(background)`.
    RemoteOptions(Vec<Ident>),
    List,
    Expr(Box<Expr>),
}

/// Objects as YAML, from a file or a function, and the kinds of these objects.
pub(crate) struct Manifest {
    pub(crate) file: Option<LitStr>,
    pub(crate) kinds: Vec<Type>,
}

/// The path by which a node names another one: `service`, or `workload.service` for a nested child. Never empty.
pub(crate) struct NodePath(pub(crate) Vec<Ident>);

impl NodePath {
    /// Returns the names without `r#`, joined by `separator`.
    pub(crate) fn text(&self, separator: &str) -> String {
        self.0.iter().map(|name| name.unraw().to_string()).collect::<Vec<_>>().join(separator)
    }
}

/// `name: Type`.
pub(crate) struct NamedType {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// An option of `resource(...)`: `once`, `adopt("helm")`, `grants(Secret: get)`, `pods`, `delete = "foreground"` or
/// `timeout = "10m"`.
pub(crate) struct ResourceOption {
    pub(crate) name: Ident,
    pub(crate) texts: Vec<LitStr>,
    /// The value after `=`; `None` for an option without one.
    pub(crate) value: Option<Expr>,
    /// The rights in `grants(...)`; `None` for other options.
    pub(crate) access: Option<Vec<access::AccessEntry>>,
}

/// The item that derives `Provisioner`, with its attributes.
pub(crate) struct ProvisionerInput {
    pub(crate) item: DeriveInput,
    /// `None` without any `#[provisioner(...)]` on the item.
    pub(crate) args: Option<Vec<ProvisionerArg>>,
    pub(crate) fields: Vec<ProvisionerFieldInput>,
}

pub(crate) struct ProvisionerFieldInput {
    pub(crate) field: Field,
    pub(crate) args: Vec<ProvisionerArg>,
}

/// Parses the item that derives `Provisioner`, and the `#[provisioner(...)]` attributes of the item and its fields. Returns `None` after
/// reporting a syntax error of the item.
pub(crate) fn read(item: TokenStream, diags: &mut Diags) -> Option<ProvisionerInput> {
    let item: DeriveInput =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "derive `Provisioner` on a struct")).ok()?;
    let has_attribute = item.attrs.iter().any(|attribute| attribute.path().is_ident("provisioner"));
    let args = parse_args(&item.attrs, diags);
    let fields = match &item.data {
        Data::Struct(data) => read_fields(&data.fields, diags),
        Data::Enum(_) | Data::Union(_) => Vec::new(),
    };
    Some(ProvisionerInput { args: has_attribute.then_some(args), fields, item })
}

/// Parses the `#[provisioner(...)]` attributes of each field.
fn read_fields(fields: &Fields, diags: &mut Diags) -> Vec<ProvisionerFieldInput> {
    fields
        .iter()
        .map(|field| ProvisionerFieldInput { args: parse_args(&field.attrs, diags), field: field.clone() })
        .collect()
}

/// Parses the keys in all `#[provisioner(...)]` attributes of a struct or field. Reports syntax errors, and returns the keys that it could
/// parse.
fn parse_args(attributes: &[Attribute], diags: &mut Diags) -> Vec<ProvisionerArg> {
    let mut args = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("provisioner")) {
        match attribute.meta.require_list() {
            Ok(list) if list.tokens.is_empty() => {
                diags.error(attribute.path(), "`#[provisioner()]` has no options", "add options, or remove it");
            }
            Ok(_) => {
                // syn also fails for tokens in parentheses that stay unparsed after a syntax error. `diags` has that error already. `args`
                // has the keys before the failure.
                let parsed = attribute.parse_args_with(|input: ParseStream<'_>| parse_list(input, &mut args, diags));
                if let (Err(error), false) = (parsed, diags.has_errors()) {
                    diags.syntax(&error, "remove it");
                }
            }
            Err(error) => diags.syntax(&error, "write `#[provisioner(...)]`"),
        }
    }
    args
}

/// Parses the keys of one `#[provisioner(...)]`, separated by commas, and adds them to `args`. After reporting a syntax error in a key it
/// continues with the next key.
fn parse_list(input: ParseStream<'_>, args: &mut Vec<ProvisionerArg>, diags: &mut Diags) -> syn::Result<()> {
    while !input.is_empty() {
        match parse_arg(input, diags) {
            Ok(arg) => args.push(arg),
            Err((error, fix)) => diags.syntax(&error, fix),
        }
        if !input.is_empty() && !input.peek(Token![,]) {
            diags.syntax(&input.error("expected `,`"), "separate the keys with commas");
            skip_until(input, |input| input.peek(Token![,]));
        }
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(())
}

/// A parsed value, or a syntax error with its fix.
type Fixable<T> = Result<T, (syn::Error, &'static str)>;

/// Parses one key of `#[provisioner(...)]` with its value, for example `owner = WebApp`. After an error it skips the tokens up to the next
/// comma.
fn parse_arg(input: ParseStream<'_>, diags: &mut Diags) -> Fixable<ProvisionerArg> {
    let key = input.call(Ident::parse_any);
    let key = key.map_err(|error| (error, "write a key, for example `serial` or `resource`"));
    let result = key.and_then(|key| Ok(ProvisionerArg { value: parse_value(&key, input, diags)?, key }));
    if result.is_err() {
        skip_until(input, |input| input.peek(Token![,]));
    }
    result
}

/// Parses the value after a key of `#[provisioner(...)]`: nothing, `= value` or `(...)`. The key decides which syntax is expected. An
/// unknown key may have any value, since the stage `model` reports the key.
fn parse_value(key: &Ident, input: ParseStream<'_>, diags: &mut Diags) -> Fixable<ArgValue> {
    match key.to_string().as_str() {
        "owner" => parse_equal_type(input, "a kind is a type, not a string")
            .map_err(|error| (error, "name the managed kind: `owner = WebApp`")),
        "crate" => parse_crate_path(input).map(ArgValue::Path).map_err(|error| (error, "write `crate = \"path\"`")),
        "access" => {
            let mut entries = || {
                let inside;
                parenthesized!(inside in input);
                Ok(access::read(&inside, diags))
            };
            entries().map(ArgValue::Access).map_err(|error| (error, "write `access(Secret: get, list; Pod: delete)`"))
        }
        "after" | "from" => parenthesized_list(input, parse_node_path)
            .map(ArgValue::Nodes)
            .map_err(|error| (error, "name nodes of the group: `after(config)`, `from(workload.service)`")),
        "deleted_with" => parenthesized_list(input, parse_node_path)
            .map(ArgValue::Nodes)
            .map_err(|error| (error, "name the node of the Namespace: `deleted_with(namespace)`")),
        "inputs" => parenthesized_list(input, parse_named_type)
            .map(ArgValue::NamedTypes)
            .map_err(|error| (error, "write names with types: `inputs(config: ConfigMap)`")),
        "retired" => parenthesized_list(input, parse_named_type)
            .map(ArgValue::NamedTypes)
            .map_err(|error| (error, "write names with kinds: `retired(config: ConfigMap)`")),
        "output" => parse_equal_type(input, "a value has a type, not a string")
            .map_err(|error| (error, "name the type of the value: `output = Plan`")),
        "resource" if input.peek(syn::token::Paren) => Ok(match parse_resource_options(input, diags) {
            Ok(options) => ArgValue::ResourceOptions(options),
            Err(error) => {
                diags.syntax(
                    &error,
                    "write options separated by commas: `resource(once, adopt(\"helm\"), delete = \"foreground\")`",
                );
                // The field is a resource even if its options are invalid.
                ArgValue::Flag
            }
        }),
        "manifest" if !input.is_empty() && !input.peek(Token![,]) => {
            parse_manifest(input).map(ArgValue::Manifest).map_err(|error| {
                (error, "write `manifest = \"manifests/agent.yaml\"` or `manifest(ConfigMap, Deployment)`")
            })
        }
        "application" if !input.is_empty() && !input.peek(Token![,]) => parse_driver(input)
            .map(|driver| ArgValue::Driver(Box::new(driver)))
            .map_err(|error| (error, "name one driver: `application(ArgoCd)`")),
        "remote" if input.peek(syn::token::Paren) => parse_words(input)
            .map(ArgValue::RemoteOptions)
            .map_err(|error| (error, "write options separated by commas: `remote(background)`")),
        _ if input.peek(Token![=]) => {
            let expression = input.parse::<Token![=]>().and_then(|_| input.parse());
            expression
                .map(|expr| ArgValue::Expr(Box::new(expr)))
                .map_err(|error| (error, "write an expression after `=`"))
        }
        _ if input.peek(syn::token::Paren) => {
            let tokens = || {
                let inside;
                parenthesized!(inside in input);
                inside.parse::<TokenStream>()
            };
            tokens().map(|_| ArgValue::List).map_err(|error| (error, "close the parenthesis"))
        }
        _ => Ok(ArgValue::Flag),
    }
}

/// Parses `= Type`; `text_message` is the error for a string literal.
fn parse_equal_type(input: ParseStream<'_>, text_message: &str) -> syn::Result<ArgValue> {
    input.parse::<Token![=]>()?;
    match input.parse::<LitStr>() {
        Ok(text) => Err(syn::Error::new(text.span(), text_message)),
        Err(_) => Ok(ArgValue::Type(Box::new(input.parse()?))),
    }
}

/// Parses the path of a node: names separated by dots.
fn parse_node_path(input: ParseStream<'_>) -> syn::Result<NodePath> {
    if let Ok(text) = input.parse::<LitStr>() {
        return Err(syn::Error::new(text.span(), "a node is a name, not a string"));
    }
    let names = Punctuated::<Ident, Token![.]>::parse_separated_nonempty_with(input, Ident::parse_any)?;
    Ok(NodePath(names.into_iter().collect()))
}

/// Parses `name: Type`.
fn parse_named_type(input: ParseStream<'_>) -> syn::Result<NamedType> {
    let name = input.call(Ident::parse_any)?;
    if input.parse::<Token![:]>().is_err() {
        return Err(syn::Error::new(name.span(), format!("`{name}` has no type")));
    }
    Ok(NamedType { name, ty: input.parse()? })
}

/// Parses `(once, adopt("helm"), grants(Secret: get), delete = "foreground")`.
fn parse_resource_options(input: ParseStream<'_>, diags: &mut Diags) -> syn::Result<Vec<ResourceOption>> {
    let inside;
    parenthesized!(inside in input);
    let mut resource_options = Vec::new();
    while !inside.is_empty() {
        resource_options.push(parse_resource_option(&inside, diags)?);
        if !inside.is_empty() {
            inside.parse::<Token![,]>()?;
        }
    }
    Ok(resource_options)
}

/// Parses one option of `resource(...)`: a word alone (`once`), with strings or access rights in parentheses (`adopt("helm")`,
/// `grants(Secret: get)`), or with a value after `=` (`delete = "foreground"`).
fn parse_resource_option(input: ParseStream<'_>, diags: &mut Diags) -> syn::Result<ResourceOption> {
    let mut option =
        ResourceOption { name: input.call(Ident::parse_any)?, texts: Vec::new(), value: None, access: None };
    if input.parse::<Option<Token![=]>>()?.is_some() {
        option.value = Some(input.parse()?);
    } else if !input.peek(syn::token::Paren) {
        return Ok(option);
    } else if option.name == "grants" {
        let inside;
        parenthesized!(inside in input);
        option.access = Some(access::read(&inside, diags));
    } else {
        option.texts = parenthesized_list(input, <LitStr as Parse>::parse)?;
    }
    Ok(option)
}

/// Parses the value of `manifest`: `= "agent.yaml"`, or in parentheses a file, kinds, or a file and kinds (`("agent.yaml", Gauge)`).
fn parse_manifest(input: ParseStream<'_>) -> syn::Result<Manifest> {
    if input.parse::<Option<Token![=]>>()?.is_some() {
        return Ok(Manifest { file: Some(input.parse()?), kinds: Vec::new() });
    }
    let inside;
    parenthesized!(inside in input);
    let file = if inside.peek(LitStr) { Some(inside.parse()?) } else { None };
    if file.is_some() && !inside.is_empty() {
        inside.parse::<Token![,]>()?;
    }
    let kinds = Punctuated::<Type, Token![,]>::parse_terminated(&inside)?;
    Ok(Manifest { file, kinds: kinds.into_iter().collect() })
}

/// Parses the driver of an application: one type in parentheses.
fn parse_driver(input: ParseStream<'_>) -> syn::Result<Type> {
    let inside;
    parenthesized!(inside in input);
    // The error of the parser lists every beginning of a type.
    inside.parse().map_err(|error| syn::Error::new(error.span(), "a driver is a type"))
}

/// Parses `(word, ...)`.
fn parse_words(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let inside;
    parenthesized!(inside in input);
    Ok(inside.parse_terminated(Ident::parse_any, Token![,])?.into_iter().collect())
}

/// Parses `crate = "path"` or `crate = path`.
fn parse_crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![=]>()?;
    if input.peek(LitStr) { input.parse::<LitStr>()?.parse() } else { input.call(Path::parse_mod_style) }
}
