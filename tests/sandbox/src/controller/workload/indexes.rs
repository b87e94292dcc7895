//! Parses and formats the completed indexes of an indexed Job: `0,3-5,7`.

use std::collections::BTreeSet;

use serde_json::Value;

/// The label and annotation of a Pod that contain its index.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Returns the completion index of a Pod; `None` if it has none.
pub(super) fn index_of(pod: &Value) -> Option<i64> {
    pod["metadata"]["annotations"][INDEX].as_str()?.parse().ok()
}

/// Parses the `completedIndexes` of a Job, such as `0,3-5,7`. Ignores invalid parts.
pub(super) fn parse(text: &str) -> BTreeSet<i64> {
    let mut indexes = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
            indexes.extend(first..=last);
        }
    }
    indexes
}

/// Formats indexes as the `completedIndexes` of a Job, such as `0,3-5,7`. Three or more consecutive indexes become a range.
pub(super) fn format_ranges(indexes: &BTreeSet<i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let range = |(first, last): &(i64, i64)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_indexes_equal_the_parsed_text() {
        for text in ["", "0", "0,1", "0-2", "1,3-5,7,8"] {
            assert_eq!(format_ranges(&parse(text)), text);
        }
    }
}
