//! DOCX templates.

use std::collections::HashMap;

use crate::{
    body::plain_text,
    docx::{BodyWriter, FirstIds, NUMBERING, StyleIds},
    package::{Relations, part_beside, relations_of},
};

use super::{
    FilledDocument, KnownValues, TemplateFault,
    places::{FoundParagraph, PartForm, PlaceFiller},
    source::{TemplateSource, root_binds},
    xml_edit::{TokenKind, XmlToken, attribute, end_of, first_start, tokens, with_attribute},
};

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN: &str = "word/document.xml";

pub(super) fn fill(source: &mut TemplateSource<'_>, values: &KnownValues<'_>) -> Result<FilledDocument, TemplateFault> {
    let part = source.main_part(MAIN)?;
    let main = source.text(&part).ok_or(TemplateFault::Broken)?.to_owned();
    // What is inserted has these prefixes; every program that writes the format uses them.
    if !root_binds(&main, "w", WORD)? {
        return Err(TemplateFault::Broken);
    }
    let body = &values.filling.body;
    let relations = source.relations(&part);
    let numbers = source.related_of(&part, &["numbering"])?.into_iter().next();
    // Every id of the note has to be free in the template; one that occurs twice makes it invalid.
    let first = first_ids(source, &part, &main, numbers.as_deref())?;
    let styles = styles(source, &part)?;
    let mut writer =
        BodyWriter::new(body, styles, Relations::after(highest_id(&relations)?), first).with_notes_at_end();
    let mut filler = PlaceFiller::new(values);
    let mut was_shown = false;
    let filled = filler.fill(&main, PartForm::Word, None, &mut |filler, xml, all, paragraph| {
        if !paragraph.is_only("content") || !paragraph.has_prefix(xml, "w:") {
            return Ok(None);
        }
        filler.filled += 1;
        was_shown = true;
        Ok(Some(content(&mut writer, xml, all, paragraph)))
    })?;
    let added = writer.relations.entries();
    // A template without links or pictures may not declare the prefix of `r:id`.
    let filled = if added.is_empty() { filled } else { with_relation_prefix(&filled)? };
    // An untouched part is copied as it was packed.
    if filled != main {
        source.set(&part, filled)?;
    }
    if !added.is_empty() {
        let list = relations_of(&part);
        source.set(&list, relations)?;
        source.insert(&list, &added)?;
    }
    // Pictures without a place would be parts that nothing refers to.
    if was_shown {
        for (number, picture) in (first.picture..).zip(&body.pictures) {
            let ending = picture.format.ending();
            source.add_ending(ending, picture.format.media_type())?;
            let name = part_beside(&part, &format!("media/image{number}.{ending}"));
            source.set(&name, picture.bytes.clone())?;
        }
        add_numbering(source, &part, numbers, &writer)?;
    }
    // Only words: the note itself goes into the main part alone.
    for name in source.related_of(&part, &["header", "footer", "footnotes", "endnotes"])? {
        let Some(text) = source.text(&name).map(str::to_owned) else { continue };
        let form = if root_binds(&text, "w", WORD)? { PartForm::Word } else { PartForm::Plain };
        let filled = filler.fill(&text, form, None, &mut |_, _, _, _| Ok(None))?;
        if filled != text {
            source.set(&name, filled)?;
        }
    }
    let PlaceFiller { filled, unknown, rows, .. } = filler;
    let pictures_left_out = if was_shown { 0 } else { body.pictures.len() };
    Ok(FilledDocument { filled, unknown, rows, pictures_left_out, ..FilledDocument::default() })
}

/// The note, with the look of the paragraph in whose place it comes.
fn content(writer: &mut BodyWriter<'_>, xml: &str, all: &[XmlToken<'_>], paragraph: &FoundParagraph) -> String {
    let (mut plain, mut section) = (String::new(), String::new());
    let properties = all.get(paragraph.start + 1).filter(|token| token.is_opening("pPr"));
    if let (Some(start), Some(end)) = (properties, end_of(all, paragraph.start + 1)) {
        let mut at = start.span.end;
        // The end of a section is kept, behind the note.
        for number in paragraph.start + 2..end {
            if all[number].is_opening("sectPr")
                && all[number].span.start >= at
                && let Some(last) = end_of(all, number)
            {
                plain.push_str(&xml[at..all[number].span.start]);
                at = all[last].span.end;
                section = xml[all[number].span.start..at].to_owned();
            }
        }
        plain.push_str(&xml[at..all[end].span.start]);
    }
    let mut blocks = writer.blocks(&plain);
    if blocks.is_empty() {
        // A cell of a table needs a paragraph.
        blocks.push_str("<w:p/>");
    }
    if !section.is_empty() {
        blocks.push_str(&format!("<w:p><w:pPr>{section}</w:pPr></w:p>"));
    }
    blocks
}

/// The ids of the styles, by their names in lower case.
fn styles(source: &TemplateSource<'_>, main: &str) -> Result<StyleIds, TemplateFault> {
    let part = source.related_of(main, &["styles"])?.into_iter().next();
    let Some(xml) = part.and_then(|part| source.text(&part)) else { return Ok(StyleIds::default()) };
    let mut ids = HashMap::new();
    let mut current = None;
    for token in tokens(xml)? {
        // The id depends on the language of Word; the name that follows does not.
        if token.is_opening("style") {
            current = attribute(xml, &token, "w:styleId");
        } else if token.is_start("name")
            && let (Some(id), Some(name)) = (current.take(), attribute(xml, &token, "w:val"))
        {
            ids.entry(name.to_lowercase()).or_insert(id);
        }
    }
    Ok(StyleIds::named(&ids))
}

fn first_ids(
    source: &TemplateSource<'_>,
    part: &str,
    main: &str,
    numbers: Option<&str>,
) -> Result<FirstIds, TemplateFault> {
    let picture = source.highest(&part_beside(part, "media/image")) + 1;
    let mut first = FirstIds { picture, ..FirstIds::default() };
    let number = |xml: &str, token: &XmlToken<'_>, name: &str| {
        let number = attribute(xml, token, name)?.parse::<usize>().ok()?;
        // A number at the end of its range leaves no room behind it.
        (number < 1_000_000_000).then_some(number + 1)
    };
    for token in tokens(main)?.iter().filter(|token| token.is_start("docPr")) {
        first.drawing = first.drawing.max(number(main, token, "id").unwrap_or(0));
    }
    if let Some(xml) = numbers.and_then(|part| source.text(part)) {
        for token in tokens(xml)? {
            if token.is_start("abstractNum") {
                first.numbering = first.numbering.max(number(xml, &token, "w:abstractNumId").unwrap_or(0));
            } else if token.is_start("num") {
                first.number = first.number.max(number(xml, &token, "w:numId").unwrap_or(0));
            }
        }
    }
    Ok(first)
}

/// The highest number of the ids `rId1`, `rId2`.
pub(super) fn highest_id(relations: &str) -> Result<usize, TemplateFault> {
    let all = tokens(relations)?;
    let numbers = all.iter().filter(|token| token.is_start("Relationship")).filter_map(|token| {
        let id = attribute(relations, token, "Id")?;
        id.strip_prefix("rId")?.parse::<usize>().ok().filter(|number| *number < 1_000_000_000)
    });
    Ok(numbers.max().unwrap_or(0))
}

/// With the prefix of what refers to other parts.
pub(super) fn with_relation_prefix(xml: &str) -> Result<String, TemplateFault> {
    let all = tokens(xml)?;
    let root = first_start(&all).ok_or(TemplateFault::Broken)?;
    match attribute(xml, root, "xmlns:r") {
        Some(bound) if bound == RELATION => Ok(xml.to_owned()),
        // Bound to something else, the prefix of what was inserted would mean that.
        Some(_) => Err(TemplateFault::Broken),
        None => {
            let tag = with_attribute(&xml[root.span.clone()], "xmlns:r", RELATION);
            Ok(format!("{}{tag}{}", &xml[..root.span.start], &xml[root.span.end..]))
        }
    }
}

/// The lists of the note, in the part that a template may have for its own.
fn add_numbering(
    source: &mut TemplateSource<'_>,
    main: &str,
    numbers: Option<String>,
    writer: &BodyWriter<'_>,
) -> Result<(), TemplateFault> {
    let Some((kinds, lists)) = writer.numbering_parts() else { return Ok(()) };
    let Some(part) = numbers else {
        let part = part_beside(main, "numbering.xml");
        // One that nothing refers to has its type.
        if !source.has(&part) {
            source.add_type(&part, NUMBERING)?;
        }
        source.set(&part, writer.numbering().unwrap_or_default())?;
        let list = relations_of(main);
        if !source.has(&list) {
            source.set(&list, Relations::default().xml())?;
        }
        let mut relations = Relations::after(highest_id(&source.relations(main))?);
        relations.part("numbering", "numbering.xml");
        return source.insert(&list, &relations.entries());
    };
    let xml = source.text(&part).ok_or(TemplateFault::Broken)?.to_owned();
    if !root_binds(&xml, "w", WORD)? {
        return Err(TemplateFault::Broken);
    }
    let all = tokens(&xml)?;
    // Kinds before lists, and both before what else may be at the end.
    let at = all.iter().find(|token| token.is_start("num") || token.is_start("numIdMacAtCleanup"));
    let end = all.iter().rev().find(|token| token.kind == TokenKind::End);
    let kinds_at = at.or(end).ok_or(TemplateFault::Broken)?.span.start;
    let last = all.iter().rev().find(|token| token.is_end("num")).map_or(kinds_at, |token| token.span.end);
    let changed = format!("{}{kinds}{}{lists}{}", &xml[..kinds_at], &xml[kinds_at..last], &xml[last..]);
    source.set(&part, changed)
}

/// The words of the note, where there is only room for text.
pub(super) fn words(values: &KnownValues<'_>) -> String {
    let blocks = values.filling.body.blocks.iter();
    let lines = blocks.map(|block| match &block.content {
        crate::BlockContent::Code(text) | crate::BlockContent::Formula(text) => text.clone(),
        crate::BlockContent::Table(table) => table.as_lines(),
        _ => plain_text(block.runs()),
    });
    lines.collect::<Vec<_>>().join("\n")
}
