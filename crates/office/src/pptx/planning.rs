//! Which blocks of a note are on which slide.

use lapidary_note::count_steps;
use unicode_width::UnicodeWidthStr;

use crate::body::{BlockContent, BodyBlock, BodyTable, DocumentBody, InlineRun, RunContent, RunStyle, plain_text};

use super::MOST_SLIDES;

/// A slide before it is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlidePlan {
    pub(crate) title: Vec<InlineRun>,
    /// The paragraphs of its text.
    pub(crate) lines: Vec<BodyBlock>,
    pub(crate) table: Option<BodyTable>,
    /// As indexes of the body's pictures.
    pub(crate) pictures: Vec<usize>,
    pub(crate) notes: Vec<BodyBlock>,
    /// The first one, with little but a title.
    pub(crate) is_cover: bool,
}

/// The height of the text on a slide, in points, and its width.
pub(super) const TEXT_HEIGHT: f64 = 336.0;
pub(super) const TEXT_WIDTH: f64 = 828.0;
/// Text is made smaller, down to this, before it goes on to another slide.
pub(super) const SMALLEST: f64 = 0.7;
/// Rows of a table on one slide, in addition to its head.
const MOST_TABLE_ROWS: usize = 11;
/// More pictures than this would be too small to see.
const MOST_PICTURES: usize = 4;

impl SlidePlan {
    /// The number of its layout in `fixed::layouts`.
    pub(super) fn layout(&self) -> usize {
        match () {
            () if self.is_cover => 1,
            () if self.lines.is_empty() => 3,
            () => 2,
        }
    }

    fn is_empty(&self) -> bool {
        self.title.is_empty() && self.lines.is_empty() && self.table.is_none() && self.pictures.is_empty()
    }

    /// The share of the width that is left to the text.
    pub(super) fn text_share(&self) -> f64 {
        if self.pictures.is_empty() { 1.0 } else { 0.5 }
    }
}

/// The slides of a note: at its rules and at its headings of the first two levels. Where there are about as many rules as such
/// headings, it was written as slides, and the rules alone count.
pub(crate) fn slides(body: &DocumentBody) -> Vec<SlidePlan> {
    let count =
        |is_wanted: fn(&BlockContent) -> bool| body.blocks.iter().filter(|block| is_wanted(&block.content)).count();
    let rules = count(|content| *content == BlockContent::Rule);
    // In a note with many headings, a few rules are only rules.
    let has_rules = rules > 0 && rules * 2 >= count(|content| matches!(content, BlockContent::Heading(1 | 2, _)));
    let mut plans: Vec<SlidePlan> = Vec::new();
    let mut gathered = GatheredSlide::default();
    for block in &body.blocks {
        match &block.content {
            BlockContent::Rule => gathered.finish(&mut plans),
            BlockContent::Heading(level, runs) => {
                if !has_rules && *level <= 2 {
                    gathered.finish(&mut plans);
                }
                if gathered.is_fresh() {
                    // The place of a title shows no picture, but the slide does.
                    let (pictures, words) = runs.iter().cloned().partition(|run| run.picture().is_some());
                    gathered.title = words;
                    gathered.blocks.extend(in_blocks(pictures));
                } else {
                    gathered.blocks.push(block.clone());
                }
            }
            BlockContent::Paragraph(runs) if block.list.is_none() && is_notes_mark(runs) => gathered.begin_notes(runs),
            _ if gathered.is_in_notes => gathered.notes.push(block.clone()),
            _ => gathered.blocks.push(block.clone()),
        }
    }
    gathered.finish(&mut plans);
    // An empty note still makes a file with a slide to open.
    if plans.is_empty() {
        plans.push(SlidePlan::default());
    }
    if let Some(first) = plans.first_mut() {
        let is_plain = |block: &BodyBlock| block.list.is_none() && matches!(block.content, BlockContent::Paragraph(_));
        // A short first slide is the title page; one with more on it is a slide like the others.
        first.is_cover = !first.title.is_empty()
            && first.table.is_none()
            && first.pictures.is_empty()
            && first.lines.len() <= 2
            && first.lines.iter().all(|block| is_plain(block) && plain_text(block.runs()).len() <= 160);
    }
    for plan in &mut plans {
        // After the cover is known: footnotes of a title would make it a slide with text.
        let lines = footnotes(body, plan);
        plan.lines.extend(lines);
    }
    plans
}

/// The footnotes of a slide, which has no other place for them.
fn footnotes(body: &DocumentBody, plan: &SlidePlan) -> Vec<BodyBlock> {
    let in_table = plan.table.iter().flat_map(|table| table.rows.iter().flatten().flatten());
    let runs = plan.title.iter().chain(plan.lines.iter().flat_map(|block| block.runs())).chain(in_table);
    let numbers = runs.filter_map(|run| match run.content {
        RunContent::Footnote(number) => Some(number),
        _ => None,
    });
    let raised = RunStyle { raised: true, ..RunStyle::default() };
    let line = |number: usize| {
        let mark = InlineRun { style: raised, ..InlineRun::text(format!("{} ", number + 1)) };
        let words = body.footnotes.get(number).into_iter().flatten().cloned();
        BodyBlock::plain(BlockContent::Paragraph(std::iter::once(mark).chain(words).collect()))
    };
    numbers.map(line).collect()
}

/// Pictures as a block, if there are any.
fn in_blocks(pictures: Vec<InlineRun>) -> Option<BodyBlock> {
    (!pictures.is_empty()).then(|| BodyBlock::plain(BlockContent::Paragraph(pictures)))
}

/// `note:` at the start of a paragraph, as presentations in Markdown have it: what follows is for the speaker.
fn is_notes_mark(runs: &[InlineRun]) -> bool {
    let Some(RunContent::Text(first)) = runs.first().map(|run| &run.content) else { return false };
    let lower = first.trim_start().to_lowercase();
    lower.starts_with("note:") || lower.starts_with("notes:")
}

/// What lies between two breaks.
#[derive(Default)]
struct GatheredSlide {
    title: Vec<InlineRun>,
    blocks: Vec<BodyBlock>,
    notes: Vec<BodyBlock>,
    is_in_notes: bool,
}

impl GatheredSlide {
    fn is_fresh(&self) -> bool {
        self.title.is_empty() && self.blocks.is_empty() && !self.is_in_notes
    }

    fn begin_notes(&mut self, runs: &[InlineRun]) {
        self.is_in_notes = true;
        let mut rest = runs.to_vec();
        if let Some(InlineRun { content: RunContent::Text(text), .. }) = rest.first_mut() {
            *text = text.split_once(':').map_or(String::new(), |(_, rest)| rest.trim_start().to_owned());
        }
        if !plain_text(&rest).trim().is_empty() {
            self.notes.push(BodyBlock::plain(BlockContent::Paragraph(rest)));
        }
    }

    /// One slide, or several if there is too much for one.
    fn finish(&mut self, plans: &mut Vec<SlidePlan>) {
        // Refused in any case.
        if plans.len() > MOST_SLIDES {
            return;
        }
        let Self { title, blocks, notes, .. } = std::mem::take(self);
        let first = plans.len();
        let mut plan = SlidePlan { title: title.clone(), ..SlidePlan::default() };
        let mut height = 0.0;
        // The slides that follow have the same title, so that each says what it is about.
        let next = |plan: &mut SlidePlan, height: &mut f64, plans: &mut Vec<SlidePlan>| {
            *height = 0.0;
            plans.push(std::mem::replace(plan, SlidePlan { title: title.clone(), ..SlidePlan::default() }));
        };
        for block in blocks {
            if let BlockContent::Table(table) = block.content {
                // A table is drawn over the whole text.
                let mut rows = table.rows.into_iter();
                let head = rows.next().unwrap_or_default();
                let rows: Vec<_> = rows.collect();
                let pieces: Vec<&[Vec<Vec<InlineRun>>]> =
                    if rows.is_empty() { vec![&[]] } else { rows.chunks(MOST_TABLE_ROWS).collect() };
                for piece in pieces {
                    if !plan.lines.is_empty() || plan.table.is_some() || !plan.pictures.is_empty() {
                        next(&mut plan, &mut height, plans);
                    }
                    if plans.len() > MOST_SLIDES {
                        return;
                    }
                    count_steps(64 * head.len());
                    // With its head on every slide.
                    let rows = std::iter::once(head.clone()).chain(piece.iter().cloned()).collect();
                    plan.table = Some(BodyTable { sides: table.sides.clone(), rows });
                }
                continue;
            }
            let (text, pictures) = without_pictures(block);
            for picture in pictures {
                if plan.table.is_some() || plan.pictures.len() >= MOST_PICTURES {
                    next(&mut plan, &mut height, plans);
                }
                plan.pictures.push(picture);
            }
            let Some(text) = text else { continue };
            // Measured at the smallest size: drawing chooses the largest one at which all of it fits.
            let own = block_height(&text, SMALLEST, TEXT_WIDTH * plan.text_share());
            if plan.table.is_some() || (height + own > TEXT_HEIGHT && !plan.lines.is_empty()) {
                next(&mut plan, &mut height, plans);
            }
            height += own;
            plan.lines.push(text);
        }
        if !plan.is_empty()
            && (plans.len() == first || plan.lines.len() + plan.pictures.len() > 0 || plan.table.is_some())
        {
            plans.push(plan);
        }
        if let Some(plan) = plans.get_mut(first) {
            // Of several slides, the speaker sees them with the first.
            plan.notes = notes;
        }
    }
}

/// A block with its words alone, if it has any, and its pictures.
fn without_pictures(block: BodyBlock) -> (Option<BodyBlock>, Vec<usize>) {
    let mut pictures = Vec::new();
    // A picture is a separate shape on a slide, not a part of a text.
    let mut keep = |runs: Vec<InlineRun>| -> Vec<InlineRun> {
        runs.into_iter()
            .filter(|run| match run.content {
                RunContent::Picture(number) => {
                    pictures.push(number);
                    false
                }
                _ => true,
            })
            .collect()
    };
    let content = match block.content {
        BlockContent::Heading(level, runs) => BlockContent::Heading(level, keep(runs)),
        BlockContent::Paragraph(runs) => BlockContent::Paragraph(keep(runs)),
        BlockContent::CalloutTitle(runs) => BlockContent::CalloutTitle(keep(runs)),
        other => other,
    };
    let block = BodyBlock { content, ..block };
    let has_words = match &block.content {
        BlockContent::Code(text) | BlockContent::Formula(text) => !text.trim().is_empty(),
        _ => !plain_text(block.runs()).trim().is_empty(),
    };
    (has_words.then_some(block), pictures)
}

/// The size of its letters, in points.
pub(super) fn letter_size(block: &BodyBlock) -> f64 {
    let level = block.list.map_or(0, |place| place.level);
    match (&block.content, level) {
        (BlockContent::Code(_), _) => 14.0,
        (_, 0) => 20.0,
        (_, 1) => 18.0,
        _ => 16.0,
    }
}

/// About how high it is, by the width of its letters.
pub(super) fn block_height(block: &BodyBlock, scale: f64, width: f64) -> f64 {
    let size = letter_size(block) * scale;
    let text = match &block.content {
        BlockContent::Code(text) | BlockContent::Formula(text) => text.clone(),
        _ => plain_text(block.runs()),
    };
    let indent = 24.0 * f64::from(block.list.map_or(0, |place| place.level + 1));
    // A letter is half as wide as it is high; a wide one counts twice.
    let in_line = ((width - indent).max(60.0) / (size * 0.5)).max(1.0);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let lines: f64 = text.split('\n').map(|line| (line.width() as f64 / in_line).ceil().max(1.0)).sum();
    lines * size * 1.2 + 8.0 * scale
}
