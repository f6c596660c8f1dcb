//! Sets of rows, in path order.

/// The place of a file in the path order of one [`super::QueryVault`]. It means nothing in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowNumber(pub u32);

/// Some rows of a vault, each once, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSet(Vec<RowNumber>);

impl RowSet {
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RowNumber> + '_ {
        self.0.iter().copied()
    }

    pub fn as_slice(&self) -> &[RowNumber] {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, number: RowNumber) -> bool {
        self.0.binary_search(&number).is_ok()
    }

    /// The rows of either.
    pub fn union(&self, other: &Self) -> Self {
        let mut merged = Vec::with_capacity(self.len() + other.len());
        let (mut left, mut right) = (self.iter().peekable(), other.iter().peekable());
        while let (Some(a), Some(b)) = (left.peek().copied(), right.peek().copied()) {
            merged.push(a.min(b));
            // Both advance if they are equal, so that a row comes once.
            left.next_if(|a| *a <= b);
            right.next_if(|b| *b <= a);
        }
        merged.extend(left);
        merged.extend(right);
        Self(merged)
    }

    /// The rows of both.
    pub fn intersection(&self, other: &Self) -> Self {
        self.filtered(other, true)
    }

    /// The rows that are not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        self.filtered(other, false)
    }

    fn filtered(&self, other: &Self, wanted: bool) -> Self {
        let mut others = other.iter().peekable();
        let keeps = |number: &RowNumber| {
            // Both are in order, so one pass is enough.
            while others.next_if(|other| other < number).is_some() {}
            (others.peek() == Some(number)) == wanted
        };
        Self(self.iter().filter(keeps).collect())
    }
}

/// In any order, with repetitions.
impl FromIterator<RowNumber> for RowSet {
    fn from_iter<I: IntoIterator<Item = RowNumber>>(numbers: I) -> Self {
        let mut numbers: Vec<RowNumber> = numbers.into_iter().collect();
        // Most sets come in order, which this notices.
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }
}

impl<'s> IntoIterator for &'s RowSet {
    type Item = &'s RowNumber;
    type IntoIter = std::slice::Iter<'s, RowNumber>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(numbers: &BTreeSet<u32>) -> RowSet {
        numbers.iter().map(|number| RowNumber(*number)).collect()
    }

    fn numbers() -> impl Strategy<Value = BTreeSet<u32>> {
        prop::collection::btree_set(0_u32..40, 0..30)
    }

    proptest! {
        #[test]
        fn row_sets_combine_as_sets_do(a in numbers(), b in numbers()) {
            prop_assert_eq!(set(&a).union(&set(&b)), set(&(&a | &b)));
            prop_assert_eq!(set(&a).intersection(&set(&b)), set(&(&a & &b)));
            prop_assert_eq!(set(&a).difference(&set(&b)), set(&(&a - &b)));
        }
    }
}
