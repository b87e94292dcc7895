//! Parses, adds and formats quantities (`resource.Quantity`).

use std::{cmp::Ordering, fmt};

use serde_json::Value;

/// The format of a parsed quantity, which its canonical form keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuantityFormat {
    /// Decimal suffixes: `k`, `M`, ...
    Decimal,
    /// Binary suffixes: `Ki`, `Mi`, ...
    Binary,
    /// A decimal exponent: `e3`.
    Exponent,
}

/// A quantity: `mantissa * 10^exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    mantissa: i128,
    exponent: i32,
    format: QuantityFormat,
}

/// The error of a text that is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The maximum number of digits that is stored exactly.
const MAX_DIGITS: usize = 27;
/// The exponent of the smallest unit, a billionth.
const SMALLEST: i32 = -9;
/// The exponent of a thousandth.
const MILLI: i32 = -3;

/// The binary suffixes: each is the factor 1024 to the power of its index.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// The decimal suffixes and their exponents.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

impl Quantity {
    pub(crate) const ZERO: Self = Self { mantissa: 0, exponent: 0, format: QuantityFormat::Decimal };

    /// Returns a whole number as a quantity.
    pub(crate) const fn of(number: i64) -> Self {
        Self { mantissa: number as i128, exponent: 0, format: QuantityFormat::Decimal }
    }

    /// Parses a JSON value, which may be a bare number; `None` if it is not a quantity.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text).ok(),
            Value::Number(number) => Self::parse(&number.to_string()).ok(),
            _ => None,
        }
    }

    /// Parses a quantity such as `1500m`, `2Gi` or `1e3`. Amounts are rounded to billionths, away from zero.
    ///
    /// # Errors
    /// If the text is not a quantity, has more digits than are stored exactly, or is too large.
    pub(crate) fn parse(text: &str) -> Result<Self, Malformed> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end =
            unsigned.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || fraction.contains('.') || digits.len() > MAX_DIGITS {
            return Err(Malformed);
        }
        let mut mantissa: i128 = digits.parse().map_err(|_| Malformed)?;
        if negative {
            mantissa = -mantissa;
        }
        let exponent = -i32::try_from(fraction.len()).map_err(|_| Malformed)?;
        Self { mantissa, exponent, format: QuantityFormat::Decimal }.with_suffix(suffix)
    }

    /// Applies a suffix to a number without one: a decimal or binary suffix, or a decimal exponent.
    ///
    /// # Errors
    /// If the suffix is unknown or the result is too large.
    fn with_suffix(mut self, suffix: &str) -> Result<Self, Malformed> {
        if let Some((_, power)) = DECIMAL.iter().find(|(other, _)| *other == suffix) {
            self.exponent += power;
        } else if let Some(power) = BINARY.iter().position(|other| *other == suffix) {
            self.format = QuantityFormat::Binary;
            let factor = 1i128 << (10 * power);
            self.mantissa = self.mantissa.checked_mul(factor).ok_or(Malformed)?;
        } else {
            let power = suffix.strip_prefix(['e', 'E']).ok_or(Malformed)?;
            let power: i32 = power.parse().map_err(|_| Malformed)?;
            if !(-30..=30).contains(&power) {
                return Err(Malformed);
            }
            self.format = QuantityFormat::Exponent;
            self.exponent += power;
        }
        Ok(self.rounded(SMALLEST))
    }

    /// Rounds to a multiple of `10^smallest`, away from zero.
    fn rounded(mut self, smallest: i32) -> Self {
        while self.exponent < smallest {
            let rounding = i128::from(self.mantissa % 10 != 0) * self.mantissa.signum();
            self.mantissa = self.mantissa / 10 + rounding;
            self.exponent += 1;
        }
        self
    }

    /// Returns whether the quantity is greater than 0.
    pub(crate) fn is_positive(&self) -> bool {
        self.mantissa > 0
    }

    /// Returns whether the quantity is less than 0.
    pub(crate) fn is_negative(&self) -> bool {
        self.mantissa < 0
    }

    /// Returns the sum, in the format of the first operand that is not zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        let (left, right, exponent) = self.align(other);
        let format = if self.mantissa == 0 { other.format } else { self.format };
        Self { mantissa: left.saturating_add(right), exponent, format }
    }

    /// Returns the difference, in the format of the first operand that is not zero.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { mantissa: other.mantissa.saturating_neg(), ..other })
    }

    /// Returns the quotient of the two quantities.
    pub(crate) fn ratio(self, other: Self) -> f64 {
        let (left, right, _) = self.align(other);
        left as f64 / right as f64
    }

    /// Scales both mantissas to the smaller exponent, and returns them with that exponent. Overflows saturate.
    fn align(self, other: Self) -> (i128, i128, i32) {
        let exponent = self.exponent.min(other.exponent);
        let scaled = |quantity: Self| {
            if quantity.mantissa == 0 {
                return 0;
            }
            let factor = 10i128.checked_pow((quantity.exponent - exponent).unsigned_abs());
            let saturated = if quantity.is_negative() { i128::MIN } else { i128::MAX };
            factor.and_then(|factor| quantity.mantissa.checked_mul(factor)).unwrap_or(saturated)
        };
        (scaled(self), scaled(other), exponent)
    }

    /// Returns whether the quantity is an integer.
    pub(crate) fn is_whole(&self) -> bool {
        self.to_integer().is_some()
    }

    /// Returns the quantity as an integer; `None` if it has a fraction or is too large.
    fn to_integer(self) -> Option<i128> {
        let factor = 10i128.checked_pow(self.exponent.unsigned_abs())?;
        if self.exponent >= 0 {
            return self.mantissa.checked_mul(factor);
        }
        (self.mantissa % factor == 0).then(|| self.mantissa / factor)
    }

    /// Rewrites the text of a quantity in its canonical form. A text that Kubernetes considers canonical stays unchanged.
    /// If `thousandths` is set, rounds away from zero to thousandths, as Kubernetes does in resource lists.
    ///
    /// # Errors
    /// If the text is not a quantity.
    pub(crate) fn normalize_text(text: &str, thousandths: bool) -> Result<String, Malformed> {
        let text = text.trim();
        let mut amount = Self::parse(text)?;
        let too_fine = thousandths && amount.exponent < MILLI;
        // The suffixes and the canonical decimal exponents are multiples of 3.
        if !too_fine && amount.format != QuantityFormat::Binary && amount.exponent % 3 == 0 {
            // The text is canonical if its number neither begins with zero or a dot nor ends with three zeros.
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            let digits = text.find(['e', 'E']).map_or(digits.as_str(), |end| &text[..end]);
            let significant = digits.trim_start_matches(['+', '-']);
            if !significant.starts_with(['0', '.']) && !significant.replace('.', "").ends_with("000") {
                return Ok(text.to_owned());
            }
        }
        if too_fine {
            amount = amount.rounded(MILLI);
        }
        Ok(amount.to_string())
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let (left, right, _) = self.align(*other);
        Some(left.cmp(&right))
    }
}

impl fmt::Display for Quantity {
    /// Formats the quantity in its canonical form: an integer with the largest suffix (or decimal exponent) that needs no
    /// fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mantissa == 0 {
            return f.write_str("0");
        }
        if self.format == QuantityFormat::Binary
            && let Some(mut whole) = self.to_integer().filter(|whole| whole.unsigned_abs() >= 1024)
        {
            let mut power = 0;
            while whole % 1024 == 0 && power + 1 < BINARY.len() {
                whole /= 1024;
                power += 1;
            }
            return write!(f, "{whole}{}", BINARY[power]);
        }
        let (mut mantissa, mut exponent) = (self.mantissa, self.exponent);
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        // Suffixes exist for multiples of 3 only, so the next lower multiple becomes the exponent.
        let exponent_remainder = exponent.rem_euclid(3);
        mantissa *= 10i128.pow(exponent_remainder.unsigned_abs());
        exponent -= exponent_remainder;
        // There is no larger suffix than `E`, so the mantissa becomes larger.
        while exponent > 18 && self.format != QuantityFormat::Exponent {
            mantissa *= 1000;
            exponent -= 3;
        }
        if self.format == QuantityFormat::Exponent {
            return if exponent == 0 { write!(f, "{mantissa}") } else { write!(f, "{mantissa}e{exponent}") };
        }
        let suffix = DECIMAL.iter().find(|(_, power)| *power == exponent).map_or("", |(suffix, _)| suffix);
        write!(f, "{mantissa}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Quantity;

    /// Returns the canonical text of a quantity in a resource list.
    fn canonical(text: &str) -> String {
        Quantity::normalize_text(text, true).unwrap_or_else(|_| "malformed".to_owned())
    }

    /// Compares with the `resources.limits` that kube-apiserver returned for these texts.
    #[test]
    fn canonical_texts_match_those_of_kube_apiserver() {
        let expected = include_str!("../tests/golden/quantities.json");
        let expected: std::collections::BTreeMap<String, String> = serde_json::from_str(expected).unwrap();
        let actual = expected.keys().map(|text| (text.clone(), canonical(text))).collect();
        assert_eq!(expected, actual);
    }

    #[test]
    fn amounts_compare_across_suffixes() {
        let parse = |text| Quantity::parse(text).unwrap();
        assert!(parse("1Gi") > parse("1G"));
        assert!(parse("1000m") == parse("1"));
        assert!(parse("-1") < parse("1n"));
    }

    #[test]
    fn a_sum_has_the_format_of_its_first_operand_that_is_not_zero() {
        let parse = |text| Quantity::parse(text).unwrap();
        for (left, right, sum, difference) in [
            ("1Ki", "1", "1025", "1023"),
            ("512Mi", "0.5Gi", "1Gi", "0"),
            ("0", "1Gi", "1Gi", "-1Gi"),
            ("500m", "1500m", "2", "-1"),
            ("1e3", "1k", "2e3", "0"),
        ] {
            assert_eq!(parse(left).plus(parse(right)).to_string(), sum, "{left} + {right}");
            assert_eq!(parse(left).minus(parse(right)).to_string(), difference, "{left} - {right}");
        }
        assert!((parse("3").ratio(parse("1500m")) - 2.0).abs() < f64::EPSILON);
    }
}
