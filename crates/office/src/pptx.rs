//! PPTX: slides with a title, paragraphs in levels, tables, pictures and the notes of the speaker.

mod drawing;
mod fixed;
mod planning;

use std::collections::BTreeSet;

use lapidary_note::count_steps;

use crate::{
    body::{BlockContent, DocumentBody, DocumentFacts, plain_text},
    package::{Package, Relations, WriteFault, WrittenDocument},
    xml::DECLARATION,
};

pub(crate) use drawing::ParagraphWriter;
pub(crate) use fixed::NAMESPACES;
pub(crate) use planning::{SlidePlan, slides};

/// What a presentation is made of.
pub struct PptxParts<'d> {
    pub body: &'d DocumentBody,
    pub facts: &'d DocumentFacts,
    pub most_bytes: usize,
}

pub(crate) const SLIDE: &str = "application/vnd.openxmlformats-officedocument.presentationml.slide+xml";
const PRESENTATION: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml";
const MASTER: &str = "application/vnd.openxmlformats-officedocument.presentationml.slideMaster+xml";
const LAYOUT: &str = "application/vnd.openxmlformats-officedocument.presentationml.slideLayout+xml";
const NOTES: &str = "application/vnd.openxmlformats-officedocument.presentationml.notesSlide+xml";
const NOTES_MASTER: &str = "application/vnd.openxmlformats-officedocument.presentationml.notesMaster+xml";
const THEME: &str = "application/vnd.openxmlformats-officedocument.theme+xml";

/// Programs become slow with a tenth of it.
pub(crate) const MOST_SLIDES: usize = 1_000;

/// More are narrower than a letter, and programs make no wider table.
const MOST_COLUMNS: usize = 75;

pub fn write_pptx(parts: &PptxParts<'_>) -> Result<WrittenDocument, WriteFault> {
    let PptxParts { body, facts, most_bytes } = parts;
    if !body.is_whole() {
        return Err(WriteFault::Incomplete);
    }
    // Every slide of a table repeats its head, and every row is filled up to the width of the table.
    if body.tables().any(|table| table.width() > MOST_COLUMNS) {
        return Err(WriteFault::TooManyColumns { most: MOST_COLUMNS });
    }
    // The slides are made of copies.
    let _held = body.held.clone();
    let plans = slides(body);
    // Refused before anything is drawn, which is the larger part of the work.
    if plans.len() > MOST_SLIDES {
        return Err(WriteFault::TooMany { most: MOST_SLIDES });
    }
    let (mut package, mut relations) = (Package::new(*most_bytes), Relations::default());
    // Pages of notes need a master, which is left out without them.
    let has_notes = plans.iter().any(|plan| !plan.notes.is_empty());
    let master = relations.part("slideMaster", "slideMasters/slideMaster1.xml");
    let drawn: BTreeSet<usize> = plans.iter().flat_map(|plan| plan.pictures.iter().copied()).collect();
    for (number, picture) in (1..).zip(&body.pictures).filter(|(number, _)| drawn.contains(&(number - 1))) {
        package.picture(&format!("ppt/media/image{number}.{}", picture.format.ending()), picture)?;
    }
    let mut list = String::new();
    for (number, plan) in (1_usize..).zip(&plans) {
        count_steps(256);
        let name = format!("slides/slide{number}.xml");
        let mut own = Relations::default();
        own.part("slideLayout", &format!("../slideLayouts/slideLayout{}.xml", plan.layout()));
        if !plan.notes.is_empty() {
            let notes = format!("notesSlides/notesSlide{number}.xml");
            own.part("notesSlide", &format!("../{notes}"));
            let mut of_notes = Relations::default();
            of_notes.part("notesMaster", "../notesMasters/notesMaster1.xml");
            of_notes.part("slide", &format!("../{name}"));
            let xml = drawing::notes(body, plan, &mut of_notes);
            package.part(&format!("ppt/{notes}"), NOTES, xml)?;
            package.relations(&format!("ppt/{notes}"), &of_notes)?;
        }
        let xml = drawing::slide(body, plan, &mut own);
        package.part(&format!("ppt/{name}"), SLIDE, xml)?;
        package.relations(&format!("ppt/{name}"), &own)?;
        let id = relations.part("slide", &name);
        // The format reserves the ids below 256.
        list += &format!("<p:sldId id=\"{}\" r:id=\"{id}\"/>", 255 + number);
    }
    package.part("ppt/theme/theme1.xml", THEME, fixed::theme())?;
    package.part("ppt/slideMasters/slideMaster1.xml", MASTER, fixed::master())?;
    let mut of_master = Relations::default();
    for (number, layout) in (1_usize..).zip(fixed::layouts()) {
        let name = format!("slideLayouts/slideLayout{number}.xml");
        of_master.part("slideLayout", &format!("../{name}"));
        package.part(&format!("ppt/{name}"), LAYOUT, layout)?;
        let mut of_layout = Relations::default();
        of_layout.part("slideMaster", "../slideMasters/slideMaster1.xml");
        package.relations(&format!("ppt/{name}"), &of_layout)?;
    }
    of_master.part("theme", "../theme/theme1.xml");
    package.relations("ppt/slideMasters/slideMaster1.xml", &of_master)?;
    let mut notes_list = String::new();
    if has_notes {
        let id = relations.part("notesMaster", "notesMasters/notesMaster1.xml");
        notes_list = format!("<p:notesMasterIdLst><p:notesMasterId r:id=\"{id}\"/></p:notesMasterIdLst>");
        package.part("ppt/notesMasters/notesMaster1.xml", NOTES_MASTER, fixed::notes_master())?;
        let mut of_notes = Relations::default();
        // Two masters cannot share a part with a theme.
        of_notes.part("theme", "../theme/theme2.xml");
        package.relations("ppt/notesMasters/notesMaster1.xml", &of_notes)?;
        package.part("ppt/theme/theme2.xml", THEME, fixed::theme())?;
    }
    relations.part("theme", "theme/theme1.xml");
    package.part(
        "ppt/presentation.xml",
        PRESENTATION,
        format!(
            "{DECLARATION}<p:presentation {NAMESPACES}><p:sldMasterIdLst><p:sldMasterId id=\"2147483648\" r:id=\"{master}\"/>\
             </p:sldMasterIdLst>{notes_list}<p:sldIdLst>{list}</p:sldIdLst><p:sldSz cx=\"12192000\" cy=\"6858000\"/>\
             <p:notesSz cx=\"6858000\" cy=\"9144000\"/><p:defaultTextStyle><a:lvl1pPr><a:defRPr sz=\"1800\"><a:solidFill>\
             <a:schemeClr val=\"tx1\"/></a:solidFill><a:latin typeface=\"+mn-lt\"/><a:ea typeface=\"+mn-ea\"/>\
             <a:cs typeface=\"+mn-cs\"/></a:defRPr></a:lvl1pPr></p:defaultTextStyle></p:presentation>"
        ),
    )?;
    package.relations("ppt/presentation.xml", &relations)?;
    let bytes = package.finish("ppt/presentation.xml", facts)?;
    let pictures_left_out = body.pictures.len() - drawn.len();
    Ok(WrittenDocument { bytes, slides: plans.len(), pictures_left_out, texts_cut: 0 })
}

impl DocumentBody {
    /// The titles of the slides that it makes, empty for one without.
    pub fn slide_titles(&self) -> Vec<String> {
        slides(self).iter().map(|plan| plain_text(&plan.title).trim().replace('\n', " ")).collect()
    }

    /// Its headings of the first two levels.
    pub fn outline(&self) -> Vec<String> {
        let title = |block: &crate::BodyBlock| match &block.content {
            BlockContent::Heading(1 | 2, runs) => Some(plain_text(runs).trim().replace('\n', " ")),
            _ => None,
        };
        self.blocks.iter().filter_map(title).collect()
    }
}
