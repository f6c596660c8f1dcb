//! Links a note to the notes that it names.

use std::collections::HashSet;

use lapidary_note::LinkForm;
use lapidary_note::{Note, counted};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, fence::fenced, quote::one_line,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    index,
    mentions::{self, NamedNote},
    naming::title,
    passages::rounded,
    related,
};
use lapidary_vault::{VaultPath, View, VisibleFiles, links::linkpath_for};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct LinkSuggest;

/// Link the notes that a note names without a link, at the first place of each, and with `related` list the notes that are close
/// to it by meaning below a heading at its end. `dry_run` shows the plan.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// At most this many links in the text.
    #[serde(default = "limit")]
    #[schemars(range(max = 100))]
    limit: usize,
    /// How many close notes to list; the answer names them in any case.
    #[serde(default)]
    #[schemars(range(max = 20))]
    related: usize,
    /// Above these.
    #[serde(default = "heading")]
    heading: String,
}

fn limit() -> usize {
    20
}

fn heading() -> String {
    "Related".to_owned()
}

/// Close notes that the answer names.
const MOST_CLOSE: usize = 5;
/// Notes that are compared, since some are linked.
const COMPARED: usize = 60;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    links: Vec<MadeLink>,
    /// Notes that it is not linked with and that say similar things.
    close: Vec<CloseEntry>,
    /// How many of these are listed in the note now.
    listed: usize,
}

#[derive(Serialize, JsonSchema)]
struct MadeLink {
    /// In the note as it was.
    line: usize,
    text: String,
    target: String,
}

#[derive(Serialize, JsonSchema)]
struct CloseEntry {
    path: String,
    similarity: f64,
}

impl WriteTool for LinkSuggest {
    const DECLARATION: Declaration = Declaration {
        name: "link_suggest",
        dotted: None,
        title: "Suggest links",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::StalePrecondition],
        words: "suggest links, link unlinked mentions, auto-link names of notes, connect a note with related notes, add a related section, Links vorschlagen, suggérer des liens, sugerir enlaces, 建议链接, リンクを提案",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        // Models write it as it is in the note.
        let heading = input.heading.trim().trim_start_matches('#').trim_start();
        if heading.is_empty() || heading.contains('\n') {
            return Err(editing.bad_argument("heading", "must be one line"));
        }
        let (document, path) = (editing.document()?, editing.path().clone());
        let notes = index::notes(context, view)?;
        let text = document.shown();
        let note = Note::parse(text);
        let mut linked = linked(&note, &path, notes);
        let named = mentions::find(context, notes, &path, text, &linked, input.limit)?;
        // A note that gets a link in the text is not listed as well.
        linked.extend(named.iter().map(|named| named.path.clone()));
        // The answer names some even if none is to be listed in the note.
        let wanted = input.related.max(MOST_CLOSE);
        // Without vectors there are no close notes, and links are made all the same.
        let close = related::close_notes(context, view, &path, COMPARED, input.related > 0)?.unwrap_or_default();
        let close: Vec<_> = close.into_iter().filter(|close| !linked.contains(&close.path)).take(wanted).collect();
        let writer = LinkWriter { view, files: notes, source: &path };
        let mut changes: Vec<_> = named.iter().map(|named| (named.span.clone(), writer.in_text(text, named))).collect();
        let listed = input.related.min(close.len());
        if listed > 0 {
            // Blank lines at the end go, so that exactly one is above the heading.
            let end = text.trim_end().len();
            let list: String =
                close.iter().take(listed).map(|close| format!("- {}\n", writer.in_list(&close.path))).collect();
            // The list of an earlier call goes on.
            let is_last = note.headings.last().is_some_and(|last| last.text.trim() == heading);
            let added = match (is_last, end) {
                (true, _) => format!("\n{list}"),
                (false, 0) => format!("## {heading}\n\n{list}"),
                (false, _) => format!("\n\n## {heading}\n\n{list}"),
            };
            changes.push((end..text.len(), added));
        }
        let edited = document.replace_ranges(changes).map_err(|error| editing.refusal(error))?;
        let made = |named: &NamedNote| MadeLink {
            line: named.line,
            text: text[named.span.clone()].to_owned(),
            target: named.path.to_string(),
        };
        let links = named.iter().map(made).collect();
        let entry = |close: &lapidary_vault::CloseNote| CloseEntry {
            path: close.path.to_string(),
            similarity: rounded(close.cosine),
        };
        let close = close.iter().map(entry).collect();
        Ok(editing.plan(&edited.document, |written| Output { written, links, close, listed }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { written, links, close, listed } = output;
        let mut done = counted(links.len(), "link").to_string();
        if *listed > 0 {
            done += &format!(", {} listed", counted(*listed, "close note"));
        }
        let mut lines = String::new();
        for MadeLink { line, text, target } in links {
            lines += &format!("{line}: {} → {}\n", one_line(text), one_line(target));
        }
        for CloseEntry { path, similarity } in close {
            lines += &format!("close {similarity:.2}: {}\n", one_line(path));
        }
        let lines = if lines.is_empty() { String::new() } else { format!("\n{}", fenced(&lines)) };
        Some(format!("{}{lines}", written.text(&done)))
    }

    fn examples(&self) -> Vec<Example> {
        const LOG: &str = "Called Anna Berger about the roof. Roof Plan is done; the roof plan again.\n";
        const LINKED: &str = "Called [[Anna Berger]] about the roof. [[Roof Plan]] is done; the roof plan again.\n";
        const NOTES: &[(&str, &str)] = &[("Log.md", LOG), ("People/Anna Berger.md", ""), ("Roof Plan.md", "")];
        const STOVE: &str = "A fireplace keeps the house warm when the central heating fails in cold winter weather.\n";
        const HOUSE: &[(&str, &str)] =
            &[("Boiler.md", "The heating loses pressure in winter. Bleed the radiators.\n"), ("Stove.md", STOVE)];
        const LISTED: &[(&str, &str)] = &[
            (
                "Boiler.md",
                "The heating loses pressure in winter. Bleed the radiators.\n\n## See also\n\n- the plumber\n",
            ),
            ("Stove.md", STOVE),
        ];
        const GROWN: &[(&str, &str)] = &[
            (
                "Boiler.md",
                "The heating loses pressure in winter. Bleed the radiators.\n\n## See also\n\n- the plumber\n- [[Stove]]\n",
            ),
            ("Stove.md", STOVE),
        ];
        vec![
            Example {
                says: "The first mention of each note becomes a link",
                before: NOTES,
                input: json!({ "file": "Log.md" }),
                gives: ExampleResult::Including(json!({ "changed": true, "links": [
                    { "line": 1, "text": "Anna Berger", "target": "People/Anna Berger.md" },
                    { "line": 1, "text": "Roof Plan", "target": "Roof Plan.md" },
                ], "listed": 0 })),
                after: &[("Log.md", LINKED), ("People/Anna Berger.md", ""), ("Roof Plan.md", "")],
            },
            Example {
                says: "Close notes are listed at the end",
                before: HOUSE,
                input: json!({ "file": "Boiler.md", "related": 1, "heading": "See also" }),
                gives: ExampleResult::Including(
                    json!({ "changed": true, "links": [], "listed": 1, "close": [{ "path": "Stove.md" }] }),
                ),
                after: &[
                    (
                        "Boiler.md",
                        "The heating loses pressure in winter. Bleed the radiators.\n\n## See also\n\n- [[Stove]]\n",
                    ),
                    ("Stove.md", STOVE),
                ],
            },
            Example {
                says: "An existing list is continued",
                before: LISTED,
                input: json!({ "file": "Boiler.md", "related": 1, "heading": "## See also" }),
                gives: ExampleResult::Including(json!({ "changed": true, "listed": 1 })),
                after: GROWN,
            },
            Example {
                says: "Only the plan",
                before: NOTES,
                input: json!({ "file": "Log.md", "dry_run": true }),
                gives: ExampleResult::Including(json!({ "changed": true, "dry_run": true })),
                after: NOTES,
            },
            Example {
                says: "A note that changed since it was read is not touched",
                before: NOTES,
                input: json!({ "file": "Log.md", "expected_content_hash": "sha256:000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
        ]
    }
}

/// What a note links to.
fn linked(note: &Note<'_>, source: &VaultPath, files: &VisibleFiles) -> HashSet<VaultPath> {
    let in_text = note.links.iter().map(|link| link.target(note.text).into_owned());
    let in_properties = note.property_links().into_iter().map(|found| found.link.target(&found.value).into_owned());
    in_text.chain(in_properties).filter_map(|target| files.resolve(&target, source).cloned()).collect()
}

/// Writes links as the owner's settings say.
struct LinkWriter<'v> {
    view: &'v View,
    files: &'v VisibleFiles,
    source: &'v VaultPath,
}

impl LinkWriter<'_> {
    fn written(&self, path: &VaultPath, words: &str, in_table: bool) -> String {
        let settings = self.view.app_settings();
        let form = if settings.markdown_links { LinkForm::Markdown } else { LinkForm::Wiki };
        let target = linkpath_for(self.files, path, self.source, settings.new_links, form);
        match form {
            // Blanks and brackets in a path do no harm there.
            LinkForm::Markdown => format!("[{words}](<{target}>)"),
            LinkForm::Wiki if target == words => format!("[[{target}]]"),
            // A bar would begin the next cell.
            LinkForm::Wiki => format!("[[{target}{}{words}]]", if in_table { "\\|" } else { "|" }),
        }
    }

    fn in_text(&self, text: &str, named: &NamedNote) -> String {
        let start = text[..named.span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[named.span.end..].find('\n').map_or(text.len(), |at| named.span.end + at);
        // A line with a bar is probably a row of a table.
        self.written(&named.path, &text[named.span.clone()], text[start..end].contains('|'))
    }

    fn in_list(&self, path: &VaultPath) -> String {
        let settings = self.view.app_settings();
        match settings.markdown_links {
            true => self.written(path, title(path), false),
            false => format!("[[{}]]", linkpath_for(self.files, path, self.source, settings.new_links, LinkForm::Wiki)),
        }
    }
}
