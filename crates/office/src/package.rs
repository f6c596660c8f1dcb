//! The archive around the parts of a document: their types, what refers to what, and nothing that depends on when it was made.

use std::{
    collections::BTreeMap,
    io::{Cursor, Write},
};

use lapidary_note::count_steps;
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

use crate::{
    body::{BodyPicture, DocumentFacts},
    xml::{DECLARATION, escaped},
};

/// Why a document cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFault {
    /// It would have more bytes than it may.
    TooLarge,
    /// It would have more slides or sheets than programs open.
    TooMany,
    /// It refers to a part that it does not have.
    Incomplete,
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
pub(crate) struct Package {
    parts: Vec<(String, Vec<u8>)>,
    defaults: BTreeMap<&'static str, &'static str>,
    overrides: Vec<(String, &'static str)>,
    bytes: usize,
    most: usize,
}

impl Package {
    /// At most this many bytes before they are packed.
    pub(crate) fn new(most: usize) -> Self {
        let defaults = BTreeMap::from([
            // Relations get their type by this ending alone.
            ("rels", "application/vnd.openxmlformats-package.relationships+xml"),
            ("xml", "application/xml"),
        ]);
        Self { parts: Vec::new(), defaults, overrides: Vec::new(), bytes: 0, most }
    }

    /// A part of XML with its type.
    pub(crate) fn part(&mut self, name: &str, media_type: &'static str, xml: String) -> Result<(), WriteFault> {
        self.overrides.push((name.to_owned(), media_type));
        self.add(name, xml.into_bytes())
    }

    pub(crate) fn relations(&mut self, of: &str, relations: &Relations) -> Result<(), WriteFault> {
        self.add(&relations_of(of), relations.xml().into_bytes())
    }

    pub(crate) fn picture(&mut self, name: &str, picture: &BodyPicture) -> Result<(), WriteFault> {
        // By its ending: pictures need no entry of their own in the list of types.
        self.defaults.insert(picture.format.ending(), picture.format.media_type());
        self.add(name, picture.bytes.clone())
    }

    fn add(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), WriteFault> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        // XML packs well, and what it is made of was bounded before: this is for pictures.
        if self.bytes > self.most {
            return Err(WriteFault::TooLarge);
        }
        self.parts.push((name.to_owned(), bytes));
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
        self.parts.insert(0, ("[Content_Types].xml".to_owned(), types.into_bytes()));
        packed(&self.parts)
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

fn packed(parts: &[(String, Vec<u8>)]) -> Result<Vec<u8>, WriteFault> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        // Packing is most of the work, so it counts towards the limit of the call.
        count_steps(bytes.len() / 16);
        writer.start_file(name.as_str(), entry_options(name)).map_err(|_| WriteFault::TooLarge)?;
        writer.write_all(bytes).map_err(|_| WriteFault::TooLarge)?;
    }
    Ok(writer.finish().map_err(|_| WriteFault::TooLarge)?.into_inner())
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
