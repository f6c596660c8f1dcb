//! One replacement in the text of a note, in its properties, or in both.

use std::ops::Range;

use lapidary_note::Document;
use lapidary_operation::{
    Context, Reason, clipped,
    quote::{Prose, quoted},
};
use lapidary_query::{LetterCase, PatternKind, PatternOptions, ReplaceError, Replacement, Replacer};
use lapidary_toolkit::{
    names::{guard_regex, pattern_refusal},
    near_text::near_text,
    patching::edit_refusal,
};
use lapidary_vault::VaultPath;

use super::{Input, ReplaceRequest, ReplaceScope, ReplacementCount};

const SEARCH: &str = "search";

/// The file after one replacement, and the number of replacements made.
pub(super) fn replaced(
    context: &Context<'_>,
    path: &VaultPath,
    document: &Document,
    wanted: &ReplaceRequest,
    scope: ReplaceScope,
) -> Result<(Document, ReplacementCount), Reason> {
    let replacer = wanted.replacer()?;
    let shown = document.shown();
    let block = document.frontmatter();
    // From the end of the block, so that no match can include its closing line.
    let body = block.as_ref().map_or(0, |block| block.span.end)..shown.len();
    let with = plain(&wanted.replace);
    let find = |part: Range<usize>| -> Result<Vec<Replacement>, Reason> {
        let stop = || context.check().is_err();
        let found =
            replacer.replacements(&shown[part.clone()], &with, wanted.replace_all, context.budget.file_bytes(), &stop);
        // A stop is reported as the reason of the call: cancelled, or out of time.
        let mut found = found.map_err(|error| match (error, context.check()) {
            (ReplaceError::Stopped, Err(reason)) => reason,
            (ReplaceError::TooMuch, _) => context.budget.file_too_large(path, context.budget.file_bytes() + 1),
            (error, _) => wanted.unsafe_regex(Prose::ours(error)),
        })?;
        // Matches are relative to the part that was searched.
        found.iter_mut().for_each(|found| found.span = part.start + found.span.start..part.start + found.span.end);
        Ok(found)
    };
    let in_properties = match block {
        // Only the YAML: the lines that enclose it are not the caller's to change.
        Some(block) if scope != ReplaceScope::Body => find(block.yaml)?,
        _ => Vec::new(),
    };
    // The first match of the whole note may be in the properties.
    let first_only = !wanted.replace_all && !in_properties.is_empty();
    let in_body = if scope == ReplaceScope::Frontmatter || first_only { Vec::new() } else { find(body)? };
    let count = ReplacementCount {
        search: wanted.search.clone(),
        count: in_properties.len() + in_body.len(),
        body_count: in_body.len(),
        frontmatter_count: in_properties.len(),
    };
    let changes = in_properties.into_iter().chain(in_body).map(|found| (found.span, found.text));
    let edited = document.replace_ranges(changes).map_err(|error| edit_refusal(path, &error))?;
    Ok((edited.document, count))
}

/// The notice for a caller that found nothing in its scope: where the text is instead, or the most similar one.
pub(super) fn found_elsewhere(
    context: &Context<'_>,
    path: &VaultPath,
    before: &Document,
    input: &Input,
    counts: &[ReplacementCount],
) -> Option<String> {
    let missed = || input.replacements.iter().zip(counts).filter(|(_, count)| count.count == 0);
    let elsewhere = match input.scope {
        ReplaceScope::Body => Some((ReplaceScope::Frontmatter, "properties", "frontmatter")),
        ReplaceScope::Frontmatter => Some((ReplaceScope::Body, "text", "body")),
        ReplaceScope::Both => None,
    };
    if let Some((elsewhere, place, scope)) = elsewhere {
        let is_there = |wanted: &ReplaceRequest| {
            // In the note before any replacement; after an error there is just nothing to hint at.
            replaced(context, path, before, wanted, elsewhere).is_ok_and(|(_, found)| found.count > 0)
        };
        if let Some((found, _)) = missed().find(|(wanted, _)| is_there(wanted)) {
            let search = clipped(&found.search);
            return Some(format!("{} is in the {place}: set `scope` to `{scope}` or `both`.", quoted(&search)));
        }
    }
    // The first one is enough: searching for all would take as many passes over the note.
    let (wanted, _) = missed().find(|(wanted, _)| !wanted.use_regex)?;
    let near = near_text(before.shown(), &wanted.search)?;
    let (search, line) = (clipped(&wanted.search), near.line);
    Some(match near.text == search {
        true => format!("{} is only part of a word on line {line}: leave out `wholeWord`.", quoted(&search)),
        false => format!("{} is not there; line {line} has {}.", quoted(&search), quoted(&near.text)),
    })
}

impl ReplaceRequest {
    fn replacer(&self) -> Result<Replacer, Reason> {
        const LONGEST: usize = 1024;
        if self.use_regex {
            guard_regex(SEARCH, &self.search, LONGEST)?;
        }
        let options = PatternOptions {
            kind: if self.use_regex { PatternKind::Regex } else { PatternKind::Literal },
            case: if self.case_sensitive { LetterCase::Sensitive } else { LetterCase::Insensitive },
            whole_word: self.whole_word,
            // A replacement changes bytes, so a match must be exactly the bytes in the file.
            nfc: false,
        };
        Replacer::compile(&plain(&self.search), &options, self.flexible_whitespace)
            .map_err(|error| pattern_refusal(SEARCH, &self.search, &error))
    }

    fn unsafe_regex(&self, problem: Prose) -> Reason {
        Reason::RegexUnsafe { argument: SEARCH, pattern: clipped(&self.search), problem }
    }
}

/// In the form in which the searched text is shown.
fn plain(given: &str) -> String {
    given.replace("\r\n", "\n")
}

/// Changed properties must be readable; unchanged ones must be the same, and no body text may have become one.
pub(super) fn check_properties(
    path: &VaultPath,
    before: &Document,
    after: &Document,
    changed: bool,
) -> Result<(), Reason> {
    let (old, new) = (before.frontmatter(), after.frontmatter());
    if changed {
        let problem = match new {
            Some(block) => block.properties(after.shown()).err().map(Prose::ours),
            None => Some("the lines would no longer be properties".into()),
        };
        return problem.map_or(Ok(()), |problem| Err(Reason::FrontmatterWouldBreak { path: path.clone(), problem }));
    }
    if old.map(|block| &before.shown()[block.yaml]) != new.map(|block| &after.shown()[block.yaml]) {
        let problem = "text would become properties, or properties text".into();
        return Err(Reason::PatchRejected { path: path.clone(), problem, remedy: None });
    }
    Ok(())
}
