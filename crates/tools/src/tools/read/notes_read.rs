//! Reads several notes or sections.

use lapidary_note::{ContentHash, Heading};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, OfferedTools, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily,
    clipped,
    fence::fenced,
    quote::{Prose, quoted, quoted_list},
    refusal_data,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    hash,
    heading::missing,
    reading::{self, NOT_UTF8, ShownFile},
    target,
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct NotesRead;

/// Read several notes or sections in one call, within a byte budget.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name each, with `#Heading` or `#^block` for a part.
    #[schemars(length(min = 1))]
    notes: Vec<String>,
    /// Of text in total.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 100, max = 1_000_000))]
    max_bytes: usize,
    /// Bytes of the first one to skip: `nextOffset` of an earlier answer, sent with its `left`.
    #[serde(default)]
    offset: usize,
}

fn max_bytes() -> usize {
    20_000
}

/// More would be a search.
const MOST_NOTES: usize = 100;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    notes: Vec<ReadNoteOutput>,
    /// Those that did not fit the budget as a whole; send them again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<String>,
    /// Bytes of the first of them that were read; send it as `offset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReadNoteOutput {
    path: String,
    /// The requested part.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section_hash: Option<String>,
    /// The line in which the rest begins, if the text was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
    /// Why it could not be read; the others are.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Map<String, Value>>,
}

impl ReadTool for NotesRead {
    const DECLARATION: Declaration = Declaration {
        name: "notes_read",
        dotted: None,
        title: "Read several notes",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: true,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "read several many notes at once, open these notes, sections of notes, compare notes",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/notes/*", TextLanguage::Path)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        if input.notes.len() > MOST_NOTES {
            let problem = Prose::ours(format_args!("must have at most {MOST_NOTES} entries"));
            return Err(Reason::bad_argument(Self::DECLARATION.name, "notes", problem));
        }
        let mut room = input.max_bytes;
        let mut output = Output { notes: Vec::new(), left: Vec::new(), next_offset: None };
        let mut notes = input.notes.into_iter();
        let mut offset = input.offset;
        for given in notes.by_ref() {
            context.check()?;
            // The offset is that of the first note only.
            let skipped = std::mem::take(&mut offset);
            let note = match read(context, view, &given).and_then(|read| read.after(skipped)) {
                Ok(read) => {
                    let (note, taken) = read.within(&mut room);
                    let Some(taken) = taken else {
                        output.notes.push(note);
                        continue;
                    };
                    // What does not have room for one character is left as a whole.
                    if taken > 0 {
                        output.notes.push(note);
                    }
                    // The note that was cut comes first, so that `offset` refers to it.
                    output.left.push(given);
                    output.next_offset = Some(skipped + taken).filter(|offset| *offset > 0);
                    break;
                }
                // A missing note does not withhold the others.
                Err(reason @ (Reason::Disk { .. } | Reason::Interrupted(_) | Reason::Internal(_))) => {
                    return Err(reason);
                }
                Err(reason) => {
                    let mut error =
                        refusal_data(&reason, OfferedTools::of(context.catalogue).called(Self::DECLARATION.name));
                    error.insert("message".to_owned(), json!(reason.to_string()));
                    ReadNoteOutput { path: clipped(&given), error: Some(error), ..ReadNoteOutput::default() }
                }
            };
            output.notes.push(note);
        }
        // Those after it were never tried.
        output.left.extend(notes);
        Ok(output)
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text: Vec<String> = output.notes.iter().map(ReadNoteOutput::text).collect();
        if !output.left.is_empty() {
            let offset = output.next_offset.map_or_else(String::new, |offset| format!(", with `offset: {offset}`"));
            text.push(format!("Left to read{offset}: {}", quoted_list(&output.left)));
        }
        Some(text.join("\n"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Plan.md", "# Plan\n## Tasks\n- [ ] Slates\n"), ("Log.md", "Dry.\n")];
        vec![
            Example {
                says: "A note and a section of another",
                before: NOTES,
                input: json!({ "notes": ["Log.md", "Plan.md#Tasks"] }),
                gives: ExampleResult::Including(json!({ "notes": [
                    { "path": "Log.md", "content": "Dry.\n", "contentHash": ContentHash::of(b"Dry.\n").to_string() },
                    { "path": "Plan.md", "section": "Tasks", "content": "## Tasks\n- [ ] Slates\n" },
                ] })),
                after: &[],
            },
            Example {
                says: "A missing note does not withhold the others",
                before: NOTES,
                input: json!({ "notes": ["Plans.md", "Log.md"] }),
                gives: ExampleResult::Including(json!({ "notes": [
                    { "path": "Plans.md", "error": { "reason": "note_missing" } },
                    { "content": "Dry.\n" },
                ] })),
                after: &[],
            },
            Example {
                says: "No notes at all",
                before: NOTES,
                input: json!({ "notes": [] }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// A note, or a part of it, before it is cut.
struct NoteReading {
    path: VaultPath,
    section: Option<String>,
    text: String,
    /// The line at which the text starts.
    line: usize,
    hash: String,
    section_hash: Option<String>,
    is_lossy: bool,
}

impl NoteReading {
    /// What follows an earlier answer.
    fn after(self, offset: usize) -> Result<Self, Reason> {
        if offset > self.text.len() {
            let problem = Prose::ours(format_args!("is past the end: there are {} bytes", self.text.len()));
            return Err(Reason::bad_argument(NotesRead::DECLARATION.name, "offset", problem));
        }
        // An offset comes from an earlier answer, but the note may have changed since: it is moved to a character's
        // start.
        let (skipped, text) = self.text.split_at(self.text.floor_char_boundary(offset));
        let line = self.line + skipped.matches('\n').count();
        Ok(Self { text: text.to_owned(), line, ..self })
    }

    /// As much of it as there is room for, and how many bytes that are if it is not all.
    fn within(self, room: &mut usize) -> (ReadNoteOutput, Option<usize>) {
        let Self { path, section, mut text, line, hash, section_hash, is_lossy } = self;
        let (mut next_line, mut taken) = (None, None);
        if text.len() > *room {
            let fits = &text[..text.floor_char_boundary(*room)];
            // Whole lines, unless the first one is longer than that.
            let end = fits.rfind('\n').map_or(fits.len(), |end| end + 1);
            text.truncate(end);
            next_line = Some(line + text.matches('\n').count());
            taken = Some(end);
            *room = 0;
        } else {
            *room -= text.len();
        }
        let note = ReadNoteOutput {
            path: path.to_string(),
            section,
            content: text,
            content_hash: Some(hash),
            section_hash,
            next_line,
            notice: is_lossy.then_some(NOT_UTF8),
            error: None,
        };
        (note, taken)
    }
}

fn read(context: &Context<'_>, view: &View, given: &str) -> Result<NoteReading, Reason> {
    let whole = target::named(context, view, given);
    let (found, part) = match (whole, given.split_once('#')) {
        // A name may have a `#`.
        (Err(Reason::NoteMissing { .. }), Some((note, part))) if !note.is_empty() => {
            (target::named(context, view, note)?, Some(part))
        }
        (found, _) => (found?, None),
    };
    let shown = reading::show(&found.path, &found.file)?;
    // A link copied from a note may end so: `[[Note#Heading]]`.
    let part = part.map(|part| part.trim_end_matches("]]")).filter(|part| !part.is_empty());
    let (span, line) = match part {
        None => (0..shown.text().len(), 1),
        Some(part) => span_of(&found.path, &shown, part)?,
    };
    Ok(NoteReading {
        section: part.map(str::to_owned),
        section_hash: part.and_then(|_| shown.hash_of(span.clone())).map(|hash| hash.to_string()),
        text: shown.text()[span].to_owned(),
        line,
        hash: found.file.hash().to_string(),
        is_lossy: shown.is_lossy(),
        path: found.path,
    })
}

/// Where the part of a note that a link names is, and its first line.
fn span_of(path: &VaultPath, shown: &ShownFile, part: &str) -> Result<(std::ops::Range<usize>, usize), Reason> {
    let note = shown.note();
    if let Some(id) = part.strip_prefix('^') {
        let block = note
            .find_block(id)
            .ok_or_else(|| missing(path, "block", id, note.blocks.iter().map(|block| block.id.clone())))?;
        let line = shown.text()[..block.span.start].lines().count() + 1;
        return Ok((block.span.clone(), line));
    }
    let headings = note.headings_named(part, if part.contains("::") { "::" } else { "#" });
    let path_of = |heading: &Heading| note.heading_path(heading).join("::");
    // The first of several, as a link in Obsidian leads there.
    let found = headings.first().ok_or_else(|| missing(path, "heading", part, note.headings.iter().map(path_of)))?;
    Ok((found.section.clone(), found.line))
}

impl ReadNoteOutput {
    fn text(&self) -> String {
        let path = quoted(&self.path);
        let section = self.section.as_ref().map_or_else(String::new, |section| format!("#{}", quoted(section)));
        if let Some(error) = &self.error {
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            let hint = error.get("recovery").and_then(|recovery| recovery["hint"].as_str()).unwrap_or_default();
            return format!("{path}{section}: {message} {hint}");
        }
        let hash = self.content_hash.as_deref().map_or("", hash::digits);
        let part =
            self.section_hash.as_deref().map_or_else(String::new, |hash| format!(", section {}", hash::digits(hash)));
        let cut = self.next_line.map_or_else(String::new, |line| format!("\n… goes on in line {line}"));
        format!("{path}{section}, hash {hash}{part}\n{}{cut}", fenced(&self.content))
    }
}
