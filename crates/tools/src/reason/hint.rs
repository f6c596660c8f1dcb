use lapidary_note::{ContentHash, EditError, PatchError};
use lapidary_vault::{Denied, JoinError, VaultPath};

use super::{ArgumentProblem, Disk, Interruption, Reason, Refused, Wanted};
use crate::{catalogue::Off, successor};

impl Reason {
    /// One or two sentences that name the next step.
    pub fn hint(&self) -> String {
        match self {
            Self::InvalidArguments { tool, problems } => arguments(tool, problems),
            Self::ToolUnknown { name, nearest: Some(nearest) } => {
                let moved = successor(name).filter(|successor| successor.tool == nearest);
                moved.map_or_else(|| format!("Did you mean `{nearest}`?"), |successor| successor.hint())
            }
            Self::ToolUnknown { nearest: None, .. } => "Describe what you want to do to `find_tool`.".into(),
            Self::ToolOff { off: Off::ReadOnly, .. } => "Only reading is possible. Tell the person what you would have changed.".into(),
            Self::ToolOff { .. } => "Use another tool, or ask the person to switch it on.".into(),
            Self::VaultUnknown { names, .. } | Self::VaultRequired { names } => {
                format!("Set `vault` to one of: {}.", list(names))
            }
            Self::VaultClosed { file } => {
                format!("Nothing was read or changed. The owner has to repair `{file}` in the vault's folder.")
            }
            Self::ResourceUnknown { .. } => {
                "Files are `obsidian://vault/` and the path, for example `obsidian://vault/Projects/Plan.md`.".into()
            }
            Self::PathInvalid { .. } => "Give a path relative to the vault, for example `Projects/Plan.md`.".into(),
            Self::PathForbidden { denied, .. } => forbidden(denied),
            Self::NoteMissing { suggestions, .. } if suggestions.is_empty() => {
                "Check the path, including folder and extension (usually `.md`).".into()
            }
            Self::NoteMissing { suggestions, .. } => format!("Did you mean {}?", paths(suggestions)),
            Self::AmbiguousPath { matches, .. } => format!("Use the exact spelling of one of: {}.", paths(matches)),
            Self::PathIsDirectory { .. } => "Name a file inside it, for example a note ending in `.md`.".into(),
            Self::PathIsFile { .. } => "Name the folder it is in, or read it with `obsidian_get_note`.".into(),
            Self::DirectoryMissing { nearest: Some(nearest), .. } => format!("Did you mean `{nearest}`?"),
            Self::DirectoryMissing { nearest: None, .. } => "List the folder above it to see what is there.".into(),
            Self::NotAFile { .. } => "Choose the path of an ordinary file in an ordinary folder.".into(),
            Self::NotText { path, .. } => format!(
                "Only text can be read or edited here; leave this file alone. The client can show it to the person as the resource `{}`.",
                crate::resources::of_file(path)
            ),
            Self::FileTooLarge { .. } => "Leave it alone, or ask the owner to raise LAPIDARY_MAX_FILE_BYTES.".into(),
            Self::ReplyTooLarge { .. } => {
                "Ask for less. A list takes a smaller `limit` or a folder; of a note, `obsidian_get_note` with format `document-map` shows what is there and format `section` reads one part.".into()
            }
            Self::NoActiveFile => "Ask the person which note is meant and name it by its path.".into(),
            Self::PeriodicNotFound { path, .. } => {
                format!("It would be `{path}`. To make it, call `obsidian_write_note` with that path.")
            }
            Self::PeriodicDisabled { .. } => {
                "Name the note by its path. The owner can enable the core plugin Daily notes or the plugin Periodic Notes.".into()
            }
            Self::FileExists { current, .. } => format!(
                "To change part of it use `str_replace`; to replace all of it repeat the call with `overwrite: true` and `expectedHash` {current}."
            ),
            Self::DestinationExists { current, wanted: Wanted::New, .. } => format!(
                "To change part of it use `str_replace` or `apply_edits`; to replace all of it use `file_replace` with `expected_content_hash` {current}."
            ),
            Self::DestinationExists { wanted: Wanted::Moved, .. } => {
                "Nothing was changed. Choose another name, or set `on_conflict` to `rename` or `overwrite`.".into()
            }
            Self::DestinationExists { path, wanted: Wanted::Back, .. } => {
                format!("Nothing was changed. Another file has this name now: move `{path}` away first.")
            }
            Self::Stale { current: Some(current), argument, .. } => stale(argument, current),
            Self::StalePart { found: Some(found), part, .. } => stale(part.argument(), found),
            Self::Stale { current: None, argument, .. } => format!("Nothing is there any more. Leave out `{argument}` to create it."),
            Self::StalePart { found: None, part, .. } => {
                format!("There is none any more. Leave out `{}` to make one.", part.argument())
            }
            Self::CheckpointMissing { .. } => "`checkpoint_list` shows those that there are.".into(),
            Self::CheckpointAmbiguous { ids, .. } => format!("Send more of its name: {}.", list(ids)),
            Self::NotInCheckpoint { files, .. } => format!("It has {}.", paths(files)),
            Self::VersionMissing { .. } => {
                "Only versions that a change here replaced are kept, and for a limited time; `checkpoint_list` with `path` shows them.".into()
            }
            Self::KeepsChanging { .. } => "Wait a moment and try again.".into(),
            Self::SectionRequired => "Add `section: {\"type\": \"heading\", \"target\": \"…\"}`.".into(),
            Self::SectionMissing { available, section_type, .. }
            | Self::SectionTargetMissing { available, section_type, .. } => available_sections(section_type, available),
            Self::AmbiguousSection { candidates, .. } => candidate_sections(candidates),
            Self::ContentPreexists { .. } => {
                "Nothing needs to be done, unless it shall stand there twice: then set `applyIfContentPreexists`.".into()
            }
            Self::HeadingOutsideSection { .. } => {
                "Give the headings in the content more `#` than the section has, or name the section above it.".into()
            }
            Self::PatchRejected { .. } => "Read the section again and send content that fits it, or edit the text with `str_replace`.".into(),
            Self::ValueRequired { .. } => "Add `value`; it may be any JSON, `null` too. To remove the property use `delete`.".into(),
            Self::TagsRequired { .. } => "Add `tags`, for example `[\"project/garden\"]`.".into(),
            Self::Ambiguous { candidates, .. } => format!("Repeat with one of: {}.", candidates.choices()),
            Self::LineOutOfRange { lines: 0, argument: "from", .. } => {
                "The file is empty; add to it with `lines_insert` at line 1, or with `file_append`.".into()
            }
            Self::LineOutOfRange { lines, argument: "from", .. } => {
                format!("Lines count from 1 to {lines}; read the file again if it should have more.")
            }
            Self::LineOutOfRange { lines, .. } => {
                format!("Send a line from 1 to {}: the last of them adds at the end.", lines + 1)
            }
            Self::PatchInvalid(error) => patch(error),
            Self::PatchMismatch { mismatch, .. } => match mismatch.found_at {
                Some(line) => format!("The lines of this hunk stand at line {line}: begin it with `@@ -{line},… @@`, or use `str_replace`."),
                None => "Read the file again and make the patch anew, or use `str_replace`, which needs no line numbers.".into(),
            },
            Self::EditRefused { error, .. } => edit(error).into(),
            Self::InStep { reason, .. } => format!("None of them was made. {}", reason.hint()),
            Self::FrontmatterWouldBreak { .. } => {
                "Nothing was changed. Narrow the replacement, or set `scope` to `body` so that properties are left alone.".into()
            }
            Self::FrontmatterInvalid { .. } => "Read the note with format `content` and repair the lines between the `---` marks first.".into(),
            Self::TextMissing { .. } => "Read the file again and copy the text exactly, spaces and line breaks included.".into(),
            Self::TextNotUnique { occurrences, .. } => {
                format!("Add more of the surrounding text to `find`, or set `occurrence` to `all` or a number from 1 to {occurrences}.")
            }
            Self::OccurrenceOutOfRange { occurrences, .. } => format!("Set `occurrence` to a number from 1 to {occurrences}."),
            Self::RegexInvalid { .. } => "Correct the expression; write `\\.` for a dot and `\\(` for a parenthesis.".into(),
            Self::RegexUnsafe { .. } => "Use a shorter expression, without lookaround, backreferences or a repetition inside a repeated group.".into(),
            Self::PathPrefixInvalidMode { .. } => {
                "Leave out `pathPrefix`; in `logic` write {\"glob\": [\"Folder/*\", {\"var\": \"path\"}]}, in an `omnisearch` query `path:Folder`.".into()
            }
            Self::QueryRequired { .. } => "Set `query` to the words to find.".into(),
            Self::LogicRequired { .. } => {
                "Set `logic`, for example {\"==\": [{\"var\": \"frontmatter.status\"}, \"open\"]}.".into()
            }
            Self::LogicInvalid { .. } => {
                "Correct the rule. `glob` and `regexp` take the pattern first: {\"glob\": [\"Projects/*\", {\"var\": \"path\"}]}.".into()
            }
            Self::ContextLengthTooLarge { limit, .. } => format!("Set it to {limit} or less, and read the note for more."),
            Self::TooManyOperations { limit, .. } => format!(
                "Nothing was changed. Send at most {limit} operations at once, or set `_budget: {{\"maxBulkOps\": 0}}`."
            ),
            Self::NotInBatch { .. } => {
                "A batch takes tools that change notes and files, such as `str_replace` or `file_move`; call this one by itself.".into()
            }
            Self::PromptUnknown { nearest: Some(nearest), .. } => format!("Did you mean `{nearest}`?"),
            Self::PromptUnknown { nearest: None, .. } => {
                "Prompts are notes in `Prompts/` with the tag `mcp-tools-prompt` in their properties; list them again.".into()
            }
            Self::OtherVault { .. } => "Send the operations of each vault in a batch of their own.".into(),
            Self::NotJoined(JoinError::TrashAfterEdit { .. }) => "Leave out the edit, or delete the file in a later call.".into(),
            Self::NotJoined(JoinError::NewFolder { .. } | JoinError::FolderLeft { .. }) => "Make the files where they shall be in the end, or move the folder in a later call.".into(),
            Self::ProposalExpired => {
                "Nothing was changed. Make the call without `proposal_token` for a new diff and token, and repeat it with exactly the same arguments.".into()
            }
            Self::ProposalChanged => {
                "Nothing was changed: a file is not what it was. Make the call without `proposal_token` to see the new diff.".into()
            }
            Self::Declined => "Nothing was changed. Ask the person what to do instead.".into(),
            Self::NobodyToAsk => "Nothing was done. The owner can allow it in the approval settings, or use a client that can ask.".into(),
            Self::ApprovalPending { id } => format!("Nothing was changed. Ask the person to look at it with `lapidary approvals show {id}` and to accept or reject it at a terminal; then make the same call again to hear what came of it."),
            Self::ConsentExpired => "Nothing was changed. Make the call again so that the person is asked again.".into(),
            Self::ChangedMeanwhile => "Nothing was changed. Read the note again and repeat the call.".into(),
            Self::DeniedByRule => "Nothing was done. Tell the person what you wanted to do.".into(),
            Self::Repeated { similar: true, .. } => "Use what the earlier searches found, or search elsewhere: another folder, mode or page, or other words.".into(),
            Self::Repeated { last, .. } => format!("Use the answer of {last}, or do something different."),
            Self::Interrupted(Interruption::WriteUnfinished) => "Read the note to see whether the change is there.".into(),
            Self::Interrupted(_) => "Nothing was changed. Try again, or ask for less.".into(),
            Self::Disk { problem, .. } => disk(*problem).into(),
            Self::Internal(bug) => format!(
                "Nothing was changed. Try again; if it happens again, report it with the line of the server's log that has the id {}.",
                bug.id()
            ),
        }
    }
}

fn arguments(tool: &str, problems: &[ArgumentProblem]) -> String {
    match problems.iter().find_map(|problem| problem.nearest.as_ref()) {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => format!("Compare the call with the input schema of `{tool}`."),
    }
}

fn forbidden(refused: &Refused) -> String {
    match refused {
        Refused::ByScope(Denied::OutsideReadPaths { allowed } | Denied::OutsideWritePaths { allowed }) => {
            let quoted: Vec<String> = allowed.iter().map(|prefix| format!("'{prefix}'")).collect();
            format!("Allowed prefixes: [{}]. Choose a path below one of them.", quoted.join(", "))
        }
        Refused::ByScope(Denied::NotAllowed { allowed }) => {
            let quoted: Vec<String> = allowed.iter().map(|pattern| format!("'{pattern}'")).collect();
            format!("Allowed patterns: [{}]. Choose a path that one of them covers.", quoted.join(", "))
        }
        Refused::ByScope(Denied::Protected) => {
            "It can be read, but nobody may change it here. Tell the person what you would have changed.".into()
        }
        Refused::ByScope(Denied::ReadOnly) => {
            "Only reading is possible. Tell the person what you would have changed.".into()
        }
        Refused::ByScope(Denied::InDenyPaths | Denied::Forbidden | Denied::Hidden | Denied::Ignored)
        | Refused::LeadsOutside
        | Refused::LeadsToClosed => "Choose another path.".into(),
    }
}

fn available_sections(section_type: &str, available: &[String]) -> String {
    const SHOWN: usize = 20;
    if available.is_empty() {
        return format!("The note has no {section_type} at all. Read it with format `content`.");
    }
    let more = if available.len() > SHOWN { ", …" } else { "" };
    let shown = &available[..available.len().min(SHOWN)];
    format!("The note has: {}{more}.", list(shown))
}

fn candidate_sections(candidates: &[String]) -> String {
    let (mut once, mut often): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for name in candidates {
        let is_repeated = candidates.iter().filter(|other| *other == name).count() > 1;
        let names = if is_repeated { &mut often } else { &mut once };
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let named = if once.is_empty() { String::new() } else { format!("Name one of: {}. ", list(&once)) };
    let repeated = if often.is_empty() {
        String::new()
    } else {
        format!(
            "{} stands there several times: `heading_replace_body` takes an `occurrence`, `str_replace` the exact text.",
            list(&often)
        )
    };
    format!("{named}{repeated}").trim_end().to_owned()
}

fn stale(argument: &str, current: &ContentHash) -> String {
    format!(
        "It changed since you read it. Read it again, or repeat with `{argument}` {current} if the change does not matter."
    )
}

fn patch(error: &PatchError) -> String {
    match error {
        PatchError::Counts { actual, .. } => format!("If its lines are right, its header must say `{actual}`."),
        PatchError::SeveralFiles { .. } => "Send one patch for each file.".into(),
        _ => "Send a unified diff: `@@ -line,count +line,count @@`, then lines that begin with a space, `-` or `+`."
            .into(),
    }
}

fn edit(error: &EditError) -> &'static str {
    match error {
        EditError::OutsideText { .. } | EditError::OutsideLines { .. } => "Read the file again and repeat the call.",
        EditError::MergedLineEnds => "Include the line ends around the place in what is replaced.",
        EditError::SeveralLines => "Send one line.",
        EditError::HeadingLost { .. } => "Choose a text that Markdown reads as the words of this heading.",
        EditError::HeadingTaken { .. } | EditError::BlockIdTaken { .. } => "Choose another name.",
        EditError::AmbiguousHeading { .. } => "Use the whole path of the heading.",
        EditError::TooDeep { .. } => "Choose a place higher up; headings have six levels.",
        EditError::HeadingsLost => {
            "Close every code fence, comment and HTML block in the content, or use `str_replace` for the exact text."
        }
        EditError::Unclosed => "Close the code fence, comment or HTML block that stands before it first.",
        EditError::BlockLost { .. } => {
            "Send content of the same kind as the block (one paragraph, item, row, …), or use `lines_replace`."
        }
        EditError::BadBlockId { .. } => "Use only letters, digits and `-`.",
        EditError::NotATable { .. } => "Use `block_replace`, or choose the id of a table.",
        EditError::Columns { .. } => "Send as many cells as the table has columns.",
        EditError::BadTag { .. } => {
            "A tag has letters, digits, `-`, `_` and `/`, not digits alone, and no space; for example `project/active`."
        }
        EditError::TagLost { .. } => "Change the tag with `str_replace` instead.",
        EditError::BadLinkTarget { .. } | EditError::LinkLost { .. } => {
            "Choose another text, or leave the links alone and change them one by one with `str_replace`."
        }
        EditError::Property(_) => "Read the properties with `frontmatter_get`, or change the text with `str_replace`.",
    }
}

fn disk(problem: Disk) -> &'static str {
    match problem {
        Disk::NotPermitted => "Nothing was changed. The owner has to give the server's user access to this file.",
        Disk::ReadOnly => "Nothing was changed. The disk has to be made writable first.",
        Disk::Full => "Nothing was changed. Space has to be made on the disk first.",
        Disk::NotPortable => {
            "Nothing was changed. Choose a name without `* \" < > : | ?`, without a dot or space at its end, and not one of \
             CON, PRN, AUX, NUL, COM1 or LPT1: Windows and Android refuse those, and vaults are carried there."
        }
        Disk::BadName => "Choose a name without characters that file systems forbid.",
        Disk::NoState => "Nothing was changed. The owner has to make LAPIDARY_STATE_DIR a folder that can be written.",
        Disk::VaultGone => {
            "Ask the person whether the drive is connected; the vault is opened again as soon as it is back."
        }
        Disk::Failing => "Nothing was changed. Try again; if it happens again, the disk needs attention.",
    }
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn paths(paths: &[VaultPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}
