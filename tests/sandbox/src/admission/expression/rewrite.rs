//! Rewrites a parsed expression into the subset of CEL that the evaluator supports.
//!
//! The evaluator has no structs, so `Object.spec{a: 1}` becomes a map. Its field selection returns `false` on a missing map,
//! so it becomes an index, which fails as in Kubernetes. `variables.a` becomes a single name, so that it is evaluated on
//! first use.

use kube_cel::cel::{
    common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, LiteralValue, MapEntryExpr, MapExpr, operators},
    parser::Expression,
};

/// The prefix of the names of policy variables.
pub(super) const VARIABLE: &str = "variables.";

/// The name of `authorizer.requestResource`.
pub(super) const REQUEST_RESOURCE: &str = "authorizer.requestResource";

pub(super) fn rewritten(mut tree: Expression) -> Expression {
    tree.expr = expr(tree.expr);
    tree
}

fn all(trees: Vec<Expression>) -> Vec<Expression> {
    trees.into_iter().map(rewritten).collect()
}

fn expr(expr: Expr) -> Expr {
    match expr {
        Expr::Select(select) if !select.test => {
            if let Expr::Ident(name) = &select.operand.expr {
                if name == "variables" {
                    return Expr::Ident(format!("{VARIABLE}{}", select.field));
                }
                if name == "authorizer" && select.field == "requestResource" {
                    return Expr::Ident(REQUEST_RESOURCE.to_owned());
                }
            }
            let args = vec![rewritten(*select.operand), text(&select.field)];
            Expr::Call(CallExpr { func_name: operators::INDEX.to_owned(), target: None, args })
        }
        Expr::Select(mut select) => {
            *select.operand = rewritten(std::mem::take(&mut *select.operand));
            Expr::Select(select)
        }
        Expr::Call(mut call) => {
            call.target = call.target.map(|target| Box::new(rewritten(*target)));
            call.args = all(call.args);
            Expr::Call(call)
        }
        Expr::Comprehension(mut loop_) => {
            for part in [
                &mut loop_.iter_range,
                &mut loop_.accu_init,
                &mut loop_.loop_cond,
                &mut loop_.loop_step,
                &mut loop_.result,
            ] {
                *part = rewritten(std::mem::take(part));
            }
            Expr::Comprehension(loop_)
        }
        Expr::List(mut list) => {
            list.elements = all(list.elements);
            Expr::List(list)
        }
        Expr::Map(map) => entries(map.entries),
        Expr::Struct(rewritten_element) => entries(rewritten_element.entries),
        other => other,
    }
}

fn entries(entries: Vec<IdedEntryExpr>) -> Expr {
    let entry = |entry: IdedEntryExpr| {
        let rewritten_element = match entry.expr {
            EntryExpr::StructField(field) => MapEntryExpr {
                key: text(&unescaped(&field.field)),
                value: rewritten(field.value),
                optional: field.optional,
            },
            EntryExpr::MapEntry(own) => {
                MapEntryExpr { key: rewritten(own.key), value: rewritten(own.value), optional: own.optional }
            }
        };
        IdedEntryExpr { id: entry.id, expr: EntryExpr::MapEntry(rewritten_element) }
    };
    Expr::Map(MapExpr { entries: entries.into_iter().map(entry).collect() })
}

fn text(text: &str) -> Expression {
    Expression { id: 0, expr: Expr::Literal(LiteralValue::String(text.into())) }
}

/// Unescapes the name of a field: `a__dash__b` is `a-b`, `__namespace__` is `namespace`.
fn unescaped(field: &str) -> String {
    if let Some(word) = field.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"))
        && !word.contains('_')
    {
        return word.to_owned();
    }
    let plain = field.replace("__dash__", "-").replace("__dot__", ".").replace("__slash__", "/");
    plain.replace("__underscores__", "__")
}
