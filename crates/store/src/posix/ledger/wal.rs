//! Damage to SQLite's write-ahead log. SQLite takes the first bad frame for the end of the log and silently drops the
//! rest, which may be the whole history. So the log is checked before SQLite sees it.

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

const FORMAT: u32 = 3_007_000;
/// The page size of all our databases.
const PAGE_SIZE: usize = 4096;

/// What the frames of a log have in common.
struct WalHeader {
    big_endian: bool,
    page_size: usize,
    salts: [u8; 8],
    /// All of it but its checksum.
    bytes: Vec<u8>,
    is_sound: bool,
}

impl WalHeader {
    fn read(log: &[u8]) -> Option<Self> {
        let found =
            // If the header is damaged, its frames may still be whole.
            Self::found(log).filter(|header| checksum(header.big_endian, (0, 0), &log[..24]) == header.sum(log));
        found.map_or_else(|| Self::guessed(log), Some)
    }

    fn found(log: &[u8]) -> Option<Self> {
        let big_endian = match number(log, 0)? {
            // The two magic numbers of SQLite's write-ahead log differ in the byte order of its checksums.
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let page_size = match number(log, 8)? as usize {
            // The field has 16 bits, so the largest page is written as 1.
            1 => 65_536,
            size => size,
        };
        let fits = number(log, 4)? == FORMAT && page_size.is_power_of_two() && page_size >= 512;
        let salts = log.get(16..24)?.try_into().ok()?;
        fits.then(|| Self { big_endian, page_size, salts, bytes: log[..24].to_vec(), is_sound: true })
    }

    /// As the first frame and this machine have it.
    fn guessed(log: &[u8]) -> Option<Self> {
        let big_endian = cfg!(target_endian = "big");
        let salts: [u8; 8] = log.get(HEADER + 8..HEADER + 16)?.try_into().ok()?;
        let numbers = [0x377f_0682 | u32::from(big_endian), FORMAT, PAGE_SIZE as u32, number(log, 12)?];
        let bytes = [&numbers.map(u32::to_be_bytes).concat()[..], &salts].concat();
        Some(Self { big_endian, page_size: PAGE_SIZE, salts, bytes, is_sound: false })
    }

    fn sum(&self, log: &[u8]) -> (u32, u32) {
        sums(log, 24).unwrap_or_default()
    }
}

/// The log with every checksum corrected, if there are sound frames after a bad one. A log that only ends in the middle
/// of a frame is what a power cut leaves.
pub(super) fn mended(log: &[u8]) -> Option<Vec<u8>> {
    let header = WalHeader::read(log)?;
    let start = checksum(header.big_endian, (0, 0), &header.bytes);
    // Each frame's checksum includes all before it, and the next continues from it: so each can be checked separately.
    let (mut stored, mut computed) = (header.sum(log), start);
    let (mut frames, mut last_sound, mut first_bad) = (Vec::new(), 0, None);
    for (index, frame) in log.get(HEADER..)?.chunks_exact(FRAME_HEADER + header.page_size).enumerate() {
        let own = sums(frame, 16)?;
        let from = |before: (u32, u32)| {
            let own_header = checksum(header.big_endian, before, &frame[..8]);
            checksum(header.big_endian, own_header, &frame[FRAME_HEADER..])
        };
        let (of_stored, of_computed) = (from(stored), from(computed));
        // Frames with other salts belong to an earlier round.
        if frame[8..16] == header.salts && (of_stored == own || of_computed == own) {
            last_sound = index + 1;
        } else if first_bad.is_none() {
            first_bad = Some(index);
        }
        (stored, computed) = (own, of_computed);
        frames.push(frame);
    }
    // With a guessed header, any sound frame shows that only the header is damaged.
    let is_damaged = if header.is_sound { first_bad.is_some_and(|bad| bad < last_sound) } else { last_sound > 0 };
    if !is_damaged {
        return None;
    }
    let (mut mended, mut sum) = (header.bytes, start);
    put(&mut mended, sum);
    for frame in &frames[..last_sound] {
        sum = checksum(header.big_endian, sum, &frame[..8]);
        sum = checksum(header.big_endian, sum, &frame[FRAME_HEADER..]);
        mended.extend_from_slice(&frame[..8]);
        // A frame with damaged salts belongs to this round too, as sound ones follow it.
        mended.extend_from_slice(&header.salts);
        put(&mut mended, sum);
        mended.extend_from_slice(&frame[FRAME_HEADER..]);
    }
    Some(mended)
}

fn put(log: &mut Vec<u8>, (one, two): (u32, u32)) {
    log.extend_from_slice(&one.to_be_bytes());
    log.extend_from_slice(&two.to_be_bytes());
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn sums(bytes: &[u8], at: usize) -> Option<(u32, u32)> {
    Some((number(bytes, at)?, number(bytes, at + 4)?))
}

/// As defined by the log format: two sums over the bytes, eight at a time.
fn checksum(big_endian: bool, before: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let word = |bytes: &[u8]| {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    bytes.chunks_exact(8).fold(before, |(one, two), eight| {
        let one = one.wrapping_add(word(&eight[..4])).wrapping_add(two);
        (one, two.wrapping_add(word(&eight[4..])).wrapping_add(one))
    })
}
