//! Finds the known word that is most similar to a misspelled one.

/// Returns the most similar of the known words, if `word` may be a misspelling of it: one edit, and one more for every five bytes of
/// `word`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| (edit_distance(word, known), known));
    let near = distances.filter(|(distance, _)| *distance <= 1 + word.len() / 5);
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Returns the Levenshtein distance of two words.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut distances: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut distances[0], index + 1);
        for (index_in_other, known) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *known);
            diagonal = distances[index_in_other + 1];
            distances[index_in_other + 1] = changed.min(diagonal + 1).min(distances[index_in_other] + 1);
        }
    }
    distances[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_word_has_the_nearest_known_one_and_another_word_has_none() {
        let known = ["workers", "backoffBase", "backoffCap"];
        for (word, expected) in
            [("worker", Some("workers")), ("backofCap", Some("backoffCap")), ("", None), ("threads", None)]
        {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
