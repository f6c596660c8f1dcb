use std::{borrow::Cow, collections::HashSet};

use lapidary_note::{Link, LinkKind, Node, Note, Text, Value};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::{
    names::mention_key,
    packed::{Packer, Unpacker},
};

/// Changes whenever a digest of the same note would come out different, so that an older cache is not believed.
/// `a_digest_is_what_it_was` fails when that is forgotten.
pub(crate) const FORMAT: u32 = 1;

const PARTS: usize = 6;

/// What the index keeps of a note: everything in it that can be asked for without its text, packed, and read when it is
/// asked for. A hundred thousand notes take some tens of megabytes this way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digest<'a> {
    parts: [&'a [u8]; PARTS],
}

#[derive(Clone, Copy)]
enum Part {
    Keys,
    Links,
    Tags,
    Aliases,
    Structure,
    Properties,
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
    /// The property it stands in, with dots.
    pub property: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDigest<'a> {
    /// Without `#`, in the spelling that comes first.
    pub name: &'a str,
    pub in_properties: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadingDigest<'a> {
    pub level: u8,
    pub line: usize,
    pub text: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDigest<'a> {
    pub id: &'a str,
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskDigest<'a> {
    pub status: char,
    pub line: usize,
    /// How many list items it stands in.
    pub depth: usize,
    pub text: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDigest<'a> {
    pub key: &'a str,
    pub value: &'a str,
    pub line: usize,
}

/// What stands in the body of a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure<'a> {
    pub headings: Vec<HeadingDigest<'a>>,
    pub blocks: Vec<BlockDigest<'a>>,
    pub tasks: Vec<TaskDigest<'a>>,
    pub fields: Vec<FieldDigest<'a>>,
}

/// The properties of a note, as far as they can be read.
#[derive(Clone, Debug, PartialEq)]
pub enum Properties {
    Absent,
    Unreadable,
    Read(Vec<(String, Value)>),
}

/// Appends the digest of a note with these bytes.
pub fn digest(bytes: &[u8], into: &mut Vec<u8>) {
    // Obsidian shows a note that is not UTF-8 with replacement characters, and so its links and tags count.
    let lossy;
    let text = match Text::decode(bytes) {
        Ok(text) => text,
        Err(_) => {
            lossy = String::from_utf8_lossy(bytes);
            match Text::decode(lossy.as_bytes()) {
                Ok(text) => text,
                Err(_) => return,
            }
        }
    };
    let note = Note::parse(text.shown());
    let lines = Lines::of(note.text);
    let mut parts: [Vec<u8>; PARTS] = Default::default();
    let [keys, links, tags, aliases, structure, properties] = &mut parts;
    pack_links(&note, &lines, &mut Packer { bytes: links }, &mut Packer { bytes: keys });
    pack_tags(&note, &mut Packer { bytes: tags });
    note.aliases().into_iter().for_each(|alias| Packer { bytes: &mut *aliases }.text(alias));
    pack_structure(&note, &lines, &mut Packer { bytes: structure });
    pack_properties(&note, &mut Packer { bytes: properties });
    let mut packer = Packer { bytes: into };
    parts.iter().for_each(|part| packer.length(part.len()));
    parts.iter().for_each(|part| packer.bytes.extend_from_slice(part));
}

fn pack_links(note: &Note<'_>, lines: &Lines, links: &mut Packer<'_>, keys: &mut Packer<'_>) {
    let mut known: HashSet<u64> = HashSet::new();
    let mut pack = |text: &str, link: &Link, line: usize, property: Option<&str>| {
        let target = link.target(text);
        let target = if is_nfc(&target) { target } else { Cow::Owned(target.nfc().collect()) };
        let key = mention_key(&target);
        if !target.is_empty() && known.insert(key) {
            keys.fixed(key);
        }
        let kind = match link.kind {
            LinkKind::Wiki => 0,
            LinkKind::Markdown => 1,
            LinkKind::Reference => 2,
            LinkKind::Url => return,
        };
        links.byte(kind | u8::from(link.embed) << 2);
        links.length(line);
        links.text(&target);
        links.optional(link.subpath.clone().map(|subpath| &text[subpath]));
        links.optional(link.alias.clone().map(|alias| &text[alias]));
        links.optional(property);
    };
    for found in note.property_links().iter().filter(|found| found.link.internal) {
        pack(&found.value, &found.link, lines.line(found.span.start), Some(&found.key));
    }
    for link in note.links.iter().filter(|link| link.internal && link.kind != LinkKind::Reference) {
        pack(note.text, link, lines.line(link.span.start), None);
    }
    // Of reference links, the place that says where they lead.
    for definition in note.definitions.iter().filter(|definition| definition.internal) {
        let link = Link { kind: LinkKind::Reference, ..definition.as_link() };
        pack(note.text, &link, lines.line(definition.span.start), None);
    }
}

fn pack_tags(note: &Note<'_>, packer: &mut Packer<'_>) {
    let mut known: HashSet<String> = HashSet::new();
    let mut pack = |name: &str, in_properties: bool| {
        if known.insert(name.to_lowercase()) {
            packer.byte(u8::from(in_properties));
            packer.text(name);
        }
    };
    note.property_tags().iter().for_each(|tag| pack(&tag.name, true));
    note.tags.iter().for_each(|tag| pack(&note.text[tag.name()], false));
}

fn pack_structure(note: &Note<'_>, lines: &Lines, packer: &mut Packer<'_>) {
    packer.length(note.headings.len());
    for heading in &note.headings {
        packer.byte(heading.level);
        packer.length(heading.line);
        packer.text(&heading.text);
    }
    packer.length(note.blocks.len());
    for block in &note.blocks {
        packer.length(lines.line(block.marker.start));
        packer.text(&block.id);
    }
    packer.length(note.tasks.len());
    for task in &note.tasks {
        packer.number(u64::from(u32::from(task.status)));
        packer.length(lines.line(task.checkbox.start));
        packer.length(note.items.get(task.item).map_or(0, |item| item.depth));
        packer.text(&note.text[task.text.clone()]);
    }
    packer.length(note.fields.len());
    for field in &note.fields {
        packer.length(lines.line(field.span.start));
        packer.text(&note.text[field.key.clone()]);
        packer.text(&note.text[field.value.clone()]);
    }
}

fn pack_properties(note: &Note<'_>, packer: &mut Packer<'_>) {
    match &note.properties {
        Err(_) => packer.byte(2),
        Ok(_) if note.frontmatter.is_none() => packer.byte(0),
        Ok(properties) => {
            packer.byte(1);
            packer.length(properties.len());
            for property in properties {
                packer.text(&property.key);
                pack_value(&Node::to_value(&property.value), packer);
            }
        }
    }
}

fn pack_value(value: &Value, packer: &mut Packer<'_>) {
    match value {
        Value::Null => packer.byte(0),
        Value::Bool(value) => packer.byte(1 + u8::from(*value)),
        Value::Integer(value) => {
            packer.byte(3);
            packer.fixed(value.cast_unsigned());
        }
        Value::Float(value) => {
            packer.byte(4);
            packer.fixed(value.to_bits());
        }
        Value::Text(text) => {
            packer.byte(5);
            packer.text(text);
        }
        Value::List(items) => {
            packer.byte(6);
            packer.length(items.len());
            items.iter().for_each(|item| pack_value(item, packer));
        }
        Value::Map(entries) => {
            packer.byte(7);
            packer.length(entries.len());
            for (key, value) in entries {
                packer.text(key);
                pack_value(value, packer);
            }
        }
    }
}

impl<'a> Digest<'a> {
    /// `None` if these bytes are no digest.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut unpacker = Unpacker::new(bytes);
        let mut lengths = [0; PARTS];
        for length in &mut lengths {
            *length = unpacker.length()?;
        }
        let mut parts = [&[][..]; PARTS];
        for (part, length) in parts.iter_mut().zip(lengths) {
            *part = unpacker.bytes(length)?;
        }
        unpacker.rest().is_empty().then_some(Self { parts })
    }

    fn part(&self, part: Part) -> Unpacker<'a> {
        Unpacker::new(self.parts[part as usize])
    }

    /// Under which the files that its links may mean are found.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut unpacker = self.part(Part::Keys);
        std::iter::from_fn(move || unpacker.fixed())
    }

    /// Those in properties first, then those in the text, in order, then the definitions of reference links. Obsidian does
    /// not count the last as links.
    pub fn links(&self) -> impl Iterator<Item = LinkDigest<'a>> + use<'a> {
        let mut unpacker = self.part(Part::Links);
        std::iter::from_fn(move || {
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

    /// Each once, whatever its case.
    pub fn tags(&self) -> impl Iterator<Item = TagDigest<'a>> + use<'a> {
        let mut unpacker = self.part(Part::Tags);
        std::iter::from_fn(move || Some(TagDigest { in_properties: unpacker.byte()? != 0, name: unpacker.text()? }))
    }

    pub fn aliases(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut unpacker = self.part(Part::Aliases);
        std::iter::from_fn(move || unpacker.text())
    }

    pub fn structure(&self) -> Structure<'a> {
        let mut structure = Structure::default();
        // Whole or empty: the checksum of the cache has been looked at, so anything else is a fault of ours.
        unpack_structure(self.part(Part::Structure), &mut structure).unwrap_or_default();
        structure
    }

    pub fn properties(&self) -> Properties {
        unpack_properties(self.part(Part::Properties)).unwrap_or(Properties::Unreadable)
    }
}

fn unpack_structure<'a>(mut unpacker: Unpacker<'a>, structure: &mut Structure<'a>) -> Option<()> {
    for _ in 0..unpacker.length()? {
        let (level, line) = (unpacker.byte()?, unpacker.length()?);
        structure.headings.push(HeadingDigest { level, line, text: unpacker.text()? });
    }
    for _ in 0..unpacker.length()? {
        let line = unpacker.length()?;
        structure.blocks.push(BlockDigest { id: unpacker.text()?, line });
    }
    for _ in 0..unpacker.length()? {
        let status = u32::try_from(unpacker.number()?).ok().and_then(char::from_u32)?;
        let (line, depth) = (unpacker.length()?, unpacker.length()?);
        structure.tasks.push(TaskDigest { status, line, depth, text: unpacker.text()? });
    }
    for _ in 0..unpacker.length()? {
        let line = unpacker.length()?;
        structure.fields.push(FieldDigest { line, key: unpacker.text()?, value: unpacker.text()? });
    }
    Some(())
}

fn unpack_properties(mut unpacker: Unpacker<'_>) -> Option<Properties> {
    Some(match unpacker.byte()? {
        0 => Properties::Absent,
        1 => {
            let count = unpacker.length()?;
            let entry = |_| Some((unpacker.text()?.to_owned(), unpack_value(&mut unpacker)?));
            Properties::Read((0..count).map(entry).collect::<Option<_>>()?)
        }
        _ => Properties::Unreadable,
    })
}

fn unpack_value(unpacker: &mut Unpacker<'_>) -> Option<Value> {
    Some(match unpacker.byte()? {
        0 => Value::Null,
        1 => Value::Bool(false),
        2 => Value::Bool(true),
        3 => Value::Integer(unpacker.fixed()?.cast_signed()),
        4 => Value::Float(f64::from_bits(unpacker.fixed()?)),
        5 => Value::Text(unpacker.text()?.to_owned()),
        6 => {
            let count = unpacker.length()?;
            Value::List((0..count).map(|_| unpack_value(unpacker)).collect::<Option<_>>()?)
        }
        7 => {
            let count = unpacker.length()?;
            let entry = |_| Some((unpacker.text()?.to_owned(), unpack_value(unpacker)?));
            Value::Map((0..count).map(entry).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// Counted from 1.
    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "---\ntags: [Work, a/b]\naliases: [Other name]\nup: \"[[Home#H|x]]\"\nn: [1, 2.5, yes, true, null, {k: v}]\n---\n# A *b*\nsee [[Note One#Sub|al]] and ![[p.png|300]] #work #New/x\n- [x] done [[sub/Two]] ^id1\n    - [/] half\n[t](A%20b.md \"t\") [e](https://x.y) [r][ref]\nkey:: value\n\n[ref]: R.md\n## C\n";

    fn packed(note: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        digest(note, &mut bytes);
        bytes
    }

    #[test]
    fn everything_that_can_be_asked_for_comes_out_again() {
        let bytes = packed(NOTE.as_bytes());
        let digest = Digest::read(&bytes).unwrap();
        let links: Vec<_> = digest
            .links()
            .map(|link| (link.kind, link.embed, link.line, link.target, link.subpath, link.alias, link.property))
            .collect();
        assert_eq!(
            links,
            [
                (LinkKind::Wiki, false, 4, "Home", Some("#H"), Some("x"), Some("up")),
                (LinkKind::Wiki, false, 8, "Note One", Some("#Sub"), Some("al"), None),
                (LinkKind::Wiki, true, 8, "p.png", None, None, None),
                (LinkKind::Wiki, false, 9, "sub/Two", None, None, None),
                (LinkKind::Markdown, false, 11, "A b.md", None, Some("t"), None),
                (LinkKind::Reference, false, 14, "R.md", None, None, None),
            ]
        );
        assert_eq!(digest.keys().count(), 6);
        let tags: Vec<_> = digest.tags().map(|tag| (tag.name, tag.in_properties)).collect();
        assert_eq!(tags, [("Work", true), ("a/b", true), ("New/x", false)]);
        assert_eq!(digest.aliases().collect::<Vec<_>>(), ["Other name"]);
        let structure = digest.structure();
        let headings: Vec<_> = structure.headings.iter().map(|found| (found.level, found.line, found.text)).collect();
        assert_eq!(headings, [(1, 7, "A *b*"), (2, 15, "C")]);
        assert_eq!(structure.blocks, [BlockDigest { id: "id1", line: 9 }]);
        let tasks: Vec<_> = structure.tasks.iter().map(|task| (task.status, task.line, task.depth)).collect();
        assert_eq!(tasks, [('x', 9, 0), ('/', 10, 1)]);
        assert_eq!(structure.fields, [FieldDigest { key: "key", value: "value", line: 12 }]);
        let Properties::Read(properties) = digest.properties() else { panic!("readable") };
        assert_eq!(properties.len(), 4);
        assert_eq!(properties[3].0, "n");
        let Value::List(items) = &properties[3].1 else { panic!("a list") };
        assert_eq!(items[1], Value::Float(2.5));
        assert_eq!(items[5], Value::Map(vec![("k".into(), Value::Text("v".into()))]));
    }

    #[test]
    fn a_digest_is_what_it_was() {
        let hash = lapidary_note::ContentHash::of(&packed(NOTE.as_bytes())).to_string();
        assert_eq!((FORMAT, &hash[..19]), (1, "sha256:d75c2e2a4f9b"), "what the index keeps has changed: raise FORMAT");
    }

    #[test]
    fn no_bytes_are_too_odd() {
        for note in [&b""[..], b"\xff\xfe[[a]]", b"---\n: : [\n---\n", b"\xef\xbb\xbf---\na: 1\n---\r\n[[x]]\r\n"] {
            let bytes = packed(note);
            let digest = Digest::read(&bytes).unwrap();
            assert_eq!(digest.links().count(), usize::from(note.windows(2).any(|pair| pair == b"[[")), "{note:?}");
        }
        assert!(Digest::read(&[]).is_none());
        assert!(Digest::read(&[9, 9, 9, 9, 9, 9]).is_none());
        let bytes = packed(NOTE.as_bytes());
        for end in 0..bytes.len() {
            assert!(Digest::read(&bytes[..end]).is_none());
        }
    }
}
