//! Decodes attachments. Decoders of pictures and documents read bytes from any source, so the server runs them in another
//! process: [`ChildDecoder`] starts the program again with [`CHILD_COMMAND`], which does nothing but [`run_child`]. That
//! process gives up what it does not need ([`confine`]) before it looks at the bytes; its parent has a clock, a cap on what
//! it takes back, and kills it.
//!
//! Another kind of result is a variant of `DecodeJob` and a function like [`picture::scaled`] or [`document::text`]. A template of a document is filled
//! there too: it is a file like any other.

mod child;
mod confine;
mod document;
mod ocr;
mod parent;
mod picture;
mod template;
mod wire;

pub use child::{CHILD_COMMAND, run_child};
pub use ocr::OcrReader;
pub use parent::{ChildDecoder, InProcessDecoder};

/// What decoding may take.
mod limits {
    use std::time::Duration;

    /// The address space of the child, in bytes. A picture of the most pixels is there twice while it is scaled.
    pub(crate) const ADDRESS_SPACE: u64 = 768 << 20;
    /// Processor time of the child, in seconds.
    pub(crate) const PROCESSOR_SECONDS: u64 = 120;
    /// A document that takes longer is read up to there: a manual of 345 pages has taken 16 seconds, one of 1,500 a minute.
    pub(crate) const READING_TIME: Duration = Duration::from_secs(90);
    /// What the clock of the parent allows. Where processor time is limited, this is only for a child that waits, so that a
    /// busy computer makes no difference; calls have their own deadline.
    pub(crate) const WALL_TIME: Duration = Duration::from_secs(if cfg!(unix) { 600 } else { 60 });
    /// A decoded picture, in bytes.
    pub(crate) const MOST_DECODED: u64 = 192 << 20;
    /// The width and height of a picture.
    pub(crate) const LONGEST_SIDE: u32 = 32_768;
}
