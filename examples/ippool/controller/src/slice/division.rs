//! Divides a range into slices of equal size.

use crate::range::Range;

/// The maximum number of slices of a pool: each takes about 80 bytes of an object that may have about 1 MB.
pub(crate) const MOST: u32 = 8_192;

/// The slices in the order of their addresses. The size is a prefix length, `/24` or `24`.
pub(crate) fn slices(range: &str, size: &str) -> Result<Vec<String>, String> {
    let parsed = Range::parse(range).map_err(|_| format!("`{range}` is not a range in CIDR notation"))?;
    if !parsed.is_exact {
        return Err(format!("`{range}` does not start with its network address"));
    }
    let digits = size.strip_prefix('/').unwrap_or(size);
    let prefix = digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let prefix = prefix.ok_or_else(|| format!("`{size}` is not a prefix length"))?;
    if prefix < parsed.prefix() || prefix > parsed.width() {
        return Err(format!("slices of /{} don't fit into `{range}`", prefix));
    }
    let count = 1u32.checked_shl(prefix - parsed.prefix()).filter(|count| *count <= MOST);
    let count = count.ok_or_else(|| format!("`{range}` has more than {MOST} slices of /{prefix}"))?;
    Ok((0..count).filter_map(|number| parsed.slice(number, prefix)).collect())
}

#[cfg(test)]
mod tests;
