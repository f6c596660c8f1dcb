//! The blocks of a document as paragraphs and tables.

use std::collections::BTreeMap;

use lapidary_note::{HeldMemory, count_steps};

use crate::{
    body::{
        BlockContent, BodyBlock, BodyPicture, BodyTable, ColumnSide, DocumentBody, InlineRun, ListPlace, RunContent,
        RunStyle, plain_text,
    },
    package::{Relations, is_too_long},
    xml::{DECLARATION, escaped},
};

use super::styles::{CODE_RUN, StyleIds};

pub(crate) const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const WORD: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// The width of the text, in twentieths of a point and in the units of drawings.
const TEXT_WIDTH: usize = 9_072;
const WIDEST_PICTURE: u64 = 9_072 * 635;
const HIGHEST_PICTURE: u64 = 12_500 * 635;
/// Units of drawings in a pixel, at 96 pixels to the inch.
const PIXEL: u64 = 9_525;
/// How far a quote and a level of a list are indented.
const QUOTE_STEP: usize = 284;
const LIST_STEP: usize = 360;

/// The first ids that are free in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstIds {
    pub(crate) numbering: usize,
    pub(crate) number: usize,
    pub(crate) drawing: usize,
    pub(crate) picture: usize,
}

impl Default for FirstIds {
    fn default() -> Self {
        Self { numbering: 0, number: 1, drawing: 1, picture: 1 }
    }
}

pub(crate) struct BodyWriter<'d> {
    body: &'d DocumentBody,
    styles: StyleIds,
    pub(crate) relations: Relations,
    first: FirstIds,
    /// The number of each numbered list; all others share the bullets.
    numbers: BTreeMap<usize, usize>,
    has_bullets: bool,
    drawings: usize,
    /// Whether the block is the last of its callout.
    ends_box: bool,
    /// Footnotes as a part of their own; else their words stand at the end.
    has_footnote_part: bool,
}

impl<'d> BodyWriter<'d> {
    pub(crate) fn new(body: &'d DocumentBody, styles: StyleIds, relations: Relations, first: FirstIds) -> Self {
        let has_footnote_part = true;
        let numbers = BTreeMap::new();
        Self {
            body,
            styles,
            relations,
            first,
            numbers,
            has_bullets: false,
            drawings: 0,
            ends_box: false,
            has_footnote_part,
        }
    }

    /// For a document whose footnotes are another's.
    pub(crate) fn with_notes_at_end(self) -> Self {
        Self { has_footnote_part: false, ..self }
    }

    /// All blocks, or as many as are too long in any case. `plain` are the properties of a paragraph that is nothing special.
    pub(crate) fn blocks(&mut self, plain: &str) -> String {
        let body = self.body;
        let (mut xml, mut held) = (String::new(), HeldMemory::default());
        for (number, block) in body.blocks.iter().enumerate() {
            if is_too_long(&xml) {
                return xml;
            }
            count_steps(64);
            held.grow_to(xml.capacity());
            let next = body.blocks.get(number + 1);
            // Two callouts of one type that follow each other are two boxes.
            let is_other = |next: &BodyBlock| {
                next.callout != block.callout || matches!(next.content, BlockContent::CalloutTitle(_))
            };
            self.ends_box = next.is_none_or(is_other);
            self.block(&mut xml, block, plain);
        }
        // A template may have footnotes, whose part and ids are not ours to change.
        if !self.has_footnote_part {
            for (number, runs) in (1..).zip(&body.footnotes) {
                let mark = InlineRun {
                    content: RunContent::Text(number.to_string()),
                    style: RunStyle { raised: true, ..RunStyle::default() },
                    link: None,
                };
                let properties = style(self.styles.footnote.as_deref());
                let runs: Vec<InlineRun> =
                    [mark, InlineRun::text(" ")].into_iter().chain(runs.iter().cloned()).collect();
                self.paragraph(&mut xml, &properties, &runs);
            }
        }
        xml
    }

    fn block(&mut self, xml: &mut String, block: &BodyBlock, plain: &str) {
        let depth = usize::from(block.quote);
        match &block.content {
            BlockContent::Heading(level, runs) => {
                let id = self.styles.headings[usize::from(level.clamp(&1, &6) - 1)].clone();
                match id {
                    Some(id) => {
                        let properties = format!("{}{}", style(Some(&id)), self.around(block, depth * QUOTE_STEP, 0));
                        self.paragraph(xml, &properties, runs);
                    }
                    // A template without headings: larger and bold is what they look like anywhere.
                    None => {
                        let size = [32, 28, 26, 24, 22, 22][usize::from(level.clamp(&1, &6) - 1)];
                        // The level of the outline, so that the heading is in a table of contents all the same.
                        let outline = format!("<w:keepNext/><w:outlineLvl w:val=\"{}\"/>", level.clamp(&1, &6) - 1);
                        let bold = format!("<w:b/><w:sz w:val=\"{size}\"/><w:szCs w:val=\"{size}\"/>");
                        let inner = self.runs(runs, &bold);
                        xml.push_str(&format!("<w:p><w:pPr>{outline}</w:pPr>{inner}</w:p>"));
                    }
                }
            }
            BlockContent::Paragraph(runs) if block.list.is_some() || depth > 0 => self.placed(xml, block, runs, ""),
            BlockContent::Paragraph(runs) => self.paragraph(xml, plain, runs),
            BlockContent::CalloutTitle(runs) => {
                let (color, _) = callout_colors(block.callout.as_deref().unwrap_or_default());
                self.placed(xml, block, runs, &format!("<w:b/><w:color w:val=\"{color}\"/>"));
            }
            BlockContent::Code(code) => {
                let indent = self.indent(block);
                let properties = match self.styles.code.clone() {
                    Some(id) => format!("{}<w:ind w:left=\"{indent}\"/>", style(Some(&id))),
                    None => format!(
                        "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F3F4F6\"/><w:ind w:left=\"{indent}\"/>"
                    ),
                };
                // A style has its font; formatting of the run would win over the one of the template.
                let run = if self.styles.code.is_some() { "" } else { CODE_RUN };
                xml.push_str(&format!("<w:p><w:pPr>{properties}</w:pPr><w:r>"));
                if !run.is_empty() {
                    xml.push_str(&format!("<w:rPr>{run}</w:rPr>"));
                }
                push_text(xml, code);
                xml.push_str("</w:r></w:p>");
            }
            BlockContent::Formula(text) => {
                let properties = format!("<w:ind w:left=\"{}\"/><w:jc w:val=\"center\"/>", self.indent(block));
                let inner = self.runs(&[InlineRun::text(text.as_str())], "<w:i/>");
                xml.push_str(&format!("<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"));
            }
            BlockContent::Table(table) => self.table(xml, table),
            BlockContent::Rule => xml.push_str(
                "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"A6A6A6\"/></w:pBdr></w:pPr></w:p>",
            ),
        }
    }

    fn indent(&self, block: &BodyBlock) -> usize {
        let levels = block.list.map_or(0, |place| usize::from(place.level) + 1);
        usize::from(block.quote) * QUOTE_STEP + levels * LIST_STEP
    }

    /// A paragraph in a list or a quote.
    fn placed(&mut self, xml: &mut String, block: &BodyBlock, runs: &[InlineRun], run: &str) {
        let indent = self.indent(block);
        // A callout has no style: its colours depend on its type.
        let id = match (&block.list, &block.callout) {
            (Some(_), _) => self.styles.list.clone(),
            (None, None) => self.styles.quote.clone(),
            (None, Some(_)) => None,
        };
        let mut properties = style(id.as_deref());
        let mut hanging = 0;
        let mut mark = "";
        match block.list {
            // The box takes the place of the bullet, since Word has no lists of boxes.
            Some(ListPlace { opens: true, task: Some(is_done), .. }) => {
                (hanging, mark) = (LIST_STEP, if is_done { "\u{2611}" } else { "\u{2610}" });
            }
            Some(place @ ListPlace { opens: true, .. }) => {
                hanging = LIST_STEP;
                let number = self.number_of(&place);
                properties += &format!(
                    "<w:numPr><w:ilvl w:val=\"{}\"/><w:numId w:val=\"{number}\"/></w:numPr>",
                    place.level.min(8)
                );
            }
            _ => {}
        }
        properties += &self.around(block, indent, hanging);
        let inner = self.runs(runs, run);
        xml.push_str(&format!("<w:p><w:pPr>{properties}</w:pPr>"));
        if !mark.is_empty() {
            // A tab goes to the indent, as behind a bullet.
            xml.push_str(&format!(
                "<w:r><w:rPr><w:rFonts w:ascii=\"Segoe UI Symbol\" w:hAnsi=\"Segoe UI Symbol\" w:eastAsia=\"Segoe UI Symbol\"/>\
                 </w:rPr><w:t>{mark}</w:t></w:r><w:r><w:tab/></w:r>"
            ));
        }
        xml.push_str(&inner);
        xml.push_str("</w:p>");
    }

    /// The line beside a quote, the colours of a callout, and the indent.
    fn around(&self, block: &BodyBlock, indent: usize, hanging: usize) -> String {
        let mut properties = String::new();
        let (color, fill) = match &block.callout {
            Some(kind) => callout_colors(kind),
            None => ("BFBFBF", ""),
        };
        if block.quote > 0 {
            properties +=
                &format!("<w:pBdr><w:left w:val=\"single\" w:sz=\"18\" w:space=\"8\" w:color=\"{color}\"/></w:pBdr>");
        }
        if block.quote > 0 && !fill.is_empty() {
            properties += &format!("<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"{fill}\"/>");
            // Without gaps, so that its paragraphs are one box.
            let after = if self.ends_box { 160 } else { 0 };
            properties += &format!("<w:spacing w:before=\"0\" w:after=\"{after}\"/>");
        }
        if indent > 0 {
            properties += &format!("<w:ind w:left=\"{indent}\" w:hanging=\"{hanging}\"/>");
        }
        properties
    }

    fn number_of(&mut self, place: &ListPlace) -> usize {
        // Bullets are the first number, and every numbered list has its own, so that it begins where it says.
        match self.body.lists.get(place.list).copied().flatten() {
            None => {
                self.has_bullets = true;
                self.first.number
            }
            Some(_) => {
                let next = self.first.number + 1 + self.numbers.len();
                *self.numbers.entry(place.list).or_insert(next)
            }
        }
    }

    fn paragraph(&mut self, xml: &mut String, properties: &str, runs: &[InlineRun]) {
        let inner = self.runs(runs, "");
        xml.push_str("<w:p>");
        if !properties.is_empty() {
            xml.push_str(&format!("<w:pPr>{properties}</w:pPr>"));
        }
        xml.push_str(&inner);
        xml.push_str("</w:p>");
    }

    fn runs(&mut self, runs: &[InlineRun], base: &str) -> String {
        let mut xml = String::new();
        let mut at = 0;
        while at < runs.len() {
            let link = &runs[at].link;
            // All runs of one link are one link.
            let end = at + runs[at..].iter().take_while(|run| run.link == *link).count();
            count_steps(end - at);
            let address = link.and_then(|link| self.body.links.get(link));
            let id = address.map(|address| self.relations.address(address));
            if let Some(id) = &id {
                xml.push_str(&format!("<w:hyperlink r:id=\"{id}\">"));
            }
            for run in &runs[at..end] {
                self.run(&mut xml, run, base);
            }
            if id.is_some() {
                xml.push_str("</w:hyperlink>");
            }
            at = end;
        }
        xml
    }

    fn run(&mut self, xml: &mut String, run: &InlineRun, base: &str) {
        match &run.content {
            RunContent::Text(text) => {
                let properties = self.run_properties(run, base);
                xml.push_str("<w:r>");
                xml.push_str(&properties);
                push_text(xml, text);
                xml.push_str("</w:r>");
            }
            RunContent::Break => xml.push_str("<w:r><w:br/></w:r>"),
            RunContent::Picture(number) => {
                if let Some(picture) = self.body.pictures.get(*number) {
                    self.picture(xml, *number, picture);
                }
            }
            // Ids start at 1: the separators have those before.
            RunContent::Footnote(number) if self.has_footnote_part => {
                let mark = match &self.styles.footnote_mark {
                    Some(id) => format!("<w:rStyle w:val=\"{}\"/>", escaped(id)),
                    None => "<w:vertAlign w:val=\"superscript\"/>".to_owned(),
                };
                xml.push_str(&format!(
                    "<w:r><w:rPr>{mark}</w:rPr><w:footnoteReference w:id=\"{}\"/></w:r>",
                    number + 1
                ));
            }
            RunContent::Footnote(number) => xml.push_str(&format!(
                "<w:r><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr><w:t>{}</w:t></w:r>",
                number + 1
            )),
        }
    }

    /// In the order that the schema wants.
    fn run_properties(&self, run: &InlineRun, base: &str) -> String {
        let RunStyle { bold, italic, strike, underline, highlight, code, raised, lowered } = run.style;
        let mut properties = String::new();
        match (&self.styles.code_run, &self.styles.link) {
            // A run has one style; of code in a link, that of code counts.
            (Some(id), _) if code => properties += &format!("<w:rStyle w:val=\"{}\"/>", escaped(id)),
            (_, Some(id)) if run.link.is_some() => properties += &format!("<w:rStyle w:val=\"{}\"/>", escaped(id)),
            _ => {}
        }
        if code && self.styles.code_run.is_none() {
            properties += "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/>";
        }
        // An element that occurs twice makes the document invalid.
        if bold && !base.contains("<w:b/>") {
            properties += "<w:b/>";
        }
        // What every run of the paragraph has begins with weight and slant.
        let (weight, rest) = base.strip_prefix("<w:b/>").map_or(("", base), |rest| ("<w:b/>", rest));
        let (slant, rest) = rest.strip_prefix("<w:i/>").map_or(("", rest), |rest| ("<w:i/>", rest));
        properties += weight;
        properties += if italic || !slant.is_empty() { "<w:i/>" } else { "" };
        if strike {
            properties += "<w:strike/>";
        }
        properties += rest;
        if run.link.is_some() && self.styles.link.is_none() && rest.is_empty() {
            properties += "<w:color w:val=\"0563C1\"/>";
        }
        if highlight {
            properties += "<w:highlight w:val=\"yellow\"/>";
        }
        if underline || (run.link.is_some() && self.styles.link.is_none()) {
            properties += "<w:u w:val=\"single\"/>";
        }
        if raised || lowered {
            let side = if raised { "superscript" } else { "subscript" };
            properties += &format!("<w:vertAlign w:val=\"{side}\"/>");
        }
        if properties.is_empty() { properties } else { format!("<w:rPr>{properties}</w:rPr>") }
    }

    fn picture(&mut self, xml: &mut String, number: usize, picture: &BodyPicture) {
        let name = picture_name(self.first.picture + number, picture);
        let id = self.relations.part("image", &format!("media/{name}"));
        let (width, height) = drawn_size(picture, WIDEST_PICTURE, HIGHEST_PICTURE);
        let drawing = self.first.drawing + self.drawings;
        self.drawings += 1;
        let alt = escaped(&picture.alt);
        xml.push_str(&format!(
            "<w:r><w:drawing><wp:inline xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
             distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\"><wp:extent cx=\"{width}\" cy=\"{height}\"/>\
             <wp:docPr id=\"{drawing}\" name=\"Picture {drawing}\" descr=\"{alt}\"/>\
             <a:graphic xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">\
             <a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/picture\">\
             <pic:pic xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:nvPicPr>\
             <pic:cNvPr id=\"{drawing}\" name=\"{name}\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>\
             <a:blip r:embed=\"{id}\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"/>\
             <a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr>\
             <a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></a:xfrm>\
             <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline>\
             </w:drawing></w:r>"
        ));
    }

    fn table(&mut self, xml: &mut String, table: &BodyTable) {
        let columns = table.width();
        // A table without columns makes the document invalid.
        if columns == 0 {
            return;
        }
        let widths = column_widths(table, columns);
        let style = match self.styles.table.clone() {
            Some(id) => format!("<w:tblStyle w:val=\"{}\"/>", escaped(&id)),
            None => String::new(),
        };
        let borders = match style.is_empty() {
            true => {
                "<w:tblBorders><w:top w:val=\"single\" w:sz=\"4\"/><w:left w:val=\"single\" w:sz=\"4\"/><w:bottom w:val=\"single\" w:sz=\"4\"/><w:right w:val=\"single\" w:sz=\"4\"/><w:insideH w:val=\"single\" w:sz=\"4\"/><w:insideV w:val=\"single\" w:sz=\"4\"/></w:tblBorders>"
            }
            false => "",
        };
        xml.push_str(&format!(
            "<w:tbl><w:tblPr>{style}<w:tblW w:w=\"5000\" w:type=\"pct\"/>{borders}<w:tblLook w:val=\"0420\" w:firstRow=\"1\"/>\
             </w:tblPr><w:tblGrid>"
        ));
        widths.iter().for_each(|width| xml.push_str(&format!("<w:gridCol w:w=\"{width}\"/>")));
        xml.push_str("</w:tblGrid>");
        let mut held = HeldMemory::default();
        for (number, row) in table.rows.iter().enumerate() {
            // Short rows are filled up, so there may be far more cells than the note has.
            if is_too_long(xml) {
                return;
            }
            count_steps(16 * columns);
            held.grow_to(xml.capacity());
            let is_head = number == 0;
            xml.push_str("<w:tr>");
            // Repeated on every page.
            xml.push_str(if is_head {
                "<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>"
            } else {
                "<w:trPr><w:cantSplit/></w:trPr>"
            });
            for (column, width) in widths.iter().enumerate() {
                let fill = if is_head { "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"EEF1F6\"/>" } else { "" };
                let side = match table.sides.get(column).copied().unwrap_or_default() {
                    ColumnSide::Left => "",
                    ColumnSide::Center => "<w:jc w:val=\"center\"/>",
                    ColumnSide::Right => "<w:jc w:val=\"right\"/>",
                };
                let spacing = "<w:spacing w:before=\"40\" w:after=\"40\" w:line=\"240\" w:lineRule=\"auto\"/>";
                let inner =
                    row.get(column).map_or(String::new(), |runs| self.runs(runs, if is_head { "<w:b/>" } else { "" }));
                xml.push_str(&format!(
                    "<w:tc><w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/>{fill}</w:tcPr><w:p><w:pPr>{spacing}{side}</w:pPr>{inner}</w:p></w:tc>"
                ));
            }
            xml.push_str("</w:tr>");
        }
        // Two tables without a paragraph between them would become one, and a table must not be the last block.
        xml.push_str("</w:tbl><w:p><w:pPr><w:spacing w:before=\"0\" w:after=\"120\" w:line=\"120\" w:lineRule=\"exact\"/></w:pPr></w:p>");
    }

    /// What lists look like, if there are any.
    pub(crate) fn numbering(&self) -> Option<String> {
        let (kinds, numbers) = self.numbering_parts()?;
        Some(format!("{DECLARATION}<w:numbering {WORD}>{kinds}{numbers}</w:numbering>"))
    }

    /// The two kinds of lists, and the lists: in a part, all kinds stand before all lists.
    pub(crate) fn numbering_parts(&self) -> Option<(String, String)> {
        if !self.has_bullets && self.numbers.is_empty() {
            return None;
        }
        let (bullets, numbered) = (self.first.numbering, self.first.numbering + 1);
        let kinds = format!("{}{}", list_kind(bullets, false), list_kind(numbered, true));
        let mut lists =
            format!("<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"{bullets}\"/></w:num>", self.first.number);
        // By their numbers, which were given in the order of use.
        let mut in_order: Vec<(usize, usize)> = self.numbers.iter().map(|(list, number)| (*number, *list)).collect();
        in_order.sort_unstable();
        for (number, list) in in_order {
            // Word counts in 16 bits.
            let start = self.body.lists.get(list).copied().flatten().unwrap_or(1).min(32_767);
            let levels: String = (0..9)
                .map(|level| {
                    format!("<w:lvlOverride w:ilvl=\"{level}\"><w:startOverride w:val=\"{start}\"/></w:lvlOverride>")
                })
                .collect();
            lists += &format!("<w:num w:numId=\"{number}\"><w:abstractNumId w:val=\"{numbered}\"/>{levels}</w:num>");
        }
        Some((kinds, lists))
    }

    /// The part with the footnotes, and what it refers to.
    pub(super) fn footnotes(&mut self) -> (String, Relations) {
        let body = self.body;
        // Every part has its own relations, and footnotes may have links.
        let own = std::mem::take(&mut self.relations);
        let mut xml = format!(
            "{DECLARATION}<w:footnotes {NAMESPACES}><w:footnote w:type=\"separator\" w:id=\"-1\"><w:p><w:r><w:separator/></w:r></w:p>\
             </w:footnote><w:footnote w:type=\"continuationSeparator\" w:id=\"0\"><w:p><w:r><w:continuationSeparator/></w:r></w:p>\
             </w:footnote>"
        );
        for (number, runs) in (1..).zip(&body.footnotes) {
            count_steps(64);
            // A footnote has no footnotes, and no pictures in the programs that show it.
            let plain: Vec<InlineRun> = runs
                .iter()
                .filter(|run| matches!(run.content, RunContent::Text(_) | RunContent::Break))
                .cloned()
                .collect();
            let inner = self.runs(&plain, "");
            xml += &format!(
                "<w:footnote w:id=\"{number}\"><w:p><w:pPr>{}</w:pPr><w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr>\
                 <w:footnoteRef/></w:r><w:r><w:t xml:space=\"preserve\"> </w:t></w:r>{inner}</w:p></w:footnote>",
                style(self.styles.footnote.as_deref())
            );
        }
        (xml + "</w:footnotes>", std::mem::replace(&mut self.relations, own))
    }
}

fn style(id: Option<&str>) -> String {
    id.map_or(String::new(), |id| format!("<w:pStyle w:val=\"{}\"/>", escaped(id)))
}

/// The text of a run; tabs and line ends are elements.
fn push_text(xml: &mut String, text: &str) {
    let mut is_first = true;
    for line in text.split('\n') {
        if is_too_long(xml) {
            return;
        }
        count_steps(line.len());
        if !is_first {
            xml.push_str("<w:br/>");
        }
        is_first = false;
        for (number, piece) in line.split('\t').enumerate() {
            if number > 0 {
                xml.push_str("<w:tab/>");
            }
            if !piece.is_empty() {
                xml.push_str(&format!("<w:t xml:space=\"preserve\">{}</w:t>", escaped(piece)));
            }
        }
    }
}

pub(super) fn picture_name(number: usize, picture: &BodyPicture) -> String {
    format!("image{number}.{}", picture.format.ending())
}

/// The size of a picture in a document: as in the note, and never larger than the page.
pub(crate) fn drawn_size(picture: &BodyPicture, widest: u64, highest: u64) -> (u64, u64) {
    let (width, height) = (u64::from(picture.width.max(1)) * PIXEL, u64::from(picture.height.max(1)) * PIXEL);
    // A note may want any size, and the product of two needs more than 64 bits.
    let share = |side: u64, part: u64, whole: u64| {
        u64::try_from(u128::from(side) * u128::from(part) / u128::from(whole)).unwrap_or(u64::MAX).max(1)
    };
    // Both by the same share.
    let (width, height) = if width > widest { (widest, share(height, widest, width)) } else { (width, height) };
    if height > highest { (share(width, highest, height), highest) } else { (width, height) }
}

/// The widths of the columns, by the words in them.
fn column_widths(table: &BodyTable, columns: usize) -> Vec<usize> {
    // At least some letters each, so that a column of short values is not crushed by a long one.
    let mut lengths = vec![4_usize; columns];
    for row in &table.rows {
        for (length, cell) in lengths.iter_mut().zip(row) {
            *length = (*length).max(plain_text(cell).chars().count().min(60));
        }
    }
    let all: usize = lengths.iter().sum();
    lengths.iter().map(|length| (TEXT_WIDTH * length / all).max(200)).collect()
}

/// One kind of list, with the bullets or numbers of its levels.
fn list_kind(id: usize, is_numbered: bool) -> String {
    let mut xml = format!("<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"hybridMultilevel\"/>");
    for level in 0..9 {
        let (format, text) = match (is_numbered, level % 3) {
            (true, 0) => ("decimal", format!("%{}.", level + 1)),
            (true, 1) => ("lowerLetter", format!("%{}.", level + 1)),
            (true, _) => ("lowerRoman", format!("%{}.", level + 1)),
            (false, 0) => ("bullet", "\u{2022}".to_owned()),
            (false, 1) => ("bullet", "\u{25e6}".to_owned()),
            (false, _) => ("bullet", "\u{25aa}".to_owned()),
        };
        let left = (level + 1) * LIST_STEP;
        xml += &format!(
            "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/>\
             <w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{left}\" w:hanging=\"{LIST_STEP}\"/></w:pPr></w:lvl>"
        );
    }
    xml + "</w:abstractNum>"
}

/// The line and the ground of a callout, as the app colours its types.
fn callout_colors(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "abstract" | "summary" | "tldr" | "tip" | "hint" | "important" => ("0E8A87", "E6F6F6"),
        "success" | "check" | "done" => ("1E8E3E", "E8F5EC"),
        "question" | "help" | "faq" | "warning" | "caution" | "attention" => ("C25E00", "FDF1E5"),
        "failure" | "fail" | "missing" | "danger" | "error" | "bug" => ("C5221F", "FCE9EA"),
        "example" => ("6741D9", "F0ECFB"),
        "quote" | "cite" => ("707070", "F3F3F3"),
        _ => ("0B5CAD", "E7F0FB"),
    }
}
