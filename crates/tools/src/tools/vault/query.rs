//! Runs a Dataview query or a base and answers with its rows.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, clipped, fence::fenced, quote::quoted,
};
use lapidary_query::DroppedRows;
use lapidary_recipe::{MOST_RESULT_BYTES, TextArgument, TextLanguage};
use lapidary_toolkit::{
    cursor::PageCursor,
    querying::{AskedQuery, PageRequest, QUERY_REASONS, QueryFormat, QueryPage},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct QueryTool;

/// Ask for notes, their properties and tasks as rows: Dataview DQL (`TABLE rating FROM #book WHERE rating > 3 SORT rating
/// DESC`, `LIST`, `TASK WHERE !completed`), a `.base` file, or the YAML of a base.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// DQL, the path of a base, or its YAML.
    query: String,
    /// View of a base; else its first.
    #[serde(default)]
    view: Option<String>,
    /// The note that `this` is.
    #[serde(default)]
    note: Option<String>,
    /// `rows` are typed values.
    #[serde(default)]
    format: QueryFormat,
    /// Columns to leave out.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    without: Vec<String>,
    /// `nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    // `table`, `list`, `task`, `calendar`, or the type of the base's view. Comments here are not for schemas: what a model
    // reads of an answer explains itself, and the list of tools is paid for by everybody.
    r#type: String,
    // By type: `headers` and `rows`, `values`, `tasks`, `entries`; of a base `base`, `view`, `columns`, `rows`, `groups`,
    // `summaries`.
    #[serde(flatten)]
    fields: Map<String, Value>,
    // The result in another format than `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    // Rows of all pages.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    // Rows that errors left out, which the app does not mention.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    dropped: Vec<DroppedOutput>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The rows as Markdown, for the text of the answer.
    #[serde(skip)]
    markdown: String,
    #[serde(skip)]
    shown: usize,
}

/// Rows that an error left out.
#[derive(Serialize, JsonSchema)]
pub(super) struct DroppedOutput {
    /// The clause, filter or column.
    step: String,
    count: usize,
    /// The first few.
    messages: Vec<String>,
}

impl From<&DroppedRows> for DroppedOutput {
    fn from(dropped: &DroppedRows) -> Self {
        // A clause, and a message that quotes it, may be as long as the query.
        let messages = dropped.messages.iter().map(|message| clipped(message)).collect();
        Self { step: clipped(&dropped.step), count: dropped.count, messages }
    }
}

impl DroppedOutput {
    /// In one line.
    pub(super) fn sentence(&self) -> String {
        let first = self.messages.first().map_or(String::new(), |message| format!(": {}", quoted(message)));
        format!("{} left out by errors in {}{first}", counted(self.count, "row"), quoted(&self.step))
    }
}

/// What a page takes unless the caller asks for longer ones: some 3,000 tokens.
const USUAL_BYTES: usize = 12_000;
const USUAL_ROWS: usize = 50;
const LONGEST_PAGE: usize = 1000;

impl ReadTool for QueryTool {
    const DECLARATION: Declaration = Declaration {
        name: "query",
        dotted: None,
        title: "Query",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/note", role: PathRole::Read }],
        reasons: QUERY_REASONS,
        words: "query dataview dql base bases table list of notes by property, filter sort group rows columns, report, calendar, find broken links, dead links, unresolved links, notes without links, orphans",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/query", TextLanguage::Query)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let cursor = PageCursor::asked(context, input.cursor.as_deref(), LONGEST_PAGE)?;
        let asked = AskedQuery { query: &input.query, view: input.view.as_deref(), note: input.note.as_deref() };
        let page = cursor.offset..cursor.offset.saturating_add(cursor.limit);
        let result = asked.run(context, view, Some(page))?;
        let dropped = result.dropped().iter().map(DroppedOutput::from).collect();
        let warnings = result.warnings();
        // A caller that asks for longer pages means more bytes as well.
        let usual_room = USUAL_BYTES * cursor.limit.max(USUAL_ROWS) / USUAL_ROWS;
        // The query runs completely for each page: its order and count need all rows.
        let page = result.page(&PageRequest {
            offset: cursor.offset,
            limit: cursor.limit,
            room: if context.in_steps { MOST_RESULT_BYTES } else { usual_room },
            format: input.format,
            without: &input.without,
        });
        let QueryPage { mut fields, text, shown, total } = page;
        let end = cursor.offset.saturating_add(shown);
        let kind = fields.remove("type").and_then(|kind| kind.as_str().map(str::to_owned));
        let is_rows = input.format == QueryFormat::Rows;
        Ok(Output {
            r#type: kind.unwrap_or_default(),
            fields,
            text: (!is_rows).then(|| text.clone()),
            total,
            next_cursor: (end < total && shown > 0).then(|| PageCursor { offset: end, ..cursor }.written()),
            dropped,
            warnings,
            markdown: text,
            shown,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = match output.total {
            total if total > output.shown => format!("{} of {total} rows", output.shown),
            total => counted(total, "row").to_string(),
        };
        if let Some(cursor) = &output.next_cursor {
            text += &format!(", next cursor `{cursor}`");
        }
        for dropped in &output.dropped {
            text += &format!("\n{}", dropped.sentence());
        }
        for warning in &output.warnings {
            text += &format!("\n{}", quoted(warning));
        }
        if !output.markdown.is_empty() {
            text += &format!("\n{}", fenced(&output.markdown));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Books/Dune.md", "---\nrating: 9\nread: 2026-01-02\n---\n#book\n"),
            ("Books/Emma.md", "---\nrating: 7\n---\n#book\n- [ ] Return it\n"),
            ("Plan.md", "- [x] Slates\n"),
            (
                "Books.base",
                "filters: file.hasTag(\"book\")\nviews:\n  - type: table\n    name: Best\n    order: [file.name, rating]\n    sort:\n      - property: rating\n        direction: DESC\n",
            ),
        ];
        vec![
            Example {
                says: "A table in DQL",
                before: NOTES,
                input: json!({ "query": "TABLE rating, read FROM #book WHERE rating > 5 SORT rating DESC" }),
                gives: ExampleResult::Output(json!({
                    "type": "table",
                    "headers": ["File", "rating", "read"],
                    "rows": [
                        [{ "$link": { "path": "Books/Dune.md", "type": "file" } }, 9, { "$date": "2026-01-02" }],
                        [{ "$link": { "path": "Books/Emma.md", "type": "file" } }, 7, null],
                    ],
                    "total": 2,
                })),
                after: &[],
            },
            Example {
                says: "Open tasks, as Markdown",
                before: NOTES,
                input: json!({ "query": "TASK WHERE !completed", "format": "md" }),
                gives: ExampleResult::Output(json!({ "type": "task", "text": "- [ ] Return it\n", "total": 1 })),
                after: &[],
            },
            Example {
                says: "Broken links (dead, unresolved): those that lead to no file",
                before: &[("A.md", "[[B]] [[Gone]] ![[c.png]]\n"), ("B.md", ""), ("c.png", "")],
                // Dataview knows no files but notes: attachments have an ending.
                input: json!({ "query": "TABLE WITHOUT ID file.link, link FLATTEN file.outlinks AS link WHERE !link.file AND !regextest(\"\\.\\w+$\", meta(link).path)" }),
                gives: ExampleResult::Including(json!({ "total": 1, "rows": [[
                    { "$link": { "path": "A.md", "type": "file" } }, { "$link": { "path": "Gone" } },
                ]] })),
                after: &[],
            },
            Example {
                says: "Notes without links: orphans that no note links to",
                before: &[("A.md", "[[B]]\n"), ("B.md", "")],
                input: json!({ "query": "LIST WHERE length(file.inlinks) = 0" }),
                gives: ExampleResult::Including(json!({ "total": 1 })),
                after: &[],
            },
            Example {
                says: "A view of a base",
                before: NOTES,
                input: json!({ "query": "Books.base", "view": "Best" }),
                gives: ExampleResult::Output(json!({
                    "type": "table",
                    "base": "Books.base",
                    "view": "Best",
                    "columns": [{ "id": "file.name", "name": "file name" }, { "id": "rating", "name": "rating" }],
                    "rows": [
                        { "path": "Books/Dune.md", "values": { "file.name": "Dune", "rating": 9 } },
                        { "path": "Books/Emma.md", "values": { "file.name": "Emma", "rating": 7 } },
                    ],
                    "total": 2,
                })),
                after: &[],
            },
            Example {
                says: "A base that is only sent, as CSV without one column",
                before: NOTES,
                input: json!({
                    "query": "filters: rating > 8\nviews:\n  - type: table\n    name: All\n    order: [file.name, rating, read]\n",
                    "format": "csv",
                    "without": ["rating"],
                }),
                gives: ExampleResult::Including(json!({ "text": "file name,read\r\nDune,2026-01-02\r\n", "total": 1 })),
                after: &[],
            },
            Example {
                says: "A grouped base as CSV, with the group of each row",
                before: NOTES,
                input: json!({
                    "query": "filters: rating > 1\nviews:\n  - type: table\n    name: All\n    order: [file.name]\n    groupBy: {property: rating, direction: DESC}\n",
                    "format": "csv",
                }),
                gives: ExampleResult::Including(
                    json!({ "text": "group,file name\r\n9,Dune\r\n7,Emma\r\n", "total": 2 }),
                ),
                after: &[],
            },
            Example {
                says: "A query that cannot be read",
                before: NOTES,
                input: json!({ "query": "TABLE rating FRM #book" }),
                gives: ExampleResult::Refusal(ReasonKind::QueryInvalid),
                after: &[],
            },
            Example {
                says: "A view that the base does not have",
                before: NOTES,
                input: json!({ "query": "Books.base", "view": "best" }),
                gives: ExampleResult::Refusal(ReasonKind::ViewUnknown),
                after: &[],
            },
        ]
    }
}
