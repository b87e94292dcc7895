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

/// Rewrites a syntax tree into the subset of CEL that the evaluator supports.
pub(super) fn rewrite_tree(mut tree: Expression) -> Expression {
    tree.expr = rewrite_expr(tree.expr);
    tree
}

fn rewrite_all(trees: Vec<Expression>) -> Vec<Expression> {
    trees.into_iter().map(rewrite_tree).collect()
}

/// Rewrites one node of the syntax tree and everything below it. A field selection becomes an index, `variables.a` and
/// `authorizer.requestResource` become single names, and a struct becomes a map.
fn rewrite_expr(expr: Expr) -> Expr {
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
            let args = vec![rewrite_tree(*select.operand), string_literal(&select.field)];
            Expr::Call(CallExpr { func_name: operators::INDEX.to_owned(), target: None, args })
        }
        // A test `has(a.b)` stays a selection.
        Expr::Select(mut select) => {
            *select.operand = rewrite_tree(std::mem::take(&mut *select.operand));
            Expr::Select(select)
        }
        Expr::Call(mut call) => {
            call.target = call.target.map(|target| Box::new(rewrite_tree(*target)));
            call.args = rewrite_all(call.args);
            Expr::Call(call)
        }
        Expr::Comprehension(mut loop_) => {
            for subtree in [
                &mut loop_.iter_range,
                &mut loop_.accu_init,
                &mut loop_.loop_cond,
                &mut loop_.loop_step,
                &mut loop_.result,
            ] {
                *subtree = rewrite_tree(std::mem::take(subtree));
            }
            Expr::Comprehension(loop_)
        }
        Expr::List(mut list) => {
            list.elements = rewrite_all(list.elements);
            Expr::List(list)
        }
        Expr::Map(map) => rewrite_entries(map.entries),
        Expr::Struct(object) => rewrite_entries(object.entries),
        other => other,
    }
}

/// Returns a map with the rewritten fields of a struct, or with the rewritten entries of a map.
fn rewrite_entries(entries: Vec<IdedEntryExpr>) -> Expr {
    let rewrite_entry = |entry: IdedEntryExpr| {
        let map_entry = match entry.expr {
            EntryExpr::StructField(field) => MapEntryExpr {
                key: string_literal(&unescape_field(&field.field)),
                value: rewrite_tree(field.value),
                optional: field.optional,
            },
            EntryExpr::MapEntry(map_entry) => MapEntryExpr {
                key: rewrite_tree(map_entry.key),
                value: rewrite_tree(map_entry.value),
                optional: map_entry.optional,
            },
        };
        IdedEntryExpr { id: entry.id, expr: EntryExpr::MapEntry(map_entry) }
    };
    Expr::Map(MapExpr { entries: entries.into_iter().map(rewrite_entry).collect() })
}

/// Returns a syntax tree of a string literal.
fn string_literal(text: &str) -> Expression {
    Expression { id: 0, expr: Expr::Literal(LiteralValue::String(text.into())) }
}

/// Unescapes the name of a field as CEL for Kubernetes escapes it: `a__dash__b` is `a-b`, and the keyword `__namespace__` is `namespace`.
fn unescape_field(field: &str) -> String {
    if let Some(word) = field.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"))
        && !word.contains('_')
    {
        return word.to_owned();
    }
    let plain = field.replace("__dash__", "-").replace("__dot__", ".").replace("__slash__", "/");
    plain.replace("__underscores__", "__")
}
