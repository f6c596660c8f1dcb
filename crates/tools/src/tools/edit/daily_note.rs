//! Reads, creates and extends a periodic note.

use lapidary_note::{InsertSide, PatchOperation};
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, ToolGroup, ToolPlan,
    WireFamily, WriteTool, fence::fenced, quote::quoted,
};
use lapidary_query::Period;
use lapidary_toolkit::{
    appending, hash,
    note_edit::{NoteEdit, NotesMade},
    patching::{ContentType, PatchRequest, patched},
    reading,
    section::NoteSection,
    target::{NoteTarget, PeriodName},
    template,
};
use lapidary_vault::{ChangeSet, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct DailyNote;

/// Read today's note or append `content`; a missing one is made from its template.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// How long.
    #[serde(default)]
    period: PeriodName,
    /// A day of it.
    #[serde(default)]
    #[schemars(extend("pattern" = "^\\d{4}-\\d{2}-\\d{2}$"))]
    date: Option<String>,
    /// -1: the one before.
    #[serde(default)]
    #[schemars(range(min = -10_000, max = 10_000))]
    offset: i32,
    /// What to add.
    #[serde(default)]
    content: Option<String>,
    /// Append at the end of this.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    section: Option<NoteSection>,
    /// Make a missing one without text, too.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    create: bool,
    /// Refuse if the note has another hash.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    created: bool,
    content_hash: String,
    /// Of a note that was only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_size_in_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_size_in_bytes: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl WriteTool for DailyNote {
    const DECLARATION: Declaration = Declaration {
        name: "daily_note",
        dotted: None,
        title: "Daily note",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[],
        reasons: &[
            ReasonKind::PeriodicNotFound,
            ReasonKind::PeriodicDisabled,
            ReasonKind::StalePrecondition,
            ReasonKind::SectionTargetMissing,
            ReasonKind::AmbiguousSection,
            ReasonKind::ContentPreexists,
            ReasonKind::HeadingOutsideSection,
            ReasonKind::PatchRejected,
            ReasonKind::FrontmatterInvalid,
        ],
        words: "journal diary today yesterday weekly",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let target = NoteTarget::of_period(input.period, input.day(context)?);
        // Without text and without `create` it is a question, and must not change anything.
        if input.content.is_none() && !input.create {
            // A section without text to add is a mistake and not a question.
            if input.section.is_some() {
                return Err(Reason::bad_argument(tool, "content", "is required with `section`"));
            }
            return read(&target, context, view);
        }
        let makes = NotesMade::PeriodicNotes;
        let expected = input.expected_hash.as_deref();
        let writing = NoteEdit::begin(tool, context, view, &target, makes, expected, input.dry_run)?;
        let created = writing.before().is_none();
        let (content, notice) = match (&input.content, &input.section) {
            // The template alone: the note is new or stays as it is.
            (None, _) => (writing.document()?.content().clone(), None),
            (Some(content), None) => appending::to_note(&writing, content)?,
            (Some(content), Some(section)) => {
                let wanted = PatchRequest {
                    tool,
                    section,
                    operation: PatchOperation::Add(InsertSide::Behind),
                    content,
                    content_type: ContentType::Markdown,
                    create: input.create,
                    // A call that is sent again must not add the text a second time.
                    repeat: false,
                    trim: false,
                };
                (patched(&writing, &wanted)?.document.content().clone(), None)
            }
        };
        // Only a new note has the text of a template that its author has not seen.
        let has_commands = created && template::has_commands(writing.document()?.shown());
        let notice = notice.or_else(|| has_commands.then(|| template::COMMANDS_LEFT.to_owned()));
        Ok(writing.plan(content, |path, written| Output {
            path: path.to_string(),
            created,
            content_hash: written.content_hash,
            content: None,
            previous_size_in_bytes: Some(written.previous_size_in_bytes),
            current_size_in_bytes: Some(written.current_size_in_bytes),
            dry_run: written.dry_run,
            notice,
        }))
    }

    /// The notice may name a block of the note.
    fn finish(&self, output: &mut Output, learnt: &CommitReport<'_>) {
        output.notice.take_if(|_| !learnt.shows_content);
    }

    fn text(&self, output: &Output) -> Option<String> {
        let (path, hash) = (quoted(&output.path), hash::digits(&output.content_hash));
        if let Some(content) = &output.content {
            return Some(format!("{path}, hash {hash}\n{}", fenced(content)));
        }
        let done = match (output.created, output.dry_run) {
            (true, true) => "Would create",
            (true, false) => "Created",
            (false, true) => "Would append to",
            // The text was there already, which happens when a call is sent again.
            (false, false) if output.previous_size_in_bytes == output.current_size_in_bytes => "Unchanged:",
            (false, false) => "Appended to",
        };
        Some(format!("{done} {path}, hash {hash}"))
    }

    fn examples(&self) -> Vec<Example> {
        // Examples take place on 15 April 2026, a Wednesday.
        const SETTINGS: (&str, &str) = (".obsidian/daily-notes.json", r#"{"folder":"Daily","template":"T"}"#);
        const TEMPLATE: (&str, &str) = ("T.md", "# {{date:dddd}}\n## Log\n");
        const NOTES: &[(&str, &str)] = &[SETTINGS, TEMPLATE, ("Daily/2026-04-14.md", "# Tuesday\n- slates\n")];
        vec![
            Example {
                says: "Yesterday's note",
                before: NOTES,
                input: json!({ "offset": -1 }),
                gives: ExampleResult::Including(json!({
                    "path": "Daily/2026-04-14.md", "created": false, "content": "# Tuesday\n- slates\n",
                })),
                after: &[],
            },
            Example {
                says: "A line for today, in a note that is made from the template",
                before: NOTES,
                input: json!({ "content": "- called Ruth\n", "section": { "type": "heading", "target": "Log" } }),
                gives: ExampleResult::Including(json!({ "path": "Daily/2026-04-15.md", "created": true })),
                after: &[
                    SETTINGS,
                    TEMPLATE,
                    ("Daily/2026-04-14.md", "# Tuesday\n- slates\n"),
                    ("Daily/2026-04-15.md", "# Wednesday\n## Log\n- called Ruth\n"),
                ],
            },
            Example {
                says: "There is no note for tomorrow yet",
                before: NOTES,
                input: json!({ "offset": 1 }),
                gives: ExampleResult::Refusal(ReasonKind::PeriodicNotFound),
                after: NOTES,
            },
            Example {
                says: "Weekly notes are not switched on",
                before: NOTES,
                input: json!({ "period": "weekly" }),
                gives: ExampleResult::Refusal(ReasonKind::PeriodicDisabled),
                after: NOTES,
            },
        ]
    }
}

impl Input {
    /// A day of the period that is meant; `None` is today.
    fn day(&self, context: &Context<'_>) -> Result<Option<jiff::civil::Date>, Reason> {
        let bad = |at, problem| Reason::bad_argument(DailyNote::DECLARATION.name, at, problem);
        let given = match &self.date {
            Some(date) => Some(date.parse().map_err(|_| bad("date", "must be a day, written YYYY-MM-DD"))?),
            None => None,
        };
        // Without an offset, `None` stays today, which the target resolves.
        if self.offset == 0 {
            return Ok(given);
        }
        // An offset alone counts from today, in the time zone of the call.
        let from = given.unwrap_or_else(|| context.now.date());
        let later = Period::from(self.period).later(from, self.offset);
        later.map(Some).ok_or_else(|| bad("offset", "must lead to a day in the supported range of years"))
    }
}

fn read(target: &NoteTarget, context: &Context<'_>, view: &View) -> Result<ToolPlan<Output>, Reason> {
    let found = target.find(DailyNote::DECLARATION.name, context, view)?;
    let shown = reading::show(&found.path, &found.file)?;
    let output = Output {
        path: found.path.to_string(),
        created: false,
        content_hash: found.file.hash().to_string(),
        content: Some(shown.text().to_owned()),
        previous_size_in_bytes: None,
        current_size_in_bytes: None,
        dry_run: false,
        notice: shown.is_lossy().then(|| reading::NOT_UTF8.to_owned()),
    };
    // A read is a plan without changes.
    Ok(ToolPlan { changes: ChangeSet::default(), output, dry_run: false })
}
