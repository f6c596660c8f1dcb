//! Sets of documents as bits.

use lapidary_query::Answers;

/// A set of documents, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DocumentSet {
    words: Vec<u64>,
}

impl DocumentSet {
    pub(super) fn none(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)] }
    }

    /// Those with a value above zero.
    pub(super) fn positive(values: &[f32]) -> Self {
        let word = |values: &[f32]| {
            let bits = values.iter().enumerate();
            bits.fold(0, |word, (bit, value)| word | u64::from(*value > 0.0) << bit)
        };
        Self { words: values.chunks(64).map(word).collect() }
    }

    pub(super) fn set(&mut self, number: usize) {
        // A number beyond the set is not in it, and cannot be added.
        if let Some(word) = self.words.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub(super) fn and(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
        self
    }

    pub(super) fn without(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
        self
    }

    /// The numbers by 64, as one set of bits each.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, word)| ones(*word).map(move |bit| at * 64 + bit))
    }
}

impl Answers for DocumentSet {
    fn none(&self) -> Self {
        Self { words: vec![0; self.words.len()] }
    }

    fn or(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
        self
    }

    fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E> {
        let mut left = self.clone();
        let found = part(self)?;
        left.words.iter_mut().zip(&found.words).for_each(|(word, found)| *word &= !found);
        Ok(left)
    }

    fn is_none(&self) -> bool {
        self.is_empty()
    }

    /// That is rare, and as expensive to detect as to continue.
    fn is_all(&self, _within: &Self) -> bool {
        false
    }
}

/// The numbers of the bits that are set.
pub(super) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            // Clears the lowest bit that is set.
            word &= word - 1;
            bit
        })
    })
}
