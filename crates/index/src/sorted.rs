//! A persistent sorted map.

use std::{borrow::Borrow, collections::HashSet, sync::Arc};

/// Entries per chunk: few enough that copying one costs microseconds, many enough that a hundred thousand entries are a
/// few hundred chunks.
const FULL: usize = 512;
const SCANT: usize = 64;

/// A sorted map whose clones share their common parts: a clone is cheap, and a change to it copies one chunk. Readers
/// keep their map while the next one is built.
///
/// Not a crate: the available persistent maps are trees of small nodes with twice the memory, under a licence that not
/// everyone may link.
#[derive(Clone, Debug)]
pub struct SortedMap<K, V> {
    /// Never contains an empty chunk.
    chunks: Arc<Vec<MapChunk<K, V>>>,
    len: usize,
}

type MapChunk<K, V> = Arc<Vec<(K, V)>>;

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { chunks: Arc::default(), len: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> SortedMap<K, V> {
    /// From entries in order and without duplicates.
    pub fn from_sorted(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut entries = entries.into_iter();
        let mut map = Self::default();
        let chunks = Arc::make_mut(&mut map.chunks);
        loop {
            // Not completely full, so that the first insertion does not split each of them.
            let chunk: Vec<(K, V)> = entries.by_ref().take(FULL * 3 / 4).collect();
            if chunk.is_empty() {
                return map;
            }
            debug_assert!(chunk.is_sorted_by(|a, b| a.0 < b.0), "entries come in order");
            map.len += chunk.len();
            chunks.push(Arc::new(chunk));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let chunk = self.chunks.get(self.chunk_of(key))?;
        let at = chunk.binary_search_by(|(known, _)| known.borrow().cmp(key)).ok()?;
        Some(&chunk[at].1)
    }

    /// Inserts an entry and returns the one it replaced.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        // A key after all others belongs into the last chunk.
        let index = self.chunk_of(&key).min(self.chunks.len().saturating_sub(1));
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(index) else {
            chunks.push(Arc::new(vec![(key, value)]));
            self.len = 1;
            return None;
        };
        let chunk = Arc::make_mut(chunk);
        match chunk.binary_search_by(|(known, _)| known.cmp(&key)) {
            // Replacing changes no length, so nothing has to be split.
            Ok(at) => return Some(std::mem::replace(&mut chunk[at].1, value)),
            Err(at) => chunk.insert(at, (key, value)),
        }
        self.len += 1;
        if chunk.len() > FULL {
            let rest = chunk.split_off(FULL / 2);
            chunks.insert(index + 1, Arc::new(rest));
        }
        None
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let index = self.chunk_of(key);
        let at = self.chunks.get(index)?.binary_search_by(|(known, _)| known.borrow().cmp(key)).ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = Arc::make_mut(&mut chunks[index]);
        let (_, value) = chunk.remove(at);
        self.len -= 1;
        // Merged only when it gets very small: otherwise an insertion and a removal at the limit would copy back and
        // forth.
        if chunk.len() < SCANT {
            let small = chunks.remove(index);
            match chunks.get_mut(index) {
                Some(next) if next.len() + small.len() <= FULL => {
                    Arc::make_mut(next).splice(0..0, small.iter().cloned()).for_each(drop);
                }
                _ if small.is_empty() => {}
                _ => chunks.insert(index, small),
            }
        }
        Some(value)
    }

    /// Whether both are clones of one map, unchanged since.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
    }

    /// The keys whose values differ in another map, in order, with the value there. Shared parts are not compared.
    pub fn changes<'m>(&'m self, other: &'m Self, same: impl Fn(&V, &V) -> bool) -> Vec<(&'m K, Option<&'m V>)> {
        // A chunk that both share is the same memory, and nothing in it can differ.
        let addresses = |map: &Self| map.chunks.iter().map(Arc::as_ptr).collect::<HashSet<_>>();
        let (ours, theirs) = (addresses(self), addresses(other));
        let apart = |map: &'m Self, shared: &HashSet<*const Vec<(K, V)>>| {
            let chunks = map.chunks.iter().filter(|chunk| !shared.contains(&Arc::as_ptr(chunk)));
            chunks.flat_map(|chunk| chunk.iter()).collect::<Vec<&'m (K, V)>>()
        };
        let mut before = apart(self, &theirs).into_iter().peekable();
        let mut changes = Vec::new();
        for (key, value) in apart(other, &ours) {
            while let Some((gone, _)) = before.next_if(|(known, _)| known < key) {
                changes.push((gone, None));
            }
            match before.next_if(|(known, _)| known == key) {
                Some((_, old)) if same(old, value) => {}
                _ => changes.push((key, Some(value))),
            }
        }
        changes.extend(before.map(|(gone, _)| (gone, None)));
        changes
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).map(|(key, value)| (key, value))
    }

    /// The entries from this key on.
    pub(crate) fn from<'m, Q: Ord + ?Sized>(
        &'m self,
        key: &Q,
    ) -> impl Iterator<Item = (&'m K, &'m V)> + use<'m, K, V, Q>
    where
        K: Borrow<Q>,
    {
        let index = self.chunk_of(key);
        let skipped =
            self.chunks.get(index).map_or(0, |chunk| chunk.partition_point(|(known, _)| known.borrow() < key));
        let chunks = self.chunks.get(index..).unwrap_or_default();
        chunks.iter().flat_map(|chunk| chunk.iter()).skip(skipped).map(|(key, value)| (key, value))
    }

    /// The first chunk that could contain the key.
    fn chunk_of<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.chunks.partition_point(|chunk| chunk.last().is_some_and(|(last, _)| last.borrow() < key))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_is_the_map_of_the_standard_library(
            start in 0u16..2000,
            steps in prop::collection::vec((any::<bool>(), 0u16..2500), 0..2500),
        ) {
            let mut plain: BTreeMap<u16, u32> = (0..start).map(|key| (key, 0)).collect();
            let mut map = SortedMap::from_sorted(plain.clone());
            let (before, untouched) = (map.clone(), plain.clone());
            for (number, (put, key)) in steps.into_iter().enumerate() {
                let number = u32::try_from(number).unwrap();
                if put {
                    prop_assert_eq!(map.insert(key, number), plain.insert(key, number));
                } else {
                    prop_assert_eq!(map.remove(&key), plain.remove(&key));
                }
                prop_assert_eq!(map.len(), plain.len());
            }
            prop_assert!(map.iter().eq(plain.iter()));
            for key in [0, 1, 500, 511, 512, 1999, 2600] {
                prop_assert_eq!(map.get(&key), plain.get(&key));
                prop_assert!(map.from(&key).eq(plain.range(key..)));
            }
            prop_assert!(before.iter().eq(untouched.iter()), "a clone does not change with the other");
            let mut caught_up = untouched;
            for (key, value) in before.changes(&map, |a, b| a == b) {
                let unchanged = match value {
                    Some(value) => caught_up.insert(*key, *value) == Some(*value),
                    None => caught_up.remove(key).is_none(),
                };
                prop_assert!(!unchanged, "{} did not change", key);
            }
            prop_assert_eq!(&caught_up, &plain);
            prop_assert!(map.chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() <= FULL));
        }
    }
}
