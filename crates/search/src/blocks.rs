//! The documents with a term, in blocks, and how often it occurs in them: how that is written, and how it is read.
//!
//! Most words occur only in the text, so there is a byte for each document, all bytes of a block adjacent: their
//! weights are computed in sequence, without checking each. Everything else follows them.

/// Where in a document a word occurs. Each word counts for only one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentField {
    Name,
    Alias,
    Folder,
    Tag,
    Property,
    Heading,
    Body,
}

pub(super) const FIELDS: usize = 7;

/// How often a word occurs in each field of a document.
pub(super) type FieldCounts = [u32; FIELDS];

/// Documents with the term in a block.
pub(super) const HELD: usize = 128;
/// If at least half of a run of documents has the term, the others are in the block too, with a count of zero.
pub(super) const LONGEST: usize = 2 * HELD;

/// Some consecutive documents. Those with no count anywhere do not contain the term.
#[derive(Clone)]
pub(super) struct PostingBlock<'s> {
    first: u32,
    /// If they are not a run.
    listed: Option<[u32; HELD]>,
    /// How often the term occurs in the text of each, as far as a byte can hold it.
    pub(super) bodies: &'s [u8],
    extras: &'s [u8],
}

/// Which documents a block is of.
pub(super) enum BlockDocuments<'b> {
    From(u32),
    Listed(&'b [u32]),
}

impl<'s> PostingBlock<'s> {
    pub(super) const EMPTY: Self = Self { first: 0, listed: None, bodies: &[], extras: &[] };

    /// Takes the next block from the bytes; `next` is the lowest number that a document can have.
    pub(super) fn take(bytes: &mut &'s [u8], next: &mut u32) -> Option<Self> {
        let head = varint(bytes)? as usize;
        let (length, is_run) = (head >> 1, head & 1 == 1);
        let first = next.checked_add(varint(bytes)?)?;
        let mut block = Self { first, ..Self::EMPTY };
        let mut last = first;
        if is_run {
            // Damaged lengths must not overflow into a small number that would fit.
            last = first.checked_add(u32::try_from(length.checked_sub(1)?).ok()?)?;
        } else {
            let mut listed = [first; HELD];
            for document in listed.get_mut(1..length)? {
                last = last.checked_add(varint(bytes)?)?.checked_add(1)?;
                *document = last;
            }
            block.listed = Some(listed);
        }
        block.bodies = part(bytes, length)?;
        let extras = varint(bytes)? as usize;
        block.extras = part(bytes, extras)?;
        *next = last.checked_add(1)?;
        Some(block)
    }

    pub(super) fn documents(&self) -> BlockDocuments<'_> {
        match &self.listed {
            None => BlockDocuments::From(self.first),
            Some(listed) => BlockDocuments::Listed(&listed[..self.bodies.len().min(HELD)]),
        }
    }

    pub(super) fn document(&self, at: usize) -> u32 {
        match &self.listed {
            None => self.first.saturating_add(at as u32),
            // No document has this number, so damaged bytes find nothing.
            Some(listed) => listed.get(at).copied().unwrap_or(u32::MAX),
        }
    }

    /// All counts of the documents for which the byte is not enough, by their position in the block.
    pub(super) fn extras(&self) -> ExtraCounts<'s> {
        ExtraCounts { bodies: self.bodies, bytes: self.extras }
    }
}

#[derive(Clone)]
pub(super) struct ExtraCounts<'s> {
    bodies: &'s [u8],
    bytes: &'s [u8],
}

impl ExtraCounts<'_> {
    /// The place of the next one.
    pub(super) fn peek(&self) -> Option<usize> {
        self.bytes.first().map(|at| usize::from(*at))
    }
}

impl Iterator for ExtraCounts<'_> {
    type Item = (usize, FieldCounts);

    fn next(&mut self) -> Option<(usize, FieldCounts)> {
        let [at, mask, ..] = *self.bytes else { return None };
        self.bytes = &self.bytes[2..];
        let at = usize::from(at);
        let mut counts = [0; FIELDS];
        counts[DocumentField::Body as usize] = u32::from(*self.bodies.get(at)?);
        let mut rest = mask;
        while rest != 0 {
            *counts.get_mut(rest.trailing_zeros() as usize)? = varint(&mut self.bytes)?;
            rest &= rest - 1;
        }
        Some((at, counts))
    }
}

/// Writes documents as a block; `after` is the lowest number that the first can have.
pub(super) fn put_block(bytes: &mut Vec<u8>, after: u32, documents: &[(u32, FieldCounts)]) {
    let (Some((first, _)), Some((last, _))) = (documents.first(), documents.last()) else { return };
    let span = (last - first) as usize + 1;
    // A dense run stores no document numbers, at the cost of zero counts for the gaps.
    let is_run = span <= LONGEST.min(2 * documents.len());
    let length = if is_run { span } else { documents.len() };
    put_varint(bytes, (length << 1 | usize::from(is_run)) as u32);
    put_varint(bytes, first - after);
    if !is_run {
        documents.windows(2).for_each(|pair| put_varint(bytes, pair[1].0 - pair[0].0 - 1));
    }
    let bodies = bytes.len();
    bytes.resize(bodies + length, 0);
    let mut extras = Vec::new();
    for (number, (document, counts)) in documents.iter().enumerate() {
        let at = if is_run { (document - first) as usize } else { number };
        let body = counts[DocumentField::Body as usize];
        // A byte holds the count of nearly every word; larger ones are among the extras.
        bytes[bodies + at] = u8::try_from(body).unwrap_or(u8::MAX);
        let written =
            |field: usize| counts[field] > 0 && (field != DocumentField::Body as usize || body > u32::from(u8::MAX));
        // The byte covers most documents; a mask says which further counts follow.
        let mask = (0..FIELDS).fold(0, |mask, field| mask | u8::from(written(field)) << field);
        if mask != 0 {
            // Positions in a block are below 256, see `LONGEST`.
            extras.extend([at as u8, mask]);
            (0..FIELDS).filter(|field| written(*field)).for_each(|field| put_varint(&mut extras, counts[field]));
        }
    }
    put_varint(bytes, extras.len() as u32);
    bytes.extend_from_slice(&extras);
}

fn part<'s>(bytes: &mut &'s [u8], length: usize) -> Option<&'s [u8]> {
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number as u8) | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    // Nearly all numbers fit into one byte.
    if first < 0x80 { Some(u32::from(first)) } else { long_varint(first, bytes) }
}

fn long_varint(first: u8, bytes: &mut &[u8]) -> Option<u32> {
    let mut number = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes this many numbers, as they were written.
pub(super) fn take_varints<'s>(bytes: &mut &'s [u8], mut count: u32) -> &'s [u8] {
    let all = *bytes;
    // Eight bytes at a time: a number ends with each byte without its upper bit.
    while count >= 8 {
        let Some((eight, rest)) = bytes.split_first_chunk::<8>() else { break };
        count -= (!u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080).count_ones();
        *bytes = rest;
    }
    for _ in 0..count {
        if varint(bytes).is_none() {
            break;
        }
    }
    &all[..all.len() - bytes.len()]
}
