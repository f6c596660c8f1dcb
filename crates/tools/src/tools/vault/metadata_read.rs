//! Reads the metadata of a note.

use std::collections::BTreeMap;

use lapidary_note::{ContentHash, Heading, counted};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::quoted,
};
use lapidary_toolkit::{
    hash, link,
    naming::{self, NamedFile},
    place::LineColumns,
    properties,
    reading::{self, NOT_UTF8},
    tags,
    time::{milliseconds, minute},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct MetadataRead;

/// Everything about a note except its text: properties, headings with their section hashes, tags, aliases, blocks,
/// tasks, number of links by kind, size and times.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    content_hash: String,
    total_lines: usize,
    size_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctime_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontmatter: Option<PropertiesOutput>,
    headings: Vec<HeadingOutput>,
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<BlockEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<TasksOutput>,
    link_counts: BTreeMap<link::LinkWord, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PropertiesOutput {
    data: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontmatter_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HeadingOutput {
    path: String,
    level: u8,
    line: usize,
    end_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    section_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct BlockEntry {
    id: String,
    line: usize,
}

#[derive(Serialize, JsonSchema)]
struct TasksOutput {
    total: usize,
    done: usize,
}

impl ReadTool for MetadataRead {
    const DECLARATION: Declaration = Declaration {
        name: "metadata_read",
        dotted: Some("metadata.read"),
        title: "Read a note's metadata",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "metadata frontmatter properties headings tags aliases blocks tasks links size of a note, when was it last modified",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let note = shown.note();
        // Lines are found by bisection: a note may have thousands of headings.
        let places = LineColumns::of(note.text);
        let hash_of = |span| shown.hash_of(span).map(|hash| hash.to_string());
        let heading_output = |heading: &Heading| {
            let parts = note.heading_path(heading);
            // Below one long heading, each path repeats it: a small note could make a huge answer.
            context.budget.answer(parts.iter().map(|part| part.len()).sum())?;
            Ok(HeadingOutput {
                path: parts.join("::"),
                level: heading.level,
                line: heading.line,
                end_line: places.last_line(heading.section.end),
                section_hash: hash_of(heading.section.clone()),
            })
        };
        let headings = note.headings.iter().map(heading_output).collect::<Result<_, Reason>>()?;
        let frontmatter = note.frontmatter.as_ref().map(|block| PropertiesOutput {
            data: note
                .readable_properties()
                .iter()
                .map(|property| (property.key.clone(), properties::json(&property.value.to_value())))
                .collect(),
            frontmatter_hash: hash_of(block.span.clone()),
        });
        let notice = match &note.properties {
            // The more basic problem is the one to report.
            _ if shown.is_lossy() => Some(NOT_UTF8.to_owned()),
            Err(problem) => Some(format!("The properties are not valid YAML ({problem}), so `data` is empty.")),
            Ok(_) => None,
        };
        // By the box of each task, whatever its fields say.
        let done = note.tasks.iter().filter(|task| task.is_completed()).count();
        Ok(Output {
            content_hash: file.hash().to_string(),
            total_lines: shown.lines(),
            size_bytes: file.content.len(),
            mtime_ms: file.modified.map(|time| milliseconds(Some(time))),
            ctime_ms: file.created.map(|time| milliseconds(Some(time))),
            frontmatter,
            headings,
            tags: tags::of_note(&note),
            aliases: note.aliases().into_iter().map(str::to_owned).collect(),
            blocks: note
                .blocks
                .iter()
                .map(|block| BlockEntry { id: block.id.clone(), line: places.line(block.marker.start) })
                .collect(),
            // Left out without tasks, as most notes have none.
            tasks: (!note.tasks.is_empty()).then_some(TasksOutput { total: note.tasks.len(), done }),
            link_counts: link::counts(&note),
            notice,
            file: path.to_string(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, content_hash, total_lines, size_bytes, mtime_ms, frontmatter, .. } = output;
        let file = quoted(file);
        // Some stores have no times.
        let changed = mtime_ms.map_or_else(String::new, |time| format!(", changed {}", minute(time)));
        let hash = hash::digits(content_hash);
        let lines = counted(*total_lines, "line");
        let mut text = format!("{file}: {lines}, {size_bytes} bytes{changed}, hash {hash}");
        if let Some(PropertiesOutput { data, frontmatter_hash }) = frontmatter {
            let hash = frontmatter_hash.as_deref().map_or("", hash::digits);
            // They may have any text, so that they must not look like words of the server.
            text += &format!("\nProperties {hash} {}", quoted(&Value::Object(data.clone()).to_string()));
        }
        let list = |name: &str, mark: &str, items: Vec<&String>| match &items[..] {
            [] => String::new(),
            items => {
                let items: Vec<String> = items.iter().map(|item| format!("{mark}{}", quoted(item))).collect();
                format!("\n{name}: {}", items.join(", "))
            }
        };
        text += &list("Tags", "#", output.tags.iter().collect());
        text += &list("Aliases", "", output.aliases.iter().collect());
        text += &list("Blocks", "^", output.blocks.iter().map(|block| &block.id).collect());
        let tasks = |TasksOutput { total, done }: &TasksOutput| format!("\nTasks: {done} of {total} done");
        text += &output.tasks.as_ref().map_or_else(String::new, tasks);
        let links: Vec<String> = output
            .link_counts
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(kind, count)| format!("{count} {}", kind.name()))
            .collect();
        text += &if links.is_empty() { String::new() } else { format!("\nLinks: {}", links.join(", ")) };
        for HeadingOutput { path, level, line, section_hash, .. } in &output.headings {
            // The last part is enough in a list that shows the levels.
            let heading = path.rsplit("::").next().unwrap_or(path);
            let hash = section_hash.as_deref().map_or("", hash::digits);
            text += &format!("\n{line} {} {} {hash}", "#".repeat(usize::from(*level)), quoted(heading));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\ntags: [stone]\n---\n# Plan\n- [x] cut [[Garnet]] ^cut\n## Next\n#later\n";
        vec![
            Example {
                says: "The metadata of a note",
                before: &[("Plan.md", NOTE)],
                input: json!({ "file": "Plan.md" }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(),
                    "totalLines": 7,
                    "sizeBytes": NOTE.len(),
                    "frontmatter": {
                        "data": { "tags": ["stone"] },
                        "frontmatterHash": ContentHash::of(b"---\ntags: [stone]\n---\n").to_string(),
                    },
                    "headings": [
                        {
                            "path": "Plan", "level": 1, "line": 4, "endLine": 7,
                            "sectionHash": ContentHash::of(&NOTE.as_bytes()[22..]).to_string(),
                        },
                        {
                            "path": "Plan::Next", "level": 2, "line": 6, "endLine": 7,
                            "sectionHash": ContentHash::of(b"## Next\n#later\n").to_string(),
                        },
                    ],
                    "tags": ["stone", "later"],
                    "blocks": [{ "id": "cut", "line": 5 }],
                    "tasks": { "total": 1, "done": 1 },
                    "linkCounts": { "wiki": 1 },
                })),
                after: &[],
            },
            Example {
                says: "Tasks in progress, moved or cancelled are not done",
                before: &[("a.md", "- [x] a\n- [X] b\n- [ ] c\n- [/] d\n- [>] e\n- [-] f\n")],
                input: json!({ "file": "a.md" }),
                gives: ExampleResult::Including(json!({ "tasks": { "total": 6, "done": 2 } })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: &[("Plan.md", NOTE)],
                input: json!({ "file": "plan2.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}
