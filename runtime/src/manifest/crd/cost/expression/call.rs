//! Functions, methods and the macros that go through lists and maps.

use super::{CostTerm, ExpressionReader, LIST, TRAVERSAL, element};

// Beside what is done with the element, the loop looks at its result and goes on.
const STEP: f64 = 3.0;
const PATTERN: f64 = 0.25;
/// The server does not know how long the text is that some functions give, and takes it for as long as can be.
const ENDLESS: f64 = f64::INFINITY;

impl<'a> ExpressionReader<'_, 'a> {
    /// `name(...)`, behind the opening bracket.
    pub(super) fn function(&mut self, name: &str) -> Option<CostTerm<'a>> {
        let arguments = self.arguments()?;
        let cost: f64 = arguments.iter().map(|argument| argument.cost).sum();
        if name == "has" {
            return Some(CostTerm::made(cost, 0.0));
        }
        if matches!(name, "size" | "type" | "int" | "uint" | "double" | "bool" | "dyn") {
            return Some(CostTerm::made(cost + 1.0, 0.0));
        }
        let length: f64 = arguments.iter().map(|argument| self.length(argument)).sum();
        if name == "string" {
            return Some(CostTerm::made(cost + (length * TRAVERSAL).max(1.0), ENDLESS));
        }
        // What reads its argument goes through it once, more or less.
        self.certain = false;
        Some(CostTerm::made(cost + (length * TRAVERSAL).max(1.0), length))
    }

    /// `term.name(...)`, behind the opening bracket.
    pub(super) fn method(&mut self, term: CostTerm<'a>, name: &str) -> Option<CostTerm<'a>> {
        if matches!(name, "all" | "exists" | "exists_one" | "existsOne" | "map" | "filter") {
            return self.comprehension(&term, name);
        }
        let arguments = self.arguments()?;
        let cost = term.cost + arguments.iter().map(|argument| argument.cost).sum::<f64>();
        let first = arguments.first().map_or(0.0, |argument| argument.size);
        let (own, size) = match name {
            "size" | "orValue" | "hasValue" | "value" | "optMap" => (1.0, term.size),
            "startsWith" | "endsWith" => (first * TRAVERSAL, 0.0),
            "matches" => (self.length(&term) * TRAVERSAL * (first * PATTERN).max(1.0), 0.0),
            "contains" => (self.length(&term) * TRAVERSAL * (first * TRAVERSAL).max(1.0), 0.0),
            "format" | "charAt" => (self.length(&term) * TRAVERSAL, ENDLESS),
            "isSorted" | "sum" | "min" | "max" | "indexOf" | "lastIndexOf" => (self.length(&term), 0.0),
            _ => (self.length(&term) * TRAVERSAL, term.size),
        };
        let known = ["size", "startsWith", "endsWith", "matches", "contains", "format", "charAt"];
        self.certain &= known.contains(&name);
        Some(CostTerm { cost: cost + own.max(1.0), ..CostTerm::made(0.0, size) })
    }

    fn comprehension(&mut self, term: &CostTerm<'a>, name: &str) -> Option<CostTerm<'a>> {
        let variables = self.variables.len();
        let is_map = term.schema.is_some_and(|schema| schema["type"] == "object");
        loop {
            // The last argument is the body, or the two last of `map` with a filter.
            let names_a_variable = matches!(self.tokens.get(self.position + 1), Some(super::Token::Sign(",")));
            if !names_a_variable || self.variables.len() - variables == 2 {
                break;
            }
            let variable = self.name()?;
            self.take(",");
            // The server takes the keys of a map for short.
            let key = is_map && self.variables.len() == variables;
            let bound = if key { CostTerm::made(1.0, 0.0) } else { element(term) };
            self.variables.push((variable, bound));
        }
        let mut body = self.ternary()?.cost;
        while self.take(",") {
            body += self.ternary()?.cost;
        }
        if !self.take(")") || self.variables.len() == variables {
            return None;
        }
        self.variables.truncate(variables);
        let made = if matches!(name, "map" | "filter") { LIST } else { 0.0 };
        let length = self.length(term);
        let mut result = CostTerm::made(term.cost + length * (body + STEP + made), 0.0);
        if made > 0.0 {
            result.size = length;
        }
        if name == "filter" {
            result = CostTerm { cost: result.cost, ..term.clone() };
        }
        Some(result)
    }

    fn arguments(&mut self) -> Option<Vec<CostTerm<'a>>> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.ternary()?);
            if !self.take(",") && self.tokens.get(self.position) != Some(&super::Token::Sign(")")) {
                return None;
            }
        }
        Some(arguments)
    }
}
