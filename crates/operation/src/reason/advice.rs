//! Hints that depend on more than the fields of a reason. Each names only tools and arguments that the caller has;
//! alternatives come in order of preference.

use lapidary_note::{ContentHash, EditError, PatchError};
use lapidary_query::nearest_several;
use lapidary_vault::PathDenied;

use super::{ArgumentProblem, DiskFault, OfferedTools, PathRefusal};
use crate::{
    attachment::can_be_shown,
    catalogue::OffReason,
    quote::{Prose, Quoted, quoted, quoted_list},
    successor,
    uri::of_path,
};

/// Tools that replace an exact text.
const REPLACE_TEXT: &[&str] = &["str_replace", "obsidian_replace_in_note"];

/// The same, for reasons that only note tools give.
const REPLACE_IN_NOTE: &[&str] = &["obsidian_replace_in_note", "str_replace"];

pub(super) fn arguments(tool: Quoted<'_>, problems: &[&ArgumentProblem], offered: &OfferedTools<'_>) -> String {
    match problems.iter().find_map(|problem| problem.nearest.as_ref()) {
        // The nearest name is most often what was meant, and shorter than the way to the schema.
        Some(nearest) => format!("Did you mean {}?", quoted(nearest)),
        // The client has no schema of a tool that is not in its list.
        None if offered.has("find_tool") && !offered.lists(tool.raw()) => {
            format!("`find_tool` with the query {tool} shows its arguments.")
        }
        None => format!("Compare the call with the input schema of {tool}."),
    }
}

/// The schema of the tool that runs recipes does not have the parameters of one.
pub(super) fn recipe_arguments(
    recipe: Quoted<'_>,
    problems: &[&ArgumentProblem],
    offered: &OfferedTools<'_>,
) -> String {
    match problems.iter().find_map(|problem| problem.nearest.as_ref()) {
        Some(nearest) => format!("Did you mean {}?", quoted(nearest)),
        None if offered.has("recipe_show") => format!("`recipe_show` with the name {recipe} shows its parameters."),
        None => "Ask the user what to send.".to_owned(),
    }
}

/// The schema of the tool that calls other servers does not have the arguments of their tools.
pub(super) fn server_arguments(
    server: Quoted<'_>,
    tool: Quoted<'_>,
    problems: &[&ArgumentProblem],
    offered: &OfferedTools<'_>,
) -> String {
    match problems.iter().find_map(|problem| problem.nearest.as_ref()) {
        Some(nearest) => format!("Did you mean {}?", quoted(nearest)),
        None if offered.has("mcp_tools") => {
            format!("`mcp_tools` with `server` {server} and `tool` {tool} shows its arguments.")
        }
        None => "Ask the user what to send.".to_owned(),
    }
}

pub(super) fn tool_off(off: &OffReason) -> String {
    let hint = match off {
        OffReason::ReadOnly => "Only reading is possible. Tell the user what you would have changed.",
        OffReason::Commands => "Tell the user what you wanted to do. The owner can set OBSIDIAN_ENABLE_COMMANDS=true.",
        // No setting opens it to a caller that may use only part of a vault.
        OffReason::OwnFolders => "Tell the user what you wanted to do.",
        OffReason::Excluded | OffReason::NotChosen | OffReason::Profile | OffReason::Scope => {
            "Use another tool, or ask the user to enable it."
        }
        // Every setting that names a folder ends like this.
        OffReason::NotSetUp(missing) if missing.key.ends_with("_folder") => {
            return format!("Ask the user to name a folder for it: the setting `{}`.", missing.key);
        }
        OffReason::NotSetUp(missing) => {
            return format!("Use other tools, or ask the user to set `{}`.", missing.key);
        }
    };
    hint.to_owned()
}

pub(super) fn unknown_tool(name: Quoted<'_>, nearest: Option<Quoted<'_>>, offered: &OfferedTools<'_>) -> String {
    match nearest {
        // A hint that names a tool the caller cannot use would send it from one refusal to the next.
        Some(nearest) if offered.has(nearest.raw()) => {
            // A renamed tool has a hint that also translates its arguments.
            match successor(name.raw()).filter(|successor| successor.tool == nearest.raw()) {
                Some(successor) => successor.hint(offered),
                None if offered.has("find_tool") => {
                    format!("Did you mean {nearest}? If not, describe what you want to do to `find_tool`.")
                }
                None => format!("Did you mean {nearest}?"),
            }
        }
        _ if offered.has("find_tool") => "Describe what you want to do to `find_tool`.".to_owned(),
        _ => "Use one of the tools in the list.".to_owned(),
    }
}

pub(super) fn unknown_recipe(nearest: Option<Quoted<'_>>, offered: &OfferedTools<'_>) -> String {
    match nearest {
        Some(nearest) => format!("Did you mean {nearest}?"),
        None if offered.has("recipe_list") => "`recipe_list` has the recipes of this vault.".to_owned(),
        None => "Ask the user which one is meant.".to_owned(),
    }
}

pub(super) fn forbidden(refused: &PathRefusal) -> String {
    match refused {
        PathRefusal::ByScope(PathDenied::OutsideReadPaths { allowed } | PathDenied::OutsideWritePaths { allowed }) => {
            // They come from the configuration, not from the disk, so they reveal no file.
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            format!("Allowed prefixes: {}. Choose a path below one of them.", quoted_list(&allowed))
        }
        PathRefusal::ByScope(PathDenied::NotAllowed { allowed }) => {
            format!("Allowed patterns: {}. Choose a path that one of them covers.", quoted_list(allowed))
        }
        PathRefusal::ByScope(PathDenied::Protected) => {
            "It can be read, but it cannot be changed here. Tell the user what you would have changed.".into()
        }
        PathRefusal::ByScope(PathDenied::ReadOnly) => {
            "Only reading is possible. Tell the user what you would have changed.".into()
        }
        // Which paths are closed is not told: their names may be what is hidden.
        PathRefusal::ByScope(
            PathDenied::InDenyPaths | PathDenied::Forbidden | PathDenied::Hidden | PathDenied::Ignored,
        )
        | PathRefusal::LeadsOutside
        | PathRefusal::LeadsToClosed => "Choose another path.".into(),
        PathRefusal::PartlyClosed => "Nothing was changed. Move its files one at a time.".into(),
    }
}

pub(super) fn not_text(path: &str, offered: &OfferedTools<'_>) -> String {
    if can_be_shown(path) && offered.has("attachment_read") {
        return "Read it with `attachment_read`.".to_owned();
    }
    let resource = of_path(path);
    format!(
        "Only text can be read or edited here; leave this file alone. The client can show it to the user as the resource `{resource}`."
    )
}

pub(super) fn not_a_folder(offered: &OfferedTools<'_>) -> String {
    let read = offered.first(&["obsidian_get_note", "file_read"]);
    read.map_or_else(
        || "Name the folder it is in.".to_owned(),
        |read| format!("Name the folder it is in, or read it with `{read}`."),
    )
}

pub(super) fn reply_too_large(offered: &OfferedTools<'_>) -> String {
    let list =
        if offered.takes("limit") { "A list takes a smaller `limit` or a folder" } else { "A list takes a folder" };
    let note = if offered.has("obsidian_get_note") {
        "; for a note, use `obsidian_get_note` with format `document-map` to see its parts and format `section` to read one"
    // Only both together help: one finds the lines that the other reads.
    } else if offered.has("outline") && offered.has("file_read_range") {
        "; for a note, use `outline` to see its headings and `file_read_range` to read a range of lines"
    } else {
        ""
    };
    format!("Ask for less. {list}{note}.")
}

pub(super) fn make_note(path: Quoted<'_>, offered: &OfferedTools<'_>) -> String {
    // The tool that is about such notes makes them itself.
    if offered.takes("offset") && offered.takes("create") {
        return format!("It would be {path}. With `content` or `create: true` it is made from its template.");
    }
    // Appending makes it from the vault's template, which writing it would leave out.
    if offered.has("obsidian_append_to_note") {
        return format!(
            "It would be {path}. `obsidian_append_to_note` with the same target creates it from its template."
        );
    }
    let make = offered.first(&["obsidian_write_note", "file_create"]);
    make.map_or_else(
        || format!("It would be {path}."),
        |make| format!("It would be {path}. To create it, call `{make}` with that path."),
    )
}

pub(super) fn nothing_to_open(suggestions: &[Quoted<'_>], offered: &OfferedTools<'_>) -> String {
    let meant = match suggestions {
        [] => "Check the path.".to_owned(),
        suggestions => format!("Did you mean {}?", list(suggestions)),
    };
    let made =
        if offered.takes("failIfMissing") { " With `failIfMissing: false` the link creates the note." } else { "" };
    format!("{meant}{made}")
}

pub(super) fn content_preexists(offered: &OfferedTools<'_>) -> &'static str {
    match offered.has("obsidian_patch_note") {
        true => {
            "It is already there. To add it again anyway, call `obsidian_patch_note` with `patchOptions: {\"applyIfContentPreexists\": true}`."
        }
        false => "It is already there.",
    }
}

/// A note exists, and the call could have replaced it.
pub(super) fn file_exists(current: &ContentHash, offered: &OfferedTools<'_>) -> String {
    // As many digits as the argument needs: the rest would only cost a model tokens.
    let current = current.short();
    let part = offered
        .any(&["obsidian_patch_note", "obsidian_append_to_note", "obsidian_replace_in_note"])
        .or_else(|| offered.any(REPLACE_TEXT))
        .map(|tools| format!("to change part of it, use {tools}"));
    let how = match offered.takes("overwrite") {
        true => Some("repeat the call"),
        false => offered.has("obsidian_write_note").then_some("use `obsidian_write_note`"),
    };
    let whole =
        how.map(|how| format!("to replace all of it, {how} with `overwrite: true` and `expectedHash` {current}"));
    either([part, whole], "Choose another path.")
}

/// The same where only a different tool could replace it.
pub(super) fn destination_exists(current: &ContentHash, offered: &OfferedTools<'_>) -> String {
    let current = current.short();
    // The family of the call first; the other one only if nothing of the own family is on.
    let part = offered.any(&["str_replace", "apply_edits"]).or_else(|| offered.any(&["obsidian_replace_in_note"]));
    let part = part.map(|tools| format!("to change part of it, use {tools}"));
    let whole = offered
        .has("file_replace")
        .then(|| format!("to replace all of it, use `file_replace` with `expected_content_hash` {current}"));
    either([part, whole], "Choose another path.")
}

/// The same for the note of a recipe.
pub(super) fn recipe_exists(offered: &OfferedTools<'_>) -> &'static str {
    match offered.has("recipe_update") {
        true => "To change it, use `recipe_update`; for another recipe, choose another name.",
        false => "Choose another name.",
    }
}

/// The same for a file that only the tool of the call writes.
pub(super) fn whole_file_exists(current: &ContentHash, offered: &OfferedTools<'_>) -> String {
    match offered.takes("overwrite") {
        true => format!(
            "Choose another path, or replace it: repeat the call with `overwrite: true` and `expectedHash` {}.",
            current.short()
        ),
        false => "Choose another path.".to_owned(),
    }
}

/// For a file that another tool reads.
pub(super) fn unsupported(path: &str, supported: &str, offered: &OfferedTools<'_>) -> String {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let (kind, tools): (&str, &[&str]) = match &*ending.to_ascii_lowercase() {
        "md" => ("a note", &["obsidian_get_note", "file_read"]),
        "canvas" => ("a canvas", &["canvas_read"]),
        "base" => ("a base", &["query"]),
        _ => ("", &[]),
    };
    match offered.first(tools) {
        Some(tool) => format!("It is {kind}: use `{tool}`."),
        None => format!(
            "Supported are {supported}. The client can show the file to the user as the resource `{}`.",
            of_path(path)
        ),
    }
}

/// The available alternatives, as one sentence.
fn either<const N: usize>(ways: [Option<String>; N], otherwise: &str) -> String {
    let ways = ways.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let mut letters = ways.chars();
    letters
        .next()
        .map_or_else(|| otherwise.to_owned(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

pub(super) fn on_conflict(offered: &OfferedTools<'_>) -> &'static str {
    if offered.takes("on_conflict") {
        "Nothing was changed. Choose another name, or set `on_conflict` to `rename` or `overwrite`."
    } else {
        "Nothing was changed. Choose another name."
    }
}

pub(super) fn stale(argument: &str, current: &ContentHash, offered: &OfferedTools<'_>) -> String {
    let current = current.short();
    // A tool without such an argument cannot be called again with it.
    if offered.takes(argument) {
        format!(
            "It changed since you read it. Read it again, or repeat with `{argument}` {current} if the change does not matter."
        )
    } else {
        "It changed since you read it. Read it again.".to_owned()
    }
}

/// Omits the current hash: a caller that repeated the call with it would overwrite content it has not seen.
pub(super) fn overtaken(changed: &[Quoted<'_>], lost: &[Quoted<'_>]) -> String {
    let shown = match (changed, lost) {
        ([], []) => String::new(),
        ([], lost) => format!(" Your text lacks these lines of it: {}.", list(lost)),
        (changed, _) => format!(" Since then: {}.", list(changed)),
    };
    format!("Nothing was changed.{shown} Read the whole file again, then repeat with its hash.")
}

pub(super) fn nothing_to_expect(gone: &str, argument: &str, make: &str, offered: &OfferedTools<'_>) -> String {
    if offered.takes(argument) { format!("{gone} Leave out `{argument}` to {make}.") } else { gone.to_owned() }
}

pub(super) fn version_missing(offered: &OfferedTools<'_>) -> String {
    let list = if offered.has("checkpoint_list") { "; `checkpoint_list` with `path` shows them" } else { "" };
    format!("Only versions replaced by changes made here are kept, for a limited time{list}.")
}

/// The names that were probably meant, or else the first few; the data lists all of them.
pub(super) fn available_sections(
    section_type: &str,
    target: Quoted<'_>,
    available: &[Quoted<'_>],
    offered: &OfferedTools<'_>,
) -> String {
    const SHOWN: usize = 5;
    // There is nothing to list or to suggest.
    if available.is_empty() {
        let how = whole_note(offered);
        return format!("The note has no {section_type} at all. Read it{how}.");
    }
    // A few likely ones say more than a list of all.
    let near = nearest_several(target.raw(), available.iter().map(|name| name.raw()), SHOWN);
    if !near.is_empty() {
        return format!(
            "Did you mean {}?",
            near.iter().map(|name| quoted(name).to_string()).collect::<Vec<_>>().join(", ")
        );
    }
    let more = if available.len() > SHOWN { ", …" } else { "" };
    let shown = &available[..available.len().min(SHOWN)];
    format!("The note has: {}{more}.", list(shown))
}

pub(super) fn candidate_sections(candidates: &[Quoted<'_>], offered: &OfferedTools<'_>) -> String {
    let (mut once, mut often): (Vec<Quoted<'_>>, Vec<Quoted<'_>>) = (Vec::new(), Vec::new());
    for name in candidates {
        // A name that occurs twice cannot be chosen by naming it again.
        let is_repeated = candidates.iter().filter(|other| *other == name).count() > 1;
        let names = if is_repeated { &mut often } else { &mut once };
        if !names.contains(name) {
            names.push(*name);
        }
    }
    // What can be named comes before what cannot, as the shorter way.
    let named = if once.is_empty() { String::new() } else { format!("Name one of: {}. ", list(&once)) };
    let repeated = if often.is_empty() {
        String::new()
    } else {
        format!("{} occurs several times{}.", list(&often), among_repeated(offered))
    };
    format!("{named}{repeated}").trim_end().to_owned()
}

/// How to change one of several sections with the same name.
fn among_repeated(offered: &OfferedTools<'_>) -> String {
    // Tools with a `section` argument accept a number in it; for others, a different tool has to be used.
    if offered.takes("section") {
        return ": say which in the section, `{\"target\": \"…\", \"occurrence\": 2}`".to_owned();
    }
    let by_text = offered.first(REPLACE_IN_NOTE).map(|tool| format!("`{tool}` finds one by its text"));
    let by_number =
        offered.has("heading_replace_body").then(|| "`heading_replace_body` by its `occurrence`".to_owned());
    let ways: Vec<String> = by_text.into_iter().chain(by_number).collect();
    if ways.is_empty() { String::new() } else { format!(": {}", ways.join(", ")) }
}

pub(super) fn empty_file(offered: &OfferedTools<'_>) -> String {
    let insert = offered.has("lines_insert").then_some("with `lines_insert` at line 1");
    let append = match offered.first(&["file_append", "obsidian_append_to_note"]) {
        Some("file_append") => Some("with `file_append`"),
        Some(_) => Some("with `obsidian_append_to_note`"),
        None => None,
    };
    match (insert, append) {
        (Some(insert), Some(append)) => format!("The file is empty; add to it {insert}, or {append}."),
        (Some(way), None) | (None, Some(way)) => format!("The file is empty; add to it {way}."),
        (None, None) => "The file is empty.".to_owned(),
    }
}

pub(super) fn patch(error: &PatchError) -> String {
    match error {
        PatchError::Counts { actual, .. } => format!("If its lines are right, its header should be `{actual}`."),
        PatchError::SeveralFiles { .. } => "Send one patch for each file.".into(),
        _ => "Send a unified diff: `@@ -line,count +line,count @@`, then lines that start with a space, `-` or `+`."
            .into(),
    }
}

pub(super) fn patch_mismatch(found_at: Option<usize>, offered: &OfferedTools<'_>) -> String {
    let tool = offered.first(REPLACE_TEXT);
    match found_at {
        Some(line) => {
            // The numbers were wrong but the lines are there, so correcting the patch is the shortest way.
            let or_use = tool.map_or_else(String::new, |tool| format!(", or use `{tool}`"));
            format!("The lines of this hunk are at line {line}: start it with `@@ -{line},… @@`{or_use}.")
        }
        None => {
            let or_use =
                tool.map_or_else(String::new, |tool| format!(", or use `{tool}`, which needs no line numbers"));
            format!("Read the file again and create a new patch{or_use}.")
        }
    }
}

/// A sentence, followed by an alternative if the caller has one.
fn or(sentence: &str, way: &str, tools: &[&'static str], offered: &OfferedTools<'_>) -> String {
    offered.first(tools).map_or_else(
        || format!("{sentence}."),
        |tool| format!("{sentence}, {}.", way.replace("{}", &format!("`{tool}`"))),
    )
}

pub(super) fn patch_rejected(offered: &OfferedTools<'_>) -> String {
    or("Read the section again and send content that fits it", "or edit the text with {}", REPLACE_IN_NOTE, offered)
}

pub(super) fn would_break(offered: &OfferedTools<'_>) -> &'static str {
    if offered.takes("scope") {
        "Nothing was changed. Narrow the replacement, or set `scope` to `body` so that it does not touch properties."
    } else {
        "Nothing was changed. Narrow the replacement so that it does not touch properties."
    }
}

pub(super) fn invalid_properties(offered: &OfferedTools<'_>) -> String {
    let how = whole_note(offered);
    format!("First read the note{how} and fix the lines between the `---` markers.")
}

/// How to read all of a note.
fn whole_note(offered: &OfferedTools<'_>) -> String {
    // Where the reader itself was called, only its format has to change.
    if offered.calls("obsidian_get_note") {
        return " with format `content`".to_owned();
    }
    let tool = offered.first(&["obsidian_get_note", "file_read"]);
    tool.map_or_else(String::new, |tool| format!(" with `{tool}`"))
}

pub(super) fn not_in_batch(offered: &OfferedTools<'_>) -> String {
    let such = offered.any(&["str_replace", "file_move"]);
    let such = such.map_or_else(String::new, |tools| format!(", such as {tools}"));
    format!("A batch can only run tools that change notes and files{such}; call this one on its own.")
}

/// Links that cannot be rewritten may stay as they are.
pub(super) fn leave_links(otherwise: &str, offered: &OfferedTools<'_>) -> String {
    // Two families name the argument differently; only what this caller has is mentioned.
    let arguments: Vec<String> = ["update_references", "update_links"]
        .into_iter()
        .filter(|argument| offered.takes(argument))
        .map(|argument| format!("`{argument}: false`"))
        .collect();
    let how = if arguments.is_empty() { String::new() } else { format!(" with {}", arguments.join(" or ")) };
    let tool = offered.first(REPLACE_TEXT).map_or_else(String::new, |tool| format!(" with `{tool}`"));
    format!("{otherwise}, or leave the links alone{how} and change them one at a time{tool}.")
}

pub(super) fn edit(error: &EditError, offered: &OfferedTools<'_>) -> String {
    match error {
        EditError::OutsideText { .. } | EditError::OutsideLines { .. } => "Read the file again and repeat the call.",
        EditError::TooLarge { .. } => "Use shorter text, or change fewer places.",
        EditError::MergedLineEnds => "Include the surrounding line endings in the replaced text.",
        EditError::SeveralLines => "Send one line.",
        EditError::HeadingLost { .. } => "Choose text that Markdown parses as this heading.",
        EditError::HeadingTaken { .. } | EditError::BlockIdTaken { .. } => "Choose another name.",
        EditError::AmbiguousHeading { .. } => "Use the full path of the heading.",
        EditError::TooDeep { .. } => "Choose a place higher up; headings have six levels.",
        EditError::HeadingsLost => {
            let close = "Close every code fence, comment and HTML block in the content";
            return or(close, "or use {} for the exact text", REPLACE_TEXT, offered);
        }
        EditError::CutsBlock => "Choose lines that have the whole code block, comment or formula, or none of it.",
        EditError::IntoItself => "Choose a place outside the moved part.",
        EditError::InProperties => "Choose lines below the properties.",
        EditError::NothingToMove => "Choose a part that has text.",
        EditError::Unclosed => "Close the code fence, comment or HTML block above it first.",
        EditError::BlockLost { .. } => {
            let send = "Send content of the same kind as the block (one paragraph, item, row, …)";
            return or(send, "or use {}", &["lines_replace", "str_replace", "obsidian_replace_in_note"], offered);
        }
        EditError::BadBlockId { .. } => "Use only letters, digits and `-`.",
        EditError::NotATable { .. } => match offered.first(&["block_replace"]) {
            Some(_) => "Use `block_replace`, or choose the id of a table.",
            None => "Choose the id of a table.",
        },
        EditError::Columns { .. } => "Send as many cells as the table has columns.",
        EditError::BadTag { .. } => {
            "A tag has letters, digits, `-`, `_` and `/`, not digits alone, and no space; for example `project/active`."
        }
        EditError::TagLost { .. } => {
            let tool = offered.first(REPLACE_TEXT);
            return tool.map_or_else(
                || "Change the text around the tag instead.".to_owned(),
                |tool| format!("Change the tag with `{tool}` instead."),
            );
        }
        EditError::BadLinkTarget { .. } | EditError::LinkLost { .. } => {
            return leave_links("Choose different text", offered);
        }
        EditError::Property(_) => {
            let read = offered.first(&["frontmatter_get", "obsidian_get_note"]);
            let read = read.map_or_else(String::new, |tool| format!(" with `{tool}`"));
            let read = format!("Read the properties{read}");
            return or(&read, "or change the text with {}", REPLACE_TEXT, offered);
        }
    }
    .to_owned()
}

pub(super) fn disk(problem: DiskFault) -> &'static str {
    match problem {
        DiskFault::NotPermitted => "Nothing was changed. The owner must give the server's user access to this file.",
        DiskFault::ReadOnly => "Nothing was changed. The disk must be made writable first.",
        DiskFault::Full => "Nothing was changed. Space must be freed on the disk first.",
        DiskFault::NotPortable => {
            "Nothing was changed. Choose a name without `* \" < > : | ?`, without a dot or space at its end, and not one of \
             CON, PRN, AUX, NUL, COM1 or LPT1: Windows and Android refuse those, and vaults are synced there."
        }
        DiskFault::BadName => "Choose a name without characters that file systems forbid.",
        DiskFault::NoTrash => {
            "Nothing was changed. The owner must move the file or link `.trash` in the vault's folder away, so that deleted files have \
             a place to go."
        }
        DiskFault::NoState => "Nothing was changed. The owner must set LAPIDARY_STATE_DIR to a writable folder.",
        DiskFault::VaultGone => {
            "Ask the user whether the drive is connected; the vault is reopened as soon as it is available."
        }
        DiskFault::Failing => "Nothing was changed. Try again; if it happens again, the disk needs attention.",
    }
}

/// How much of a hint may be a list: refusals are read many times.
const LISTED_BYTES: usize = 180;

/// The first few names, and how many more there are.
pub(super) fn as_many_as_fit(names: impl Iterator<Item = String>, of: usize) -> String {
    let (mut shown, mut bytes) = (Vec::new(), 0);
    for name in names {
        // With the comma and the blank behind it.
        bytes += name.len() + 2;
        // The first is always shown, however long.
        if bytes > LISTED_BYTES && !shown.is_empty() {
            break;
        }
        shown.push(name);
    }
    // A count that is smaller than the list must not overflow.
    let more = of - shown.len().min(of);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

pub(super) fn list(names: &[Quoted<'_>]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// That a query has no result, and where it failed.
pub(super) fn failed_query_message(line: Option<usize>, column: Option<usize>, problem: &Prose) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("The query has no result: line {line}, column {column}: {problem}."),
        _ => format!("The query has no result: {problem}."),
    }
}

/// How a query that has no result can be mended.
pub(super) fn failed_query(nearest: Option<&str>) -> String {
    // Only an unknown function has a likely correction.
    match nearest {
        Some(nearest) => format!("Did you mean {nearest}()?"),
        None => "Correct what it names; rows without a value can be left out first, as in WHERE rating.".to_owned(),
    }
}

/// What could be at the place where a query cannot be read.
pub(super) fn unreadable_query(expected: &[Quoted<'_>], nearest: Option<Quoted<'_>>) -> String {
    match (nearest, expected) {
        (Some(nearest), _) => format!("Did you mean {nearest}?"),
        (None, []) => "Correct the query at that place.".to_owned(),
        (None, expected) => format!("Expected there: {}.", list(expected)),
    }
}
