//! The process that decodes one file.

use std::{
    io::{self, Write},
    panic::catch_unwind,
    process::ExitCode,
};

use lapidary_operation::{DecodeJob, DecodedAttachment};
use lapidary_vault::DecodeFault;

use crate::{confine, document, picture, template, wire};

/// The argument that makes the program this process. Not for people.
pub const CHILD_COMMAND: &str = "__decode-attachment";

/// Reads a job from standard input, writes its result to standard output and ends.
pub fn run_child() -> ExitCode {
    // Before a byte of the file is read.
    confine::confine();
    let Ok((job, bytes)) = wire::read_job(io::stdin().lock()) else { return ExitCode::FAILURE };
    let decoded = decode(job, &bytes);
    let mut output = io::stdout().lock();
    match wire::write_result(&mut output, &decoded).and_then(|()| output.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A decoder that panics has met bytes that it does not expect.
pub(crate) fn decode(job: DecodeJob, bytes: &[u8]) -> Result<DecodedAttachment, DecodeFault> {
    // Decoders keep nothing beyond the call, so nothing that a panic leaves half done is seen.
    let decoded = catch_unwind(|| match job {
        DecodeJob::Picture { longest_side, most_bytes } => {
            picture::scaled(bytes, longest_side, most_bytes as usize).map(DecodedAttachment::Picture)
        }
        DecodeJob::Page { page, longest_side, most_bytes } => {
            document::page_picture(bytes, page, longest_side, most_bytes as usize).map(DecodedAttachment::Picture)
        }
        DecodeJob::Text { kind, most_bytes } => {
            document::text(kind, bytes, most_bytes as usize).map(DecodedAttachment::Text)
        }
        DecodeJob::Template { kind, values_bytes, most_bytes } => {
            template::filled(kind, bytes, values_bytes as usize, most_bytes as usize).map(DecodedAttachment::Document)
        }
    });
    decoded.unwrap_or(Err(DecodeFault::Crashed))
}
