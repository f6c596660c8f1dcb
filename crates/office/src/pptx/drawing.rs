//! Slides as XML.

use lapidary_note::count_steps;

use crate::{
    body::{BlockContent, BodyBlock, BodyTable, ColumnSide, DocumentBody, InlineRun, RunContent, RunStyle, plain_text},
    docx::drawn_size,
    package::Relations,
    xml::{DECLARATION, escaped},
};

use super::{
    fixed::{BODY, NAMESPACES},
    planning::{SMALLEST, SlidePlan, TEXT_HEIGHT, TEXT_WIDTH, block_height, letter_size},
};

/// How much smaller than usual the text of a slide is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale(pub(crate) f64);

/// Writes paragraphs, which may refer to addresses.
pub(crate) struct ParagraphWriter<'d, 'r> {
    pub(crate) body: &'d DocumentBody,
    pub(crate) relations: &'r mut Relations,
}

impl ParagraphWriter<'_, '_> {
    /// The paragraphs of blocks. With no scale, sizes are those of the layout.
    pub(crate) fn paragraphs(&mut self, blocks: &[BodyBlock], scale: Option<Scale>) -> String {
        let mut xml: String = blocks.iter().map(|block| self.paragraph(block, scale)).collect();
        // A text without a paragraph is not valid.
        if xml.is_empty() {
            xml.push_str("<a:p/>");
        }
        xml
    }

    fn paragraph(&mut self, block: &BodyBlock, scale: Option<Scale>) -> String {
        // The text of a layout has bullets, which a paragraph has to switch off.
        let plain = "<a:pPr marL=\"0\" indent=\"0\"><a:buNone/></a:pPr>".to_owned();
        let properties = match block.list {
            Some(place) => {
                let level = place.level.min(8);
                let bullet = match (place.opens, place.task, self.body.lists.get(place.list).copied().flatten()) {
                    (false, ..) => "<a:buNone/>".to_owned(),
                    (_, Some(is_done), _) => {
                        let mark = if is_done { "\u{2611}" } else { "\u{2610}" };
                        format!("<a:buFont typeface=\"Segoe UI Symbol\"/><a:buChar char=\"{mark}\"/>")
                    }
                    (_, None, Some(start)) => {
                        // The range of the format.
                        let start = start.clamp(1, 32_767);
                        format!(
                            "<a:buFont typeface=\"+mj-lt\"/><a:buAutoNum type=\"arabicPeriod\" startAt=\"{start}\"/>"
                        )
                    }
                    (_, None, None) => String::new(),
                };
                let indent = if place.opens { "" } else { " indent=\"0\"" };
                format!("<a:pPr lvl=\"{level}\"{indent}>{bullet}</a:pPr>")
            }
            None => plain,
        };
        #[expect(clippy::cast_possible_truncation, reason = "sizes of letters are small")]
        let size = scale.map(|Scale(scale)| (letter_size(block) * scale * 100.0).round() as i64);
        let all = match &block.content {
            BlockContent::Heading(..) | BlockContent::CalloutTitle(_) => RunStyle { bold: true, ..RunStyle::default() },
            BlockContent::Formula(_) => RunStyle { italic: true, ..RunStyle::default() },
            _ if block.quote > 0 && block.callout.is_none() => RunStyle { italic: true, ..RunStyle::default() },
            _ => RunStyle::default(),
        };
        let inner = match &block.content {
            BlockContent::Code(text) => {
                let style = RunStyle { code: true, ..RunStyle::default() };
                // One paragraph with breaks: several would have gaps between the lines of code.
                let lines = text.split('\n').map(|line| InlineRun { style, ..InlineRun::text(line) });
                let mut runs: Vec<InlineRun> = Vec::new();
                for line in lines {
                    if !runs.is_empty() {
                        runs.push(InlineRun::plain(RunContent::Break));
                    }
                    runs.push(line);
                }
                self.runs(&runs, all, size)
            }
            BlockContent::Formula(text) => self.runs(&[InlineRun::text(text.as_str())], all, size),
            // What has no place on a slide of a template.
            BlockContent::Table(table) => self.runs(&[InlineRun::text(table.as_lines())], all, size),
            _ => self.runs(block.runs(), all, size),
        };
        format!("<a:p>{properties}{inner}</a:p>")
    }

    /// The words of a title, which has one line.
    pub(crate) fn title(&mut self, runs: &[InlineRun]) -> String {
        let words: Vec<InlineRun> = runs.iter().filter(|run| run.content != RunContent::Break).cloned().collect();
        self.runs(&words, RunStyle::default(), None)
    }

    fn runs(&mut self, runs: &[InlineRun], all: RunStyle, size: Option<i64>) -> String {
        let mut xml = String::new();
        for run in runs {
            count_steps(64);
            match &run.content {
                RunContent::Text(text) => {
                    // A line end in the text of a run is only a blank.
                    for (number, line) in text.split('\n').enumerate() {
                        if number > 0 {
                            xml.push_str("<a:br/>");
                        }
                        if !line.is_empty() {
                            let properties = self.run_properties(run, all, size);
                            xml.push_str(&format!("<a:r>{properties}<a:t>{}</a:t></a:r>", escaped(line)));
                        }
                    }
                }
                RunContent::Break => xml.push_str("<a:br/>"),
                RunContent::Footnote(number) => {
                    xml.push_str(&format!("<a:r><a:rPr baseline=\"30000\"/><a:t>{}</a:t></a:r>", number + 1))
                }
                // Drawn beside the text.
                RunContent::Picture(_) => {}
            }
        }
        xml
    }

    fn run_properties(&mut self, run: &InlineRun, all: RunStyle, size: Option<i64>) -> String {
        let style = run.style;
        let mut attributes = String::new();
        if let Some(size) = size {
            attributes += &format!(" sz=\"{size}\"");
        }
        let switches = [
            (style.bold || all.bold, " b=\"1\""),
            (style.italic || all.italic, " i=\"1\""),
            (style.underline, " u=\"sng\""),
            (style.strike, " strike=\"sngStrike\""),
            // An attribute may occur once, so only one of the two is written.
            (style.raised, " baseline=\"30000\""),
            (style.lowered && !style.raised, " baseline=\"-25000\""),
        ];
        switches.iter().filter(|(is_on, _)| *is_on).for_each(|(_, attribute)| attributes += attribute);
        let mut inner = String::new();
        // In the order of the schema: highlight, fonts, link.
        if style.highlight {
            inner += "<a:highlight><a:srgbClr val=\"FFF2A8\"/></a:highlight>";
        }
        if style.code {
            inner += "<a:latin typeface=\"Courier New\"/><a:cs typeface=\"Courier New\"/>";
        }
        if let Some(address) = run.link.and_then(|link| self.body.links.get(link)) {
            inner += &format!("<a:hlinkClick r:id=\"{}\"/>", self.relations.address(address));
        }
        format!("<a:rPr{attributes}>{inner}</a:rPr>")
    }
}

pub(super) fn slide(body: &DocumentBody, plan: &SlidePlan, relations: &mut Relations) -> String {
    let mut shapes = String::new();
    let mut writer = ParagraphWriter { body, relations };
    let title = if plan.is_cover { "ctrTitle" } else { "title" };
    // A long title in smaller letters, so that it stays in its place.
    let width = unicode_width::UnicodeWidthStr::width(&*plain_text(&plan.title));
    let size = if plan.is_cover || width <= 60 {
        None
    } else if width <= 110 {
        Some(2400)
    } else {
        Some(1800)
    };
    let words: Vec<InlineRun> = plan.title.iter().filter(|run| run.content != RunContent::Break).cloned().collect();
    if !words.is_empty() {
        let runs = writer.runs(&words, RunStyle::default(), size);
        let paragraph = format!("<a:p>{runs}</a:p>");
        shapes += &shape(2, "Title", &format!("<p:ph type=\"{title}\"/>"), "", &paragraph, "<a:bodyPr/>");
    }
    if !plan.lines.is_empty() {
        let width = TEXT_WIDTH * plan.text_share();
        let scale = fitting_scale(&plan.lines, width);
        // A shape without a place takes the one of its layout.
        let (place, place_xml) = match (plan.is_cover, plan.pictures.is_empty()) {
            (true, _) => ("<p:ph type=\"subTitle\" idx=\"1\"/>", String::new()),
            (false, true) => ("<p:ph idx=\"1\"/>", String::new()),
            // Beside the pictures.
            (false, false) => {
                let (x, y, width, height) = BODY;
                ("<p:ph idx=\"1\"/>", transform("a", (x, y, width / 2 - 150_000, height)))
            }
        };
        // A cover keeps the large letters of its layout.
        let paragraphs = writer.paragraphs(&plan.lines, (!plan.is_cover).then_some(scale));
        shapes += &shape(3, "Content", place, &place_xml, &paragraphs, "<a:bodyPr><a:normAutofit/></a:bodyPr>");
    }
    if let Some(table) = &plan.table {
        shapes += &drawn_table(&mut writer, table);
    }
    shapes += &pictures(&mut writer, plan);
    format!(
        "{DECLARATION}<p:sld {NAMESPACES}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/>\
         </p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>"
    )
}

fn shape(id: usize, name: &str, place: &str, transform: &str, paragraphs: &str, text: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr>{place}</p:nvPr>\
         </p:nvSpPr><p:spPr>{transform}</p:spPr><p:txBody>{text}<a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )
}

/// Where a shape is, with the prefix that its element has there.
fn transform(prefix: &str, (x, y, width, height): (u64, u64, u64, u64)) -> String {
    format!("<{prefix}:xfrm><a:off x=\"{x}\" y=\"{y}\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></{prefix}:xfrm>")
}

/// The largest letters with which everything has room.
fn fitting_scale(lines: &[BodyBlock], width: f64) -> Scale {
    let height = |scale: f64| lines.iter().map(|block| block_height(block, scale, width)).sum::<f64>();
    let steps = [1.2, 1.1, 1.0, 0.9, 0.8];
    Scale(steps.into_iter().find(|scale| height(*scale) <= TEXT_HEIGHT).unwrap_or(SMALLEST))
}

fn drawn_table(writer: &mut ParagraphWriter<'_, '_>, table: &BodyTable) -> String {
    let columns = table.width();
    if columns == 0 {
        return String::new();
    }
    let (x, y, width, height) = BODY;
    let count = u64::try_from(columns).unwrap_or(u64::MAX);
    let rows = u64::try_from(table.rows.len()).unwrap_or(u64::MAX);
    // A few rows do not fill the slide, and many are as high as there is room.
    let row_height = (height / rows.max(1)).min(460_000);
    let size = if table.rows.len() > 8 || columns > 6 { 1_200 } else { 1_600 };
    let mut grid = String::new();
    (0..columns).for_each(|_| grid += &format!("<a:gridCol w=\"{}\"/>", width / count));
    let mut lines = String::new();
    for (number, row) in table.rows.iter().enumerate() {
        count_steps(64 * columns);
        lines += &format!("<a:tr h=\"{row_height}\">");
        for column in 0..columns {
            let all = RunStyle { bold: number == 0, ..RunStyle::default() };
            let runs = row.get(column).map_or(String::new(), |cell| writer.runs(cell, all, Some(size)));
            let side = match table.sides.get(column).copied().unwrap_or_default() {
                ColumnSide::Left => "",
                ColumnSide::Center => "<a:pPr algn=\"ctr\"/>",
                ColumnSide::Right => "<a:pPr algn=\"r\"/>",
            };
            let line = "<a:lnB w=\"9525\"><a:solidFill><a:srgbClr val=\"BFBFBF\"/></a:solidFill></a:lnB>";
            let fill =
                if number == 0 { "<a:solidFill><a:srgbClr val=\"E9EDF4\"/></a:solidFill>" } else { "<a:noFill/>" };
            lines += &format!(
                "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p>{side}{runs}</a:p></a:txBody><a:tcPr anchor=\"ctr\">{line}{fill}</a:tcPr></a:tc>"
            );
        }
        lines += "</a:tr>";
    }
    format!(
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"4\" name=\"Table\"/><p:cNvGraphicFramePr><a:graphicFrameLocks noGrp=\"1\"/>\
         </p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>{}<a:graphic><a:graphicData \
         uri=\"http://schemas.openxmlformats.org/drawingml/2006/table\"><a:tbl><a:tblPr firstRow=\"1\"/><a:tblGrid>{grid}</a:tblGrid>\
         {lines}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
        transform("p", (x, y, width, row_height * rows))
    )
}

/// Beside the text, or over the whole slide if there is none; several below one another or in a grid.
fn pictures(writer: &mut ParagraphWriter<'_, '_>, plan: &SlidePlan) -> String {
    let (x, y, width, height) = BODY;
    let (left, room) = if plan.lines.is_empty() { (x, width) } else { (x + width / 2, width / 2) };
    let count = plan.pictures.len() as u64;
    let (across, down) = match (count, plan.lines.is_empty()) {
        (0..=1, _) => (1, 1),
        (2, true) => (2, 1),
        (count, true) => (2, count.div_ceil(2)),
        (count, false) => (1, count),
    };
    let (cell_width, cell_height) = (room / across, height / down);
    let mut xml = String::new();
    for (place, number) in (0_u64..).zip(&plan.pictures) {
        let Some(picture) = writer.body.pictures.get(*number) else { continue };
        let name = format!("../media/image{}.{}", number + 1, picture.format.ending());
        let id = writer.relations.part("image", &name);
        // With a little room around it.
        let (own_width, own_height) = drawn_size(picture, cell_width - 100_000, cell_height - 100_000);
        let own_x = left + (place % across) * cell_width + (cell_width - own_width) / 2;
        let own_y = y + (place / across) * cell_height + (cell_height - own_height) / 2;
        let alt = escaped(&picture.alt);
        xml += &format!(
            "<p:pic><p:nvPicPr><p:cNvPr id=\"{}\" name=\"Picture {}\" descr=\"{alt}\"/><p:cNvPicPr><a:picLocks noChangeAspect=\"1\"/>\
             </p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed=\"{id}\"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>\
             <p:spPr>{}<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:pic>",
            10 + place,
            place + 1,
            transform("a", (own_x, own_y, own_width, own_height))
        );
    }
    xml
}

/// The page with the notes of a slide.
pub(super) fn notes(body: &DocumentBody, plan: &SlidePlan, relations: &mut Relations) -> String {
    let paragraphs = ParagraphWriter { body, relations }.paragraphs(&plan.notes, None);
    format!(
        "{DECLARATION}<p:notes {NAMESPACES}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/>\
         </p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide Image\"/><p:cNvSpPr><a:spLocks noGrp=\"1\" noRot=\"1\" \
         noChangeAspect=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"sldImg\"/></p:nvPr></p:nvSpPr><p:spPr/></p:sp>{}</p:spTree></p:cSld>\
         <p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:notes>",
        shape(3, "Notes", "<p:ph type=\"body\" idx=\"1\"/>", "", &paragraphs, "<a:bodyPr/>")
    )
}
