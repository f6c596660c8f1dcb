//! Many vectors of one model, and the nearest of them. All are compared: 100,000 take a few milliseconds, and no index has to be kept right.

use std::{cmp::Reverse, collections::BinaryHeap};

#[cfg(not(feature = "narrow"))]
use multiversion::multiversion;

use crate::{ByteVector, Embedding, embedding::scale_of};

/// Rows that are compared before the best are looked at: their sums stay in the cache.
const BLOCK: usize = 512;

/// The same for a table of a few rows.
const SMALL_BLOCK: usize = 32;

/// Many vectors of one model, at 8 bits a value.
#[derive(Debug, Clone)]
pub struct VectorTable {
    dimension: usize,
    values: Vec<i8>,
    scales: Vec<f32>,
}

/// A vector that is compared with many tables.
#[derive(Debug, Clone)]
pub struct QueryVector {
    wide: Vec<i16>,
    scale: f32,
}

impl QueryVector {
    pub fn of(embedding: &Embedding) -> Self {
        Self::of_bytes(&ByteVector::of(embedding))
    }

    pub fn of_bytes(bytes: &ByteVector) -> Self {
        Self { wide: bytes.values().iter().map(|value| i16::from(*value)).collect(), scale: bytes.scale() }
    }
}

/// A row with its cosine: the better one is greater, and of equals the earlier one.
#[derive(PartialEq)]
struct RankedRow {
    cosine: f32,
    row: Reverse<usize>,
}

impl Eq for RankedRow {}

impl Ord for RankedRow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.cosine.total_cmp(&other.cosine).then(self.row.cmp(&other.row))
    }
}

impl PartialOrd for RankedRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl VectorTable {
    /// An empty table for vectors of this dimension.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, values: Vec::new(), scales: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.scales.len()
    }

    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds a row at the end and says whether it had the dimension of the table.
    pub fn push(&mut self, vector: &ByteVector) -> bool {
        self.push_values(vector.values())
    }

    /// Adds the rows of a blob, one byte a value. Adds nothing and says false if it is not whole rows, or a row has no direction.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> bool {
        if self.dimension == 0 || !bytes.len().is_multiple_of(self.dimension) {
            return false;
        }
        let rows = bytes.chunks_exact(self.dimension);
        // Before anything is added, so that a broken blob leaves no rows behind.
        if rows.clone().any(|row| row.iter().all(|byte| *byte == 0)) {
            return false;
        }
        let before = self.values.len();
        self.values.extend(bytes.iter().map(|byte| byte.cast_signed()));
        self.scales.extend(self.values[before..].chunks_exact(self.dimension).map(scale_of));
        true
    }

    fn push_values(&mut self, values: &[i8]) -> bool {
        if values.len() != self.dimension {
            return false;
        }
        self.values.extend_from_slice(values);
        self.scales.push(scale_of(values));
        true
    }

    /// The vector of a row; `None` if there is no such row.
    pub fn row(&self, row: usize) -> Option<ByteVector> {
        let start = row.checked_mul(self.dimension)?;
        let values = self.values.get(start..start.checked_add(self.dimension)?)?;
        let bytes: Vec<u8> = values.iter().map(|value| value.cast_unsigned()).collect();
        ByteVector::from_bytes(&bytes, self.dimension)
    }

    /// The nearest row, the first of equal ones; `None` in an empty table, or if the query is of another dimension. For many small tables:
    /// nothing is prepared for each.
    pub fn nearest(&self, query: &QueryVector) -> Option<(usize, f32)> {
        if query.wide.len() != self.dimension || self.dimension == 0 {
            return None;
        }
        let mut nearest: Option<(usize, f32)> = None;
        let mut sums = [0i32; SMALL_BLOCK];
        let blocks = self.values.chunks(SMALL_BLOCK * self.dimension).zip(self.scales.chunks(SMALL_BLOCK));
        for (block, (values, scales)) in blocks.enumerate() {
            multiply_rows(values, &query.wide, &mut sums[..scales.len()]);
            for (at, (sum, row_scale)) in sums.iter().zip(scales).enumerate() {
                let cosine = *sum as f32 * query.scale * row_scale;
                // Not `>=`: of equal rows the first one stays.
                if nearest.is_none_or(|(_, best)| cosine > best) {
                    nearest = Some((block * SMALL_BLOCK + at, cosine));
                }
            }
        }
        nearest
    }

    /// The rows nearest to `query` that `keep` accepts, best first, at most `count`; equal ones in the order of the table. Empty if the query
    /// is of another dimension.
    pub fn best(&self, query: &Embedding, count: usize, keep: impl Fn(usize) -> bool) -> Vec<(usize, f32)> {
        self.best_bytes(&ByteVector::of(query), count, keep)
    }

    /// As [`Self::best`], near to a vector that was kept.
    pub fn best_bytes(&self, query: &ByteVector, count: usize, keep: impl Fn(usize) -> bool) -> Vec<(usize, f32)> {
        if query.dimension() != self.dimension || self.dimension == 0 || count == 0 {
            return Vec::new();
        }
        let wide: Vec<i16> = query.values().iter().map(|value| i16::from(*value)).collect();
        let scale = query.scale();
        // Turned around, so that the worst of the best is on top, where it is replaced.
        let mut best: BinaryHeap<Reverse<RankedRow>> = BinaryHeap::new();
        let mut sums = [0i32; BLOCK];
        let blocks = self.values.chunks(BLOCK * self.dimension).zip(self.scales.chunks(BLOCK));
        for (block, (values, scales)) in blocks.enumerate() {
            multiply_rows(values, &wide, &mut sums[..scales.len()]);
            for (at, (sum, row_scale)) in sums.iter().zip(scales).enumerate() {
                let ranked = RankedRow { cosine: *sum as f32 * scale * row_scale, row: Reverse(block * BLOCK + at) };
                // Asks `keep` last: most rows are too far away to be asked about.
                let is_far = best.len() >= count && best.peek().is_some_and(|last| ranked <= last.0);
                if is_far || !keep(ranked.row.0) {
                    continue;
                }
                if best.len() >= count {
                    best.pop();
                }
                best.push(Reverse(ranked));
            }
        }
        best.into_sorted_vec().into_iter().map(|Reverse(ranked)| (ranked.row.0, ranked.cosine)).collect()
    }
}

/// The sum of products of each row with the query. Values of 8 bits and sums of 32: 65,000 dimensions fit.
#[cfg_attr(not(feature = "narrow"), multiversion(targets("x86_64+avx2+fma")))]
fn multiply_rows(values: &[i8], query: &[i16], sums: &mut [i32]) {
    for (sum, row) in sums.iter_mut().zip(values.chunks_exact(query.len())) {
        // By way of 16 bits: processors multiply those and add neighbours in one instruction.
        *sum = row.iter().zip(query).map(|(value, wide)| i32::from(i16::from(*value)) * i32::from(*wide)).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[f32; 4]]) -> VectorTable {
        let mut table = VectorTable::new(4);
        for row in rows {
            assert!(table.push(&ByteVector::of(&Embedding::of(row.to_vec()).unwrap())));
        }
        table
    }

    #[test]
    fn the_nearest_come_first_and_only_those_that_are_kept() {
        let table = table(&[[1.0, 0.0, 0.0, 0.0], [0.9, 0.1, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]);
        let query = Embedding::of(vec![1.0, 0.0, 0.0, 0.0]).unwrap();
        let rows = |found: Vec<(usize, f32)>| found.into_iter().map(|(row, _)| row).collect::<Vec<_>>();
        assert_eq!(rows(table.best(&query, 10, |_| true)), [0, 3, 1, 2]);
        assert_eq!(rows(table.best(&query, 2, |_| true)), [0, 3]);
        assert_eq!(rows(table.best(&query, 2, |row| row != 0)), [3, 1]);
        assert!((table.best(&query, 1, |_| true)[0].1 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn blocks_give_what_one_comparison_after_the_other_gives() {
        let mut table = VectorTable::new(16);
        let mut seed = 1u64;
        let mut vectors = Vec::new();
        for _ in 0..BLOCK * 2 + 7 {
            let values = (0..16).map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
            });
            let vector = ByteVector::of(&Embedding::of(values.collect()).unwrap());
            table.push(&vector);
            vectors.push(vector);
        }
        let query = vectors[5].clone();
        let mut expected: Vec<(usize, f32)> =
            vectors.iter().enumerate().map(|(row, vector)| (row, vector.cosine(&query))).collect();
        expected.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let prepared =
            QueryVector::of(&Embedding::of(query.values().iter().map(|value| f32::from(*value)).collect()).unwrap());
        assert_eq!(table.nearest(&prepared).map(|(row, _)| row), Some(expected[0].0));
        let found = table.best_bytes(&query, 50, |_| true);
        assert_eq!(found.len(), 50);
        for ((row, cosine), (expected_row, expected_cosine)) in found.iter().zip(&expected) {
            assert_eq!(row, expected_row);
            assert!((cosine - expected_cosine).abs() < 1e-5);
        }
    }

    #[test]
    fn vectors_of_another_model_do_not_enter() {
        let mut table = table(&[[1.0, 0.0, 0.0, 0.0]]);
        assert!(!table.push(&ByteVector::of(&Embedding::of(vec![1.0; 5]).unwrap())));
        assert!(!table.push_bytes(&[1, 2, 3, 4, 5]));
        assert!(!table.push_bytes(&[1, 2, 3, 4, 0, 0, 0, 0]));
        assert_eq!(table.len(), 1);
        assert!(table.push_bytes(&[1, 2, 3, 4]));
        assert_eq!(table.row(1).map(|row| row.to_bytes()), Some(vec![1, 2, 3, 4]));
        assert_eq!(table.row(2), None);
        assert_eq!(table.best(&Embedding::of(vec![1.0; 3]).unwrap(), 5, |_| true), []);
    }
}
