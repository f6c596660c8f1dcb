//! PPTX templates.

use crate::{
    package::{Relations, relations_of},
    pptx::{MOST_SLIDES, ParagraphWriter, SLIDE, SlidePlan, slides},
};

use super::{
    FilledDocument, KnownValues, TemplateFault,
    document::{highest_id, with_relation_prefix},
    places::{PartForm, PlaceFiller, paragraphs, places},
    source::{TemplateSource, root_binds},
    xml_edit::{attribute, tokens},
};

const FORM: PartForm = PartForm { paragraph: "p", line_end: " ", marks_blanks: false };
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const MAIN: &str = "ppt/presentation.xml";

pub(super) fn fill(source: &mut TemplateSource<'_>, values: &KnownValues<'_>) -> Result<FilledDocument, TemplateFault> {
    let mut filler = PlaceFiller::new(values);
    let own = slide_parts(source)?;
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
    let (mut count, mut was_shown) = (0, false);
    let mut highest = source.highest("ppt/slides/slide");
    for part in &own {
        let xml = source.text(part).ok_or(TemplateFault::Broken)?.to_owned();
        // A slide without a place for the note is kept once, with its values.
        if !has_content(&xml)? {
            count += 1;
            let filled = filler.fill(&xml, &FORM, None, &mut |_, _, _, _| Ok(None))?;
            if filled != xml {
                source.set(part, filled)?;
            }
            continue;
        }
        if !root_binds(&xml, "a", DRAWING)? {
            return Err(TemplateFault::Broken);
        }
        was_shown = true;
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
                highest += 1;
                format!("ppt/slides/slide{highest}.xml")
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
                add_slide(source, &name, &before)?;
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
    let beside: Vec<String> =
        source.names().into_iter().filter(|name| name.starts_with("ppt/notesSlides/notes")).collect();
    for name in beside {
        let Some(xml) = source.text(&name).map(str::to_owned) else { continue };
        let filled = filler.fill(&xml, &FORM, None, &mut |_, _, _, _| Ok(None))?;
        if filled != xml {
            source.set(&name, filled)?;
        }
    }
    let body = &values.filling.body;
    // The slide of a template says where its text is, and nothing about pictures.
    let pictures_left_out = body.pictures.len();
    let PlaceFiller { filled, unknown, .. } = filler;
    let filled = filled + usize::from(was_shown);
    Ok(FilledDocument { filled, unknown, pictures_left_out, parts: count, ..FilledDocument::default() })
}

/// The slides, in their order.
fn slide_parts(source: &TemplateSource<'_>) -> Result<Vec<String>, TemplateFault> {
    let relations = source.relations(MAIN);
    // The order is in the presentation, the names of the parts in its relations.
    let mut targets = std::collections::HashMap::new();
    for token in tokens(&relations)?.iter().filter(|token| token.is_start("Relationship")) {
        if let (Some(id), Some(target)) = (attribute(&relations, token, "Id"), attribute(&relations, token, "Target")) {
            let part = target.strip_prefix('/').map_or_else(|| format!("ppt/{target}"), str::to_owned);
            targets.insert(id, part);
        }
    }
    let xml = source.text(MAIN).ok_or(TemplateFault::Broken)?;
    let all = tokens(xml)?;
    let slides = all.iter().filter(|token| token.is_start("sldId"));
    Ok(slides.filter_map(|token| targets.get(&attribute(xml, token, "r:id")?).cloned()).collect())
}

/// Whether a slide stands for those of the note.
fn has_content(xml: &str) -> Result<bool, TemplateFault> {
    let all = tokens(xml)?;
    let found = paragraphs(xml, &all, FORM.paragraph)?;
    Ok(found.iter().any(|paragraph| places(&paragraph.text()).iter().any(|(_, name)| is_of_slide(name))))
}

fn is_of_slide(name: &str) -> bool {
    matches!(name, "content" | "slide.title")
}

fn filled_slide(
    filler: &mut PlaceFiller<'_>,
    xml: &str,
    plan: &SlidePlan,
    relations: &mut Relations,
) -> Result<String, TemplateFault> {
    let body = &filler.values.filling.body;
    let mut writer = ParagraphWriter { body, relations };
    filler.fill(xml, &FORM, None, &mut |_, _, _, paragraph| {
        if paragraph.is_only("content") {
            let mut lines = plan.lines.clone();
            // In the box of a template there is only text, so a table is written as lines.
            if let Some(table) = &plan.table {
                lines.push(crate::BodyBlock::plain(crate::BlockContent::Table(table.clone())));
            }
            return Ok(Some(writer.paragraphs(&lines, None)));
        }
        if paragraph.is_only("slide.title") {
            return Ok(Some(format!("<a:p>{}</a:p>", writer.title(&plan.title))));
        }
        Ok(None)
    })
}

/// Puts a new slide behind another.
fn add_slide(source: &mut TemplateSource<'_>, part: &str, before: &str) -> Result<(), TemplateFault> {
    let list = relations_of(MAIN);
    let relations = source.relations(MAIN);
    let mut added = Relations::after(highest_id(&relations)?);
    let id = added.part("slide", part.strip_prefix("ppt/").unwrap_or(part));
    // The id under which the presentation knows the slide before.
    let known = tokens(&relations)?.iter().find_map(|token| {
        let target = attribute(&relations, token, "Target")?;
        let target = target.strip_prefix('/').map_or_else(|| format!("ppt/{target}"), str::to_owned);
        (token.is_start("Relationship") && target == before).then(|| attribute(&relations, token, "Id"))?
    });
    let known = known.ok_or(TemplateFault::Broken)?;
    source.insert(&list, &added.entries())?;
    let xml = source.text(MAIN).ok_or(TemplateFault::Broken)?;
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
    source.set(MAIN, changed)
}
