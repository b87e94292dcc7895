//! Computes the cost of CEL function calls, method calls and comprehension macros.

use super::{CostTerm, ExpressionReader, LIST_COST, TRAVERSAL_COST, element};

// The cost of each iteration besides its body: the loop condition and the step.
const LOOP_STEP_COST: f64 = 3.0;
const PATTERN_COST: f64 = 0.25;
/// The size of a text from a function whose result length the API server doesn't know.
const UNBOUNDED: f64 = f64::INFINITY;

impl<'a> ExpressionReader<'_, 'a> {
    /// Reads the call `name(...)`, from behind the opening bracket.
    pub(super) fn function(&mut self, name: &str) -> Option<CostTerm<'a>> {
        let arguments = self.arguments()?;
        let cost: f64 = arguments.iter().map(|argument| argument.cost).sum();
        if name == "has" {
            return Some(CostTerm::computed(cost, 0.0));
        }
        if matches!(name, "size" | "type" | "int" | "uint" | "double" | "bool" | "dyn") {
            return Some(CostTerm::computed(cost + 1.0, 0.0));
        }
        let length: f64 = arguments.iter().map(|argument| self.length(argument)).sum();
        if name == "string" {
            return Some(CostTerm::computed(cost + (length * TRAVERSAL_COST).max(1.0), UNBOUNDED));
        }
        // Assume that an unknown function reads its arguments once.
        self.certain = false;
        Some(CostTerm::computed(cost + (length * TRAVERSAL_COST).max(1.0), length))
    }

    /// Reads the method call `term.name(...)`, from behind the opening bracket.
    pub(super) fn method(&mut self, term: CostTerm<'a>, name: &str) -> Option<CostTerm<'a>> {
        if matches!(name, "all" | "exists" | "exists_one" | "existsOne" | "map" | "filter") {
            return self.comprehension(&term, name);
        }
        let arguments = self.arguments()?;
        let cost = term.cost + arguments.iter().map(|argument| argument.cost).sum::<f64>();
        let first = arguments.first().map_or(0.0, |argument| argument.size);
        let (call_cost, size) = match name {
            "size" | "orValue" | "hasValue" | "value" | "optMap" => (1.0, term.size),
            "startsWith" | "endsWith" => (first * TRAVERSAL_COST, 0.0),
            "matches" => (self.length(&term) * TRAVERSAL_COST * (first * PATTERN_COST).max(1.0), 0.0),
            "contains" => (self.length(&term) * TRAVERSAL_COST * (first * TRAVERSAL_COST).max(1.0), 0.0),
            "format" | "charAt" => (self.length(&term) * TRAVERSAL_COST, UNBOUNDED),
            "isSorted" | "sum" | "min" | "max" | "indexOf" | "lastIndexOf" => (self.length(&term), 0.0),
            _ => (self.length(&term) * TRAVERSAL_COST, term.size),
        };
        let known = ["size", "startsWith", "endsWith", "matches", "contains", "format", "charAt"];
        self.certain &= known.contains(&name);
        Some(CostTerm { cost: cost + call_cost.max(1.0), ..CostTerm::computed(0.0, size) })
    }

    /// Reads a comprehension macro of a list or map, such as `list.all(x, x > 0)`, from behind the opening bracket. Its body runs once
    /// per element. Returns `None` if it can't be parsed.
    fn comprehension(&mut self, term: &CostTerm<'a>, name: &str) -> Option<CostTerm<'a>> {
        let variables = self.variables.len();
        // Other macros have one or two variables. In `list.map(x, x.ready, x.name)`, the second argument is a filter.
        let most = if matches!(name, "map" | "filter") { 1 } else { 2 };
        let is_map = term.schema.is_some_and(|schema| schema["type"] == "object");
        loop {
            // The last argument is the body; `map` with a filter has two bodies.
            let names_a_variable = matches!(self.tokens.get(self.position + 1), Some(super::Token::Sign(",")));
            if !names_a_variable || self.variables.len() - variables == most {
                break;
            }
            let variable = self.name()?;
            self.consume(",");
            // The API server assumes that map keys are short.
            let key = is_map && self.variables.len() == variables;
            let bound = if key { CostTerm::computed(1.0, 0.0) } else { element(term) };
            self.variables.push((variable, bound));
        }
        let mut body = self.ternary()?.cost;
        while self.consume(",") {
            body += self.ternary()?.cost;
        }
        if !self.consume(")") || self.variables.len() == variables {
            return None;
        }
        self.variables.truncate(variables);
        let result_cost = if matches!(name, "map" | "filter") { LIST_COST } else { 0.0 };
        let length = self.length(term);
        let mut result = CostTerm::computed(term.cost + length * (body + LOOP_STEP_COST + result_cost), 0.0);
        if result_cost > 0.0 {
            result.size = length;
        }
        if name == "filter" {
            result = CostTerm { cost: result.cost, ..term.clone() };
        }
        Some(result)
    }

    /// Reads the arguments of a call up to the closing bracket.
    fn arguments(&mut self) -> Option<Vec<CostTerm<'a>>> {
        let mut arguments = Vec::new();
        while !self.consume(")") {
            arguments.push(self.ternary()?);
            if !self.consume(",") && self.tokens.get(self.position) != Some(&super::Token::Sign(")")) {
                return None;
            }
        }
        Some(arguments)
    }
}
