//! `#[derive(Provisioner)]` as written.

use super::access;
use crate::diag::Diags;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Attribute, Data, DeriveInput, Expr, Field, Fields, LitStr, Path, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// One key of `#[provisioner(...)]`, on a struct or a field; which belongs where is decided later.
pub(crate) struct Arg {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Word,
    Type(Box<Type>),
    Path(Path),
    Access(Vec<access::Entry>),
    /// `after(config, workload.service)`: paths of nodes.
    Nodes(Vec<NodePath>),
    /// `takes(config: ConfigMap)`: names with types.
    Typed(Vec<Typed>),
    /// `resource(once, adopt("helm"))`: words, some with more.
    Words(Vec<Word>),
    /// `manifest = "agent.yaml"`, `manifest("agent.yaml", Gauge)`, `manifest(ConfigMap, Deployment)`.
    Manifest(Manifest),
    List,
    Expr(Box<Expr>),
}

/// Objects as YAML: of a file, or of a function; and kinds that they may be of.
pub(crate) struct Manifest {
    pub(crate) file: Option<LitStr>,
    pub(crate) kinds: Vec<Type>,
}

/// A node as another one names it: `service`, or `workload.service` for a child of a child. Never empty.
pub(crate) struct NodePath(pub(crate) Vec<Ident>);

impl NodePath {
    /// The names without the marks of raw identifiers, with `between` between them.
    pub(crate) fn text(&self, between: &str) -> String {
        self.0.iter().map(|name| name.unraw().to_string()).collect::<Vec<_>>().join(between)
    }
}

pub(crate) struct Typed {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

pub(crate) struct Word {
    pub(crate) name: Ident,
    pub(crate) texts: Vec<LitStr>,
    /// Of `hands_on` alone.
    pub(crate) access: Option<Vec<access::Entry>>,
}

pub(crate) struct Read {
    pub(crate) item: DeriveInput,
    /// `None` without any `#[provisioner(...)]` on the item.
    pub(crate) args: Option<Vec<Arg>>,
    pub(crate) fields: Vec<ReadField>,
}

pub(crate) struct ReadField {
    pub(crate) field: Field,
    pub(crate) args: Vec<Arg>,
}

pub(crate) fn read(item: TokenStream, diags: &mut Diags) -> Option<Read> {
    let item: DeriveInput =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "derive `Provisioner` on a struct")).ok()?;
    let marked = item.attrs.iter().any(|attribute| attribute.path().is_ident("provisioner"));
    let args = args(&item.attrs, diags);
    let fields = match &item.data {
        Data::Struct(data) => fields(&data.fields, diags),
        Data::Enum(_) | Data::Union(_) => Vec::new(),
    };
    Some(Read { args: marked.then_some(args), fields, item })
}

fn fields(fields: &Fields, diags: &mut Diags) -> Vec<ReadField> {
    fields.iter().map(|field| ReadField { args: args(&field.attrs, diags), field: field.clone() }).collect()
}

fn args(attributes: &[Attribute], diags: &mut Diags) -> Vec<Arg> {
    let mut args = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("provisioner")) {
        match attribute.meta.require_list() {
            Ok(list) if list.tokens.is_empty() => {
                diags.error(attribute.path(), "`#[provisioner()]` says nothing", "say what it is, or remove it");
            }
            Ok(_) => {
                // What is left unread inside a broken value fails the whole attribute, so what was read is kept here.
                let read = attribute.parse_args_with(|input: ParseStream<'_>| list(input, &mut args, diags));
                if let (Err(error), false) = (read, diags.has_errors()) {
                    diags.syntax(&error, "remove it");
                }
            }
            Err(error) => diags.syntax(&error, "write `#[provisioner(...)]`"),
        }
    }
    args
}

fn list(input: ParseStream<'_>, args: &mut Vec<Arg>, diags: &mut Diags) -> syn::Result<()> {
    while !input.is_empty() {
        match arg(input, diags) {
            Ok(arg) => args.push(arg),
            Err((error, fix)) => diags.syntax(&error, fix),
        }
        if !input.is_empty() && !input.peek(Token![,]) {
            diags.syntax(&input.error("expected `,`"), "separate the keys with commas");
            skip_to(input, |input| input.peek(Token![,]));
        }
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(())
}

type Fixable<T> = Result<T, (syn::Error, &'static str)>;

fn arg(input: ParseStream<'_>, diags: &mut Diags) -> Fixable<Arg> {
    let key = input.call(Ident::parse_any);
    let key = key.map_err(|error| (error, "write a key, for example `serial` or `resource`"));
    let result = key.and_then(|key| Ok(Arg { value: value(&key, input, diags)?, key }));
    if result.is_err() {
        skip_to(input, |input| input.peek(Token![,]));
    }
    result
}

fn value(key: &Ident, input: ParseStream<'_>, diags: &mut Diags) -> Fixable<Value> {
    match key.to_string().as_str() {
        "owner" => equal_type(input, "a kind is a type, not a text")
            .map_err(|error| (error, "name the managed kind: `owner = WebApp`")),
        "crate" => crate_path(input).map(Value::Path).map_err(|error| (error, "write `crate = \"path\"`")),
        "access" => {
            let mut entries = || {
                let inside;
                parenthesized!(inside in input);
                Ok(access::read(&inside, diags))
            };
            entries().map(Value::Access).map_err(|error| (error, "write `access(Secret: get, list; Pod: delete)`"))
        }
        "after" | "from" => in_parentheses(input, node_path)
            .map(Value::Nodes)
            .map_err(|error| (error, "name nodes of the group: `after(config)`, `from(workload.service)`")),
        "takes" => in_parentheses(input, typed)
            .map(Value::Typed)
            .map_err(|error| (error, "write names with types: `takes(config: ConfigMap)`")),
        "retired" => in_parentheses(input, typed)
            .map(Value::Typed)
            .map_err(|error| (error, "write names with kinds: `retired(config: ConfigMap)`")),
        "gives" => equal_type(input, "a value has a type, not a text")
            .map_err(|error| (error, "name the type of the value: `gives = Plan`")),
        "resource" if input.peek(syn::token::Paren) => Ok(match words(input, diags) {
            Ok(words) => Value::Words(words),
            Err(error) => {
                diags.syntax(&error, "write `resource`, `resource(once)` or `resource(adopt(\"helm\"))`");
                // A resource it is all the same.
                Value::Word
            }
        }),
        "manifest" if !input.is_empty() && !input.peek(Token![,]) => {
            manifest(input).map(Value::Manifest).map_err(|error| {
                (error, "write `manifest = \"manifests/agent.yaml\"` or `manifest(ConfigMap, Deployment)`")
            })
        }
        _ if input.peek(Token![=]) => {
            let expression = input.parse::<Token![=]>().and_then(|_| input.parse());
            expression.map(|expr| Value::Expr(Box::new(expr))).map_err(|error| (error, "write an expression after `=`"))
        }
        _ if input.peek(syn::token::Paren) => {
            let tokens = || {
                let inside;
                parenthesized!(inside in input);
                inside.parse::<TokenStream>()
            };
            tokens().map(|_| Value::List).map_err(|error| (error, "close the parenthesis"))
        }
        _ => Ok(Value::Word),
    }
}

/// `= Type`; `no_text` is said of a text.
fn equal_type(input: ParseStream<'_>, no_text: &str) -> syn::Result<Value> {
    input.parse::<Token![=]>()?;
    match input.parse::<LitStr>() {
        Ok(text) => Err(syn::Error::new(text.span(), no_text)),
        Err(_) => Ok(Value::Type(Box::new(input.parse()?))),
    }
}

/// `(one, another)`.
pub(super) fn in_parentheses<T>(
    input: ParseStream<'_>,
    one: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let inside;
    parenthesized!(inside in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated_with(&inside, one)?.into_iter().collect())
}

fn node_path(input: ParseStream<'_>) -> syn::Result<NodePath> {
    if let Ok(text) = input.parse::<LitStr>() {
        return Err(syn::Error::new(text.span(), "a node is a name, not a text"));
    }
    let names = Punctuated::<Ident, Token![.]>::parse_separated_nonempty_with(input, Ident::parse_any)?;
    Ok(NodePath(names.into_iter().collect()))
}

fn typed(input: ParseStream<'_>) -> syn::Result<Typed> {
    let name = input.call(Ident::parse_any)?;
    if input.parse::<Token![:]>().is_err() {
        return Err(syn::Error::new(name.span(), format!("`{name}` has no type")));
    }
    Ok(Typed { name, ty: input.parse()? })
}

/// `(once, adopt("helm"), hands_on(Secret: get))`.
fn words(input: ParseStream<'_>, diags: &mut Diags) -> syn::Result<Vec<Word>> {
    let inside;
    parenthesized!(inside in input);
    let mut words = Vec::new();
    while !inside.is_empty() {
        words.push(word(&inside, diags)?);
        if !inside.is_empty() {
            inside.parse::<Token![,]>()?;
        }
    }
    Ok(words)
}

fn word(input: ParseStream<'_>, diags: &mut Diags) -> syn::Result<Word> {
    let mut word = Word { name: input.call(Ident::parse_any)?, texts: Vec::new(), access: None };
    if !input.peek(syn::token::Paren) {
        return Ok(word);
    }
    if word.name == "hands_on" {
        let inside;
        parenthesized!(inside in input);
        word.access = Some(access::read(&inside, diags));
    } else {
        word.texts = in_parentheses(input, <LitStr as Parse>::parse)?;
    }
    Ok(word)
}

fn manifest(input: ParseStream<'_>) -> syn::Result<Manifest> {
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

/// `crate = "path"` or `crate = path`.
fn crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![=]>()?;
    if input.peek(LitStr) { input.parse::<LitStr>()?.parse() } else { input.call(Path::parse_mod_style) }
}

/// Leaves the input where `end` holds, or at its end.
pub(super) fn skip_to(input: ParseStream<'_>, end: impl Fn(ParseStream<'_>) -> bool) {
    while !input.is_empty() && !end(input) && input.parse::<TokenTree>().is_ok() {}
}
