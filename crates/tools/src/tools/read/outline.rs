//! Lists the headings of a note.

use lapidary_note::{ContentHash, Heading, counted};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::quoted,
};
use lapidary_toolkit::{
    hash,
    heading::{DELIMITER, HashLength, HeadingOutput, NoteOutline},
    naming::{self, NamedFile},
    page::ListPage,
    reading::{self, NOT_UTF8},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct Outline;

/// The headings of a note with line, level and the hash that an edit of the section can expect.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    /// Only levels up to this.
    #[serde(default)]
    #[schemars(range(min = 1, max = 6))]
    max_depth: Option<u8>,
    /// At most this many.
    #[serde(default = "limit")]
    #[schemars(extend("x-rare" = true))]
    #[schemars(range(min = 1, max = 10000))]
    limit: usize,
    /// How many to skip.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    offset: usize,
}

fn limit() -> usize {
    2000
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    content_hash: String,
    total_lines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    headings: Option<Vec<HeadingOutput>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<[&'static str; 5]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<[RowCell; 5]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// A field of a row.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum RowCell {
    Text(String),
    Number(usize),
}

/// With more, the field names would be most of the answer.
const MOST_OBJECTS: usize = 300;
const COLUMNS: [&str; 5] = ["text", "level", "line", "endLine", "sectionHash"];

impl ReadTool for Outline {
    const DECLARATION: Declaration = Declaration {
        name: "outline",
        dotted: None,
        title: "Outline of a note",
        family: WireFamily::Files,
        group: ToolGroup::Read,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "show the outline, list the headings, only the headings of a note, table of contents toc structure of a note, list sections, chapters of a document, section hashes",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let note = shown.note();
        // Before the page is cut, so that offsets count only what is listed.
        let wanted = note.headings.iter().filter(|heading| input.max_depth.is_none_or(|most| heading.level <= most));
        // Hashes are computed for the page only, as each reads its whole section.
        let page = ListPage::of(wanted.collect::<Vec<&Heading>>(), input.offset, input.limit);
        let headings = NoteOutline::of(&note, DELIMITER);
        let hash_of = |heading: &Heading| shown.hash_of(heading.section.clone());
        let shown_heading = |heading| headings.show(&context.budget, heading, HashLength::Short, hash_of);
        let found: Vec<HeadingOutput> = page.items.into_iter().map(shown_heading).collect::<Result<_, Reason>>()?;
        // The column names are then written once.
        let as_rows = found.len() > MOST_OBJECTS;
        let (rows, headings) =
            if as_rows { (Some(found.iter().map(row).collect()), None) } else { (None, Some(found)) };
        Ok(Output {
            content_hash: file.hash().to_string(),
            total_lines: shown.lines(),
            headings,
            columns: as_rows.then_some(COLUMNS),
            rows,
            next_offset: page.next,
            // On a single page, the list says it.
            total: (page.next.is_some() || input.offset > 0).then_some(page.total),
            notice: shown.is_lossy().then(|| NOT_UTF8.to_owned()),
            file: path.to_string(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, content_hash, total_lines, headings, rows, next_offset, total, .. } = output;
        let file = quoted(file);
        let mut text = format!("{file}: {}, hash {}", counted(*total_lines, "line"), hash::digits(content_hash));
        for heading in headings.iter().flatten() {
            text += &line(heading.line, heading.level, &heading.text, heading.section_hash.as_deref());
        }
        for row in rows.iter().flatten() {
            if let [RowCell::Text(heading), RowCell::Number(level), RowCell::Number(at), _, RowCell::Text(hash)] = row {
                text += &line(*at, u8::try_from(*level).unwrap_or(1), heading, Some(hash));
            }
        }
        if headings.as_ref().is_some_and(Vec::is_empty) {
            text += "\nNo headings.";
        }
        if let (Some(next), Some(total)) = (next_offset, total) {
            text += &format!("\n… {total} in all; go on with `offset: {next}`");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Plan\n## Tasks\n- [ ] Slates\n## Log\nDry.\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        let short = |section: &str| ContentHash::of(section.as_bytes()).to_string()[..15].to_owned();
        vec![
            Example {
                says: "The headings of a note",
                before: NOTES,
                input: json!({ "file": "Plan.md" }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(),
                    "totalLines": 5,
                    "headings": [
                        {
                            "id": "h-1", "path": "Plan", "text": "Plan", "level": 1, "line": 1, "endLine": 5,
                            "sectionHash": short(NOTE), "childrenCount": 2,
                        },
                        {
                            "id": "h-2", "path": "Plan::Tasks", "text": "Tasks", "level": 2, "line": 2, "endLine": 3,
                            "sectionHash": short("## Tasks\n- [ ] Slates\n"), "childrenCount": 0,
                        },
                        {
                            "id": "h-3", "path": "Plan::Log", "text": "Log", "level": 2, "line": 4, "endLine": 5,
                            "sectionHash": short("## Log\nDry.\n"), "childrenCount": 0,
                        },
                    ],
                })),
                after: &[],
            },
            Example {
                says: "Only the upper levels",
                before: NOTES,
                input: json!({ "file": "Plan.md", "maxDepth": 1 }),
                gives: ExampleResult::Including(json!({ "headings": [{ "path": "Plan", "childrenCount": 2 }] })),
                after: &[],
            },
            Example {
                says: "A page of many",
                before: NOTES,
                input: json!({ "file": "Plan.md", "limit": 1, "offset": 1 }),
                gives: ExampleResult::Including(
                    json!({ "headings": [{ "text": "Tasks" }], "total": 3, "nextOffset": 2 }),
                ),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "Plans.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}

/// The fields named in `COLUMNS`. The digits alone are enough of a hash.
fn row(heading: &HeadingOutput) -> [RowCell; 5] {
    let HeadingOutput { text, level, line, end_line, section_hash, .. } = heading;
    let digits = section_hash.as_deref().map_or("", |hash| hash.trim_start_matches("sha256:"));
    [
        RowCell::Text(text.clone()),
        RowCell::Number(usize::from(*level)),
        RowCell::Number(*line),
        RowCell::Number(*end_line),
        RowCell::Text(digits.to_owned()),
    ]
}

/// A heading as in the note, preceded by its line and followed by its hash.
fn line(at: usize, level: u8, text: &str, hash: Option<&str>) -> String {
    let marks = "#".repeat(usize::from(level));
    let hash = hash.map_or_else(String::new, |hash| format!(" {}", hash::digits(hash)));
    format!("\n{at} {marks} {}{hash}", quoted(text))
}
