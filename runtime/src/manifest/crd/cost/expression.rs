//! Parses CEL expressions and sums up the cost of their operations.

mod call;
mod token;

use std::collections::BTreeSet;

use serde_json::Value;

use super::size;
use token::{Token, tokens};

// Costs of the CEL cost model of the API server.
const LIST_COST: f64 = 10.0;
const MAP_COST: f64 = 30.0;
const STRUCT_COST: f64 = 40.0;
const TRAVERSAL_COST: f64 = 0.1;

/// The worst-case cost of an expression.
pub(super) struct Estimate {
    pub(super) cost: f64,
    /// Whether the cost of every function in it is known.
    pub(super) certain: bool,
    /// The paths of values without a bound that raise the cost, each with the keyword that would bound it.
    pub(super) unbounded: BTreeSet<(String, &'static str)>,
}

/// Estimates the worst-case cost of the CEL `expression` on a value of `schema`, whose path is `path`. Returns `None` if the expression is
/// empty or can't be parsed.
pub(super) fn estimate(expression: &str, schema: &Value, path: &str) -> Option<Estimate> {
    if expression.trim().is_empty() {
        return None;
    }
    let tokens = tokens(expression)?;
    let self_term =
        CostTerm { cost: 0.0, size: size::bound(schema).maximum, schema: Some(schema), path: path.to_owned() };
    let variables = vec![("self".to_owned(), self_term.clone()), ("oldSelf".to_owned(), self_term)];
    let mut reader =
        ExpressionReader { tokens: &tokens, position: 0, variables, certain: true, unbounded: BTreeSet::new() };
    let cost = reader.ternary()?.cost;
    let ExpressionReader { position, certain, unbounded, .. } = reader;
    (position == tokens.len()).then_some(Estimate { cost, certain, unbounded })
}

/// A part of an expression: the cost of its evaluation, the maximum size of its value, and the field that it comes from.
#[derive(Clone, Debug)]
struct CostTerm<'a> {
    cost: f64,
    size: f64,
    schema: Option<&'a Value>,
    path: String,
}

impl<'a> CostTerm<'a> {
    /// Creates the term of a computed value, which comes from no field.
    fn computed(cost: f64, size: f64) -> Self {
        Self { cost, size, schema: None, path: String::new() }
    }

    /// Creates the term of an access to the value at `path`, which costs 1 and returns a value of at most the size that its schema allows.
    fn of_schema(schema: Option<&'a Value>, path: String) -> Self {
        let size = schema.map_or(0.0, |schema| size::bound(schema).maximum);
        Self { cost: 1.0, size, schema, path }
    }
}

/// A recursive-descent parser of CEL tokens that computes costs. Its methods return `None` for a syntax that it doesn't know.
struct ExpressionReader<'t, 'a> {
    tokens: &'t [Token],
    position: usize,
    variables: Vec<(String, CostTerm<'a>)>,
    certain: bool,
    unbounded: BTreeSet<(String, &'static str)>,
}

impl<'a> ExpressionReader<'_, 'a> {
    /// Reads `condition ? a : b`, or an expression without `?`. The cost is the sum of the condition and the more expensive alternative;
    /// the result is the larger alternative.
    fn ternary(&mut self) -> Option<CostTerm<'a>> {
        let condition = self.logical()?;
        if !self.consume("?") {
            return Some(condition);
        }
        let yes = self.ternary()?;
        if !self.consume(":") {
            return None;
        }
        let no = self.ternary()?;
        let cost = condition.cost + yes.cost.max(no.cost);
        Some(if yes.size >= no.size { CostTerm { cost, ..yes } } else { CostTerm { cost, ..no } })
    }

    /// Reads operands joined by `&&` and `||`, and adds up their costs: in the worst case, all operands are evaluated.
    fn logical(&mut self) -> Option<CostTerm<'a>> {
        let mut left = self.relation()?;
        while self.consume("&&") || self.consume("||") {
            left = CostTerm::computed(left.cost + self.relation()?.cost, 0.0);
        }
        Some(left)
    }

    /// Reads operands joined by comparisons and `in`. A comparison costs as much as reading the smaller operand, and `in` as much as a
    /// search of the list or a look-up in the map.
    fn relation(&mut self) -> Option<CostTerm<'a>> {
        let mut left = self.arithmetic()?;
        loop {
            let is_comparison = ["==", "!=", "<=", ">=", "<", ">"].into_iter().any(|operator| self.consume(operator));
            if !is_comparison && !self.consume("in") {
                return Some(left);
            }
            let right = self.arithmetic()?;
            let is_map = right.schema.is_some_and(|schema| schema["type"] == "object");
            let length = match is_comparison {
                true => self.shorter(&left, &right) * TRAVERSAL_COST,
                // CEL looks a map key up, and searches a list for an item.
                false if is_map => 1.0,
                false => self.length(&right),
            };
            left = CostTerm::computed(left.cost + right.cost + length.max(1.0), 0.0);
        }
    }

    /// Reads `+`, `-`, `*`, `/` and `%` from left to right. Their precedence does not matter, since their costs are added up. `+`
    /// also concatenates strings and lists.
    fn arithmetic(&mut self) -> Option<CostTerm<'a>> {
        let mut left = self.unary()?;
        loop {
            let is_addition = self.consume("+");
            if !is_addition && !["-", "*", "/", "%"].into_iter().any(|operator| self.consume(operator)) {
                return Some(left);
            }
            let right = self.unary()?;
            // An operation costs at least 1. A concatenation also reads both sides.
            let length = if is_addition { self.length(&left) + self.length(&right) } else { 0.0 };
            left = CostTerm::computed(left.cost + right.cost + (length * TRAVERSAL_COST).max(1.0), length);
        }
    }

    /// Reads `!a`, `-a`, and the fields, indices and method calls behind a primary expression.
    fn unary(&mut self) -> Option<CostTerm<'a>> {
        if self.consume("!") || self.consume("-") {
            let operand = self.unary()?;
            return Some(CostTerm::computed(operand.cost + 1.0, 0.0));
        }
        let mut term = self.primary()?;
        loop {
            // `a.?b` and `a[?b]`, which yield an optional value, cost the same as `a.b` and `a[b]`.
            if self.consume(".") {
                self.consume("?");
                let name = self.name()?;
                term = if self.consume("(") { self.method(term, &name)? } else { field(&term, &name) };
            } else if self.consume("[") {
                self.consume("?");
                let index = self.ternary()?;
                if !self.consume("]") {
                    return None;
                }
                let mut element = element(&term);
                element.cost = term.cost + index.cost + 1.0;
                term = element;
            } else {
                return Some(term);
            }
        }
    }

    /// Reads a literal, a list, a map, an expression in parentheses, or whatever starts with an identifier.
    fn primary(&mut self) -> Option<CostTerm<'a>> {
        let token = self.tokens.get(self.position)?.clone();
        self.position += 1;
        match token {
            Token::Number => Some(CostTerm::computed(0.0, 0.0)),
            Token::Text(length) => Some(CostTerm::computed(0.0, length)),
            Token::Name(name) => self.identifier(&name),
            Token::Sign("(") => {
                let inner = self.ternary()?;
                self.consume(")").then_some(inner)
            }
            Token::Sign("[") => {
                let (cost, count) = self.elements("]")?;
                Some(CostTerm::computed(LIST_COST + cost, count))
            }
            Token::Sign("{") => {
                let (cost, count) = self.elements("}")?;
                Some(CostTerm::computed(MAP_COST + cost, count))
            }
            Token::Sign(_) => None,
        }
    }

    /// Returns the term of an expression that starts with the identifier `name`: a function call, the creation of a struct, or a variable.
    /// The parser is behind the identifier. An unknown variable has the size 0.
    fn identifier(&mut self, name: &str) -> Option<CostTerm<'a>> {
        if self.consume("(") {
            return self.function(name);
        }
        if self.consume("{") {
            let (cost, _) = self.elements("}")?;
            return Some(CostTerm::computed(STRUCT_COST + cost, 0.0));
        }
        // The innermost variable with this name shadows the others.
        let known = self.variables.iter().rev().find(|(variable, _)| variable == name).map(|(_, term)| term.clone());
        Some(CostTerm { cost: 1.0, ..known.unwrap_or_else(|| CostTerm::computed(1.0, 0.0)) })
    }

    /// Reads the elements between brackets, separated by commas and, in maps, colons. Returns their cost and their number.
    fn elements(&mut self, end: &'static str) -> Option<(f64, f64)> {
        let (mut cost, mut count) = (0.0, 0.0);
        while !self.consume(end) {
            cost += self.ternary()?.cost;
            count += 1.0;
            if self.consume(":") {
                cost += self.ternary()?.cost;
            }
            if !self.consume(",") && self.tokens.get(self.position) != Some(&Token::Sign(end)) {
                return None;
            }
        }
        Some((cost, count))
    }

    /// Returns the maximum size of a term. If its schema declares no size bound, records its path and the missing keyword in `unbounded`.
    fn length(&mut self, term: &CostTerm<'a>) -> f64 {
        if let Some(missing) = term.schema.and_then(|schema| size::bound(schema).missing) {
            self.unbounded.insert((term.path.clone(), missing));
        }
        term.size
    }

    /// Returns the size of the smaller term, since a comparison reads no more of the larger one.
    fn shorter(&mut self, left: &CostTerm<'a>, right: &CostTerm<'a>) -> f64 {
        let shorter = if left.size <= right.size { left } else { right };
        self.length(shorter)
    }

    /// Consumes the next token if it is a name, and returns the name.
    fn name(&mut self) -> Option<String> {
        let Some(Token::Name(name)) = self.tokens.get(self.position) else { return None };
        self.position += 1;
        Some(name.clone())
    }

    /// Consumes the next token if it is `operator`: a sign, or the word `in`. Returns whether it was.
    fn consume(&mut self, operator: &str) -> bool {
        let matches = match self.tokens.get(self.position) {
            Some(Token::Sign(sign)) => *sign == operator,
            Some(Token::Name(name)) => operator == "in" && name == "in",
            _ => false,
        };
        self.position += usize::from(matches);
        matches
    }
}

/// Returns the term of `term.name`: the field of an object or the value of a map, with the cost of the access added to the cost of `term`.
fn field<'a>(term: &CostTerm<'a>, name: &str) -> CostTerm<'a> {
    // CEL identifiers can't contain these characters, so rules escape them.
    let plain = name
        .replace("__dot__", ".")
        .replace("__dash__", "-")
        .replace("__slash__", "/")
        .replace("__underscores__", "__");
    let plain = plain.strip_prefix("__").and_then(|name| name.strip_suffix("__")).map_or(plain.clone(), str::to_owned);
    let schema = term.schema.and_then(|schema| {
        schema["properties"].get(&plain).or_else(|| schema.get("additionalProperties").filter(|map| map.is_object()))
    });
    let mut part = CostTerm::of_schema(schema, super::super::schema::field(&term.path, &plain));
    part.cost += term.cost;
    part
}

/// Returns the term of an item of the list `term` or of a value of the map `term`. Its cost doesn't include the cost of `term`.
fn element<'a>(term: &CostTerm<'a>) -> CostTerm<'a> {
    let items = term.schema.and_then(|schema| schema.get("items").or_else(|| schema.get("additionalProperties")));
    CostTerm::of_schema(items, super::super::schema::items(&term.path))
}
