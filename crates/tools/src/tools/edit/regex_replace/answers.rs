//! The answers of the two steps.

use lapidary_note::{ContentHash, counted, shown_text};
use lapidary_operation::{ProposalStep, clipped, quote::quoted};
use lapidary_toolkit::{
    expression::{ExpressionMatches, ReplacedFile},
    file_edit::total_lines,
    hash,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Input;

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    #[serde(rename = "proposal_token", skip_serializing_if = "Option::is_none")]
    pub(super) proposal_token: Option<String>,
    #[serde(rename = "replaced_preview_count", skip_serializing_if = "Option::is_none")]
    replaced_preview_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_be_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    /// Of a `glob`.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_changed: Option<usize>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<ReplacedOutput>>,
    /// Files that match but are not changed, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<LeftOutput>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    #[serde(rename = "dry_run")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<LineOutput>,
    /// The examples are not complete.
    #[serde(skip)]
    pub(super) wants_diff: bool,
    #[serde(skip)]
    pub(super) proposal: Option<ProposalStep>,
    /// How many files were searched.
    #[serde(skip)]
    pub(super) scanned: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReplacedOutput {
    file: String,
    replaced_count: usize,
    /// Before, in a proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_be_hash: Option<String>,
    /// Of the file as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    /// In a proposal, the first line that would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<LineOutput>,
}

/// A line that would change, around the place.
#[derive(Serialize, JsonSchema)]
struct LineOutput {
    line: usize,
    before: String,
    after: String,
    /// What is new in it.
    #[serde(skip)]
    new: String,
}

#[derive(Serialize, JsonSchema)]
struct LeftOutput {
    file: String,
    why: String,
}

/// In the text, where the counts matter more.
const SHOWN_FILES: usize = 20;

/// Longer lists are not useful.
const MOST_FILES: usize = 100;

const TRUNCATED: &str = "Not all files were looked through: the budget is spent or the time is up. Carry out this \
                         proposal, then send `nextOffset` as `offset`.";
const NOTHING: &str = "Nothing matched, so there is nothing to carry out.";

/// The answer to the first step.
pub(super) fn proposed(input: &Input, found: &ExpressionMatches, proposal: Option<ProposalStep>) -> Output {
    // For a single file its facts are at the top of the answer instead of in a list.
    let only = found.replaced.first().filter(|_| input.file.is_some());
    Output {
        proposal,
        replaced_preview_count: Some(found.count()),
        current_hash: only.map(|only| only.before.hash().to_string()),
        would_be_hash: only.map(|only| only.content.hash().to_string()),
        hint: match (found.next, found.count()) {
            (Some(_), _) => Some(TRUNCATED),
            (None, 0) => Some(NOTHING),
            (None, _) => None,
        },
        files: input.glob.is_some().then(|| found.replaced.iter().take(MOST_FILES).map(to_come).collect()),
        example: only.and_then(example),
        // The examples are enough to decide; the whole diff is shown on request.
        wants_diff: input.dry_run,
        dry_run: true,
        ..either(input, found)
    }
}

/// The answer to the second.
pub(super) fn carried_out(input: &Input, found: &ExpressionMatches, proposal: ProposalStep) -> Output {
    let only = found.replaced.first().filter(|_| input.file.is_some());
    Output {
        proposal: Some(proposal),
        changed: Some(!found.replaced.is_empty()),
        replaced_count: Some(found.count()),
        content_hash: only.map(|only| only.content.hash().to_string()),
        total_lines: only.map(|only| total_lines(&only.content)),
        files: input.glob.is_some().then(|| found.replaced.iter().take(MOST_FILES).map(made).collect()),
        ..either(input, found)
    }
}

fn to_come(replaced: &ReplacedFile) -> ReplacedOutput {
    ReplacedOutput {
        current_hash: Some(short(&replaced.before.hash())),
        would_be_hash: Some(short(&replaced.content.hash())),
        example: example(replaced),
        ..of_file(replaced)
    }
}

fn made(replaced: &ReplacedFile) -> ReplacedOutput {
    ReplacedOutput { content_hash: Some(short(&replaced.content.hash())), ..of_file(replaced) }
}

fn of_file(replaced: &ReplacedFile) -> ReplacedOutput {
    ReplacedOutput {
        file: replaced.path.to_string(),
        replaced_count: replaced.count,
        current_hash: None,
        would_be_hash: None,
        content_hash: None,
        example: None,
    }
}

/// The first line that a replacement changes.
fn example(replaced: &ReplacedFile) -> Option<LineOutput> {
    let (before, after) = (shown_text(replaced.before.bytes()), shown_text(replaced.content.bytes()));
    let (mut old, mut new) = (before.lines(), after.lines());
    for line in 1.. {
        match (old.next(), new.next()) {
            (None, None) => return None,
            // A replacement may change the number of lines; the first difference is shown all the same.
            (before, after) if before == after => {}
            (before, after) => {
                return Some(LineOutput::of(line, before.unwrap_or_default(), after.unwrap_or_default()));
            }
        }
    }
    None
}

impl Output {
    /// The counts, an example per file, and how to carry it out.
    pub(super) fn text(&self) -> String {
        // One of the two is there, by the step.
        let count = self.replaced_preview_count.or(self.replaced_count).unwrap_or_default();
        let done = if self.dry_run { "would be replaced" } else { "replaced" };
        let place = match (&self.file, self.files_changed) {
            (Some(file), _) => quoted(file).to_string(),
            (None, files) => counted(files.unwrap_or_default(), "file").to_string(),
        };
        let mut text = format!("{count} {done} in {place}");
        if let Some(hash) = &self.content_hash {
            text += &format!(", hash {}", hash::digits(hash));
        }
        text += &self.example.as_ref().map_or_else(String::new, LineOutput::text);
        for ReplacedOutput { file, replaced_count, example, .. } in self.files.iter().flatten().take(SHOWN_FILES) {
            text += &format!("\n{}: {replaced_count}", quoted(file));
            text += &example.as_ref().map_or_else(String::new, LineOutput::text);
        }
        // The list of files is cut, their number is not.
        let more = self.files_changed.unwrap_or_default().saturating_sub(SHOWN_FILES);
        if more > 0 {
            text += &format!("\n… {}", counted(more, "more file"));
        }
        for LeftOutput { file, why } in self.left.iter().take(SHOWN_FILES) {
            text += &format!("\nLeft: {}: {}", quoted(file), why);
        }
        text += &self.hint.map_or_else(String::new, |hint| format!("\n{hint}"));
        text += &self.next_offset.map_or_else(String::new, |next| format!(" `nextOffset` is {next}."));
        if let Some(token) = &self.proposal_token {
            text += &format!("\nTo apply it, repeat with `proposal_token`: {token}");
        }
        text
    }
}

/// How much is shown on each side of a change, in characters.
const AROUND: usize = 24;

impl LineOutput {
    /// The words that differ, with a few around them.
    fn of(line: usize, before: &str, after: &str) -> Self {
        let same = |(one, other): &(char, char)| one == other;
        let in_word = |c: char| c.is_alphanumeric();
        // In bytes of both, as they are equal so far.
        let start: usize = before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        // Whole words: `Rut` for `Ruth` is easier to judge than a letter that goes.
        let start = before[..start].trim_end_matches(in_word).len();
        // What is equal at both ends is shown once.
        let (old, new) = (&before[start..], &after[start..]);
        let behind: usize = old.chars().rev().zip(new.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        // At a word again, from the other side.
        let behind = old[old.len() - behind..].trim_start_matches(in_word).len();
        let (old, new, rest) = (&old[..old.len() - behind], &new[..new.len() - behind], &old[old.len() - behind..]);
        let lead = before[..start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
        let trail = rest.char_indices().nth(AROUND).map_or(rest.len(), |(at, _)| at);
        let shown = |words: &str| {
            let (cut_before, cut_after) = (if lead > 0 { "…" } else { "" }, if trail < rest.len() { "…" } else { "" });
            format!("{cut_before}{}{}{}{cut_after}", &before[lead..start], clipped(words), &rest[..trail])
        };
        Self { line, before: shown(old), after: shown(new), new: clipped(new) }
    }

    fn text(&self) -> String {
        let Self { line, before, new, .. } = self;
        // An empty replacement would look like a missing one.
        let new = if new.is_empty() { "nothing".to_owned() } else { quoted(new).to_string() };
        format!("\n  {line}: {} → {new}", quoted(before))
    }
}

/// Enough to be sent back, as the list may be long.
fn short(hash: &ContentHash) -> String {
    hash::short(&hash.to_string()).to_owned()
}

/// What both steps report.
fn either(input: &Input, found: &ExpressionMatches) -> Output {
    let left = found.left.iter().map(|(path, why)| LeftOutput { file: path.to_string(), why: why.to_string() });
    Output {
        file: input.file.clone(),
        files_changed: input.glob.is_some().then_some(found.replaced.len()),
        left: left.collect(),
        truncated: found.next.is_some(),
        next_offset: found.next,
        scanned: found.scanned,
        ..Output::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_the_changed_words_with_a_few_around_them() {
        for (before, after, shown, new) in [
            ("see [[Ruth Okafor]]", "see [[Rut Okafor]]", "see [[Ruth Okafor]]", "Rut"),
            ("a, b", "a,", "a, b", ""),
            ("", "x", "", "x"),
            ("日本語のノート", "日本のノート", "日本語のノート", "日本のノート"),
            ("x=1", "x=12", "x=1", "12"),
        ] {
            let example = LineOutput::of(3, before, after);
            assert_eq!((example.before.as_str(), example.new.as_str()), (shown, new), "{before}");
            assert_eq!(example.after, after, "{before}");
        }
        let long = LineOutput::of(
            1,
            &format!("{} old {}", "w ".repeat(90), "v ".repeat(90)),
            &format!("{} new {}", "w ".repeat(90), "v ".repeat(90)),
        );
        assert_eq!(long.text(), "\n  1: `… w w w w w w w w w w w  old v v v v v v v v v v v v…` → `new`");
    }
}
