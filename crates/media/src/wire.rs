//! What the two processes say to each other: a line of JSON, then bytes.

use std::io::{self, BufRead, Read, Write};

use lapidary_operation::{DecodeJob, DecodedAttachment, FilledFacts, FilledTemplate, PictureFacts, ScaledPicture};
use lapidary_vault::{DecodeFault, DocumentKind, DocumentText};
use serde::{Deserialize, Serialize};

/// The longest line. A document has names from its template in it.
const LONGEST_LINE: u64 = 32 << 10;

/// Placeholders without a value that are named.
const MOST_NAMES: usize = 30;
const LONGEST_NAME: usize = 400;

#[derive(Serialize, Deserialize)]
struct JobLine {
    job: DecodeJob,
    bytes: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResultLine {
    Picture {
        facts: PictureFacts,
        bytes: usize,
    },
    /// The text follows as JSON.
    Text {
        kind: DocumentKind,
        bytes: usize,
    },
    Document {
        facts: FilledFacts,
        bytes: usize,
    },
    Fault(DecodeFault),
}

pub(crate) fn write_job(mut to: impl Write, job: DecodeJob, bytes: &[u8]) -> io::Result<()> {
    serde_json::to_writer(&mut to, &JobLine { job, bytes: bytes.len() })?;
    // One line, then bytes: the other side knows where the line ends without parsing what follows.
    to.write_all(b"\n")?;
    to.write_all(bytes)?;
    to.flush()
}

pub(crate) fn read_job(mut from: impl BufRead) -> io::Result<(DecodeJob, Vec<u8>)> {
    let JobLine { job, bytes } = serde_json::from_slice(&line(&mut from)?)?;
    let mut read = Vec::new();
    // Never more than was announced.
    from.take(bytes as u64).read_to_end(&mut read)?;
    // A parent that was stopped in the middle leaves a part, which must not be decoded as a whole.
    if read.len() == bytes { Ok((job, read)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

pub(crate) fn write_result(mut to: impl Write, decoded: &Result<DecodedAttachment, DecodeFault>) -> io::Result<()> {
    match decoded {
        Ok(DecodedAttachment::Picture(ScaledPicture { facts, bytes })) => {
            serde_json::to_writer(&mut to, &ResultLine::Picture { facts: facts.clone(), bytes: bytes.len() })?;
            to.write_all(b"\n")?;
            to.write_all(bytes)?;
        }
        Ok(DecodedAttachment::Text(text)) => {
            // Before the line, which says how long it is.
            let written = serde_json::to_vec(text)?;
            serde_json::to_writer(&mut to, &ResultLine::Text { kind: text.kind, bytes: written.len() })?;
            to.write_all(b"\n")?;
            to.write_all(&written)?;
        }
        Ok(DecodedAttachment::Document(FilledTemplate { facts, bytes })) => {
            serde_json::to_writer(&mut to, &ResultLine::Document { facts: facts.clone(), bytes: bytes.len() })?;
            to.write_all(b"\n")?;
            to.write_all(bytes)?;
        }
        Err(fault) => {
            serde_json::to_writer(&mut to, &ResultLine::Fault(*fault))?;
            to.write_all(b"\n")?;
        }
    }
    to.flush()
}

/// What the child wrote; `None` if that is not a whole result. The child has read hostile bytes, so nothing in it is
/// believed.
pub(crate) fn read_result(mut from: &[u8]) -> Option<Result<DecodedAttachment, DecodeFault>> {
    match serde_json::from_slice(&line(&mut from).ok()?).ok()? {
        // Whatever follows a fault was not written by our child.
        ResultLine::Fault(fault) => from.is_empty().then_some(Err(fault)),
        ResultLine::Picture { facts, bytes } => {
            // Clients get these words as they are.
            let is_known = |media_type: &str| crate::picture::MEDIA_TYPES.contains(&media_type);
            let is_whole = from.len() == bytes && is_known(&facts.media_type) && is_known(&facts.shown_media_type);
            is_whole.then(|| Ok(DecodedAttachment::Picture(ScaledPicture { facts, bytes: from.to_vec() })))
        }
        ResultLine::Document { mut facts, bytes } => {
            // They are shown to the caller.
            facts.unknown.truncate(MOST_NAMES);
            facts.unknown.iter_mut().for_each(|name| name.truncate(name.floor_char_boundary(LONGEST_NAME)));
            let is_whole = from.len() == bytes;
            is_whole.then(|| Ok(DecodedAttachment::Document(FilledTemplate { facts, bytes: from.to_vec() })))
        }
        ResultLine::Text { kind, bytes } => {
            let text: DocumentText = serde_json::from_slice(Some(from).filter(|from| from.len() == bytes)?).ok()?;
            text.believed(kind).map(|text| Ok(DecodedAttachment::Text(text)))
        }
    }
}

fn line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    // A line without an end would fill memory.
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\n") { Ok(line) } else { Err(io::ErrorKind::InvalidData.into()) }
}
