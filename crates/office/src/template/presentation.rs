//! PPTX templates.

use std::collections::HashMap;

use crate::{
    package::{Relations, part_beside, relations_of},
    pptx::{MOST_SLIDES, ParagraphWriter, SLIDE, SlidePlan, slides},
};

use super::{
    FilledDocument, KnownValues, TemplateFault,
    document::{highest_id, with_relation_prefix},
    places::{PartForm, PlaceFiller, paragraphs},
    source::{TemplateSource, root_binds},
    xml_edit::{attribute, tokens},
};

const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const MAIN: &str = "ppt/presentation.xml";
/// Both stand for a whole paragraph.
const CONTENT: &str = "content";
const TITLE: &str = "slide.title";

pub(super) fn fill(source: &mut TemplateSource<'_>, values: &KnownValues<'_>) -> Result<FilledDocument, TemplateFault> {
    let mut filler = PlaceFiller::new(values);
    let main = source.main_part(MAIN)?;
    let own = slide_parts(source, &main)?;
    if own.is_empty() {
        return Err(TemplateFault::Broken);
    }
    let mut plans = slides(&values.filling.body);
    // A template has its own cover.
    if own.len() > 1 && plans.len() > 1 && plans.first().is_some_and(|plan| plan.is_cover && plan.lines.is_empty()) {
        plans.remove(0);
    }
    if plans.len() > MOST_SLIDES {
        return Err(TemplateFault::TooLarge);
    }
    let mut count = 0;
    for part in &own {
        let xml = source.text(part).ok_or(TemplateFault::Broken)?.to_owned();
        // A slide without a place for the note is kept once, with its values.
        if !has_content(&xml)? {
            count += 1;
            let filled = filler.fill(&xml, PartForm::Plain, None, &mut |_, _, _, _| Ok(None))?;
            if filled != xml {
                source.set(part, filled)?;
            }
            continue;
        }
        if !root_binds(&xml, "a", DRAWING)? {
            return Err(TemplateFault::Broken);
        }
        let relations = source.relations(part);
        let mut before = part.clone();
        // The first one takes the place of the slide of the template; the others are copies behind it.
        for (number, plan) in plans.iter().enumerate() {
            count += 1;
            // Each copy begins with the relations of the original, so ids continue behind those.
            let mut added = Relations::after(highest_id(&relations)?);
            let filled = filled_slide(&mut filler, &xml, plan, &mut added)?;
            let name = if number == 0 {
                part.clone()
            } else {
                let before = part_beside(part, "slide");
                // Beside the original, whose relations it has.
                format!("{before}{}.xml", source.highest(&before) + 1)
            };
            let entries = added.entries();
            let filled = if entries.is_empty() { filled } else { with_relation_prefix(&filled)? };
            source.set(&name, filled)?;
            let list = relations_of(&name);
            if number > 0 {
                source.set(&list, relations.clone())?;
                // A page of notes belongs to one slide.
                source.remove_entries(&list, |xml, token| {
                    attribute(xml, token, "Type").is_some_and(|kind| kind.ends_with("/notesSlide"))
                })?;
                source.add_type(&name, SLIDE)?;
                add_slide(source, &main, &name, &before)?;
            } else if !entries.is_empty() {
                source.set(&list, relations.clone())?;
            }
            if !entries.is_empty() {
                source.insert(&list, &entries)?;
            }
            // So that the next one comes behind it, in the order of the note.
            before = name;
        }
    }
    let mut notes = Vec::new();
    for part in &own {
        notes.extend(source.related_of(part, &["notesSlide"])?);
    }
    // A page of notes belongs to one slide; one that is listed for several is filled once.
    notes.sort_unstable();
    notes.dedup();
    for name in notes {
        let Some(xml) = source.text(&name).map(str::to_owned) else { continue };
        let filled = filler.fill(&xml, PartForm::Plain, None, &mut |_, _, _, _| Ok(None))?;
        if filled != xml {
            source.set(&name, filled)?;
        }
    }
    let body = &values.filling.body;
    // The slide of a template says where its text is, and nothing about pictures.
    let pictures_left_out = body.pictures.len();
    let PlaceFiller { filled, unknown, rows, .. } = filler;
    Ok(FilledDocument { filled, unknown, pictures_left_out, slides: count, rows, ..FilledDocument::default() })
}

/// The slides, in their order.
fn slide_parts(source: &TemplateSource<'_>, main: &str) -> Result<Vec<String>, TemplateFault> {
    // The order is in the presentation, the names of the parts in its relations.
    let mut targets: HashMap<String, String> =
        source.related(main)?.into_iter().map(|related| (related.id, related.part)).collect();
    let xml = source.text(main).ok_or(TemplateFault::Broken)?;
    let all = tokens(xml)?;
    let slides = all.iter().filter(|token| token.is_start("sldId"));
    Ok(slides.filter_map(|token| targets.remove(&attribute(xml, token, "r:id")?)).collect())
}

/// Whether a slide stands for those of the note.
fn has_content(xml: &str) -> Result<bool, TemplateFault> {
    let found = paragraphs(xml, &tokens(xml)?)?;
    Ok(found.iter().any(|paragraph| paragraph.is_only(CONTENT) || paragraph.is_only(TITLE)))
}

fn filled_slide(
    filler: &mut PlaceFiller<'_>,
    xml: &str,
    plan: &SlidePlan,
    relations: &mut Relations,
) -> Result<String, TemplateFault> {
    let body = &filler.values.filling.body;
    let mut writer = ParagraphWriter { body, relations };
    filler.fill(xml, PartForm::Plain, None, &mut |filler, _, _, paragraph| {
        if paragraph.is_only(CONTENT) {
            filler.filled += 1;
            let mut lines = plan.lines.clone();
            // In the box of a template there is only text, so a table is written as lines.
            if let Some(table) = &plan.table {
                lines.push(crate::BodyBlock::plain(crate::BlockContent::Table(table.clone())));
            }
            return Ok(Some(writer.paragraphs(&lines, None)));
        }
        if paragraph.is_only(TITLE) {
            filler.filled += 1;
            return Ok(Some(format!("<a:p>{}</a:p>", writer.title(&plan.title))));
        }
        Ok(None)
    })
}

/// Puts a new slide behind another.
fn add_slide(source: &mut TemplateSource<'_>, main: &str, part: &str, before: &str) -> Result<(), TemplateFault> {
    let mut added = Relations::after(highest_id(&source.relations(main))?);
    // As most programs write it: as seen from the presentation.
    let folder = part_beside(main, "");
    let target = part.strip_prefix(&folder).and_then(|name| name.strip_prefix('/'));
    let id = added.part("slide", &target.map_or_else(|| format!("/{part}"), str::to_owned));
    // The id under which the presentation knows the slide before.
    let known = source.related(main)?.into_iter().find(|related| related.part == before).map(|related| related.id);
    let known = known.ok_or(TemplateFault::Broken)?;
    source.insert(&relations_of(main), &added.entries())?;
    let xml = source.text(main).ok_or(TemplateFault::Broken)?;
    let all = tokens(xml)?;
    let entries: Vec<_> = all.iter().filter(|token| token.is_start("sldId")).collect();
    let numbers = entries.iter().filter_map(|token| attribute(xml, token, "id")?.parse::<u32>().ok());
    // The format reserves the ids below 256.
    let number = numbers.max().unwrap_or(255).max(255) + 1;
    let behind = entries.iter().find(|token| attribute(xml, token, "r:id").as_deref() == Some(&known));
    let behind = behind.ok_or(TemplateFault::Broken)?;
    let end =
        match all.iter().position(|token| token.span == behind.span).and_then(|at| super::xml_edit::end_of(&all, at)) {
            Some(end) => all[end].span.end,
            None => return Err(TemplateFault::Broken),
        };
    // With the prefix that the others have.
    let tag = &xml[behind.span.clone()];
    let name = tag[1..].split([' ', '\n', '\t', '/', '>']).next().unwrap_or("p:sldId");
    let changed = format!("{}<{name} id=\"{number}\" r:id=\"{id}\"/>{}", &xml[..end], &xml[end..]);
    source.set(main, changed)
}
