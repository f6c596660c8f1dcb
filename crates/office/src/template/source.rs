//! The archive of a template: what it has, within limits, and which of its parts are replaced.

use std::{
    collections::{BTreeMap, HashSet},
    io::{Cursor, Read, Write},
};

use lapidary_note::count_steps;
use zip::{ZipArchive, ZipWriter, result::ZipError};

use crate::package::{Relations, entry_options, part_beside, relations_of};

use super::{
    OfficeFormat, TemplateFault,
    xml_edit::{XmlToken, attribute, first_start, insert_before_end, tokens},
};

/// A template has some dozens.
const MOST_ENTRIES: usize = 4_000;
/// The largest part, and all together, unpacked.
const MOST_PART: u64 = 64 << 20;
const MOST_UNPACKED: u64 = 128 << 20;
/// Beyond this size, one that is this much larger than packed was made to do harm.
const SUSPECT_BYTES: u64 = 4 << 20;
const MOST_RATIO: u64 = 1_000;

const TYPES: &str = "[Content_Types].xml";

pub(super) struct TemplateSource<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    names: Vec<String>,
    /// The parts that are XML.
    texts: BTreeMap<String, String>,
    /// Parts that are new or have other content.
    changed: BTreeMap<String, Vec<u8>>,
    removed: Vec<String>,
    /// Whether it was attached to another template.
    pub(super) is_detached: bool,
    most_bytes: usize,
}

/// A part that another refers to.
pub(super) struct RelatedPart {
    pub(super) id: String,
    /// The last word of its type.
    pub(super) kind: String,
    pub(super) part: String,
}

/// What a program loads from elsewhere when it opens a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadedPart {
    AttachedTemplate,
    /// A picture, an object, a frame, data.
    Other,
}

/// What an entry of a list of relations leads to outside of the document, unless it only is a link for readers.
fn loads(text: &str, token: &XmlToken<'_>) -> Option<LoadedPart> {
    if !token.is_start("Relationship") {
        return None;
    }
    let value = |name: &str| attribute(text, token, name).unwrap_or_default();
    let target = value("Target").trim().to_ascii_lowercase();
    // Some programs go by the address alone.
    let is_address = target.contains("://") || target.starts_with("\\\\") || target.starts_with("file:");
    let is_outside = value("TargetMode").trim().eq_ignore_ascii_case("external") || is_address;
    let kind = value("Type");
    match kind.trim().rsplit('/').next().unwrap_or_default() {
        _ if !is_outside => None,
        "hyperlink" => None,
        "attachedTemplate" => Some(LoadedPart::AttachedTemplate),
        _ => Some(LoadedPart::Other),
    }
}

/// The part that a list of relations belongs to.
fn owner_of(list: &str) -> String {
    list.replacen("_rels/", "", 1).trim_end_matches(".rels").to_owned()
}

fn is_relations(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".rels")
}

impl<'b> TemplateSource<'b> {
    /// Unpacks everything once: what is broken is refused before anything is made of it.
    pub(super) fn open(format: OfficeFormat, bytes: &'b [u8], most_bytes: usize) -> Result<Self, TemplateFault> {
        // The old container, which is what a password makes of any document.
        if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
            return Err(TemplateFault::Locked);
        }
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| fault(&error))?;
        // Before anything is unpacked: each entry costs memory, even if it is empty.
        if archive.len() > MOST_ENTRIES {
            return Err(TemplateFault::Unpacked);
        }
        // Of two entries with one name, every program takes another.
        if archive.has_duplicate_names() || archive.has_overlapping_entries().map_err(|error| fault(&error))? {
            return Err(TemplateFault::Broken);
        }
        let (mut names, mut texts, mut unpacked) = (Vec::new(), BTreeMap::new(), 0);
        for number in 0..archive.len() {
            let mut entry = archive.by_index(number).map_err(|error| fault(&error))?;
            if entry.encrypted() {
                return Err(TemplateFault::Locked);
            }
            let name = entry.name().map_err(|error| fault(&error))?.into_owned();
            // By name, since a part may be there without a type.
            if is_program(&name) {
                return Err(TemplateFault::Macros);
            }
            let packed = entry.compressed_size();
            let content = unpacked_entry(&mut entry, packed, &mut unpacked)?;
            // A part in another encoding is copied like a picture.
            if is_markup(&name)
                && let Ok(text) = String::from_utf8(content)
            {
                // A part that declares entities could grow when it is read, and none of them needs any.
                if text.contains("<!DOCTYPE") || text.contains("<!ENTITY") {
                    return Err(TemplateFault::Broken);
                }
                texts.insert(name.clone(), text);
            }
            names.push(name);
        }
        let mut source = Self {
            archive,
            names,
            texts,
            changed: BTreeMap::new(),
            removed: Vec::new(),
            is_detached: false,
            most_bytes,
        };
        source.check_format(format)?;
        source.cut_loose()?;
        Ok(source)
    }

    /// Removes what leads to the template that the document was attached to, which programs load when they open it, and refuses
    /// anything else that is loaded from elsewhere. Only links for readers stay.
    fn cut_loose(&mut self) -> Result<(), TemplateFault> {
        let lists: Vec<String> = self.names.iter().filter(|name| is_relations(name)).cloned().collect();
        for list in lists {
            // In an encoding that is not read here, it could say anything.
            let Some(owner) = self.texts.get(&list).map(|_| owner_of(&list)) else { return Err(TemplateFault::Broken) };
            let attached = self.loaded(&list)?.contains(&LoadedPart::AttachedTemplate);
            if attached {
                self.remove_entries(&list, |text, token| loads(text, token) == Some(LoadedPart::AttachedTemplate))?;
                self.remove_entries(&owner, |_, token| token.is_start("attachedTemplate"))?;
                self.is_detached = true;
            }
            // Also one that is written in a form that was not removed.
            if !self.loaded(&list)?.is_empty() {
                return Err(TemplateFault::Linked);
            }
        }
        Ok(())
    }

    fn loaded(&self, list: &str) -> Result<Vec<LoadedPart>, TemplateFault> {
        let text = self.text(list).unwrap_or_default();
        Ok(tokens(text)?.iter().filter_map(|token| loads(text, token)).collect())
    }

    /// What it says of itself must be the format of its name; every format has one for documents with programs.
    fn check_format(&self, format: OfficeFormat) -> Result<(), TemplateFault> {
        let types = self.text(TYPES).ok_or(TemplateFault::Broken)?;
        // The name of a file can be anything; its types are what a program goes by.
        if types.contains("macroEnabled") || types.contains("vbaProject") {
            return Err(TemplateFault::Macros);
        }
        let main = match format {
            OfficeFormat::Docx => "wordprocessingml.document.main+xml",
            OfficeFormat::Pptx => "presentationml.presentation.main+xml",
            OfficeFormat::Xlsx => "spreadsheetml.sheet.main+xml",
        };
        if types.contains(main) { Ok(()) } else { Err(TemplateFault::Broken) }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.iter().filter(|name| !self.removed.contains(name)).cloned().collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.changed.contains_key(name) || self.names.iter().any(|known| known == name)
    }

    /// A part of XML as it was in the template.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    pub(super) fn set(&mut self, name: &str, content: impl Into<Vec<u8>>) -> Result<(), TemplateFault> {
        let content = content.into();
        // Later edits of the part begin with this one.
        if let Ok(text) = String::from_utf8(content.clone())
            && is_markup(name)
        {
            self.texts.insert(name.to_owned(), text);
        }
        self.changed.insert(name.to_owned(), content);
        // Only what is new; `finish` measures the whole.
        let bytes: usize = self.changed.values().map(Vec::len).sum();
        if bytes > self.most_bytes { Err(TemplateFault::TooLarge) } else { Ok(()) }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.removed.push(name.to_owned());
    }

    /// Adds the type of a part.
    pub(super) fn add_type(&mut self, part: &str, media_type: &str) -> Result<(), TemplateFault> {
        // Without a type, programs refuse the whole document.
        let entry = format!("<Override PartName=\"/{part}\" ContentType=\"{media_type}\"/>");
        self.insert(TYPES, &entry)
    }

    /// Adds the type of an ending, unless it has one.
    pub(super) fn add_ending(&mut self, ending: &str, media_type: &str) -> Result<(), TemplateFault> {
        let types = self.text(TYPES).ok_or(TemplateFault::Broken)?;
        let known = tokens(types)?.iter().any(|token| {
            token.is_start("Default")
                && attribute(types, token, "Extension").is_some_and(|known| known.eq_ignore_ascii_case(ending))
        });
        if known {
            return Ok(());
        }
        self.insert(TYPES, &format!("<Default Extension=\"{ending}\" ContentType=\"{media_type}\"/>"))
    }

    /// The list of what a part refers to, empty if it has none.
    pub(super) fn relations(&self, part: &str) -> String {
        let empty = || Relations::default().xml();
        self.text(&relations_of(part)).map_or_else(empty, str::to_owned)
    }

    /// What a part refers to, in the order of its list; for an empty name, what the document consists of.
    pub(super) fn related(&self, part: &str) -> Result<Vec<RelatedPart>, TemplateFault> {
        let Some(list) = self.text(&relations_of(part)) else { return Ok(Vec::new()) };
        let entries = tokens(list)?.into_iter().filter_map(|token| {
            let value = |name: &str| attribute(list, &token, name);
            let is_outside = || value("TargetMode").is_some_and(|mode| mode.trim().eq_ignore_ascii_case("external"));
            if !token.is_start("Relationship") || is_outside() {
                return None;
            }
            let kind = value("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            Some(RelatedPart { id: value("Id")?, kind, part: part_beside(part, &value("Target")?) })
        });
        Ok(entries.collect())
    }

    /// The parts of a kind that a part refers to, each once.
    pub(super) fn related_of(&self, part: &str, kinds: &[&str]) -> Result<Vec<String>, TemplateFault> {
        let mut known = HashSet::new();
        let related = self.related(part)?.into_iter().filter(|related| kinds.contains(&&*related.kind));
        Ok(related.map(|related| related.part).filter(|part| known.insert(part.clone())).collect())
    }

    /// The part with the document. Its name is usual, not fixed.
    pub(super) fn main_part(&self, usual: &str) -> Result<String, TemplateFault> {
        let named = self.related_of("", &["officeDocument"])?.into_iter().next();
        Ok(named.unwrap_or_else(|| usual.to_owned()))
    }

    /// Puts entries into a part, in front of the end of its root.
    pub(super) fn insert(&mut self, part: &str, entries: &str) -> Result<(), TemplateFault> {
        let text = self.text(part).ok_or(TemplateFault::Broken)?;
        let changed = insert_before_end(text, entries)?;
        self.set(part, changed)
    }

    /// Removes the entries of a list for which something holds.
    pub(super) fn remove_entries(
        &mut self,
        part: &str,
        is_unwanted: impl Fn(&str, &XmlToken<'_>) -> bool,
    ) -> Result<(), TemplateFault> {
        let Some(text) = self.text(part) else { return Ok(()) };
        let mut kept = String::with_capacity(text.len());
        let mut at = 0;
        for token in tokens(text)? {
            if token.is_empty_element() && is_unwanted(text, &token) {
                kept.push_str(&text[at..token.span.start]);
                at = token.span.end;
            }
        }
        kept.push_str(&text[at..]);
        self.set(part, kept)
    }

    /// The archive: unchanged parts are copied as they are packed.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, TemplateFault> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let mut written = HashSet::new();
        for number in 0..self.archive.len() {
            let Some(name) = self.names.get(number) else { continue };
            if self.removed.contains(name) {
                continue;
            }
            if let Some(content) = self.changed.get(name) {
                writer.start_file(name.as_str(), entry_options(name)).map_err(|_| TemplateFault::TooLarge)?;
                writer.write_all(content).map_err(|_| TemplateFault::TooLarge)?;
                written.insert(name.clone());
            } else {
                // As it is packed, so an unchanged part stays the same byte for byte.
                let entry = self.archive.by_index_raw(number).map_err(|error| fault(&error))?;
                writer.raw_copy_file(entry).map_err(|error| fault(&error))?;
            }
        }
        for (name, content) in self.changed.iter().filter(|(name, _)| !written.contains(*name)) {
            writer.start_file(name.as_str(), entry_options(name)).map_err(|_| TemplateFault::TooLarge)?;
            writer.write_all(content).map_err(|_| TemplateFault::TooLarge)?;
        }
        let bytes = writer.finish().map_err(|_| TemplateFault::TooLarge)?.into_inner();
        if bytes.len() > self.most_bytes { Err(TemplateFault::TooLarge) } else { Ok(bytes) }
    }

    /// The highest number in names like `ppt/slides/slide12.xml`.
    pub(super) fn highest(&self, before: &str) -> usize {
        let number = |name: &String| {
            let digits: String = name.strip_prefix(before)?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().ok().filter(|number| *number < 1_000_000)
        };
        self.names.iter().chain(self.changed.keys()).filter_map(number).max().unwrap_or(0)
    }
}

/// The namespace that the root of a part binds to a prefix.
pub(super) fn root_binds(text: &str, prefix: &str, namespace: &str) -> Result<bool, TemplateFault> {
    let all = tokens(text)?;
    let root = first_start(&all).ok_or(TemplateFault::Broken)?;
    Ok(attribute(text, root, &format!("xmlns:{prefix}")).is_some_and(|bound| bound == namespace))
}

fn is_markup(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".xml") || name.ends_with(".rels")
}

/// Parts that office programs run.
fn is_program(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // Macros, macro sheets of Excel 4 and ActiveX controls.
    name.contains("vbaproject")
        || name.contains("vbadata")
        || name.contains("/macrosheets/")
        || name.contains("/activex/")
}

fn unpacked_entry(entry: &mut impl Read, packed: u64, all: &mut u64) -> Result<Vec<u8>, TemplateFault> {
    // What the archive says about a size is not believed: it is read in steps, and each is counted.
    let (mut content, mut step) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        count_steps(step.len() / 64);
        let read = entry.read(&mut step).map_err(|_| TemplateFault::Broken)?;
        if read == 0 {
            return Ok(content);
        }
        content.extend_from_slice(&step[..read]);
        *all += read as u64;
        let size = content.len() as u64;
        let is_suspect = size > SUSPECT_BYTES && size / packed.max(1) > MOST_RATIO;
        if is_suspect || size > MOST_PART || *all > MOST_UNPACKED {
            return Err(TemplateFault::Unpacked);
        }
    }
}

fn fault(error: &ZipError) -> TemplateFault {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => TemplateFault::Locked,
        _ => TemplateFault::Broken,
    }
}
