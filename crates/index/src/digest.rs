//! The index's data about a note, and how it is read.

mod items;
mod pack;
mod properties;
mod tasks;
#[cfg(test)]
mod tests;

use lapidary_note::LinkKind;
use lapidary_query::{FrontmatterState, RowBlock, RowField, RowHeading, RowItem, RowTag};

use super::{names::NameKey, packed::ByteUnpacker};

pub use pack::digest;
pub(crate) use properties::PackedValue;
pub use tasks::{DatedTask, day_number};

/// Changes whenever a digest of the same note would differ, so that an older cache is not used.
/// `a_digest_is_what_it_was` fails if that is forgotten.
pub(crate) const FORMAT: u32 = 9;

const PARTS: usize = 9;

/// The index's data about a note: everything that can be queried without its text, packed, and read on demand. A
/// hundred thousand notes take some tens of megabytes this way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digest<'a> {
    parts: [&'a [u8]; PARTS],
}

#[derive(Clone, Copy)]
enum DigestPart {
    Keys,
    Links,
    Tags,
    Aliases,
    Structure,
    Properties,
    Items,
    Fields,
    Tasks,
}

/// A link that leads to a file of the vault, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDigest<'a> {
    pub kind: LinkKind,
    pub embed: bool,
    pub line: usize,
    /// The path as it is resolved: decoded, trimmed, in NFC. Empty for a link into the note itself.
    pub target: &'a str,
    /// With its `#`.
    pub subpath: Option<&'a str>,
    pub alias: Option<&'a str>,
    /// The property that contains it, with dots.
    pub property: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskDigest<'a> {
    pub status: char,
    pub line: usize,
    /// How many list items enclose it.
    pub depth: usize,
    /// Its first line.
    pub text: &'a str,
}

/// The structure of the body of a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyStructure<'a> {
    pub headings: Vec<RowHeading<'a>>,
    pub blocks: Vec<RowBlock<'a>>,
}

impl<'a> Digest<'a> {
    /// `None` if these bytes are not a digest.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut unpacker = ByteUnpacker::new(bytes);
        // All lengths come first, so that a part is found without reading those before it.
        let mut lengths = [0; PARTS];
        for length in &mut lengths {
            *length = unpacker.length()?;
        }
        let mut parts = [&[][..]; PARTS];
        for (part, length) in parts.iter_mut().zip(lengths) {
            *part = unpacker.bytes(length)?;
        }
        // Bytes after the last part mean that it is not a digest of this format.
        unpacker.rest().is_empty().then_some(Self { parts })
    }

    fn part(&self, part: DigestPart) -> ByteUnpacker<'a> {
        ByteUnpacker::new(self.parts[part as usize])
    }

    /// The keys under which the possible targets of its links are found.
    pub(crate) fn keys(&self) -> impl Iterator<Item = NameKey> + use<'a> {
        let mut unpacker = self.part(DigestPart::Keys);
        // A fixed size for each: they are looked at by the thousands.
        std::iter::from_fn(move || unpacker.short())
    }

    /// Those in properties first, then those in the text, in order. Including reference links, which Obsidian does not
    /// count in its graph and queries.
    pub fn links(&self) -> impl Iterator<Item = LinkDigest<'a>> + use<'a> {
        let mut unpacker = self.part(DigestPart::Links);
        std::iter::from_fn(move || {
            // The lowest two bits are the kind, the next one says whether it is embedded.
            let kind = unpacker.byte()?;
            Some(LinkDigest {
                kind: match kind & 3 {
                    0 => LinkKind::Wiki,
                    1 => LinkKind::Markdown,
                    _ => LinkKind::Reference,
                },
                embed: kind & 4 != 0,
                line: unpacker.length()?,
                target: unpacker.text()?,
                subpath: unpacker.optional()?,
                alias: unpacker.optional()?,
                property: unpacker.optional()?,
            })
        })
    }

    /// Each once, ignoring case, in the first spelling.
    pub fn tags(&self) -> impl Iterator<Item = RowTag<'a>> + use<'a> {
        self.written_tags().filter(|tag| !tag.repeated)
    }

    /// Each once in every spelling, those of the properties first.
    pub fn written_tags(&self) -> impl Iterator<Item = RowTag<'a>> + use<'a> {
        let mut unpacker = self.part(DigestPart::Tags);
        std::iter::from_fn(move || {
            let flags = unpacker.byte()?;
            let (in_properties, repeated) = (flags & IN_PROPERTIES != 0, flags & REPEATED != 0);
            Some(RowTag { name: unpacker.text()?, in_properties, repeated })
        })
    }

    pub fn aliases(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut unpacker = self.part(DigestPart::Aliases);
        std::iter::from_fn(move || unpacker.text())
    }

    pub fn structure(&self) -> BodyStructure<'a> {
        let mut structure = BodyStructure::default();
        // Whole or empty: the checksum of the cache was verified, so anything else is a bug of ours.
        unpack_structure(self.part(DigestPart::Structure), &mut structure).unwrap_or_default();
        structure
    }

    pub fn frontmatter(&self) -> FrontmatterState {
        properties::state(self.part(DigestPart::Properties))
    }

    /// The properties in document order, each read on demand.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&'a str, PackedValue<'a>)> + use<'a> {
        properties::entries(self.part(DigestPart::Properties))
    }

    /// All list items, in document order.
    pub fn items(&self) -> Vec<RowItem<'a>> {
        items::unpack_items(self.part(DigestPart::Items))
    }

    /// All tasks, in document order.
    pub fn tasks(&self) -> Vec<TaskDigest<'a>> {
        items::unpack_tasks(self.part(DigestPart::Items))
    }

    /// All tasks with their dates, in document order. Much cheaper than their texts.
    pub fn dated_tasks(&self) -> impl Iterator<Item = DatedTask> + use<'a> {
        tasks::unpack(self.part(DigestPart::Tasks))
    }

    /// All inline fields, in document order.
    pub fn fields(&self) -> impl Iterator<Item = RowField<'a>> + use<'a> {
        items::unpack_fields(self.part(DigestPart::Fields))
    }
}

/// Flags of a packed tag.
const IN_PROPERTIES: u8 = 1;
const REPEATED: u8 = 2;

fn unpack_structure<'a>(mut unpacker: ByteUnpacker<'a>, structure: &mut BodyStructure<'a>) -> Option<()> {
    for _ in 0..unpacker.length()? {
        let (level, line) = (unpacker.byte()?, unpacker.length()?);
        structure.headings.push(RowHeading { level, line, text: unpacker.text()? });
    }
    for _ in 0..unpacker.length()? {
        let line = unpacker.length()?;
        structure.blocks.push(RowBlock { id: unpacker.text()?, line });
    }
    Some(())
}
