//! Reads archives, which may be broken or made to do harm.

use std::io::{Cursor, Read};

use lapidary_note::count_steps;
use lapidary_operation::{ArchiveProblem, Context, Reason, clipped};
use lapidary_vault::VaultPath;
use zip::{ZipArchive, read::ZipReadOptions, result::ZipError};

/// A file in an archive.
pub(super) struct ArchiveEntry {
    /// Relative, with `/` between names.
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

pub(super) struct ReadArchive {
    pub(super) entries: Vec<ArchiveEntry>,
    pub(super) left_out: usize,
}

/// The most entries, folders among them.
const MOST_ENTRIES: usize = 1_000;
/// Beyond this size, an archive that unpacks to more than a hundred times its bytes was made to do harm; texts reach ten.
const SUSPECT_BYTES: u64 = 4 << 20;
const MOST_RATIO: u64 = 100;

/// All files of an archive, within the limits of the call.
pub(super) fn read(context: &Context<'_>, path: &VaultPath, bytes: &[u8]) -> Result<ReadArchive, Reason> {
    let refused = |entry: Option<&str>, problem| Reason::ArchiveRefused {
        path: path.clone(),
        entry: entry.map(clipped),
        problem,
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| refused(None, problem(&error)))?;
    // By its own directory, before anything is unpacked.
    if archive.len() > MOST_ENTRIES {
        return Err(refused(None, ArchiveProblem::TooManyEntries { limit: MOST_ENTRIES }));
    }
    // Of two entries with one name, every program takes another.
    if archive.has_duplicate_names() {
        return Err(refused(None, ArchiveProblem::Twice));
    }
    // Bytes that are unpacked many times make much of little.
    if archive.has_overlapping_entries().map_err(|error| refused(None, problem(&error)))? {
        return Err(refused(None, ArchiveProblem::Overlap));
    }
    // What is said about an entry in its two places must agree: programs believe one or the other.
    let checked = || ZipReadOptions::new().enforce_header_consistency(true);
    let (mut entries, mut left_out, mut unpacked) = (Vec::new(), 0, 0_u64);
    for index in 0..archive.len() {
        context.check()?;
        let entry = archive.by_index_with_options(index, checked());
        let mut entry = entry.map_err(|error| refused(None, problem(&error)))?;
        let name = entry.name().map_err(|error| refused(None, problem(&error)))?.into_owned();
        // Folders come into being with the files in them.
        if entry.is_dir() {
            continue;
        }
        let refused = |problem| refused(Some(&name), problem);
        if entry.encrypted() {
            return Err(refused(ArchiveProblem::Encrypted));
        }
        // A link could lead out of the vault, and a device is not a file.
        if entry.is_symlink() || !is_plain(entry.unix_mode()) {
            return Err(refused(ArchiveProblem::NotAFile));
        }
        if !is_inside(&name) {
            return Err(refused(ArchiveProblem::Name));
        }
        // Counted, so that the answer can say that something is missing.
        if is_left_out(&name) {
            left_out += 1;
            continue;
        }
        let content = unpacked_entry(context, &mut entry, bytes.len() as u64, unpacked, &refused)?;
        if content.len() as u64 != entry.size() {
            return Err(refused(ArchiveProblem::Broken));
        }
        unpacked += content.len() as u64;
        entries.push(ArchiveEntry { name, content });
    }
    if entries.is_empty() {
        return Err(refused(None, ArchiveProblem::Empty));
    }
    Ok(ReadArchive { entries, left_out })
}

/// The bytes of an entry. What it says about its own size is not believed: it is read in steps, and each is counted.
fn unpacked_entry(
    context: &Context<'_>,
    entry: &mut impl Read,
    archive_bytes: u64,
    before: u64,
    refused: &dyn Fn(ArchiveProblem) -> Reason,
) -> Result<Vec<u8>, Reason> {
    const STEP: usize = 64 << 10;
    let mut content = Vec::new();
    let mut step = vec![0; STEP];
    loop {
        context.check()?;
        // Unpacking is work of the call, however little it reads.
        count_steps(STEP / 64);
        let read = entry.read(&mut step).map_err(|_| refused(ArchiveProblem::Broken))?;
        if read == 0 {
            return Ok(content);
        }
        content.extend_from_slice(&step[..read]);
        let all = before + content.len() as u64;
        // Small archives may unpack to anything: their whole content is small.
        if all > SUSPECT_BYTES && all / MOST_RATIO > archive_bytes {
            return Err(refused(ArchiveProblem::Ratio));
        }
        let limit = context.budget.file_bytes();
        if content.len() > limit {
            return Err(refused(ArchiveProblem::LargeEntry { limit }));
        }
        // The sum of all entries, which is held until the change is made.
        context.budget.hold_unpacked(all)?;
    }
}

/// A regular file, or an archive that does not say.
fn is_plain(mode: Option<u32>) -> bool {
    const KIND: u32 = 0o170_000;
    const FILE: u32 = 0o100_000;
    // No kind at all is what archives of other systems have.
    mode.is_none_or(|mode| matches!(mode & KIND, 0 | FILE))
}

/// Whether a name is relative, stays where it is, and is not a device on any system. Nothing is repaired: an archive with
/// such a name is not trusted.
fn is_inside(name: &str) -> bool {
    let is_name = |part: &str| {
        let is_plain = !part.is_empty() && part != "." && part != ".." && !part.contains([':', '\\', '\0']);
        is_plain && VaultPath::parse(part).is_ok_and(|part| part.has_portable_name())
    };
    name.split('/').all(is_name)
}

/// Names that are hidden in a vault, and what one system adds to archives for itself.
fn is_left_out(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX" || part == "Thumbs.db")
}

fn problem(error: &ZipError) -> ArchiveProblem {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            ArchiveProblem::Encrypted
        }
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => ArchiveProblem::Method,
        _ => ArchiveProblem::Broken,
    }
}
