//! Computes the cost of CEL function calls, method calls and comprehension macros.

use super::{CostTerm, ExpressionReader, LIST_COST, TRAVERSAL_COST, element};

// The cost of each iteration besides its body: the loop condition and the step.
const LOOP_STEP_COST: f64 = 3.0;
const PATTERN_COST: f64 = 0.25;
/// The methods whose cost in the API server is known.
const KNOWN_METHODS: [&str; 7] = ["size", "startsWith", "endsWith", "matches", "contains", "format", "charAt"];
/// The size of a text from a function whose result length the API server doesn't know.
const UNBOUNDED: f64 = f64::INFINITY;

impl<'a> ExpressionReader<'_, 'a> {
    /// Reads the arguments of the function call `name(...)`, behind the opening bracket, and returns the term of the result. Its cost is
    /// the cost of the arguments and of the call. An unknown function makes the estimate uncertain.
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

    /// Reads the arguments of the method call `term.name(...)`, behind the opening bracket, and returns the term of the result. Its cost
    /// includes the cost of `term` and of the arguments. An unknown method makes the estimate uncertain.
    pub(super) fn method(&mut self, term: CostTerm<'a>, name: &str) -> Option<CostTerm<'a>> {
        if matches!(name, "all" | "exists" | "exists_one" | "existsOne" | "map" | "filter") {
            return self.comprehension(&term, name);
        }
        let arguments = self.arguments()?;
        let cost = term.cost + arguments.iter().map(|argument| argument.cost).sum::<f64>();
        let first_size = arguments.first().map_or(0.0, |argument| argument.size);
        let (call_cost, size) = self.method_cost(&term, name, first_size);
        self.certain &= KNOWN_METHODS.contains(&name);
        Some(CostTerm::computed(cost + call_cost.max(1.0), size))
    }

    /// Returns the cost of a method call without its term and arguments, and the maximum size of its result. `first_size` is the
    /// size of the first argument.
    ///
    /// Where the cost depends on the size of the term, `length` returns the size, and records the path of a term without a size bound.
    fn method_cost(&mut self, term: &CostTerm<'a>, name: &str, first_size: f64) -> (f64, f64) {
        match name {
            // The result is at most as large as the term.
            "size" | "orValue" | "hasValue" | "value" | "optMap" => (1.0, term.size),
            // Only as many characters of the term are read as the argument has.
            "startsWith" | "endsWith" => (first_size * TRAVERSAL_COST, 0.0),
            // In the worst case, the pattern or the argument is compared at each character of the term.
            "matches" => (self.length(term) * TRAVERSAL_COST * (first_size * PATTERN_COST).max(1.0), 0.0),
            "contains" => (self.length(term) * TRAVERSAL_COST * (first_size * TRAVERSAL_COST).max(1.0), 0.0),
            "format" | "charAt" => (self.length(term) * TRAVERSAL_COST, UNBOUNDED),
            // Each item of a list is read once.
            "isSorted" | "sum" | "min" | "max" | "indexOf" | "lastIndexOf" => (self.length(term), 0.0),
            // Assume that an unknown method reads the term once and returns as much.
            _ => (self.length(term) * TRAVERSAL_COST, term.size),
        }
    }

    /// Reads a comprehension macro of a list or map, such as `list.all(x, x > 0)`, behind the opening bracket. The cost grows with the
    /// size of `term`, since the body runs once per element. Returns `None` if the macro can't be parsed.
    fn comprehension(&mut self, term: &CostTerm<'a>, name: &str) -> Option<CostTerm<'a>> {
        let outer_variables = self.variables.len();
        // `map` and `filter` have one variable: in `list.map(x, x.ready, x.name)`, the second argument is a filter. Others have up to two.
        let max_variables = if matches!(name, "map" | "filter") { 1 } else { 2 };
        let is_map = term.schema.is_some_and(|schema| schema["type"] == "object");
        loop {
            // The last argument is the body; `map` with a filter has two bodies.
            let names_a_variable = matches!(self.tokens.get(self.position + 1), Some(super::Token::Sign(",")));
            if !names_a_variable || self.variables.len() - outer_variables == max_variables {
                break;
            }
            let variable = self.name()?;
            self.consume(",");
            // The API server assumes that map keys are short.
            let is_key = is_map && self.variables.len() == outer_variables;
            let value = if is_key { CostTerm::computed(1.0, 0.0) } else { element(term) };
            self.variables.push((variable, value));
        }
        let mut body = self.ternary()?.cost;
        while self.consume(",") {
            body += self.ternary()?.cost;
        }
        if !self.consume(")") || self.variables.len() == outer_variables {
            return None;
        }
        self.variables.truncate(outer_variables);
        let result_cost = if matches!(name, "map" | "filter") { LIST_COST } else { 0.0 };
        let length = self.length(term);
        let mut result = CostTerm::computed(term.cost + length * (body + LOOP_STEP_COST + result_cost), 0.0);
        if result_cost > 0.0 {
            result.size = length;
        }
        // A filter returns elements of `term`, so the result has its schema.
        if name == "filter" {
            result = CostTerm { cost: result.cost, ..term.clone() };
        }
        Some(result)
    }

    /// Reads the arguments of a call up to and including the closing bracket. Returns `None` if an argument can't be parsed.
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
