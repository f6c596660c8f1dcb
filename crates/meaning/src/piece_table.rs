//! Which row a piece of text has: the vocabulary of a model, found by hash.

use std::{borrow::Cow, sync::OnceLock};

use crate::{ModelError, known_scripts::KnownScripts};

/// No vocabulary of a text model comes near; it bounds what a broken file can ask for.
pub(crate) const MOST_PIECES: usize = 1 << 21;

/// All pieces in one run of bytes, and a table of slots over them: made in a millisecond, without an allocation for each piece.
#[derive(Debug)]
pub(crate) struct PieceTable {
    bytes: Cow<'static, [u8]>,
    /// Where each piece ends; it begins where the one before ends.
    ends: Vec<u32>,
    /// A power of two of them, at most half full.
    slots: Vec<PieceSlot>,
    /// Length in bytes of the longest piece.
    longest: usize,
    /// Looked for when first asked.
    scripts: OnceLock<KnownScripts>,
}

#[derive(Clone, Copy, Debug)]
struct PieceSlot {
    hash: u32,
    /// One more than the row; 0 is an empty slot.
    next_row: u32,
}

/// The hash of bytes that are added one after another, so that one pass gives the hash of every prefix.
#[derive(Clone, Copy)]
pub(crate) struct PieceHash(u64);

impl PieceHash {
    // FNV-1a: it takes one byte at a time, so every prefix has its hash.
    pub(crate) const START: Self = Self(0xCBF2_9CE4_8422_2325);

    pub(crate) fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
    }

    pub(crate) fn of(bytes: &[u8]) -> Self {
        bytes.iter().fold(Self::START, |hash, byte| hash.with(*byte))
    }

    /// The low bits of the product alone do not depend on the high ones.
    fn mixed(self) -> u32 {
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as u32
    }
}

impl PieceTable {
    /// Of two equal pieces, the first counts.
    pub(crate) fn new(bytes: Cow<'static, [u8]>, lengths: impl Iterator<Item = usize>) -> Result<Self, ModelError> {
        let broken = |problem: &str| ModelError::malformed("vocabulary", problem);
        let (mut ends, mut end, mut longest) = (Vec::new(), 0usize, 0);
        for length in lengths {
            end = end.saturating_add(length);
            longest = longest.max(length);
            // Places of 32 bits take half the memory, and no vocabulary needs more.
            ends.push(u32::try_from(end).map_err(|_| broken("it is too large"))?);
        }
        if end != bytes.len() {
            return Err(broken("its lengths do not add up"));
        }
        if ends.is_empty() || ends.len() > MOST_PIECES {
            return Err(broken("it has no pieces, or too many"));
        }
        let slots = vec![PieceSlot { hash: 0, next_row: 0 }; (ends.len() * 2).next_power_of_two()];
        let mut table = Self { bytes, ends, slots, longest, scripts: OnceLock::new() };
        for row in 0..table.ends.len() {
            table.insert(row as u32);
        }
        Ok(table)
    }

    fn insert(&mut self, row: u32) {
        let piece = self.piece(row);
        let hash = PieceHash::of(piece).mixed();
        // At most half of the slots are taken, so the walk meets an empty one.
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| slot.next_row != 0) {
            if slot.hash == hash && self.piece(slot.next_row - 1) == piece {
                return;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = PieceSlot { hash, next_row: row + 1 };
    }

    /// Whether a text is written in letters that the vocabulary was made for.
    pub(crate) fn knows_script(&self, text: &str) -> bool {
        self.scripts.get_or_init(|| KnownScripts::of(self)).cover(text)
    }

    /// The bytes of a row; empty for a row that does not exist.
    pub(crate) fn piece(&self, row: u32) -> &[u8] {
        let row = row as usize;
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0) as usize;
        let end = self.ends.get(row).copied().unwrap_or(0) as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The row of the piece with this hash that `is_meant` knows.
    pub(crate) fn row_where(&self, hash: PieceHash, is_meant: impl Fn(&[u8]) -> bool) -> Option<u32> {
        let hash = hash.mixed();
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots.get(at)?;
            // An empty slot ends the search.
            let row = slot.next_row.checked_sub(1)?;
            if slot.hash == hash && is_meant(self.piece(row)) {
                return Some(row);
            }
            at = (at + 1) & mask;
        }
    }

    pub(crate) fn find(&self, piece: &str) -> Option<u32> {
        self.row_where(PieceHash::of(piece.as_bytes()), |known| known == piece.as_bytes())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}
