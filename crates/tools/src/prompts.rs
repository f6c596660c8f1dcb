//! Notes in `Prompts/` with the tag `mcp-tools-prompt`, which clients offer to people as prompts.

use std::collections::{BTreeMap, BTreeSet};

use lapidary_note::{ContentHash, Frontmatter, NodeContent, Note, PromptSlot, YamlValue, filled_prompt, prompt_slots};
use lapidary_operation::{
    ArgumentProblem, CompletedValues, Context, FilledPrompt, ListedPrompt, PromptArgument, Reason, bug, clipped,
};
use lapidary_query::nearest;
use lapidary_toolkit::{index, reading};
use lapidary_vault::{ReadError, VaultPath, View, store::EntryKind};
use serde_json::{Map, Value};

use crate::{resources::best, skills::playbook_sources};

const FOLDER: &str = "Prompts";
const TAG: &str = "mcp-tools-prompt";
/// Prompts in deeper folders are ignored.
const DEEPEST: usize = 16;

/// The prompts of a vault, then its playbooks, in path order, as far as the caller may see them.
pub fn prompts(context: &Context<'_>, view: &View) -> Result<Vec<ListedPrompt>, Reason> {
    let (mut prompts, mut names) = (Vec::new(), BTreeSet::new());
    for (path, source) in all_notes(context, view)? {
        context.check()?;
        // A note that has disappeared or cannot be read is not a prompt.
        let Ok(file) = reading::read(view, &path) else { continue };
        let Ok(shown) = reading::show(&path, &file) else { continue };
        // `Prompts/Skills/x.md` and `Skills/x.md`, or `x.md` and `x/SKILL.md`: if two have the same name, the first is
        // offered.
        let found = prompt_in(view.vault(), &path, shown.text(), source);
        prompts.extend(found.filter(|found| names.insert(found.name.clone())));
    }
    Ok(prompts)
}

/// A fingerprint of the prompts that does not read them.
pub(crate) fn prompts_mark(context: &Context<'_>, view: &View) -> Result<ContentHash, Reason> {
    let notes = all_notes(context, view)?;
    let marks: Vec<String> = notes.iter().map(|(path, _)| format!("{path} {:?}\n", view.stamp(path))).collect();
    Ok(ContentHash::of(marks.concat().as_bytes()))
}

/// The text of a prompt. All arguments that it names must be given, and no others.
pub(crate) fn fill_prompt(
    context: &Context<'_>,
    view: &View,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<FilledPrompt, Reason> {
    let prompt = find(context, view, name)?;
    let values = values(&prompt, arguments)?;
    let file = reading::read(view, &prompt.path)?;
    let shown = reading::show(&prompt.path, &file)?;
    let body = body_of(shown.text());
    // Values are put in without being searched for placeholders, so that text of a user cannot fill another argument.
    let filled = filled_prompt(body, &prompt_slots(body), |name| values.get(name).copied());
    Ok(FilledPrompt { description: prompt.description, text: filled.trim_start().to_owned() })
}

/// Possible values of a prompt argument: notes, folders and tags are known, if the argument is named after one of them.
pub(crate) fn complete_prompt(
    context: &Context<'_>,
    view: &View,
    prompt: &str,
    argument: &str,
    typed: &str,
) -> Result<CompletedValues, Reason> {
    let prompt = find(context, view, prompt)?;
    if !prompt.arguments.iter().any(|known| known.name == argument) {
        return Err(unknown_argument(&prompt, argument));
    }
    // By its last word: `target note` and `sourceNote` are notes.
    let kind = lapidary_query::words(argument).pop().unwrap_or_default();
    let known: Vec<String> = match kind.as_str() {
        "note" | "notes" | "page" | "file" | "path" => {
            let files = index::files(context, view)?.iter();
            files.filter(|entry| entry.is_note()).map(|entry| entry.path().to_string()).collect()
        }
        "folder" | "directory" => index::files(context, view)?.folders_below(None).map(ToString::to_string).collect(),
        "tag" | "tags" => {
            let mut tags: BTreeMap<String, String> = BTreeMap::new();
            for tag in index::notes(context, view)?.notes().flat_map(|(_, digest)| digest.tags()) {
                // Obsidian ignores the case of tags; the first spelling is offered.
                tags.entry(tag.name.to_lowercase()).or_insert_with(|| tag.name.to_owned());
            }
            tags.into_values().collect()
        }
        _ => Vec::new(),
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    // Tags are listed without `#`, which people type all the same.
    Ok(best(&known, typed.trim_start_matches('#')))
}

fn find(context: &Context<'_>, view: &View, name: &str) -> Result<ListedPrompt, Reason> {
    let mut all = prompts(context, view)?;
    // Only listed prompts are served, so no name leads anywhere else.
    match all.iter().position(|prompt| prompt.name == name) {
        Some(at) => Ok(all.swap_remove(at)),
        None => {
            let nearest = nearest(name, all.iter().map(|prompt| prompt.name.as_str())).map(str::to_owned);
            Err(Reason::PromptUnknown { name: clipped(name), nearest })
        }
    }
}

fn values<'a>(prompt: &ListedPrompt, arguments: &'a Map<String, Value>) -> Result<BTreeMap<&'a str, &'a str>, Reason> {
    let mut values = BTreeMap::new();
    for (name, value) in arguments {
        if !prompt.arguments.iter().any(|known| known.name == *name) {
            return Err(unknown_argument(prompt, name));
        }
        // The protocol has only texts as arguments of prompts.
        let Value::String(value) = value else {
            return Err(Reason::bad_argument(&prompt.name, name, "must be a string"));
        };
        values.insert(name.as_str(), value.as_str());
    }
    match prompt.arguments.iter().find(|argument| !values.contains_key(argument.name.as_str())) {
        Some(missing) => Err(Reason::bad_argument(&prompt.name, &missing.name, "is required")),
        None => Ok(values),
    }
}

fn unknown_argument(prompt: &ListedPrompt, given: &str) -> Reason {
    let names = prompt.arguments.iter().map(|argument| argument.name.as_str());
    let nearest = nearest(given, names).map(str::to_owned);
    let problem = ArgumentProblem { at: clipped(given), problem: "is not an argument of this prompt".into(), nearest };
    Reason::InvalidArguments { tool: prompt.name.clone(), problems: vec![problem] }
}

/// Where a prompt comes from.
#[derive(Clone, Copy, PartialEq)]
enum PromptSource {
    /// The notes there that have the tag.
    Prompts,
    /// The playbooks of the folder that the owner chose.
    Skills,
}

fn all_notes(context: &Context<'_>, view: &View) -> Result<Vec<(VaultPath, PromptSource)>, Reason> {
    let folder = VaultPath::parse(FOLDER).map_err(|error| bug!("`{FOLDER}` is not a path: {error}"))?;
    let prompts = notes(context, view, folder)?.into_iter().map(|path| (path, PromptSource::Prompts));
    let skills = playbook_sources(context, view)?.into_iter().map(|source| (source.note, PromptSource::Skills));
    Ok(prompts.chain(skills).collect())
}

/// The notes below a folder, in path order.
fn notes(context: &Context<'_>, view: &View, folder: VaultPath) -> Result<Vec<VaultPath>, Reason> {
    let (mut notes, mut folders) = (Vec::new(), vec![(folder, 0)]);
    // Lists these folders only: the index would scan the whole vault.
    while let Some((folder, depth)) = folders.pop() {
        context.check()?;
        let entries = match view.list(Some(&folder)) {
            Ok(entries) => entries,
            // There is none, or none that the caller may see.
            Err(ReadError::Store(_) | ReadError::Denied(_)) => continue,
        };
        for entry in entries {
            match entry.kind {
                EntryKind::Folder if depth < DEEPEST => folders.push((entry.path, depth + 1)),
                EntryKind::File if entry.path.is_note() => notes.push(entry.path),
                EntryKind::Folder | EntryKind::File => {}
            }
        }
    }
    notes.sort();
    Ok(notes)
}

/// The prompt in a note, if it is one.
fn prompt_in(vault: &str, path: &VaultPath, text: &str, source: PromptSource) -> Option<ListedPrompt> {
    let note = Note::parse(text);
    let is_skill = source == PromptSource::Skills;
    if !is_skill {
        // Without the tag it is an ordinary note, which the owner does not offer.
        note.property_tags().iter().find(|tag| tag.name.eq_ignore_ascii_case(TAG))?;
    }
    let mut arguments: Vec<PromptArgument> = Vec::new();
    for PromptSlot { name, hint, .. } in prompt_slots(body_of(text)) {
        if !arguments.iter().any(|argument| argument.name == name) {
            arguments.push(PromptArgument { name, description: hint });
        }
    }
    let whole = path.as_str();
    let below = match source {
        PromptSource::Prompts => whole.strip_prefix(FOLDER)?.strip_prefix('/')?,
        // The folder is part of the name, so that it rarely collides with a prompt.
        PromptSource::Skills => whole,
    };
    // Only notes are listed, and their names end like this, in any case.
    let name = &below[..below.len() - ".md".len()];
    // A playbook may have its own folder, with other files that it needs.
    let name = name.strip_suffix("/SKILL").filter(|_| is_skill).unwrap_or(name);
    let title = name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut description = note.property(&["description"]).and_then(described);
    if is_skill {
        description = description.or_else(|| first_line(body_of(text), &title));
    }
    let (name, vault) = (format!("{vault}/{name}"), vault.to_owned());
    Some(ListedPrompt { name, vault, title, description, arguments, is_skill, path: path.clone() })
}

/// What a note without a description begins with, apart from its title, which is said anyway.
pub(crate) fn first_line(text: &str, title: &str) -> Option<String> {
    // `Weekly-review` and `Weekly review` say the same.
    let words =
        |text: &str| text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<String>();
    let title = words(title);
    let mut lines = text.lines().map(|line| line.trim_start_matches('#').trim()).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let line = if words(first) == title { lines.next().unwrap_or(first) } else { first };
    Some(line.chars().take(200).collect())
}

fn described(node: &lapidary_note::YamlNode) -> Option<String> {
    match &node.content {
        NodeContent::Scalar(YamlValue::Text(text)) | NodeContent::Alias(YamlValue::Text(text)) => {
            Some(text.trim().to_owned())
        }
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

/// The note without its properties.
pub(crate) fn body_of(text: &str) -> &str {
    Frontmatter::find(text).map_or(text, |block| &text[block.span.end..])
}
