//! A reader of CEL expressions that adds up what they cost, as far as it understands them.

mod call;
mod token;

use std::collections::BTreeSet;

use serde_json::Value;

use super::size;
use token::{Token, tokens};

const LIST: f64 = 10.0;
const MAP: f64 = 30.0;
const STRUCT: f64 = 40.0;
const TRAVERSAL: f64 = 0.1;

/// What an expression costs at worst.
pub(super) struct Estimate {
    pub(super) cost: f64,
    /// Whether every function in it is one whose cost is known.
    pub(super) certain: bool,
    /// The paths that went into the cost with no bound, and the keyword that would bound them.
    pub(super) unbounded: BTreeSet<(String, &'static str)>,
}

/// The cost of `expression` on a value of `schema`; `None` where it can't be read.
pub(super) fn estimate(expression: &str, schema: &Value, path: &str) -> Option<Estimate> {
    if expression.trim().is_empty() {
        return None;
    }
    let tokens = tokens(expression)?;
    let own = CostTerm { cost: 0.0, size: size::bound(schema).most, schema: Some(schema), path: path.to_owned() };
    let variables = vec![("self".to_owned(), own.clone()), ("oldSelf".to_owned(), own)];
    let mut reader =
        ExpressionReader { tokens: &tokens, position: 0, variables, certain: true, unbounded: BTreeSet::new() };
    let cost = reader.ternary()?.cost;
    let ExpressionReader { position, certain, unbounded, .. } = reader;
    (position == tokens.len()).then_some(Estimate { cost, certain, unbounded })
}

/// A part of an expression: what it costs to get, how long its value may be, and where it comes from.
#[derive(Clone, Debug)]
struct CostTerm<'a> {
    cost: f64,
    size: f64,
    schema: Option<&'a Value>,
    path: String,
}

impl<'a> CostTerm<'a> {
    /// A value that comes from no field.
    fn made(cost: f64, size: f64) -> Self {
        Self { cost, size, schema: None, path: String::new() }
    }

    fn part(&self, schema: Option<&'a Value>, path: String) -> Self {
        let size = schema.map_or(0.0, |schema| size::bound(schema).most);
        Self { cost: 1.0, size, schema, path }
    }
}

struct ExpressionReader<'t, 'a> {
    tokens: &'t [Token],
    position: usize,
    variables: Vec<(String, CostTerm<'a>)>,
    certain: bool,
    unbounded: BTreeSet<(String, &'static str)>,
}

impl<'a> ExpressionReader<'_, 'a> {
    fn ternary(&mut self) -> Option<CostTerm<'a>> {
        let condition = self.logic()?;
        if !self.take("?") {
            return Some(condition);
        }
        let yes = self.ternary()?;
        if !self.take(":") {
            return None;
        }
        let no = self.ternary()?;
        let cost = condition.cost + yes.cost.max(no.cost);
        Some(if yes.size >= no.size { CostTerm { cost, ..yes } } else { CostTerm { cost, ..no } })
    }

    fn logic(&mut self) -> Option<CostTerm<'a>> {
        let mut left = self.relation()?;
        while self.take("&&") || self.take("||") {
            left = CostTerm::made(left.cost + self.relation()?.cost, 0.0);
        }
        Some(left)
    }

    fn relation(&mut self) -> Option<CostTerm<'a>> {
        let mut left = self.sum()?;
        loop {
            let compared = ["==", "!=", "<=", ">=", "<", ">"].into_iter().any(|operator| self.take(operator));
            if !compared && !self.take("in") {
                return Some(left);
            }
            let right = self.sum()?;
            let is_map = right.schema.is_some_and(|schema| schema["type"] == "object");
            let length = match compared {
                true => self.shorter(&left, &right) * TRAVERSAL,
                // A key is looked up, an item is searched for.
                false if is_map => 1.0,
                false => self.length(&right),
            };
            left = CostTerm::made(left.cost + right.cost + length.max(1.0), 0.0);
        }
    }

    fn sum(&mut self) -> Option<CostTerm<'a>> {
        let mut left = self.unary()?;
        loop {
            let joined = self.take("+");
            if !joined && !["-", "*", "/", "%"].into_iter().any(|operator| self.take(operator)) {
                return Some(left);
            }
            let right = self.unary()?;
            let length = if joined { self.length(&left) + self.length(&right) } else { 0.0 };
            left = CostTerm::made(left.cost + right.cost + (length * TRAVERSAL).max(1.0), length);
        }
    }

    fn unary(&mut self) -> Option<CostTerm<'a>> {
        if self.take("!") || self.take("-") {
            let operand = self.unary()?;
            return Some(CostTerm::made(operand.cost + 1.0, 0.0));
        }
        let mut term = self.primary()?;
        loop {
            if self.take(".") {
                self.take("?");
                let name = self.name()?;
                term = if self.take("(") { self.method(term, &name)? } else { field(&term, &name) };
            } else if self.take("[") {
                self.take("?");
                let index = self.ternary()?;
                if !self.take("]") {
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

    fn primary(&mut self) -> Option<CostTerm<'a>> {
        let token = self.tokens.get(self.position)?.clone();
        self.position += 1;
        match token {
            Token::Number => Some(CostTerm::made(0.0, 0.0)),
            Token::Text(length) => Some(CostTerm::made(0.0, length)),
            Token::Name(name) => self.named(&name),
            Token::Sign("(") => {
                let inner = self.ternary()?;
                self.take(")").then_some(inner)
            }
            Token::Sign("[") => {
                let (cost, count) = self.elements("]")?;
                Some(CostTerm::made(LIST + cost, count))
            }
            Token::Sign("{") => {
                let (cost, count) = self.elements("}")?;
                Some(CostTerm::made(MAP + cost, count))
            }
            Token::Sign(_) => None,
        }
    }

    fn named(&mut self, name: &str) -> Option<CostTerm<'a>> {
        if self.take("(") {
            return self.function(name);
        }
        if self.take("{") {
            let (cost, _) = self.elements("}")?;
            return Some(CostTerm::made(STRUCT + cost, 0.0));
        }
        let known = self.variables.iter().rev().find(|(variable, _)| variable == name).map(|(_, term)| term.clone());
        Some(CostTerm { cost: 1.0, ..known.unwrap_or_else(|| CostTerm::made(1.0, 0.0)) })
    }

    /// What is between brackets, separated by commas and, in maps, colons: its cost, and how much it is.
    fn elements(&mut self, end: &'static str) -> Option<(f64, f64)> {
        let (mut cost, mut count) = (0.0, 0.0);
        while !self.take(end) {
            cost += self.ternary()?.cost;
            count += 1.0;
            if self.take(":") {
                cost += self.ternary()?.cost;
            }
            if !self.take(",") && self.tokens.get(self.position) != Some(&Token::Sign(end)) {
                return None;
            }
        }
        Some((cost, count))
    }

    /// How long a term is; what has no bound is remembered.
    fn length(&mut self, term: &CostTerm<'a>) -> f64 {
        if let Some(missing) = term.schema.and_then(|schema| size::bound(schema).missing) {
            self.unbounded.insert((term.path.clone(), missing));
        }
        term.size
    }

    /// A comparison ends with the shorter of the two.
    fn shorter(&mut self, left: &CostTerm<'a>, right: &CostTerm<'a>) -> f64 {
        let shorter = if left.size <= right.size { left } else { right };
        self.length(shorter)
    }

    fn name(&mut self) -> Option<String> {
        let Some(Token::Name(name)) = self.tokens.get(self.position) else { return None };
        self.position += 1;
        Some(name.clone())
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = match self.tokens.get(self.position) {
            Some(Token::Sign(sign)) => *sign == wanted,
            Some(Token::Name(name)) => wanted == "in" && name == "in",
            _ => false,
        };
        self.position += usize::from(found);
        found
    }
}

fn field<'a>(term: &CostTerm<'a>, name: &str) -> CostTerm<'a> {
    // CEL can't say these names, so rules escape them.
    let plain = name
        .replace("__dot__", ".")
        .replace("__dash__", "-")
        .replace("__slash__", "/")
        .replace("__underscores__", "__");
    let plain = plain.strip_prefix("__").and_then(|name| name.strip_suffix("__")).map_or(plain.clone(), str::to_owned);
    let schema = term.schema.and_then(|schema| {
        schema["properties"].get(&plain).or_else(|| schema.get("additionalProperties").filter(|map| map.is_object()))
    });
    let mut part = term.part(schema, super::super::schema::field(&term.path, &plain));
    part.cost += term.cost;
    part
}

/// An item of a list or a value of a map.
fn element<'a>(term: &CostTerm<'a>) -> CostTerm<'a> {
    let items = term.schema.and_then(|schema| schema.get("items").or_else(|| schema.get("additionalProperties")));
    term.part(items, super::super::schema::items(&term.path))
}
