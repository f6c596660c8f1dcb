//! DOCX: paragraphs with the styles of Word, so that its outline, its table of contents and its themes work.

mod paragraphs;
mod styles;

use crate::{
    body::{DocumentBody, DocumentFacts},
    package::{Package, Relations, WriteFault, WrittenDocument},
    xml::DECLARATION,
};

pub(crate) use paragraphs::{BodyWriter, FirstIds, NAMESPACES, drawn_size};
pub(crate) use styles::StyleIds;

/// What a document is made of.
pub struct DocxParts<'d> {
    pub body: &'d DocumentBody,
    pub facts: &'d DocumentFacts,
    pub most_bytes: usize,
}

const MAIN: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
pub(crate) const NUMBERING: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml";
const STYLES: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml";
const SETTINGS: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml";
const FOOTNOTES: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml";

/// A4 with margins of 2.5 cm, in twentieths of a point.
const SECTION: &str = "<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/><w:pgMar w:top=\"1417\" w:right=\"1417\" w:bottom=\"1417\" \
                       w:left=\"1417\" w:header=\"709\" w:footer=\"709\" w:gutter=\"0\"/></w:sectPr>";

/// Word refuses a document with a wider table.
const MOST_COLUMNS: usize = 63;

pub fn write_docx(parts: &DocxParts<'_>) -> Result<WrittenDocument, WriteFault> {
    let DocxParts { body, facts, most_bytes } = parts;
    // Checked once, so that no writer below has to handle a missing picture.
    if !body.is_whole() {
        return Err(WriteFault::Incomplete);
    }
    // Every row is filled up to the width of the table.
    if body.tables().any(|table| table.width() > MOST_COLUMNS) {
        return Err(WriteFault::TooManyColumns { most: MOST_COLUMNS });
    }
    // First, because the blocks decide which lists and relations there are.
    let mut writer = BodyWriter::new(body, StyleIds::own(), Relations::default(), FirstIds::default());
    let blocks = writer.blocks("");
    let mut package = Package::new(*most_bytes);
    package.part("word/styles.xml", STYLES, styles::styles())?;
    writer.relations.part("styles", "styles.xml");
    package.part("word/settings.xml", SETTINGS, settings(!body.footnotes.is_empty()))?;
    writer.relations.part("settings", "settings.xml");
    if let Some(numbering) = writer.numbering() {
        package.part("word/numbering.xml", NUMBERING, numbering)?;
        writer.relations.part("numbering", "numbering.xml");
    }
    if !body.footnotes.is_empty() {
        let (footnotes, relations) = writer.footnotes();
        package.part("word/footnotes.xml", FOOTNOTES, footnotes)?;
        package.relations("word/footnotes.xml", &relations)?;
        writer.relations.part("footnotes", "footnotes.xml");
    }
    let drawn = body.pictures_in_blocks();
    for (number, picture) in (1..).zip(&body.pictures).filter(|(number, _)| drawn.contains(&(number - 1))) {
        package.picture(&format!("word/media/{}", paragraphs::picture_name(number, picture)), picture)?;
    }
    package.part(
        "word/document.xml",
        MAIN,
        format!("{DECLARATION}<w:document {NAMESPACES}><w:body>{blocks}{SECTION}</w:body></w:document>"),
    )?;
    package.relations("word/document.xml", &writer.relations)?;
    let bytes = package.finish("word/document.xml", facts)?;
    let pictures_left_out = body.pictures.len() - drawn.len();
    Ok(WrittenDocument { bytes, pictures_left_out, ..WrittenDocument::default() })
}

fn settings(has_footnotes: bool) -> String {
    let footnotes = match has_footnotes {
        // The two separators of the part with the footnotes, which Word looks for here.
        true => "<w:footnotePr><w:footnote w:id=\"-1\"/><w:footnote w:id=\"0\"/></w:footnotePr>",
        false => "",
    };
    // Without the version, Word opens it as a document of 2007.
    format!(
        "{DECLARATION}<w:settings {NAMESPACES}><w:zoom w:percent=\"100\"/><w:defaultTabStop w:val=\"708\"/>\
         <w:characterSpacingControl w:val=\"doNotCompress\"/>{footnotes}<w:compat><w:compatSetting w:name=\"compatibilityMode\" \
         w:uri=\"http://schemas.microsoft.com/office/word\" w:val=\"15\"/></w:compat></w:settings>"
    )
}
