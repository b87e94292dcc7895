//! Finds the known word that is most similar to a misspelled one.

/// Returns the known word that is most similar to `word`, or `None` if no known word is similar enough for a misspelling: their edit
/// distance may be 1, plus 1 for every five bytes of `word`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| (edit_distance(word, known), known));
    let near = distances.filter(|(distance, _)| *distance <= 1 + word.len() / 5);
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Returns the Levenshtein distance of two words, by dynamic programming with one row of the matrix.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    // The distances between the letters of `one` so far and each prefix of `other`.
    let mut distances: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.chars().enumerate() {
        // The value of the row above in the column to the left.
        let mut diagonal = std::mem::replace(&mut distances[0], row + 1);
        for (column, other_letter) in other.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != *other_letter);
            diagonal = distances[column + 1];
            distances[column + 1] = substituted.min(diagonal + 1).min(distances[column] + 1);
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
