//! Makes an office document of a note, of rows or of a template.

mod embedding;
mod filling;
mod gathering;

use lapidary_note::counted;
use lapidary_office::{
    DocumentFacts, DocxParts, OfficeFormat, PptxParts, SheetTable, WriteFault, WrittenDocument, XlsxParts, sheet_names,
    write_docx, write_pptx, write_xlsx,
};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, bug, clipped,
    quote::{Prose, quoted},
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    note_edit::NoteWritten,
    reading,
    whole_file::{WholeFileEdit, WholeFileInput},
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::gathering::GatheredDocument;

pub(crate) struct DocumentCreate;

/// Make a Word document, slides or a workbook (the ending of `path` says which) from exactly one of `note`, `content`, `query` or
/// `rows`. With a `template`, one of the first two and one of the others may be given together.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    #[serde(flatten)]
    file: WholeFileInput,
    /// A note, with what it embeds; its tables for `.xlsx`. Or a CSV file.
    #[serde(default)]
    note: Option<String>,
    /// Markdown. Slides begin at `---` and at headings.
    #[serde(default)]
    content: Option<String>,
    /// DQL, the path of a base, or its YAML.
    #[serde(default)]
    query: Option<String>,
    /// View of a base.
    #[serde(default)]
    view: Option<String>,
    /// Objects, or lists of which the first has the names.
    #[serde(default)]
    rows: Option<Vec<Value>>,
    /// A document of the vault with `{{title}}`, `{{content}}`, `{{property}}`, `{{rows.column}}`.
    #[serde(default)]
    template: Option<String>,
    /// Else that of the note.
    #[serde(default)]
    title: Option<String>,
    /// Replace an existing file.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    created: bool,
    title: String,
    // The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slides: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sheets: Vec<SheetOutput>,
    // Placeholders of a template that have a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    filled: Option<u32>,
    // And rows that it has been given.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    #[serde(flatten)]
    written: NoteWritten,
}

#[derive(Serialize, JsonSchema)]
struct SheetOutput {
    name: String,
    // What it would be called if a sheet could be, or if no other was.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<String>,
    rows: usize,
    columns: usize,
}

/// A document, and what an answer says of it.
struct MadeDocument {
    bytes: Vec<u8>,
    slides: Option<usize>,
    sheets: Vec<SheetOutput>,
    filled: Option<u32>,
    rows: Option<u32>,
    notices: Vec<String>,
}

/// What an answer names of headings and sheets.
const NAMED: usize = 20;
/// And of sheets that had to be renamed.
const MOST_NAMED: usize = 60;
/// The largest document.
const MOST_BYTES: usize = 48 << 20;

impl WriteTool for DocumentCreate {
    const DECLARATION: Declaration = Declaration {
        name: "document_create",
        dotted: None,
        title: "Create a document",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[
            PathArgument { pointer: "/path", role: PathRole::Write },
            PathArgument { pointer: "/note", role: PathRole::Read },
            PathArgument { pointer: "/template", role: PathRole::Read },
        ],
        reasons: &[
            ReasonKind::FileExists,
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::TemplateRefused,
            ReasonKind::QueryInvalid,
            ReasonKind::QueryFailed,
            ReasonKind::QueryTooLarge,
            ReasonKind::ViewUnknown,
        ],
        words: "create make write export word document docx, powerpoint presentation slides pptx, excel workbook spreadsheet xlsx from note table query csv rows, fill letter invoice report template, convert markdown to office",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/query", TextLanguage::Query)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let format = format_of(tool, &reading::parse_path(&input.file.path)?)?;
        // Before anything is read, which may take long.
        gathering::check_sources(tool, &input)?;
        let edit = WholeFileEdit::at(tool, context, view, &input.file, input.overwrite)?;
        let gathered = gathering::gather(tool, context, view, edit.path(), format, &input)?;
        let most = context.budget.file_bytes().min(MOST_BYTES);
        let mut notices = gathered.notices();
        let title = clipped(&gathered.facts.title);
        let headings = if format == OfficeFormat::Docx { gathered.body.outline() } else { Vec::new() };
        let headings = headings.iter().take(NAMED).map(|heading| clipped(heading)).collect();
        let made = match &input.template {
            Some(template) => filling::fill(tool, context, view, template, format, gathered, most)?,
            None => written(tool, context, edit.path(), format, &gathered, most)?,
        };
        let MadeDocument { bytes, slides, sheets, filled, rows, notices: more } = made;
        // A template is as large as its owner made it, and a document larger than a file may be cannot be read again.
        if bytes.len() > most {
            return Err(too_large(tool, context, edit.path(), bytes.len()));
        }
        notices.extend(more);
        let notice = (!notices.is_empty()).then(|| notices.join(" "));
        let created = edit.is_new();
        Ok(edit.plan(bytes.into(), |path, written| Output {
            path: path.to_string(),
            created,
            title,
            headings,
            slides,
            sheets,
            filled,
            rows,
            notice,
            written,
        }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, created, headings, slides, sheets, filled, rows, notice, written, .. } = output;
        let done = match created {
            true => written.done("Made", "Would make"),
            false => written.done("Replaced", "Would replace"),
        };
        let mut text = format!("{done} {}", quoted(path));
        let counts = [
            slides.map(|slides| counted(slides, "slide").to_string()),
            filled.map(|filled| format!("{} filled", counted(filled as usize, "placeholder"))),
            rows.map(|rows| counted(rows as usize, "row").to_string()),
        ];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if !counts.is_empty() {
            text += &format!(": {}", counts.join(", "));
        }
        for SheetOutput { name, wanted, rows, columns } in sheets {
            let (rows, columns) = (counted(*rows, "row"), counted(*columns, "column"));
            let wanted = wanted.as_ref().map_or(String::new(), |wanted| format!(" (for {})", quoted(wanted)));
            text += &format!("\n- {}{wanted}: {rows}, {columns}", quoted(name));
        }
        headings.iter().for_each(|heading| text += &format!("\n- {}", quoted(heading)));
        text += &format!("\n{}", written.text());
        if let Some(notice) = notice {
            text += &format!("\n{notice}");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[(
            "Stones.md",
            "---\nauthor: Ada\n---\n# Stones\n\nThey *last*.\n\n| Name | Weight |\n|---|---|\n| Slate | 2.5 |\n",
        )];
        vec![
            Example {
                says: "A note as a Word document",
                before: NOTES,
                input: json!({ "path": "Stones.docx", "note": "Stones", "dryRun": true }),
                gives: ExampleResult::Including(
                    json!({ "path": "Stones.docx", "created": true, "headings": ["Stones"] }),
                ),
                after: NOTES,
            },
            Example {
                says: "The tables of a note as sheets",
                before: NOTES,
                input: json!({ "path": "Stones.xlsx", "note": "Stones.md", "dryRun": true }),
                gives: ExampleResult::Including(json!({ "sheets": [{ "name": "Stones", "rows": 1, "columns": 2 }] })),
                after: NOTES,
            },
            Example {
                says: "Slides from Markdown",
                before: &[],
                input: json!({ "path": "Talk.pptx", "content": "# Slate\n\nRoofs\n\n## Why\n\n- it lasts\n", "dryRun": true }),
                gives: ExampleResult::Including(json!({ "slides": 2, "title": "Slate" })),
                after: &[],
            },
            Example {
                says: "Rows of a query as a workbook",
                before: &[("a.md", "---\nrating: 9\n---\n")],
                input: json!({ "path": "Ratings.xlsx", "query": "TABLE rating", "dryRun": true }),
                gives: ExampleResult::Including(json!({ "sheets": [{ "name": "Ratings", "rows": 1, "columns": 2 }] })),
                after: &[("a.md", "---\nrating: 9\n---\n")],
            },
            Example {
                says: "Rows as JSON",
                before: &[],
                input: json!({ "path": "Prices.xlsx", "rows": [{ "stone": "Slate", "price": 12.5 }], "dryRun": true }),
                gives: ExampleResult::Including(json!({ "sheets": [{ "name": "Prices", "rows": 1, "columns": 2 }] })),
                after: &[],
            },
            Example {
                says: "A file that is there stays",
                before: &[("a.docx", "mine"), ("a.md", "text\n")],
                input: json!({ "path": "a.docx", "note": "a.md" }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("a.docx", "mine"), ("a.md", "text\n")],
            },
            Example {
                says: "A template that is damaged",
                before: &[("Letter.docx", "PK no document"), ("a.md", "text\n")],
                input: json!({ "path": "b.docx", "note": "a.md", "template": "Letter.docx" }),
                gives: ExampleResult::Refusal(ReasonKind::TemplateRefused),
                after: &[("Letter.docx", "PK no document"), ("a.md", "text\n")],
            },
            Example {
                says: "Nothing to make it of",
                before: &[],
                input: json!({ "path": "a.docx" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// The first sheets, and those that have another name than their table.
fn named_sheets(tables: &[SheetTable]) -> Vec<SheetOutput> {
    let sheets = tables.iter().zip(sheet_names(tables)).enumerate().filter_map(|(number, (table, name))| {
        let wanted = table.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_renamed = !wanted.is_empty() && wanted != name;
        (number < NAMED || is_renamed).then(|| SheetOutput {
            name,
            wanted: is_renamed.then(|| clipped(&wanted)),
            rows: table.rows.len(),
            columns: table.columns.len(),
        })
    });
    sheets.take(MOST_NAMED).collect()
}

/// By the ending, which also says what programs open it.
fn format_of(tool: &str, path: &VaultPath) -> Result<OfficeFormat, Reason> {
    // Exactly these: a reader takes others for the same kind, and programs refuse what has the ending of a file with macros.
    match path.name().rsplit_once('.').map(|(stem, ending)| (stem.is_empty(), ending.to_ascii_lowercase())) {
        Some((false, ending)) if ending == "docx" => Ok(OfficeFormat::Docx),
        Some((false, ending)) if ending == "pptx" => Ok(OfficeFormat::Pptx),
        Some((false, ending)) if ending == "xlsx" => Ok(OfficeFormat::Xlsx),
        _ => Err(Reason::bad_argument(tool, "path", "must end in `.docx`, `.pptx` or `.xlsx`")),
    }
}

/// A document without a template.
fn written(
    tool: &str,
    context: &Context<'_>,
    path: &VaultPath,
    format: OfficeFormat,
    gathered: &GatheredDocument,
    most_bytes: usize,
) -> Result<MadeDocument, Reason> {
    let facts: &DocumentFacts = &gathered.facts;
    let mut sheets = Vec::new();
    let made = match format {
        OfficeFormat::Docx => write_docx(&DocxParts { body: &gathered.shown_body(), facts, most_bytes }),
        OfficeFormat::Pptx => write_pptx(&PptxParts { body: &gathered.shown_body(), facts, most_bytes }),
        OfficeFormat::Xlsx => {
            // Those of a note are copies of its words.
            let _held = gathered.body.held.clone();
            let tables = gathered.sheets();
            if tables.is_empty() {
                let problem = "has no table for a workbook: give `rows` or `query`, or choose `.docx`";
                let argument = if gathered.is_note { "note" } else { "content" };
                return Err(Reason::bad_argument(tool, argument, problem));
            }
            let made = write_xlsx(&XlsxParts { tables: &tables, facts, most_bytes });
            // Not of more sheets than there may be: each looks for a name that the others do not have.
            if made.is_ok() {
                sheets = named_sheets(&tables);
            }
            made
        }
    };
    context.check()?;
    let refused = |problem: String| Reason::bad_argument(tool, "", Prose::ours(problem));
    let made = made.map_err(|fault| match fault {
        WriteFault::TooLarge => too_large(tool, context, path, most_bytes.saturating_add(1)),
        WriteFault::TooLong { most } => {
            refused(format!("the document would have more than {} MB of text and markup", most >> 20))
        }
        WriteFault::TooMany { most } => {
            let parts = if format == OfficeFormat::Pptx { "slides" } else { "sheets" };
            refused(format!("the document would have more than {most} {parts}"))
        }
        WriteFault::TooManyRows { most } => refused(format!("a table would have more than {most} rows")),
        WriteFault::TooManyColumns { most } => {
            let more = if format == OfficeFormat::Xlsx { "" } else { ": leave some out, or choose `.xlsx`" };
            refused(format!("a table would have more than {most} columns{more}"))
        }
        WriteFault::Incomplete => bug!("a document refers to a part that it does not have"),
    })?;
    let WrittenDocument { bytes, slides, pictures_left_out, texts_cut } = made;
    let notices = [
        ("Pictures that have no place where the note has them", pictures_left_out),
        ("Texts cut because a cell has at most 32767 characters", texts_cut),
    ];
    let notices = notices.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what}: {count}."));
    let slides = (format == OfficeFormat::Pptx).then_some(slides);
    Ok(MadeDocument { bytes, slides, sheets, filled: None, rows: None, notices: notices.collect() })
}

/// A document with this many bytes, or more.
fn too_large(tool: &str, context: &Context<'_>, path: &VaultPath, bytes: usize) -> Reason {
    // Only what the owner has set can be raised.
    if context.budget.file_bytes() <= MOST_BYTES {
        return context.budget.file_too_large(path, bytes);
    }
    let problem = format!("the document would have more than {} MB", MOST_BYTES >> 20);
    Reason::bad_argument(tool, "", Prose::ours(problem))
}
