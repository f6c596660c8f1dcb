//! The archive around the parts of a document: their types, what refers to what, and nothing that depends on when it was made.

use std::{
    borrow::Cow,
    cell::Cell,
    collections::BTreeMap,
    io::{self, Cursor, Seek, SeekFrom, Write},
    rc::Rc,
};

use lapidary_note::{HeldMemory, count_steps};
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

use crate::{
    body::{BodyPicture, DocumentFacts},
    xml::{DECLARATION, escaped},
};

/// Why a document cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFault {
    /// The file would have more bytes than it may.
    TooLarge,
    /// Before it is packed, its XML would have more bytes than programs read.
    TooLong {
        most: usize,
    },
    /// It would have more slides or sheets than programs open.
    TooMany {
        most: usize,
    },
    /// A table would have more rows or columns than programs show.
    TooManyRows {
        most: usize,
    },
    TooManyColumns {
        most: usize,
    },
    /// It refers to a part that it does not have.
    Incomplete,
}

/// A document that was made, and what of its source is not in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WrittenDocument {
    pub bytes: Vec<u8>,
    pub slides: usize,
    /// Pictures in places that cannot show one.
    pub pictures_left_out: usize,
    /// Cells whose text is longer than a spreadsheet takes.
    pub texts_cut: usize,
}

/// Of all XML of a document, before it is packed. Readers refuse a larger part, this server among them.
pub(crate) const LONGEST_XML: usize = 64 << 20;

/// Whether writing may stop, because this much is refused anyway.
pub(crate) fn is_too_long(xml: &str) -> bool {
    xml.len() > LONGEST_XML
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
pub(crate) const OFFICE_RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// What a part refers to.
#[derive(Default)]
pub(crate) struct Relations {
    entries: Vec<String>,
    /// Those that already exist.
    taken: usize,
    known: BTreeMap<(String, String), String>,
}

impl Relations {
    /// The id of a part, by the last word of its type.
    pub(crate) fn part(&mut self, kind: &str, target: &str) -> String {
        self.add(&format!("{OFFICE_RELATION}/{kind}"), target, false)
    }

    /// The id of an address outside.
    pub(crate) fn address(&mut self, address: &str) -> String {
        self.add(&format!("{OFFICE_RELATION}/hyperlink"), address, true)
    }

    fn add(&mut self, kind: &str, target: &str, is_outside: bool) -> String {
        count_steps(target.len());
        let key = (kind.to_owned(), target.to_owned());
        // One entry for each address, however many runs lead to it.
        if let Some(id) = self.known.get(&key) {
            return id.clone();
        }
        let id = format!("rId{}", self.taken + self.entries.len() + 1);
        // Without the mode, a program looks for a part of that name in the archive.
        let mode = if is_outside { " TargetMode=\"External\"" } else { "" };
        self.entries.push(format!("<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{}\"{mode}/>", escaped(target)));
        self.known.insert(key, id.clone());
        id
    }

    /// Begins behind the highest number that another list of relations uses.
    pub(crate) fn after(taken: usize) -> Self {
        Self { taken, ..Self::default() }
    }

    /// The entries alone, to be put into a list that is there.
    pub(crate) fn entries(&self) -> String {
        self.entries.concat()
    }

    pub(crate) fn xml(&self) -> String {
        format!("{DECLARATION}<Relationships xmlns=\"{RELATIONS}\">{}</Relationships>", self.entries())
    }
}

/// A document that is being made.
pub(crate) struct Package<'d> {
    parts: Vec<(String, Cow<'d, [u8]>)>,
    defaults: BTreeMap<&'static str, &'static str>,
    overrides: Vec<(String, &'static str)>,
    xml_bytes: usize,
    picture_bytes: usize,
    most: usize,
    held: HeldMemory,
}

impl<'d> Package<'d> {
    /// At most this many bytes in the end.
    pub(crate) fn new(most: usize) -> Self {
        let defaults = BTreeMap::from([
            // Relations get their type by this ending alone.
            ("rels", "application/vnd.openxmlformats-package.relationships+xml"),
            ("xml", "application/xml"),
        ]);
        Self {
            parts: Vec::new(),
            defaults,
            overrides: Vec::new(),
            xml_bytes: 0,
            picture_bytes: 0,
            most,
            held: HeldMemory::default(),
        }
    }

    /// A part of XML with its type.
    pub(crate) fn part(&mut self, name: &str, media_type: &'static str, xml: String) -> Result<(), WriteFault> {
        self.overrides.push((name.to_owned(), media_type));
        self.xml(name.to_owned(), xml)
    }

    pub(crate) fn relations(&mut self, of: &str, relations: &Relations) -> Result<(), WriteFault> {
        self.xml(relations_of(of), relations.xml())
    }

    pub(crate) fn picture(&mut self, name: &str, picture: &'d BodyPicture) -> Result<(), WriteFault> {
        // By its ending: pictures need no entry of their own in the list of types.
        self.defaults.insert(picture.format.ending(), picture.format.media_type());
        // Pictures are not packed, so they alone may already be too much.
        self.picture_bytes = self.picture_bytes.saturating_add(picture.bytes.len());
        if self.picture_bytes > self.most {
            return Err(WriteFault::TooLarge);
        }
        self.parts.push((name.to_owned(), Cow::Borrowed(&picture.bytes)));
        Ok(())
    }

    fn xml(&mut self, name: String, xml: String) -> Result<(), WriteFault> {
        // How well XML packs is known at the end; until then all of it is in memory.
        self.xml_bytes = self.xml_bytes.saturating_add(xml.len());
        if self.xml_bytes > LONGEST_XML {
            return Err(WriteFault::TooLong { most: LONGEST_XML });
        }
        self.held.grow_to(self.xml_bytes);
        self.parts.push((name, Cow::Owned(xml.into_bytes())));
        Ok(())
    }

    /// The archive, with what the document says of itself. `main` is the part that everything else hangs on.
    pub(crate) fn finish(mut self, main: &str, facts: &DocumentFacts) -> Result<Vec<u8>, WriteFault> {
        let core = "application/vnd.openxmlformats-package.core-properties+xml";
        let app = "application/vnd.openxmlformats-officedocument.extended-properties+xml";
        self.part("docProps/core.xml", core, core_properties(facts))?;
        self.part("docProps/app.xml", app, app_properties())?;
        // Nothing is found by its name alone: programs start at these relations.
        let mut relations = Relations::default();
        relations.part("officeDocument", main);
        let metadata = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties";
        relations.add(metadata, "docProps/core.xml", false);
        relations.part("extended-properties", "docProps/app.xml");
        self.relations("", &relations)?;
        let mut types =
            format!("{DECLARATION}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">");
        for (ending, media_type) in &self.defaults {
            types += &format!("<Default Extension=\"{ending}\" ContentType=\"{media_type}\"/>");
        }
        for (name, media_type) in &self.overrides {
            types += &format!("<Override PartName=\"/{name}\" ContentType=\"{media_type}\"/>");
        }
        types += "</Types>";
        // First, where programs look for it.
        self.parts.insert(0, ("[Content_Types].xml".to_owned(), Cow::Owned(types.into_bytes())));
        self.packed()
    }

    fn packed(self) -> Result<Vec<u8>, WriteFault> {
        let Self { parts, most, .. } = self;
        let is_full = Rc::new(Cell::new(false));
        let bytes = PackedBytes {
            bytes: Cursor::new(Vec::new()),
            most,
            is_full: Rc::clone(&is_full),
            held: HeldMemory::default(),
        };
        let mut writer = ZipWriter::new(bytes);
        for (name, bytes) in &parts {
            // Packing is most of the work, so it counts towards the limit of the call.
            count_steps(bytes.len() / 16);
            writer.start_file(name.as_str(), entry_options(name)).map_err(|_| WriteFault::TooLarge)?;
            writer.write_all(bytes).map_err(|_| WriteFault::TooLarge)?;
            if is_full.get() {
                return Err(WriteFault::TooLarge);
            }
        }
        let packed = writer.finish().map_err(|_| WriteFault::TooLarge)?.bytes.into_inner();
        if is_full.get() { Err(WriteFault::TooLarge) } else { Ok(packed) }
    }
}

/// The part that says what another refers to; of the whole document for an empty name.
pub(crate) fn relations_of(part: &str) -> String {
    let (folder, name) = part.rsplit_once('/').map_or(("", part), |(folder, name)| (folder, name));
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}_rels/{name}.rels")
}

/// A path in an archive, as seen from a part in it.
pub fn part_beside(part: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let mut names: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => part.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect()),
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            // Never above the root: these are names in an archive, and not paths of the disk.
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// How every entry is written: the time is that of the format's first day, so that equal documents are equal bytes.
pub(crate) fn entry_options(name: &str) -> SimpleFileOptions {
    // Pictures are packed already.
    let method = match name.rsplit('.').next() {
        Some("png" | "jpeg" | "jpg" | "gif") => CompressionMethod::Stored,
        _ => CompressionMethod::Deflated,
    };
    SimpleFileOptions::default()
        .compression_method(method)
        // Without these two, the clock and the system that writes would be in the bytes.
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
}

/// The bytes of an archive, as far as there may be so much of it.
struct PackedBytes {
    bytes: Cursor<Vec<u8>>,
    most: usize,
    is_full: Rc<Cell<bool>>,
    held: HeldMemory,
}

impl Write for PackedBytes {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // Not an error: the writer of the archive prints those that it meets when it is dropped.
        if self.is_full.get() || self.bytes.get_ref().len().saturating_add(piece.len()) > self.most {
            self.is_full.set(true);
            return Ok(piece.len());
        }
        let written = self.bytes.write(piece)?;
        self.held.grow_to(self.bytes.get_ref().len());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for PackedBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

fn core_properties(facts: &DocumentFacts) -> String {
    let DocumentFacts { title, author, keywords, description, created, modified } = facts;
    let mut xml = format!(
        "{DECLARATION}<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\" \
         xmlns:dcmitype=\"http://purl.org/dc/dcmitype/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
    );
    for (name, value) in [("dc:title", title.as_str()), ("dc:creator", author), ("dc:description", description)] {
        if !value.is_empty() {
            xml += &format!("<{name}>{}</{name}>", escaped(value));
        }
    }
    if !keywords.is_empty() {
        xml += &format!("<cp:keywords>{}</cp:keywords>", escaped(&keywords.join(", ")));
    }
    for (name, moment) in [("created", created), ("modified", modified)] {
        if let Some(moment) = moment {
            xml += &format!("<dcterms:{name} xsi:type=\"dcterms:W3CDTF\">{}</dcterms:{name}>", escaped(moment));
        }
    }
    xml + "</cp:coreProperties>"
}

fn app_properties() -> String {
    format!(
        "{DECLARATION}<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/extended-properties\">\
         <Application>Lapidary</Application></Properties>"
    )
}
