//! Packs the structure of a note into a digest.

use std::{
    borrow::Cow,
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use lapidary_note::{LineTable, Link, LinkKind, Note, charge_thread, parse_price, shown_text};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::{IN_PROPERTIES, PARTS, REPEATED, items, properties, tasks};
use crate::{
    names::{NameKey, mention_key},
    packed::BytePacker,
};

/// Appends the digest of a note with these bytes.
pub fn digest(bytes: &[u8], into: &mut Vec<u8>) {
    // Obsidian shows a note that is not UTF-8 with replacement characters, so its links and tags count.
    let text = shown_text(bytes);
    let _turn = (text.len() >= SMALL_TEXT && parse_price(&text) >= LARGE_PRICE).then(LargeDigestTurn::take);
    // The index belongs to all calls. One that had to wait here for others would keep those waiting that need the index.
    let _uncharged = charge_thread(None);
    pack(&Note::parse(&text), into);
}

/// A text below this is never large.
const SMALL_TEXT: usize = 1 << 17;
/// While a text of this price is parsed for an index, no other such text is, in the whole process.
const LARGE_PRICE: u64 = 16 << 20;
const LOOK_AGAIN: Duration = Duration::from_millis(2);

static LARGE_DIGEST_RUNS: AtomicBool = AtomicBool::new(false);

/// The turn to digest a large text. Its holder waits for nothing.
struct LargeDigestTurn;

impl LargeDigestTurn {
    fn take() -> Self {
        while LARGE_DIGEST_RUNS.swap(true, Ordering::AcqRel) {
            std::thread::sleep(LOOK_AGAIN);
        }
        Self
    }
}

impl Drop for LargeDigestTurn {
    fn drop(&mut self) {
        LARGE_DIGEST_RUNS.store(false, Ordering::Release);
    }
}

fn pack(note: &Note<'_>, into: &mut Vec<u8>) {
    let lines = LineTable::of(note.text);
    let mut parts: [Vec<u8>; PARTS] = Default::default();
    let [keys, links, tags, aliases, structure, properties, items, fields, tasks] = &mut parts;
    pack_links(note, &lines, &mut BytePacker { bytes: links }, &mut BytePacker { bytes: keys });
    pack_tags(note, &mut BytePacker { bytes: tags });
    note.aliases().into_iter().for_each(|alias| BytePacker { bytes: &mut *aliases }.text(alias));
    pack_structure(note, &lines, &mut BytePacker { bytes: structure });
    properties::pack(note, &mut BytePacker { bytes: properties });
    items::pack(note, &lines, &mut BytePacker { bytes: items }, &mut BytePacker { bytes: fields });
    tasks::pack(note, |at| lines.line(at), &mut BytePacker { bytes: tasks });
    let mut packer = BytePacker { bytes: into };
    // Lengths first, so that a reader finds each part without reading those before it.
    parts.iter().for_each(|part| packer.length(part.len()));
    parts.iter().for_each(|part| packer.bytes.extend_from_slice(part));
}

fn pack_links(note: &Note<'_>, lines: &LineTable, links: &mut BytePacker<'_>, keys: &mut BytePacker<'_>) {
    let mut known: HashSet<NameKey> = HashSet::new();
    let mut mention = |target: &str| {
        let key = mention_key(target);
        if !target.is_empty() && known.insert(key) {
            keys.short(key);
        }
    };
    let mut pack = |text: &str, link: &Link, line: usize, property: Option<&str>| {
        let target = composed(link.target(text));
        mention(&target);
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
    for link in &note.links {
        // The destination of a reference link is elsewhere in the note.
        let link = match note.definition_of(link) {
            Some(definition) => Cow::Owned(definition.followed_by(link)),
            None => Cow::Borrowed(link),
        };
        if link.internal {
            pack(note.text, &link, lines.line(link.span.start), None);
        }
    }
    // A definition mentions its file, whether or not a link uses it.
    for definition in note.definitions.iter().filter(|definition| definition.internal) {
        mention(&composed(definition.as_link().target(note.text)));
    }
}

fn composed(target: Cow<'_, str>) -> Cow<'_, str> {
    if is_nfc(&target) { target } else { Cow::Owned(target.nfc().collect()) }
}

/// Each spelling once among the properties and once in the text.
fn pack_tags(note: &Note<'_>, packer: &mut BytePacker<'_>) {
    let (mut written, mut known): (HashSet<(u8, String)>, HashSet<String>) = Default::default();
    let mut pack = |name: &str, place: u8| {
        // Obsidian counts tags regardless of case and shows the first spelling.
        let repeated = !known.insert(name.to_lowercase());
        if written.insert((place, name.to_owned())) {
            packer.byte(place | if repeated { REPEATED } else { 0 });
            packer.text(name);
        }
    };
    note.property_tags().iter().for_each(|tag| pack(&tag.name, IN_PROPERTIES));
    note.tags.iter().for_each(|tag| pack(&note.text[tag.name()], 0));
}

fn pack_structure(note: &Note<'_>, lines: &LineTable, packer: &mut BytePacker<'_>) {
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
}
