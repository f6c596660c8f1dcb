//! The styles of a document: those of Word by their names, so that a theme or another template can take their place.

use std::collections::HashMap;

use crate::xml::{DECLARATION, escaped};

use super::NAMESPACES;

/// The ids of the styles that are used. One that a template does not have is replaced by formatting of each paragraph.
#[derive(Clone, Debug, Default)]
pub(crate) struct StyleIds {
    pub(crate) headings: [Option<String>; 6],
    pub(crate) list: Option<String>,
    pub(crate) quote: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) code_run: Option<String>,
    pub(crate) link: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) footnote: Option<String>,
    pub(crate) footnote_mark: Option<String>,
}

impl StyleIds {
    /// Those of [`styles`].
    pub(super) fn own() -> Self {
        let id = |id: &str| Some(id.to_owned());
        Self {
            headings: [1, 2, 3, 4, 5, 6].map(|level| Some(format!("Heading{level}"))),
            list: id("ListParagraph"),
            quote: id("Quote"),
            code: id("SourceCode"),
            code_run: id("VerbatimChar"),
            link: id("Hyperlink"),
            table: id("TableGrid"),
            footnote: id("FootnoteText"),
            footnote_mark: id("FootnoteReference"),
        }
    }

    /// Those of another document, by the names that are the same in every language of Word.
    pub(crate) fn named(ids: &HashMap<String, String>) -> Self {
        let id = |names: &[&str]| names.iter().find_map(|name| ids.get(*name).cloned());
        Self {
            headings: [1, 2, 3, 4, 5, 6].map(|level| id(&[&format!("heading {level}")])),
            list: id(&["list paragraph"]),
            quote: id(&["quote", "block text"]),
            // The first is Pandoc's, the others are Word's.
            code: id(&["source code", "html preformatted", "plain text"]),
            code_run: id(&["verbatim char", "html code"]),
            link: id(&["hyperlink"]),
            table: id(&["table grid"]),
            footnote: id(&["footnote text"]),
            footnote_mark: id(&["footnote reference"]),
        }
    }
}

const BLUE: &str = "1F3864";

/// The part with the styles.
pub(super) fn styles() -> String {
    let mut xml = format!(
        "{DECLARATION}<w:styles {NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr>\
         <w:rFonts w:ascii=\"Calibri\" w:hAnsi=\"Calibri\" w:eastAsia=\"Calibri\" w:cs=\"Calibri\"/>\
         <w:sz w:val=\"22\"/><w:szCs w:val=\"22\"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr>\
         <w:spacing w:after=\"120\" w:line=\"264\" w:lineRule=\"auto\"/></w:pPr></w:pPrDefault></w:docDefaults>\
         <w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/><w:qFormat/></w:style>\
         <w:style w:type=\"character\" w:default=\"1\" w:styleId=\"DefaultParagraphFont\">\
         <w:name w:val=\"Default Paragraph Font\"/><w:uiPriority w:val=\"1\"/><w:semiHidden/></w:style>\
         <w:style w:type=\"table\" w:default=\"1\" w:styleId=\"TableNormal\"><w:name w:val=\"Normal Table\"/>\
         <w:uiPriority w:val=\"99\"/><w:semiHidden/><w:tblPr><w:tblInd w:w=\"0\" w:type=\"dxa\"/><w:tblCellMar>\
         <w:top w:w=\"0\" w:type=\"dxa\"/><w:left w:w=\"108\" w:type=\"dxa\"/><w:bottom w:w=\"0\" w:type=\"dxa\"/>\
         <w:right w:w=\"108\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr></w:style>"
    );
    for (level, size, before) in [(1, 36, 360), (2, 30, 280), (3, 26, 240), (4, 24, 200), (5, 22, 200), (6, 22, 200)] {
        // The last two levels have the size of the text, so that weight alone would not tell them apart.
        let slant = if level > 4 { "<w:i/>" } else { "" };
        xml += &format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"Heading{level}\"><w:name w:val=\"heading {level}\"/>\
             <w:basedOn w:val=\"Normal\"/><w:next w:val=\"Normal\"/><w:uiPriority w:val=\"9\"/><w:qFormat/><w:pPr>\
             <w:keepNext/><w:keepLines/><w:spacing w:before=\"{before}\" w:after=\"100\" w:line=\"240\" w:lineRule=\"auto\"/>\
             <w:outlineLvl w:val=\"{}\"/></w:pPr><w:rPr><w:b/>{slant}<w:color w:val=\"{BLUE}\"/><w:sz w:val=\"{size}\"/>\
             <w:szCs w:val=\"{size}\"/></w:rPr></w:style>",
            level - 1
        );
    }
    let paragraph = |id: &str, name: &str, paragraph: &str, run: &str| {
        format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"{id}\"><w:name w:val=\"{}\"/><w:basedOn w:val=\"Normal\"/><w:qFormat/>\
             <w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>",
            escaped(name)
        )
    };
    let character = |id: &str, name: &str, run: &str| {
        format!(
            "<w:style w:type=\"character\" w:styleId=\"{id}\"><w:name w:val=\"{}\"/>\
             <w:basedOn w:val=\"DefaultParagraphFont\"/><w:rPr>{run}</w:rPr></w:style>",
            escaped(name)
        )
    };
    xml += &paragraph("ListParagraph", "List Paragraph", "<w:spacing w:after=\"40\"/>", "");
    xml += &paragraph("Quote", "Quote", "<w:spacing w:after=\"80\"/>", "<w:color w:val=\"404040\"/>");
    xml += &paragraph(
        "SourceCode",
        "Source Code",
        "<w:keepLines/><w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F3F4F6\"/>\
         <w:spacing w:before=\"80\" w:after=\"160\" w:line=\"240\" w:lineRule=\"auto\"/>",
        CODE_RUN,
    );
    xml += &paragraph(
        "FootnoteText",
        "footnote text",
        "<w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/>",
        "<w:sz w:val=\"18\"/><w:szCs w:val=\"18\"/>",
    );
    xml += &character("VerbatimChar", "Verbatim Char", CODE_RUN);
    xml += &character("Hyperlink", "Hyperlink", "<w:color w:val=\"0563C1\"/><w:u w:val=\"single\"/>");
    xml += &character("FootnoteReference", "footnote reference", "<w:vertAlign w:val=\"superscript\"/>");
    let sides = ["top", "left", "bottom", "right", "insideH", "insideV"];
    let borders: String = sides
        .iter()
        .map(|side| format!("<w:{side} w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"BFBFBF\"/>"))
        .collect();
    xml += &format!(
        "<w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/><w:basedOn w:val=\"TableNormal\"/>\
         <w:uiPriority w:val=\"39\"/><w:pPr><w:spacing w:before=\"40\" w:after=\"40\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
         <w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr></w:style></w:styles>"
    );
    xml
}

/// A font that every system has, or replaces by one of the same width.
pub(super) const CODE_RUN: &str = "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/><w:sz w:val=\"19\"/><w:szCs w:val=\"19\"/>";
