//! Archives of office documents and e-books, within limits.

use std::io::{Cursor, Read};

use lapidary_vault::DecodeFault;
use zip::ZipArchive;

/// A document with more parts was made to do harm; a book has some thousands.
const MOST_ENTRIES: usize = 20_000;
/// The largest part. Only parts with text are unpacked.
const MOST_PART: u64 = 64 << 20;
/// What all parts that are read may have, unpacked.
const MOST_UNPACKED: u64 = 128 << 20;
/// A part that is this much larger than packed was made to do harm. Tables full of zeros reach some hundred times.
const MOST_RATIO: u64 = 1_000;
/// Below this size the ratio says nothing.
const SUSPECT_BYTES: u64 = 4 << 20;

/// The parts of a document, by their names.
pub(super) struct PartArchive<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    unpacked: u64,
}

impl<'b> PartArchive<'b> {
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, DecodeFault> {
        if is_locked(bytes) {
            return Err(DecodeFault::Locked);
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| DecodeFault::Broken)?;
        // Before anything is unpacked: even empty entries cost memory.
        if archive.len() > MOST_ENTRIES {
            return Err(DecodeFault::Unpacked);
        }
        Ok(Self { archive, unpacked: 0 })
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect()
    }

    /// Whether every part is within the limits, as the archive says of itself: for a reader that unpacks by itself.
    pub(super) fn check_sizes(&mut self) -> Result<(), DecodeFault> {
        let mut all = 0_u64;
        for number in 0..self.archive.len() {
            // Raw, so that nothing is unpacked by looking.
            let entry = self.archive.by_index_raw(number).map_err(|_| DecodeFault::Broken)?;
            let (size, packed) = (entry.size(), entry.compressed_size());
            all = all.saturating_add(size);
            check_ratio(size, packed)?;
            if size > MOST_PART || all > MOST_UNPACKED {
                return Err(DecodeFault::Unpacked);
            }
        }
        Ok(())
    }

    /// A part as text; `None` if there is no such part.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, DecodeFault> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        Ok(Some(super::plain::decoded(&bytes)))
    }

    fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, DecodeFault> {
        let Some(number) = self.archive.index_for_name(name) else { return Ok(None) };
        let mut entry = self.archive.by_index(number).map_err(|_| DecodeFault::Broken)?;
        if entry.encrypted() {
            return Err(DecodeFault::Locked);
        }
        let packed = entry.compressed_size();
        // What the archive says about a size is not believed: it is read in steps, and each is counted.
        let (mut bytes, mut step) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let read = entry.read(&mut step).map_err(|_| DecodeFault::Broken)?;
            if read == 0 {
                return Ok(Some(bytes));
            }
            bytes.extend_from_slice(&step[..read]);
            self.unpacked += read as u64;
            check_ratio(bytes.len() as u64, packed)?;
            if bytes.len() as u64 > MOST_PART || self.unpacked > MOST_UNPACKED {
                return Err(DecodeFault::Unpacked);
            }
        }
    }
}

fn check_ratio(size: u64, packed: u64) -> Result<(), DecodeFault> {
    let is_suspect = size > SUSPECT_BYTES && size / packed.max(1) > MOST_RATIO;
    if is_suspect { Err(DecodeFault::Unpacked) } else { Ok(()) }
}

/// Whether it is an office document with a password: one of the old format, with the archive encrypted in a part of this name.
fn is_locked(bytes: &[u8]) -> bool {
    const OLD_FORMAT: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.starts_with(OLD_FORMAT) && bytes.windows(name.len()).any(|window| window == name)
}
