//! Lists what changed since a time, by any program.

mod story;

use std::time::SystemTime;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRefusal, PathRole, ReadTool, Reason, ReasonKind,
    ToolGroup, WireFamily, clipped, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{
    cursor::PageCursor,
    reading,
    time::{iso, moment},
};
use lapidary_vault::{ReadError, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use story::{FileStory, stories};

pub(crate) struct Changes;

/// What changed in the vault since a time, through these tools or not, newest first; with `diff`, how.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// `today`, `yesterday`, `2h`, `7d`, `2026-11-16` or a time with its zone.
    #[serde(default = "a_day")]
    since: String,
    /// Only below this folder.
    #[serde(default)]
    path: Option<String>,
    /// Add one diff of all of them.
    #[serde(default)]
    diff: bool,
    /// Of the diff.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 100, max = 1_000_000))]
    max_bytes: usize,
    /// How many files.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    /// From the previous answer.
    #[serde(default)]
    cursor: Option<String>,
}

fn a_day() -> String {
    "24h".to_owned()
}

fn max_bytes() -> usize {
    8_000
}

fn limit() -> usize {
    50
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// As requested.
    since: String,
    files: Vec<ChangedFile>,
    /// On all pages.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unified_diff: Option<String>,
    /// Files of this page that the diff lacks: they do not fit, or their previous content was not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_diff: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChangedFile {
    path: String,
    /// `created`, `changed`, `moved`, `deleted`.
    what: &'static str,
    /// Its path before.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
    time: String,
    /// Which tool changed it, if any did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<String>,
    /// Changed by a person or another program.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    outside: bool,
}

impl ReadTool for Changes {
    const DECLARATION: Declaration = Declaration {
        name: "changes",
        dotted: None,
        title: "What changed",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::List }],
        reasons: &[],
        words: "what changed since today yesterday this week, recent changes, recently modified notes, latest edits, \
                what is new, what happened while I was away, activity, did another person or program edit my files, edited by hand",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let name = Self::DECLARATION.name;
        let since = moment(&input.since, &context.now).ok_or_else(|| {
            let problem = "must be like `today`, `2h`, `7d`, `2026-11-16` or `2026-11-16T08:00:00Z`";
            Reason::bad_argument(name, "since", problem)
        })?;
        let folder = input.path.as_deref().filter(|folder| !folder.trim_matches('/').is_empty());
        let folder = folder.map(reading::parse_path).transpose()?;
        if let Some(folder) = &folder
            // A missing folder is accepted, as what was in it may have been deleted since.
            && let Err(ReadError::Denied(denied)) = view.may_enter(folder)
        {
            let denied = PathRefusal::ByScope(denied);
            return Err(Reason::PathForbidden { path: folder.clone(), writing: false, denied });
        }
        // The cursor carries its own limit, so that pages stay the same size.
        let page = match &input.cursor {
            Some(given) => PageCursor::parse(Some(given))?,
            None => PageCursor { offset: 0, limit: input.limit },
        };
        let all = stories(context, view, SystemTime::from(since), folder.as_ref())?;
        // Before the page is cut, to tell how many there are in all.
        let total = all.len();
        let shown: Vec<FileStory> = all.into_iter().skip(page.offset).take(page.limit).collect();
        let next = page.offset.saturating_add(shown.len());
        // An empty page would lead to itself forever.
        let next_cursor = (next < total && !shown.is_empty()).then(|| PageCursor { offset: next, ..page }.written());
        let (unified_diff, without_diff) = match input.diff {
            true => story::one_diff(context, view, &shown, input.max_bytes)?,
            false => (None, Vec::new()),
        };
        let files = shown.into_iter().map(|story| ChangedFile {
            what: story.what(),
            moved_from: story.moved_from().map(ToString::to_string),
            path: story.path.to_string(),
            time: iso(story.time),
            tools: story.tools,
            outside: story.outside,
        });
        Ok(Output {
            // As the caller wrote it, which is what its answer is compared with.
            since: clipped(input.since.trim()),
            files: files.collect(),
            total,
            next_cursor,
            unified_diff,
            without_diff,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { since, files, total, next_cursor, unified_diff, without_diff } = output;
        if *total == 0 {
            return Some(format!("Nothing changed since {}.", quoted(since)));
        }
        let mut text = format!("{} since {}", counted(*total, "file"), quoted(since));
        for ChangedFile { path, what, moved_from, time, tools, outside } in files {
            let from = moved_from.as_ref().map_or_else(String::new, |from| format!("{} → ", quoted(from)));
            let by: Vec<&str> = tools.iter().map(String::as_str).chain(outside.then_some("outside")).collect();
            text += &format!("\n{time} {what} {from}{} ({})", quoted(path), by.join(", "));
        }
        text.extend(next_cursor.iter().map(|cursor| format!("\nMore: `cursor: \"{cursor}\"`.")));
        text.extend(unified_diff.iter().map(|diff| format!("\n{}", fenced(diff))));
        if !without_diff.is_empty() {
            // A few names are enough: the list of files has all of them.
            let names: Vec<String> = without_diff.iter().take(5).map(|name| quoted(name).to_string()).collect();
            let more = if without_diff.len() > names.len() { ", …" } else { "" };
            text += &format!("\nNot in the diff: {}{more}.", names.join(", "));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "What an edit did",
                before: &[("a.md", "old\n"), ("b.md", "b\n")],
                input: json!({ "since": "2h", "path": "", "diff": true }),
                gives: ExampleResult::Including(json!({
                    "unifiedDiff": "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-old\n+new\n",
                }))
                .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: &[],
            },
            Example {
                says: "Nothing below a folder",
                before: &[("a.md", "old\n")],
                input: json!({ "path": "Empty" }),
                gives: ExampleResult::Including(json!({ "files": [], "total": 0 })),
                after: &[],
            },
            Example {
                says: "An invalid time",
                before: &[],
                input: json!({ "since": "lately" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
