//! DOCX and PPTX: XML in an archive.

use std::collections::HashMap;

use lapidary_office::part_beside;
use lapidary_vault::DecodeFault;

use super::{
    PartCollector,
    archive::PartArchive,
    markup::{Markup, walk},
};

/// The text of a document, with Markdown for headings, lists and tables. Pages end where the program that wrote it had
/// a page break.
pub(super) fn read_docx(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    let mut archive = PartArchive::open(bytes)?;
    let (title, author) = origin(&mut archive)?;
    parts.set_origin(title.as_deref(), author.as_deref());
    let main = main_part(&mut archive, "word/document.xml")?;
    let xml = archive.text(&main)?.ok_or(DecodeFault::Broken)?;
    // Damaged styles cost the headings of the document, not its text.
    let styles = archive.text(&part_beside(&main, "styles.xml")).unwrap_or_default();
    let headings = styles.and_then(|xml| heading_styles(&xml).ok()).unwrap_or_default();
    let mut writer = DocumentWriter { most: parts.room(), headings, ..DocumentWriter::default() };
    // Before the walk, which would find no text in a spreadsheet and call it an empty document.
    check_root(&xml, "document")?;
    walk(&xml, |markup| writer.take(markup))?;
    writer.end_paragraph();
    writer.end_page();
    // Footnotes are on the last page: which one they belong to is known only when pages are laid out.
    for (name, mark) in [("footnotes.xml", "footnote"), ("endnotes.xml", "endnote"), ("comments.xml", "comment")] {
        let Some(xml) = archive.text(&part_beside(&main, name))? else { continue };
        let mut notes = DocumentWriter { most: parts.room(), ..DocumentWriter::default() };
        walk(&xml, |markup| notes.take(markup))?;
        notes.end_paragraph();
        notes.end_page();
        let text = notes.pages.join("\n");
        if !text.trim().is_empty() {
            let last = writer.pages.last_mut();
            let text = format!("\n\n[{mark}s]\n{}", text.trim());
            match last {
                Some(last) => last.push_str(&text),
                None => writer.pages.push(text),
            }
        }
    }
    for (number, page) in (1..).zip(&writer.pages) {
        if parts.is_full() {
            break;
        }
        parts.add(number, None, page);
    }
    parts.set_total(writer.pages.len().max(1));
    Ok(())
}

/// The paragraph styles that are headings, with their level. Word in other languages translates the ids of styles, which paragraphs
/// refer to, and leaves their names in English.
fn heading_styles(xml: &str) -> Result<HashMap<String, usize>, DecodeFault> {
    let (mut headings, mut id) = (HashMap::new(), None);
    walk(xml, |markup| {
        match markup {
            Markup::Start(element) if element.name() == "style" => id = element.attribute("styleId"),
            Markup::Start(element) if element.name() == "name" => {
                let level = element.attribute("val").and_then(|name| heading_level(&name));
                headings.extend(id.take().zip(level));
            }
            _ => {}
        }
        true
    })?;
    Ok(headings)
}

/// The level of a style by its name, or by its id in an English Word.
fn heading_level(style: &str) -> Option<usize> {
    let style = style.to_ascii_lowercase();
    if style == "title" {
        return Some(1);
    }
    style.strip_prefix("heading")?.trim().parse().ok().filter(|level| (1..=6).contains(level))
}

#[derive(Default)]
struct DocumentWriter {
    /// The levels of headings, by the ids of styles.
    headings: HashMap<String, usize>,
    pages: Vec<String>,
    page: String,
    paragraph: String,
    /// Marks in front of the paragraph: a heading, a list.
    prefix: String,
    /// How many tables are open, and whether a cell of the row is already there.
    tables: usize,
    has_cell: bool,
    /// Inside of text, so that blanks between elements are not text.
    in_text: bool,
    /// Deleted text, moved text where it was, instructions and the second form of a picture are not shown.
    hidden: usize,
    most: usize,
    written: usize,
}

impl DocumentWriter {
    fn take(&mut self, markup: Markup<'_>) -> bool {
        match markup {
            Markup::Start(element) => match element.name() {
                "t" => self.in_text = true,
                "tab" if self.tables == 0 => self.paragraph.push('\t'),
                "noBreakHyphen" => self.paragraph.push('-'),
                "br" | "cr" => {
                    if element.attribute("type").as_deref() == Some("page") {
                        self.break_page();
                    } else {
                        self.paragraph.push(if self.tables == 0 { '\n' } else { ' ' });
                    }
                }
                "lastRenderedPageBreak" => self.break_page(),
                "pStyle" => {
                    let style = element.attribute("val").unwrap_or_default();
                    if let Some(level) = self.headings.get(&style).copied().or_else(|| heading_level(&style)) {
                        self.prefix = format!("{} ", "#".repeat(level));
                    }
                }
                "numPr" if self.prefix.is_empty() => "- ".clone_into(&mut self.prefix),
                "tbl" => {
                    self.end_paragraph();
                    self.tables += 1;
                }
                "tr" => self.has_cell = false,
                "tc" => {
                    // As in a Markdown table, on one line for each row.
                    if self.has_cell {
                        self.paragraph.push_str(" | ");
                    }
                    self.has_cell = true;
                }
                "del" | "moveFrom" | "instrText" | "Fallback" => self.hidden += 1,
                _ => {}
            },
            Markup::End(name) => match name {
                "t" => self.in_text = false,
                // Paragraphs of a cell stay on the line of its row.
                "p" if self.tables > 0 => self.paragraph.push(' '),
                "p" => self.end_paragraph(),
                "tr" => self.end_paragraph(),
                "tbl" => {
                    self.tables = self.tables.saturating_sub(1);
                    self.page.push('\n');
                }
                "del" | "moveFrom" | "instrText" | "Fallback" => self.hidden = self.hidden.saturating_sub(1),
                _ => {}
            },
            Markup::Text(text) if self.in_text && self.hidden == 0 => {
                self.written += text.len();
                self.paragraph.push_str(text);
            }
            Markup::Text(_) => {}
        }
        // One more than fits, to see that there is more.
        self.written <= self.most
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        let prefix = std::mem::take(&mut self.prefix);
        if self.tables > 0 {
            let cells = text.split_whitespace().collect::<Vec<_>>().join(" ");
            // A row of empty cells is layout.
            if cells.contains(|letter: char| letter != '|' && letter != ' ') {
                self.page.push_str(&format!("| {cells} |\n"));
            }
        } else if !text.trim().is_empty() {
            self.page.push_str(&format!("{prefix}{}\n\n", text.trim_end()));
        }
    }

    /// A break in the middle of a paragraph cuts it. Two marks for one break, as programs write them, are one.
    fn break_page(&mut self) {
        if self.tables > 0 {
            return;
        }
        // The rest of the paragraph is still the heading or list item that it began as.
        let prefix = self.prefix.clone();
        if !self.paragraph.trim().is_empty() {
            self.end_paragraph();
        }
        if !self.page.trim().is_empty() {
            self.end_page();
        }
        self.prefix = prefix;
    }

    fn end_page(&mut self) {
        let page = std::mem::take(&mut self.page);
        if !page.trim().is_empty() {
            self.pages.push(page);
        }
    }
}

/// The slides of a presentation, each with the notes of its speaker.
pub(super) fn read_pptx(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    let mut archive = PartArchive::open(bytes)?;
    let (title, author) = origin(&mut archive)?;
    parts.set_origin(title.as_deref(), author.as_deref());
    let main = main_part(&mut archive, "ppt/presentation.xml")?;
    let slides = slides(&mut archive, &main)?;
    parts.set_total(slides.len());
    for (number, slide) in (1..).zip(&slides) {
        if parts.is_full() {
            break;
        }
        let Some(xml) = archive.text(slide)? else { continue };
        let (mut text, heading) = drawn_text(&xml)?;
        // Not in the slide itself, but in a part beside it.
        let notes = related(&mut archive, slide)?.into_iter().find(|(_, (kind, _))| kind == "notesSlide");
        if let Some((_, (_, notes))) = notes
            && let Some(xml) = archive.text(&notes)?
        {
            let (said, _) = drawn_text(&xml)?;
            // A page of notes repeats the number of its slide.
            let said = said.trim();
            if !said.is_empty() && said.parse::<u32>().is_err() {
                text += &format!("\n\n[notes]\n{said}");
            }
        }
        parts.add(number, heading.as_deref(), &text);
    }
    Ok(())
}

/// The parts of the slides, in their order.
fn slides(archive: &mut PartArchive<'_>, main: &str) -> Result<Vec<String>, DecodeFault> {
    let related = related(archive, main)?;
    let xml = archive.text(main)?.ok_or(DecodeFault::Broken)?;
    check_root(&xml, "presentation")?;
    let mut slides = Vec::new();
    walk(&xml, |markup| {
        if let Markup::Start(element) = markup
            && element.name() == "sldId"
            && let Some((_, target)) = element.attribute_named("r:id").and_then(|id| related.get(&id))
        {
            slides.push(target.clone());
        }
        true
    })?;
    Ok(slides)
}

/// The text of a slide, a line for each paragraph, and its title.
fn drawn_text(xml: &str) -> Result<(String, Option<String>), DecodeFault> {
    let (mut text, mut line, mut heading) = (String::new(), String::new(), String::new());
    let (mut in_text, mut is_title, mut is_number) = (false, false, false);
    walk(xml, |markup| {
        match markup {
            Markup::Start(element) => match element.name() {
                "t" => in_text = true,
                "br" => line.push('\n'),
                "ph" => {
                    let kind = element.attribute("type").unwrap_or_default();
                    is_title = matches!(&*kind, "title" | "ctrTitle");
                    is_number = matches!(&*kind, "sldNum" | "dt" | "ftr");
                }
                _ => {}
            },
            Markup::End(name) => match name {
                "t" => in_text = false,
                "p" => {
                    let ended = std::mem::take(&mut line);
                    let ended = ended.trim();
                    // Number, date and footer are the same on every slide.
                    if !ended.is_empty() && !is_number {
                        if is_title {
                            heading = format!("{heading} {ended}");
                        }
                        text.push_str(ended);
                        text.push('\n');
                    }
                }
                "sp" => {
                    (is_title, is_number) = (false, false);
                    text.push('\n');
                }
                "tc" => text.push('\t'),
                _ => {}
            },
            Markup::Text(piece) if in_text => line.push_str(piece),
            Markup::Text(_) => {}
        }
        true
    })?;
    // At most one empty line in a row: shapes without text would leave many.
    let mut short = String::new();
    for line in text.lines().map(str::trim) {
        if !line.is_empty() || !(short.is_empty() || short.ends_with("\n\n")) {
            short.push_str(line);
            short.push('\n');
        }
    }
    let heading = heading.trim().to_owned();
    Ok((short, (!heading.is_empty()).then_some(heading)))
}

/// What a part refers to: by id, the kind and the part.
fn related(archive: &mut PartArchive<'_>, part: &str) -> Result<HashMap<String, (String, String)>, DecodeFault> {
    let (folder, name) = part.rsplit_once('/').map_or(("", part), |(folder, name)| (folder, name));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut found = HashMap::new();
    let Some(xml) = archive.text(&format!("{folder}_rels/{name}.rels"))? else { return Ok(found) };
    walk(&xml, |markup| {
        if let Markup::Start(element) = markup
            && element.name() == "Relationship"
            && element.attribute("TargetMode").as_deref() != Some("External")
        {
            let kind = element.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            if let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target")) {
                found.insert(id, (kind, part_beside(part, &target)));
            }
        }
        true
    })?;
    Ok(found)
}

/// All office documents look alike from outside, whatever their names say.
fn check_root(xml: &str, name: &str) -> Result<(), DecodeFault> {
    let mut is_it = false;
    walk(xml, |markup| {
        let Markup::Start(element) = markup else { return true };
        is_it = element.name() == name;
        false
    })?;
    if is_it { Ok(()) } else { Err(DecodeFault::Broken) }
}

/// The part with the document, as the archive says; some writers choose other names.
fn main_part(archive: &mut PartArchive<'_>, usual: &str) -> Result<String, DecodeFault> {
    let named = related(archive, "")?.into_values().find(|(kind, _)| kind == "officeDocument");
    Ok(named.map_or_else(|| usual.to_owned(), |(_, part)| part))
}

/// Title and author.
fn origin(archive: &mut PartArchive<'_>) -> Result<(Option<String>, Option<String>), DecodeFault> {
    let (mut title, mut author) = (String::new(), String::new());
    let Some(xml) = archive.text("docProps/core.xml")? else { return Ok((None, None)) };
    let mut inside = String::new();
    walk(&xml, |markup| {
        match markup {
            Markup::Start(element) => element.name().clone_into(&mut inside),
            // Text behind an element, such as a line end, does not belong to it.
            Markup::End(_) => inside.clear(),
            Markup::Text(text) if inside == "title" => title.push_str(text),
            Markup::Text(text) if inside == "creator" => author.push_str(text),
            Markup::Text(_) => {}
        }
        true
    })?;
    let given = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    Ok((given(title), given(author)))
}
