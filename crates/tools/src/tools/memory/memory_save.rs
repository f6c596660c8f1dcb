//! Remembers something about a subject.

use lapidary_note::{Document, LinkForm, PropertyEdit, PropertyPath, YamlValue};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathRefusal, Reason, ReasonKind, ToolGroup, ToolPlan,
    WireFamily, WriteTool, bug, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    appending::{self, AppendedText},
    hash, index,
    link::NewLink,
    naming::title,
    note_edit::{NoteEdit, NoteWritten},
    patching::edit_refusal,
    reading,
    remembering::{self, MemoryEntry},
};
use lapidary_vault::{
    VaultPath, View,
    links::{LinkFormat, folded_name},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct MemorySave;

/// Remember a fact, preference or decision across conversations. It is added to the note of its subject with today's
/// date; the user can read and correct it. `[[links]]` connect it with notes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Who or what it is about, e.g. `Anna`; the name of its note.
    #[schemars(length(min = 1, max = 100))]
    subject: String,
    /// One or two sentences that make sense without this conversation.
    #[schemars(length(min = 1, max = 4000))]
    text: String,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

/// As in the schema.
const LONGEST_TEXT: usize = 4_000;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    created: bool,
    /// It was remembered already, in this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_line: Option<usize>,
    #[serde(flatten)]
    written: NoteWritten,
}

impl WriteTool for MemorySave {
    const DECLARATION: Declaration = Declaration {
        name: "memory_save",
        dotted: None,
        title: "Remember",
        family: WireFamily::Own,
        group: ToolGroup::Memory,
        listed: false,
        // What is known already is not added again.
        idempotent: true,
        paths: &[],
        reasons: &[ReasonKind::StalePrecondition, ReasonKind::NotText, ReasonKind::FileExists],
        words: "remember this, keep in mind, save to memory, do not forget, note for next time, my preference, \
                learn about me, remember across conversations",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/subject", TextLanguage::Path)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        if input.text.trim().is_empty() {
            return Err(Reason::bad_argument(tool, "text", "must not be blank"));
        }
        if input.text.chars().count() > LONGEST_TEXT {
            return Err(Reason::bad_argument(tool, "text", "must have at most 4000 characters"));
        }
        let SubjectNote { path, namesake } = note_of(context, view, &input.subject)?;
        let edit = NoteEdit::at(tool, context, view, path, input.expected_hash.as_deref(), input.dry_run)?;
        // Asked here, too: a call that would change nothing is not judged by its changes.
        if let Err(denied) = view.may_write(edit.path()) {
            let denied = PathRefusal::ByScope(denied);
            return Err(Reason::PathForbidden { path: edit.path().clone(), writing: true, denied });
        }
        let item = remembering::item(context.now.date(), &input.text);
        let document = edit.document_if_there()?;
        // Before anything is added, so that the same fact is not remembered twice.
        let known_line = document.as_ref().and_then(|document| known(document, &item));
        let content = match &document {
            // Unchanged, so that the call succeeds without a new version.
            Some(document) if known_line.is_some() => document.content().clone(),
            Some(document) => added(edit.path(), document, &item)?.content().clone(),
            None => {
                let about =
                    namesake.as_ref().map(|namesake| about(context, view, namesake, edit.path())).transpose()?;
                format!("{}{item}\n", about.flatten().unwrap_or_default()).into()
            }
        };
        let created = document.is_none();
        Ok(edit.plan(content, |path, written| Output { path: path.to_string(), created, known_line, written }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, created, known_line, written } = output;
        let (path, hash) = (quoted(path), hash::digits(&written.content_hash));
        Some(match (known_line, written.dry_run) {
            (Some(line), _) => format!("Known already: {path} line {line}, hash {hash}"),
            (None, true) => format!("Dry run: would add to {path}, hash {hash}"),
            (None, false) if *created => format!("Remembered in {path} (created), hash {hash}"),
            (None, false) => format!("Remembered in {path}, hash {hash}"),
        })
    }

    fn examples(&self) -> Vec<Example> {
        const ANNA: &[(&str, &str)] = &[("Memory/Anna.md", "- 2026-04-01: Likes [[Slate]].\n")];
        vec![
            Example {
                says: "A new subject gets a note",
                before: &[],
                input: json!({ "subject": "Anna", "text": "Prefers slate to tile." }),
                gives: ExampleResult::Including(json!({ "path": "Memory/Anna.md", "created": true })),
                after: &[("Memory/Anna.md", "- 2026-04-15: Prefers slate to tile.\n")],
            },
            Example {
                says: "The next entry joins the note, in any case of the name",
                before: ANNA,
                input: json!({ "subject": "anna", "text": "Calls on Mondays." }),
                gives: ExampleResult::Including(json!({ "path": "Memory/Anna.md", "created": false })),
                after: &[("Memory/Anna.md", "- 2026-04-01: Likes [[Slate]].\n- 2026-04-15: Calls on Mondays.\n")],
            },
            Example {
                says: "What is known already is not added again",
                before: ANNA,
                input: json!({ "subject": "Anna", "text": "likes [[Slate]]" }),
                gives: ExampleResult::Including(json!({ "knownLine": 1, "created": false })),
                after: ANNA,
            },
            Example {
                says: "A subject with a note elsewhere, whose links stay its own",
                before: &[("People/Ruth.md", "Roofer.\n"), ("Plan.md", "[[Ruth]]\n")],
                input: json!({ "subject": "Ruth", "text": "Calls on Mondays." }),
                gives: ExampleResult::Including(json!({ "path": "Memory/Ruth (memory).md", "created": true })),
                after: &[
                    ("People/Ruth.md", "Roofer.\n"),
                    ("Plan.md", "[[Ruth]]\n"),
                    ("Memory/Ruth (memory).md", "---\nabout: \"[[Ruth]]\"\n---\n- 2026-04-15: Calls on Mondays.\n"),
                ],
            },
            Example {
                says: "A subject is a name, not a path",
                before: &[],
                input: json!({ "subject": "../Anna", "text": "x" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// The note in which a subject is remembered.
struct SubjectNote {
    path: VaultPath,
    /// Another note with the name of the subject. The new one has a longer name, or it would take over its links.
    namesake: Option<VaultPath>,
}

impl SubjectNote {
    fn existing(path: VaultPath) -> Self {
        Self { path, namesake: None }
    }
}

/// What follows the subject in the name of its note, if another note has the plain name.
const MARK: &str = " (memory)";

/// The note of a subject: an existing one with this name or alias in any case, or a new one.
fn note_of(context: &Context<'_>, view: &View, subject: &str) -> Result<SubjectNote, Reason> {
    let problem = |problem| Reason::bad_argument(MemorySave::DECLARATION.name, "subject", problem);
    let subject = subject.trim();
    // Callers often give the name of a file.
    let subject = subject.get(..subject.len().saturating_sub(3)).filter(|_| has_ending(subject)).unwrap_or(subject);
    // These have a meaning in links or cannot be in a name on other systems.
    if subject.starts_with('.') || subject.contains(['/', '\\', ':', '#', '^', '|', '[', ']', '*', '"', '<', '>', '?'])
    {
        return Err(problem("must be a name that a note can have"));
    }
    let folder = remembering::folder(context)?;
    let named = |stem: &str| {
        VaultPath::parse(&format!("{folder}/{stem}.md")).map_err(|_| problem("must be a name that a note can have"))
    };
    let path = named(subject)?;
    // The exact name first: it needs no look at the other notes.
    if view.shows(&path) && reading::read_if_there(view, &path)?.is_some() {
        return Ok(SubjectNote::existing(path));
    }
    let wanted = folded_name(subject);
    let is_meant = |entry: &VaultPath, mut aliases: Box<dyn Iterator<Item = &str> + '_>| {
        let title = title(entry);
        folded_name(title.strip_suffix(MARK).unwrap_or(title)) == wanted
            || aliases.any(|alias| folded_name(alias) == wanted)
    };
    let notes = index::notes(context, view)?;
    for entry in notes.below(Some(folder)).filter(|entry| entry.is_note()) {
        context.check()?;
        let digest = notes.digest(entry.path());
        let aliases = digest.iter().flat_map(|digest| digest.aliases());
        if is_meant(entry.path(), Box::new(aliases)) {
            return Ok(SubjectNote::existing(entry.path().clone()));
        }
    }
    let files = index::files(context, view)?;
    // The one that links lead to now.
    let namesake = files.resolve(subject, &path).filter(|found| found.is_note()).cloned();
    let path = if namesake.is_some() { named(&format!("{subject}{MARK}"))? } else { path };
    Ok(SubjectNote { path, namesake })
}

fn has_ending(subject: &str) -> bool {
    subject.len() > 3 && subject.as_bytes()[subject.len() - 3..].eq_ignore_ascii_case(b".md")
}

/// The properties of a new note that link to the note about the subject. None if no link can name it.
fn about(context: &Context<'_>, view: &View, namesake: &VaultPath, path: &VaultPath) -> Result<Option<String>, Reason> {
    let files = index::files(context, view)?;
    // Relative links are not understood in properties.
    let link = NewLink::to(files, namesake, path, LinkFormat::Shortest, LinkForm::Wiki, "");
    let Some(link) = link.map(|link| YamlValue::Text(link.text)) else { return Ok(None) };
    let empty = Document::open(String::new()).map_err(|_| bug!("an empty note is not text"))?;
    let set = PropertyEdit::Set { path: &PropertyPath::name("about"), value: &link };
    let edited = empty.edit_properties(&[set]).map_err(|error| edit_refusal(path, &error))?;
    Ok(Some(edited.document.shown().to_owned()))
}

/// The line of the entry that says the same.
fn known(document: &Document, item: &str) -> Option<usize> {
    // A final point or another case is not another fact.
    let said = |text: &str| text.trim_end_matches(['.', '!', ' ']).to_lowercase();
    // Read back as an entry, so that both texts were cleaned in the same way.
    let wanted = Document::open(item.to_owned()).ok()?;
    let wanted = remembering::entries(&wanted).pop()?;
    let is_same = |entry: &MemoryEntry| said(&entry.text) == said(&wanted.text);
    remembering::entries(document).into_iter().find(is_same).map(|entry| entry.line)
}

/// The note with an item at its end. It joins the list there, and keeps apart from anything else.
fn added(path: &VaultPath, document: &Document, item: &str) -> Result<Document, Reason> {
    let shown = document.shown();
    // Blank lines at the end do not separate the list from the new item.
    let end = shown.trim_end().len();
    let after_list = document.note().items.last().is_some_and(|last| last.whole.end >= end);
    let gap = if shown.ends_with('\n') || shown.is_empty() { "" } else { "\n" };
    let gap = if after_list || end == 0 { gap.to_owned() } else { format!("{gap}\n") };
    let add = |item: &str| document.insert_at(shown.len(), &format!("{gap}{item}\n"));
    let AppendedText { document, .. } =
        appending::appended(document, item, true, add).map_err(|error| edit_refusal(path, &error))?;
    Ok(document)
}
