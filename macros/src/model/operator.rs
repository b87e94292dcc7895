//! An operator: kinds, their trees and their options.

use crate::{
    attrs::operator::{Opt, Read, ReadKind},
    diag::Diags,
    paths::Paths,
};
use proc_macro2::{Ident, Literal};
use std::time::Duration;
use syn::{Expr, ExprLit, Lit, LitBool, LitInt, LitStr, Path};

pub(crate) struct Operator {
    pub(crate) paths: Paths,
    pub(crate) source: Source,
}

pub(crate) enum Source {
    /// An operator that a library made, or a closure that makes one of its options.
    Built(Box<Expr>),
    Listed {
        name: Option<LitStr>,
        kinds: Vec<Kind>,
    },
}

pub(crate) struct Kind {
    pub(crate) kind: Path,
    pub(crate) tree: Path,
    pub(crate) options: Vec<KindOption>,
}

pub(crate) enum KindOption {
    Poll {
        written: LitStr,
        every: Duration,
    },
    Events(LitBool),
    Workers {
        written: LitInt,
        count: usize,
    },
    Finalizer(LitStr),
    /// Names and values.
    Labels {
        written: LitStr,
        labels: Vec<(String, String)>,
    },
}

const OPTIONS: [&str; 6] = ["poll", "events", "workers", "finalizer", "labels", "options"];
const POLL: &str = "use a number and a unit, for example `\"500ms\"`, `\"60s\"`, `\"5m\"` or `\"1h\"`";

pub(crate) fn resolve(read: Read, diags: &mut Diags) -> Operator {
    match read {
        Read::Built(built) => Operator { paths: Paths::new(None), source: Source::Built(built) },
        Read::Listed { options, kinds } => {
            let mut name = None;
            let mut krate = None;
            once(&options, diags);
            for option in options {
                match option.key.to_string().as_str() {
                    "name" => name = text(&option, "name it in quotes, for example `name: \"webapp\"`", diags),
                    "crate" => {
                        krate = text(&option, "write `crate: \"path\"`", diags).and_then(|text| text.parse().ok())
                    }
                    other if OPTIONS.contains(&other) => {
                        let fix = "move it into the braces of a kind: `Kind => Tree { ... }`";
                        diags.error(&option.key, format!("`{other}` is said for each kind"), fix);
                    }
                    _ => diags.unknown("key", &option.key, &["name", "crate"]),
                }
            }
            let kinds = kinds.into_iter().map(|kind| Kind::resolve(kind, diags)).collect();
            Operator { paths: Paths::new(krate), source: Source::Listed { name, kinds } }
        }
    }
}

impl Operator {
    /// What can be expanded beside errors.
    pub(crate) fn without_kinds(self) -> Self {
        Self { paths: self.paths, source: Source::Listed { name: None, kinds: Vec::new() } }
    }
}

impl Kind {
    fn resolve(read: ReadKind, diags: &mut Diags) -> Self {
        once(&read.options, diags);
        let options = read.options.into_iter().filter_map(|option| KindOption::resolve(option, diags)).collect();
        Self { kind: read.kind, tree: read.tree, options }
    }
}

impl KindOption {
    fn resolve(option: Opt, diags: &mut Diags) -> Option<Self> {
        match option.key.to_string().as_str() {
            "poll" => {
                let written = text(&option, POLL, diags)?;
                let every = duration(&written.value());
                if every.is_none() {
                    diags.error(&written, format!("`\"{}\"` is not a duration", written.value()), POLL);
                }
                Some(Self::Poll { every: every?, written })
            }
            "events" => match &option.value {
                Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Some(Self::Events(flag.clone())),
                other => {
                    diags.error(other, "`events` is a switch", "write `true` or `false`");
                    None
                }
            },
            "workers" => workers(&option, diags),
            "finalizer" => text(&option, "write it in quotes: `\"example.com/name\"`", diags).map(Self::Finalizer),
            "labels" => {
                let written = text(&option, "write them in quotes: `\"team=web,tier=front\"`", diags)?;
                let pair = |part: &str| {
                    let (name, value) = part.split_once('=').unwrap_or((part, ""));
                    (name.trim().to_owned(), value.trim().to_owned())
                };
                let labels = written.value().split(',').map(pair).collect();
                Some(Self::Labels { written, labels })
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
                diags.error(&option.key, "`name` is said once, for the operator", "move it before the first kind");
                None
            }
            _ => {
                diags.unknown("key", &option.key, &OPTIONS);
                None
            }
        }
    }
}

fn workers(option: &Opt, diags: &mut Diags) -> Option<KindOption> {
    const FIX: &str = "write a whole number from 1 on";
    let Expr::Lit(ExprLit { lit: Lit::Int(written), .. }) = &option.value else {
        diags.error(&option.value, "`workers` is a number", FIX);
        return None;
    };
    match written.base10_parse() {
        Ok(count) if written.suffix().is_empty() || written.suffix() == "usize" => {
            Some(KindOption::Workers { written: written.clone(), count })
        }
        _ => {
            diags.error(written, format!("`{}` is not a number of workers", Literal::to_string(&written.token())), FIX);
            None
        }
    }
}

fn text(option: &Opt, fix: &str, diags: &mut Diags) -> Option<LitStr> {
    match &option.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        other => {
            diags.error(other, format!("`{}` is a text", option.key), fix);
            None
        }
    }
}

/// `1h30m`, `500ms`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let unit = after.get(..after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()))?;
        let number: u64 = number.parse().ok()?;
        let part = match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.checked_mul(60)?),
            "h" => Duration::from_secs(number.checked_mul(3600)?),
            _ => return None,
        };
        total = total.checked_add(part)?;
        rest = after.get(unit.len()..)?;
    }
    (!text.is_empty()).then_some(total)
}

fn once(options: &[Opt], diags: &mut Diags) {
    let twice = |at: usize, key: &Ident| options[..at].iter().find(|first| first.key == *key);
    for (at, option) in options.iter().enumerate() {
        if let Some(first) = twice(at, &option.key) {
            diags.conflict(
                &option.key,
                format!("`{}` is given twice", option.key),
                "keep one",
                &first.key,
                "first given here",
            );
        }
    }
}
