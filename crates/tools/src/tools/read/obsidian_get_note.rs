//! Reads a note in one of several formats.

use lapidary_note::{ContentHash, Heading, HeadingMatch, Link, LinkKind, Note};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, clipped,
    fence::fenced,
    quote::{Prose, quoted, quoted_list},
};
use lapidary_toolkit::{
    hash,
    naming::NamedFile,
    properties,
    reading::{self, NOT_UTF8, ShownFile},
    rendered_queries::{RenderLimits, render_queries},
    section::{MOST_NAMES, NoteSection, SectionOutput, SectionType, names},
    target::NoteTarget,
    time::minute,
    whole::{NoteContents, readable_properties},
};
use lapidary_vault::{File, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) struct ObsidianGetNote;

/// Read a note or a section of it, with the hash that an edit can expect. For a long note, read the `document-map`
/// first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Text (default); text with tags and times; headings, blocks and property names; one `section`.
    #[serde(default)]
    #[schemars(with = "NoteFormat")]
    format: Option<NoteFormat>,
    /// Which note.
    target: NoteTarget,
    /// With `section`: which one.
    #[serde(default)]
    section: Option<NoteSection>,
    /// With `full`: also the links to other files.
    #[serde(default)]
    include_links: bool,
    /// With `content` and `full`: results in place of queries.
    #[serde(default)]
    render_queries: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum NoteFormat {
    Content,
    Full,
    DocumentMap,
    Section,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    result: NoteOutput,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// One note; the fields depend on `format`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NoteOutput {
    format: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_path: Option<String>,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    eol: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(flatten)]
    body: NoteBody,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum NoteBody {
    Full {
        #[serde(flatten)]
        whole: NoteContents,
        #[serde(skip_serializing_if = "Option::is_none")]
        outgoing_links: Option<Vec<OutgoingLink>>,
    },
    Content {
        content: String,
    },
    DocumentMap {
        headings: Vec<String>,
        blocks: Vec<String>,
        frontmatter_fields: Vec<String>,
    },
    Section {
        section: SectionOutput,
        #[serde(skip_serializing_if = "Option::is_none")]
        section_target: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        candidates: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        value_text: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        value_json: Option<Value>,
    },
}

#[derive(Serialize, JsonSchema)]
struct OutgoingLink {
    target: String,
    r#type: &'static str,
}

impl ReadTool for ObsidianGetNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_get_note",
        dotted: None,
        title: "Obsidian Get Note",
        family: WireFamily::Obsidian,
        group: ToolGroup::Read,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Read }],
        reasons: &[
            ReasonKind::SectionRequired,
            ReasonKind::NoteMissing,
            ReasonKind::PeriodicNotFound,
            ReasonKind::SectionMissing,
            ReasonKind::FrontmatterInvalid,
        ],
        words: "read open show get note, daily note of today, outline, headings, table of contents, section, frontmatter, properties, metadata, tags, links in a note",
    };
    const TAKES_TARGET: bool = true;
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // A caller that names a section wants to read it.
        let usual = if input.section.is_some() { NoteFormat::Section } else { NoteFormat::Content };
        let format = input.format.unwrap_or(usual);
        // Before the note is read: the answer does not depend on it.
        if format == NoteFormat::Section && input.section.is_none() {
            return Err(Reason::SectionRequired);
        }
        let found = input.target.find(Self::DECLARATION.name, context, view)?;
        let renamed = found.notice();
        let NamedFile { path, file, requested } = found;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let mut notices = Vec::new();
        notices.extend(renamed);
        notices.extend(shown.is_lossy().then(|| NOT_UTF8.to_owned()));
        // Queries may look at the whole vault, so they are run only if their results are shown.
        let shows_text = matches!(format, NoteFormat::Content | NoteFormat::Full);
        let rendered = match input.render_queries && shows_text {
            true => {
                let rendered = render_queries(context, view, &path, &shown.note(), RenderLimits::ANSWER)?;
                // A result repeats text of other notes.
                context.budget.answer(rendered.text.len())?;
                Some(rendered)
            }
            false => None,
        };
        notices.extend(rendered.as_ref().and_then(|rendered| rendered.count.notice()));
        let (format, mut body) = match (format, &input.section) {
            (NoteFormat::Content, _) => ("content", NoteBody::Content { content: shown.text().to_owned() }),
            (NoteFormat::Full, _) => ("full", full(&file, &shown, input.include_links, &mut notices)),
            (NoteFormat::DocumentMap, _) => ("document-map", document_map(context, &shown, &mut notices)?),
            (NoteFormat::Section, Some(section)) => {
                ("section", one_section(context, &path, &shown, section, &mut notices)?)
            }
            // Refused above; the match does not know that.
            (NoteFormat::Section, None) => return Err(Reason::SectionRequired),
        };
        if let (
            Some(rendered),
            NoteBody::Content { content } | NoteBody::Full { whole: NoteContents { content, .. }, .. },
        ) = (rendered, &mut body)
        {
            // Only the text is replaced: the hash is that of the file, for an edit.
            *content = rendered.text;
        }
        let result = NoteOutput {
            format,
            path: path.to_string(),
            requested_path: requested.map(|path| path.to_string()),
            content_hash: file.hash().to_string(),
            eol: shown.eol(),
            bom: shown.bom(),
            body,
        };
        Ok(Output { result, notice: (!notices.is_empty()).then(|| notices.join(" ")) })
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(markdown(&output.result))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nstatus: open\n---\n# Plan\n## Tasks\n- [ ] Slates ^slates\n## Log\nDry.\n";
        const NOTES: &[(&str, &str)] = &[("Projects/Plan.md", NOTE)];
        let hash = ContentHash::of(NOTE.as_bytes()).to_string();
        let target = json!({ "type": "path", "path": "Projects/Plan.md" });
        vec![
            Example {
                says: "What is in a note",
                before: NOTES,
                input: json!({ "format": "document-map", "target": target }),
                gives: ExampleResult::Output(json!({ "result": {
                    "format": "document-map",
                    "path": "Projects/Plan.md",
                    "contentHash": hash,
                    "headings": ["Plan", "Plan::Tasks", "Plan::Log"],
                    "blocks": ["slates"],
                    "frontmatterFields": ["status"],
                } })),
                after: &[],
            },
            Example {
                says: "One section",
                before: NOTES,
                input: json!({ "format": "section", "target": target, "section": { "type": "heading", "target": "Log" } }),
                gives: ExampleResult::Including(json!({ "result": {
                    "section": { "type": "heading", "target": "Log" },
                    "sectionTarget": "Plan::Log",
                    "valueText": "## Log\nDry.",
                    "contentHash": hash,
                } })),
                after: &[],
            },
            Example {
                says: "A section by its heading alone",
                before: NOTES,
                input: json!({ "target": target, "section": "Log" }),
                gives: ExampleResult::Including(
                    json!({ "result": { "format": "section", "valueText": "## Log\nDry." } }),
                ),
                after: &[],
            },
            Example {
                says: "A note in the wrong case, with a bare path",
                before: NOTES,
                input: json!({ "target": "Projects/plan.md" }),
                gives: ExampleResult::Including(
                    json!({ "result": { "format": "content", "path": "Projects/Plan.md", "requestedPath": "Projects/plan.md" } }),
                ),
                after: &[],
            },
            Example {
                says: "The daily note of a day, as Obsidian is set",
                before: &[
                    (".obsidian/daily-notes.json", "{\"folder\": \"Daily\", \"format\": \"YYYY/MM-DD\"}"),
                    ("Daily/2026/04-13.md", "Rain.\n"),
                ],
                input: json!({ "format": "content", "target": { "type": "periodic", "period": "daily", "date": "2026-04-13" } }),
                gives: ExampleResult::Including(
                    json!({ "result": { "path": "Daily/2026/04-13.md", "content": "Rain.\n" } }),
                ),
                after: &[],
            },
            Example {
                says: "A note as people see it, with the results of its queries",
                before: &[
                    ("Slates.md", "---\nprice: 3\n---\n#roof\n"),
                    ("Roof.md", "`= this.file.name`:\n```dataview\nTABLE price FROM #roof\n```\n"),
                ],
                input: json!({ "format": "content", "target": "Roof.md", "renderQueries": true }),
                gives: ExampleResult::Including(json!({ "result": {
                    "content": "Roof:\n| File                  | price |\n| --------------------- | ----- |\n| [[Slates.md\\|Slates]] | 3     |\n",
                } })),
                after: &[],
            },
            Example {
                says: "A daily note that does not exist yet",
                before: &[],
                input: json!({ "format": "content", "target": { "type": "periodic", "period": "daily", "date": "2026-04-13" } }),
                gives: ExampleResult::Refusal(ReasonKind::PeriodicNotFound),
                after: &[],
            },
            Example {
                says: "A heading that does not exist",
                before: NOTES,
                input: json!({ "format": "section", "target": target, "section": { "type": "heading", "target": "Budget" } }),
                gives: ExampleResult::Refusal(ReasonKind::SectionMissing),
                after: &[],
            },
        ]
    }
}

fn full(file: &File, shown: &ShownFile, include_links: bool, notices: &mut Vec<String>) -> NoteBody {
    // First: what is parsed for the links also has the tags.
    let outgoing_links = include_links.then(|| outgoing_links(&shown.note()));
    NoteBody::Full { whole: NoteContents::of(file, shown, notices), outgoing_links }
}

/// The links of a note to other files; links within the note and to the web are excluded.
fn outgoing_links(note: &Note<'_>) -> Vec<OutgoingLink> {
    let of_kind = |kind: LinkKind, r#type: &'static str| {
        // An empty path is a link within the note.
        let links = note.links.iter().filter(move |link| link.kind == kind && link.internal && !link.path.is_empty());
        links.map(move |link: &Link| OutgoingLink { target: note.text[link.path.clone()].to_owned(), r#type })
    };
    // The contract lists wikilinks first.
    of_kind(LinkKind::Wiki, "wikilink").chain(of_kind(LinkKind::Markdown, "markdown")).collect()
}

/// The path of one of many headings. Those below a long one repeat it.
fn heading_path(context: &Context<'_>, note: &Note<'_>, heading: &Heading) -> Result<String, Reason> {
    let parts = note.heading_path(heading);
    context.budget.answer(parts.iter().map(|part| part.len()).sum())?;
    Ok(parts.join("::"))
}

fn document_map(context: &Context<'_>, shown: &ShownFile, notices: &mut Vec<String>) -> Result<NoteBody, Reason> {
    let note = shown.note();
    let properties = readable_properties(shown, notices);
    Ok(NoteBody::DocumentMap {
        headings: note
            .headings
            .iter()
            .map(|heading| heading_path(context, &note, heading))
            .collect::<Result<_, _>>()?,
        blocks: note.blocks.iter().map(|block| block.id.clone()).collect(),
        frontmatter_fields: properties.readable().iter().map(|(name, _)| name.clone()).collect(),
    })
}

fn one_section(
    context: &Context<'_>,
    path: &VaultPath,
    shown: &ShownFile,
    section: &NoteSection,
    notices: &mut Vec<String>,
) -> Result<NoteBody, Reason> {
    let text = shown.text();
    let missing = |available: Vec<String>| Reason::SectionMissing {
        path: path.clone(),
        section_type: section.r#type.name(),
        // The caller may have sent any text as the name of a section.
        target: clipped(&section.target),
        available: names(&available),
    };
    let part = |span: std::ops::Range<usize>| Some(text[span].trim_end_matches('\n').to_owned());
    let (mut section_target, mut candidates, mut value_text, mut value_json) = (None, Vec::new(), None, None);
    match section.r#type {
        SectionType::Heading => {
            let note = shown.note();
            let path = |heading: &Heading| heading_path(context, &note, heading);
            let (heading, several) = match section.find_heading(&note) {
                HeadingMatch::One(heading) => (heading, Vec::new()),
                // A read may take the first, with a notice; an edit refuses.
                HeadingMatch::Several(several) => (several[0], several),
                HeadingMatch::None => {
                    // Not all of them: a note may have thousands of headings.
                    return Err(missing(note.headings.iter().take(MOST_NAMES).map(path).collect::<Result<_, _>>()?));
                }
            };
            section_target = Some(path(heading)?);
            candidates = several.into_iter().map(path).collect::<Result<Vec<_>, _>>()?;
            if candidates.len() > 1 {
                notices.push(format!("{} headings match; this is the first.", candidates.len()));
            }
            value_text = part(heading.section.clone());
        }
        SectionType::Block => {
            let note = shown.note();
            // With or without the mark, as it is written in links and in notes.
            let Some(block) = note.find_block(section.target.trim_start_matches('^')) else {
                return Err(missing(note.blocks.iter().map(|block| block.id.clone()).collect()));
            };
            value_text = part(block.span.clone());
        }
        SectionType::Frontmatter => {
            let properties = shown.properties();
            // A property of a broken block cannot be told from text.
            if let Some(problem) = properties.problem() {
                return Err(Reason::FrontmatterInvalid { path: path.clone(), problem: Prose::ours(problem) });
            }
            let Some((_, value)) = properties.readable().iter().find(|(name, _)| *name == section.target) else {
                return Err(missing(properties.readable().iter().map(|(name, _)| name.clone()).collect()));
            };
            value_json = Some(properties::json(value));
        }
    }
    let section = section.named(&section.target);
    Ok(NoteBody::Section { section, section_target, candidates, value_text, value_json })
}

fn markdown(note: &NoteOutput) -> String {
    // The digits alone are enough for an edit to expect.
    let head = format!("{}, hash {}", quoted(&note.path), hash::digits(&note.content_hash));
    let list = |title: &str, mark: &str, names: &[String]| match names {
        [] => String::new(),
        names => {
            let lines: String = names.iter().map(|name| format!("\n- {mark}{}", quoted(name))).collect();
            format!("\n{title}:{lines}")
        }
    };
    match &note.body {
        NoteBody::Content { content } => format!("{head}\n{}", fenced(content)),
        NoteBody::Full { whole: NoteContents { content, tags, stat, .. }, outgoing_links } => {
            // The properties are in the content, as in the note.
            let mut text = format!("{head}, {} bytes, changed {}", stat.size, minute(stat.mtime));
            if !tags.is_empty() {
                text += &format!("\nTags: {}", quoted_list(tags));
            }
            if let Some(links) = outgoing_links {
                text += &format!("\nOutgoing links ({}):", links.len());
                text.extend(links.iter().map(|link| format!("\n- {}", quoted(&link.target))));
            }
            format!("{text}\n{}", fenced(content))
        }
        NoteBody::DocumentMap { headings, blocks, frontmatter_fields } => [
            head,
            list("Headings", "", headings),
            list("Blocks", "^", blocks),
            list("Properties", "", frontmatter_fields),
        ]
        .concat(),
        NoteBody::Section { section, value_text, value_json, .. } => {
            let value = match (value_text, value_json) {
                (Some(text), _) => fenced(text),
                // JSON is fenced, too: its texts come from the note.
                (None, Some(value)) => fenced(&value.to_string()),
                (None, None) => String::new(),
            };
            format!("{head}, {} {}\n{value}", section.r#type.name(), quoted(&section.target))
        }
    }
}
