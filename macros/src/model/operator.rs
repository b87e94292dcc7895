//! Models the input of `operator!`: the kinds with their trees and options.

use super::{
    duration::{DURATION_FIX, parse_duration},
    key::reject_duplicates,
};
use crate::{
    attrs::operator::{KindInput, OperatorInput, OperatorOption},
    diag::Diags,
    paths::Paths,
};
use proc_macro2::Literal;
use std::time::Duration;
use syn::{Expr, ExprLit, Lit, LitBool, LitInt, LitStr, Path};

/// The operator of a binary.
pub(crate) struct Operator {
    pub(crate) paths: Paths,
    pub(crate) source: Source,
}

/// How the macro gets the operator.
pub(crate) enum Source {
    /// A call that returns an operator, or a closure from options to an operator.
    Expression(Box<Expr>),
    Kinds {
        name: Option<LitStr>,
        kinds: Vec<Kind>,
    },
}

/// A kind, its tree and its options.
pub(crate) struct Kind {
    pub(crate) kind: Path,
    pub(crate) tree: Path,
    pub(crate) options: Vec<KindOption>,
}

/// An option of the controller of a kind.
pub(crate) enum KindOption {
    ResyncPeriod {
        literal: LitStr,
        every: Duration,
    },
    Events(LitBool),
    Workers {
        literal: LitInt,
        count: usize,
    },
    Finalizer(LitStr),
    /// A label selector: names and values.
    Labels {
        literal: LitStr,
        labels: Vec<(String, String)>,
    },
}

const OPTIONS: [&str; 6] = ["resync_period", "events", "workers", "finalizer", "labels", "options"];

/// Converts the parsed input of `operator!` to the model of an operator. Reports unknown options, and options of a kind outside of its
/// braces.
pub(crate) fn resolve(input: OperatorInput, diags: &mut Diags) -> Operator {
    match input {
        OperatorInput::Expression(expression) => {
            Operator { paths: Paths::new(None), source: Source::Expression(expression) }
        }
        OperatorInput::Kinds { options, kinds } => {
            let mut name = None;
            let mut krate = None;
            reject_duplicates(options.iter().map(|option| &option.key), diags);
            for option in options {
                match option.key.to_string().as_str() {
                    "name" => name = string_value(&option, "write it in quotes, for example `name: \"webapp\"`", diags),
                    "crate" => krate = crate_path(&option, diags),
                    other if OPTIONS.contains(&other) => {
                        let fix = "move it into the braces of a kind: `Kind => Tree { ... }`";
                        diags.error(&option.key, format!("`{other}` is an option of a kind"), fix);
                    }
                    _ => diags.unknown("key", &option.key, &["name", "crate"]),
                }
            }
            let kinds = kinds.into_iter().map(|kind| Kind::resolve(kind, diags)).collect();
            Operator { paths: Paths::new(krate), source: Source::Kinds { name, kinds } }
        }
    }
}

impl Operator {
    /// Returns the model to expand beside errors.
    pub(crate) fn without_kinds(self) -> Self {
        Self { paths: self.paths, source: Source::Kinds { name: None, kinds: Vec::new() } }
    }
}

impl Kind {
    /// Converts a parsed entry `Kind => Tree { options }`. Reports repeated and invalid options.
    fn resolve(input: KindInput, diags: &mut Diags) -> Self {
        reject_duplicates(input.options.iter().map(|option| &option.key), diags);
        let options = input.options.into_iter().filter_map(|option| KindOption::resolve(option, diags)).collect();
        Self { kind: input.kind, tree: input.tree, options }
    }
}

impl KindOption {
    /// Converts an option of a kind, such as `resync_period: "60s"`. Returns `None` after reporting an unknown option or an invalid value.
    fn resolve(option: OperatorOption, diags: &mut Diags) -> Option<Self> {
        match option.key.to_string().as_str() {
            "resync_period" => {
                let literal = string_value(&option, DURATION_FIX, diags)?;
                let every = parse_duration(&literal.value());
                if every.is_none() {
                    diags.error(&literal, format!("`\"{}\"` is not a duration", literal.value()), DURATION_FIX);
                }
                Some(Self::ResyncPeriod { every: every?, literal })
            }
            "events" => match &option.value {
                Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Some(Self::Events(flag.clone())),
                other => {
                    diags.error(other, "`events` is a boolean", "write `true` or `false`");
                    None
                }
            },
            "workers" => parse_workers(&option, diags),
            "finalizer" => {
                string_value(&option, "write it in quotes: `\"example.com/name\"`", diags).map(Self::Finalizer)
            }
            "labels" => {
                let literal = string_value(&option, "write them in quotes: `\"team=web,tier=front\"`", diags)?;
                let pair = |part: &str| {
                    let (name, value) = part.split_once('=').unwrap_or((part, ""));
                    (name.trim().to_owned(), value.trim().to_owned())
                };
                let labels = literal.value().split(',').map(pair).collect();
                Some(Self::Labels { literal, labels })
            }
            "options" => {
                diags.error(
                    &option.key,
                    "`options` is not supported yet",
                    "remove it, or build the operator in a function",
                );
                None
            }
            "name" => {
                diags.error(&option.key, "`name` is an option of the operator", "move it before the first kind");
                None
            }
            _ => {
                diags.unknown("key", &option.key, &OPTIONS);
                None
            }
        }
    }
}

/// Parses the option `workers: 4`. Returns `None` after reporting a value that is no whole number, or that has the suffix of another type
/// than `usize`.
fn parse_workers(option: &OperatorOption, diags: &mut Diags) -> Option<KindOption> {
    const FIX: &str = "use a whole number, at least 1";
    let Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) = &option.value else {
        diags.error(&option.value, "`workers` is a number", FIX);
        return None;
    };
    match literal.base10_parse() {
        Ok(count) if literal.suffix().is_empty() || literal.suffix() == "usize" => {
            Some(KindOption::Workers { literal: literal.clone(), count })
        }
        _ => {
            diags.error(literal, format!("`{}` is not a number of workers", Literal::to_string(&literal.token())), FIX);
            None
        }
    }
}

/// Returns the string literal that is the value of an option. Returns `None` after reporting a value that is no string literal.
fn string_value(option: &OperatorOption, fix: &str, diags: &mut Diags) -> Option<LitStr> {
    match &option.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        other => {
            diags.error(other, format!("`{}` is a string", option.key), fix);
            None
        }
    }
}

/// Returns the path in the option `crate: "my_lib::opgen"`. Returns `None` after reporting a value that is no path in quotes.
fn crate_path(option: &OperatorOption, diags: &mut Diags) -> Option<Path> {
    const FIX: &str = "write the path of opgen in quotes, for example `crate: \"my_lib::opgen\"`";
    let text = string_value(option, FIX, diags)?;
    let path = text.parse_with(Path::parse_mod_style);
    path.map_err(|_| diags.error(&text, format!("`{}` is no path", text.value()), FIX)).ok()
}
