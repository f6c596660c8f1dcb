//! Lists, adds or removes tags of a note.

use lapidary_note::{ContentHash, EditError, TagEdit, TagPlaces, is_tag};
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, clipped,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    note_edit::{NoteEdit, NoteWritten, NotesMade},
    patching::edit_refusal,
    tags::{self, TagsOfNote},
    target::NoteTarget,
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianManageTags;

/// List, add or remove tags of one note; case does not matter.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: NoteTarget,
    /// What to do.
    operation: TagOperation,
    /// With or without `#`.
    #[serde(default)]
    tags: Vec<String>,
    /// The property `tags`, `#tags` in the text, or both.
    #[serde(default)]
    location: TagLocation,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum TagOperation {
    Add,
    Remove,
    List,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum TagLocation {
    #[default]
    Frontmatter,
    Inline,
    Both,
}

impl From<TagLocation> for TagPlaces {
    fn from(location: TagLocation) -> Self {
        match location {
            TagLocation::Frontmatter => Self::Properties,
            TagLocation::Inline => Self::Text,
            TagLocation::Both => Self::Both,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    result: TagOutcome,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TagOutcome {
    operation: TagOperation,
    path: String,
    #[serde(flatten)]
    tags: TagsResult,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum TagsResult {
    Changed {
        applied: Vec<String>,
        skipped: Vec<String>,
        /// All that the note has now.
        tags: Vec<String>,
        #[serde(flatten)]
        written: NoteWritten,
    },
    Listed {
        tags: TagsOfNote,
        content_hash: String,
    },
}

impl WriteTool for ObsidianManageTags {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_manage_tags",
        dotted: None,
        title: "Obsidian Manage Tags",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::PeriodicNotFound,
            ReasonKind::TagsRequired,
            ReasonKind::FrontmatterInvalid,
            ReasonKind::PatchRejected,
        ],
        words: "tag a note, add remove untag hashtags, list tags of one note",
    };
    const EFFECT: Effect = Effect::Write;
    const TAKES_TARGET: bool = true;
    const ONLY_LOOKS: Option<(&'static str, &'static str)> = Some(("operation", "list"));
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        // `list` goes this way too: it is the same note, judged in the same way.
        let writing = NoteEdit::begin(
            tool,
            context,
            view,
            &input.target,
            NotesMade::Nothing,
            input.expected_hash.as_deref(),
            input.dry_run,
        )?;
        let operation = input.operation;
        let mut document = writing.document()?;
        // Chosen before the tags are checked, so that a list needs no tags.
        type TagEditor = for<'t> fn(&'t str) -> TagEdit<'t>;
        let (name, edit): (_, TagEditor) = match operation {
            TagOperation::Add => ("add", |tag| TagEdit::Add { tag }),
            TagOperation::Remove => ("remove", |tag| TagEdit::Remove { tag }),
            TagOperation::List => {
                let tags = TagsResult::Listed {
                    tags: TagsOfNote::of(&document.note()),
                    content_hash: document.content().hash().to_string(),
                };
                let result = TagOutcome { operation, path: writing.path().to_string(), tags };
                return Ok(writing.unchanged(Output { result }));
            }
        };
        let wanted = tags::bare(&input.tags).ok_or_else(|| bad_tag("must name a tag in each entry"))?;
        if wanted.is_empty() {
            return Err(Reason::TagsRequired { operation: name });
        }
        // Each is an edit with a parse of the whole note.
        if wanted.len() > MOST_TAGS {
            return Err(bad_tag(Prose::ours(format_args!(
                "has {} tags; send at most {MOST_TAGS} at once",
                wanted.len()
            ))));
        }
        let (mut applied, mut skipped) = (Vec::new(), Vec::new());
        for tag in wanted {
            context.check()?;
            let edited = document
                .edit_tag(&edit(tag), input.location.into())
                .map_err(|error| refusal(writing.path(), &error))?;
            // The edit itself knows whether a note has a tag, including case and nesting; comparing says what it
            // decided.
            if edited == document { &mut skipped } else { &mut applied }.push(tag.to_owned());
            document = edited;
        }
        // Of the new text, from both places: the caller may have asked for one of them only.
        let tags = tags::of_note(&document.note());
        Ok(writing.plan(document.content().clone(), |path, written| {
            let tags = TagsResult::Changed { applied, skipped, tags, written };
            Output { result: TagOutcome { operation, path: path.to_string(), tags } }
        }))
    }

    /// A caller that may not read the note sees only the tags that it sent.
    fn finish(&self, output: &mut Output, learnt: &CommitReport<'_>) {
        if let (TagsResult::Changed { applied, skipped, tags, .. }, false) =
            (&mut output.result.tags, learnt.shows_content)
        {
            // Tags of the note that it did not send would show what it may not read.
            tags.retain(|tag| applied.contains(tag) || skipped.contains(tag));
        }
    }

    fn text(&self, Output { result }: &Output) -> Option<String> {
        Some(match &result.tags {
            TagsResult::Listed { tags: found, .. } => format!(
                "{}{}{}",
                quoted(&result.path),
                tags::line("Frontmatter", &found.frontmatter),
                tags::line("Inline", &found.inline),
            ),
            // What the note has now is in the structure; most callers only want to know that it is done.
            TagsResult::Changed { applied, skipped, written, .. } => {
                let done = match result.operation {
                    TagOperation::Add => written.done("Added", "Would add"),
                    _ => written.done("Removed", "Would remove"),
                };
                let skipped = if skipped.is_empty() { String::new() } else { tags::line("Skipped", skipped) };
                let head = format!("{}, {}", quoted(&result.path), written.text());
                format!("{head}{}{skipped}", tags::line(done, applied))
            }
        })
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\ntags: [gem] # mine\n---\n- a #gem\n    - b #cut\n";
        const NEW: &str = "---\ntags: [gem, cut] # mine\n---\n- a #gem\n    - b #cut\n";
        const NOTES: &[(&str, &str)] = &[("Stone.md", NOTE)];
        let target = json!({ "type": "path", "path": "Stone.md" });
        vec![
            Example {
                says: "Add tags to the properties",
                before: NOTES,
                input: json!({ "target": target, "operation": "add", "tags": ["#cut", "Gem"] }),
                gives: ExampleResult::Output(json!({ "result": {
                    "operation": "add",
                    "path": "Stone.md",
                    "applied": ["cut"],
                    "skipped": ["Gem"],
                    "tags": ["gem", "cut"],
                    "previousSizeInBytes": NOTE.len(),
                    "currentSizeInBytes": NEW.len(),
                    "contentHash": ContentHash::of(NEW.as_bytes()).to_string(),
                } })),
                after: &[("Stone.md", NEW)],
            },
            Example {
                says: "Remove one everywhere; lists keep their indentation",
                before: NOTES,
                input: json!({ "target": target, "operation": "remove", "tags": ["gem"], "location": "both" }),
                gives: ExampleResult::Including(json!({ "result": { "applied": ["gem"], "tags": ["cut"] } })),
                after: &[("Stone.md", "- a\n    - b #cut\n")],
            },
            Example {
                says: "The tags that it has",
                before: NOTES,
                input: json!({ "target": target, "operation": "list" }),
                gives: ExampleResult::Including(json!({ "result": {
                    "tags": { "frontmatter": ["gem"], "inline": ["gem", "cut"], "all": ["gem", "cut"] },
                } })),
                after: NOTES,
            },
            Example {
                says: "Nothing to add",
                before: NOTES,
                input: json!({ "target": target, "operation": "add" }),
                gives: ExampleResult::Refusal(ReasonKind::TagsRequired),
                after: NOTES,
            },
        ]
    }
}

/// Each of them is an edit of the whole note.
const MOST_TAGS: usize = 200;

fn bad_tag(problem: impl Into<Prose>) -> Reason {
    Reason::bad_argument(ObsidianManageTags::DECLARATION.name, "tags", problem)
}

fn refusal(path: &VaultPath, error: &EditError) -> Reason {
    match error {
        EditError::BadTag { tag } => {
            let problem =
                Prose::ours(format_args!("has {}, which Obsidian does not read as a tag", quoted(&clipped(tag))));
            // Most are two words.
            // `two words` becomes `two-words`, the usual spelling.
            let joined = tag.split_whitespace().collect::<Vec<_>>().join("-");
            // Only if that would be accepted; otherwise the suggestion would be refused, too.
            match is_tag(&joined) {
                true => {
                    Reason::misspelt_argument(ObsidianManageTags::DECLARATION.name, "tags", problem, clipped(&joined))
                }
                false => bad_tag(problem),
            }
        }
        error => edit_refusal(path, error),
    }
}
