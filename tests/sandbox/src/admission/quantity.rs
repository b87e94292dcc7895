//! Amounts of resources: `500m`, `64Mi`, `1e3`.

use std::{cmp::Ordering, fmt};

/// An amount in billionths, and how it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    billionths: i128,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Binary,
    Decimal,
    Exponent,
}

const BILLION: i128 = 1_000_000_000;
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

impl Quantity {
    pub(crate) const ZERO: Self = Self { billionths: 0, form: Form::Decimal };

    /// A whole number.
    pub(crate) fn whole(number: i64) -> Self {
        Self { billionths: i128::from(number) * BILLION, form: Form::Decimal }
    }

    /// Reads what is written; `None` if it is no quantity or beyond all that is used.
    pub(crate) fn of(written: &str) -> Option<Self> {
        let end = written.find(|letter: char| !(letter.is_ascii_digit() || "+-.".contains(letter)));
        let (number, suffix) = written.split_at(end.unwrap_or(written.len()));
        if let Some(power) = BINARY.iter().skip(1).position(|own| *own == suffix) {
            return scaled(number, 1_i128.checked_shl(10 * (u32::try_from(power).ok()? + 1))?, 0, Form::Binary);
        }
        if let Some((_, power)) = DECIMAL.iter().find(|(own, _)| *own == suffix) {
            return scaled(number, 1, *power, Form::Decimal);
        }
        let power = suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?;
        scaled(number, 1, power, Form::Exponent)
    }

    /// From JSON, where it may be a bare number.
    pub(crate) fn of_value(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::String(text) => Self::of(text),
            serde_json::Value::Number(number) => Self::of(&number.to_string()),
            _ => None,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let form = if self.billionths == 0 { other.form } else { self.form };
        Self { billionths: self.billionths.saturating_add(other.billionths), form }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        let form = if self.billionths == 0 { other.form } else { self.form };
        Self { billionths: self.billionths.saturating_sub(other.billionths), form }
    }

    pub(crate) fn is_positive(self) -> bool {
        self.billionths > 0
    }

    /// How often the other fits into this.
    pub(crate) fn ratio(self, other: Self) -> f64 {
        self.billionths as f64 / other.billionths as f64
    }
}

/// `number × factor × 10^power` in billionths, rounded up.
fn scaled(number: &str, factor: i128, power: i32, form: Form) -> Option<Quantity> {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let power = power.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let size = 10_i128.checked_pow(power.unsigned_abs());
    let product = mantissa.checked_mul(factor)?;
    let billionths = match (power >= 0, size) {
        (true, size) => product.checked_mul(size?)?,
        (false, Some(size)) => product.div_euclid(size) + i128::from(product.rem_euclid(size) != 0),
        (false, None) => i128::from(product != 0),
    };
    Some(Quantity { billionths: if negative { -billionths } else { billionths }, form })
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.billionths == other.billionths
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.billionths.cmp(&other.billionths))
    }
}

impl fmt::Display for Quantity {
    /// The canonical form: the largest suffix that needs no fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.billionths / BILLION;
        if self.form == Form::Binary && self.billionths % BILLION == 0 && whole.abs() >= 1024 {
            let power = (1..BINARY.len()).rev().find(|power| whole % (1_i128 << (10 * power)) == 0).unwrap_or(0);
            return write!(f, "{}{}", whole >> (10 * power), BINARY[power]);
        }
        if self.billionths == 0 {
            return write!(f, "0");
        }
        let mut at = 0;
        let mut rest = self.billionths;
        while rest % 1000 == 0 && at + 1 < DECIMAL.len() {
            (rest, at) = (rest / 1000, at + 1);
        }
        let (suffix, power) = DECIMAL[at];
        match self.form {
            Form::Exponent if power != 0 => write!(f, "{rest}e{power}"),
            _ => write!(f, "{rest}{suffix}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_in_their_canonical_form() {
        for (written, canonical) in [
            ("500m", "500m"),
            ("1000m", "1"),
            ("0.1", "100m"),
            ("1Gi", "1Gi"),
            ("1024Mi", "1Gi"),
            ("512", "512"),
            ("1.5Gi", "1536Mi"),
            ("1e3", "1e3"),
            ("12000", "12k"),
            ("0", "0"),
            ("-1", "-1"),
            ("512Ki", "512Ki"),
        ] {
            assert_eq!(Quantity::of(written).unwrap().to_string(), canonical, "{written}");
        }
        assert!(Quantity::of("much").is_none() && Quantity::of("").is_none() && Quantity::of("1 Gi").is_none());
        assert_eq!(Quantity::of("1Ki").unwrap().plus(Quantity::of("1").unwrap()).to_string(), "1025");
        assert!(Quantity::of("1Gi").unwrap() > Quantity::of("1G").unwrap());
    }
}
