//! `lapidary undo`: takes the last change back, or one that is chosen from a list.

use std::io::Write;

use lapidary_tools::quote::one_line;
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome,
    call::{OwnerCalls, can_be_asked},
    change_list, checkpoints, report,
    screen::Screen,
    terminal_style::TextPaint,
};
use crate::cli::UndoArguments;

const TOOL: &str = "undo";
/// As many changes are offered to choose from.
const CHOICES: usize = 15;

/// On a terminal, the change is shown first, and the user says yes; a program has to say so beforehand.
pub(super) fn run(
    undo: &UndoArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let mut wanted = Wanted { id: undo.id.clone(), count: undo.count };
    // A program that reads JSON cannot be asked.
    let asks = can_be_asked() && !undo.yes && !undo.dry_run && !undo.json;
    if !asks && !undo.yes && !undo.dry_run {
        let problem = "without a terminal to ask at, add --yes to undo it, or --dry-run to see it";
        return Err(CommandFailure::Misconfigured(problem.to_owned()));
    }
    if undo.list {
        match chosen(calls, screen)? {
            Choice::Change(id) => wanted = Wanted { id: Some(id), count: None },
            Choice::None => return Ok(CommandOutcome::Refused),
            Choice::Nothing => return Ok(CommandOutcome::NothingFound),
        }
    }
    if asks {
        loop {
            // Dry, through the same tool: what is shown is what the undo itself would do.
            let shown = calls.facts(TOOL, wanted.arguments(true))?;
            show(&shown, screen)?;
            // What is undone is what was shown, even if a client changes something meanwhile.
            if let (Some(id), None | Some(1)) = (first_id(&shown), wanted.count) {
                wanted = Wanted { id: Some(id), count: None };
            }
            match report::answer("Undo this? [y]es, [l]ist to choose another, [N]o").as_deref() {
                // Several are named by their number, which may be that of other changes by now.
                // Planned once more and compared, because between the question and the answer a client may have changed
                // notes.
                Some("y" | "Y" | "yes") if wanted.count.is_some() && is_overtaken(&shown, calls, &wanted)? => {
                    report::note("something was changed meanwhile; these are the last changes now");
                }
                Some("y" | "Y" | "yes") => break,
                Some("l" | "L" | "list") => match chosen(calls, screen)? {
                    Choice::Change(id) => wanted = Wanted { id: Some(id), count: None },
                    Choice::None | Choice::Nothing => return unchanged(screen),
                },
                _ => return unchanged(screen),
            }
        }
    }
    let done = calls.facts(TOOL, wanted.arguments(undo.dry_run))?;
    if undo.json {
        screen.json(&done)?;
        return Ok(CommandOutcome::Well);
    }
    if undo.dry_run {
        show(&done, screen)?;
        return Ok(CommandOutcome::Well);
    }
    checkpoints::restored(&done, calls, screen)?;
    Ok(CommandOutcome::Well)
}

fn unchanged(screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    writeln!(screen, "Nothing was changed.")?;
    Ok(CommandOutcome::Refused)
}

/// Which changes are to be undone.
struct Wanted {
    id: Option<String>,
    count: Option<u64>,
}

impl Wanted {
    fn arguments(&self, dry_run: bool) -> Value {
        json!({ "id": self.id, "count": self.count, "dryRun": dry_run })
    }
}

fn first_id(shown: &Value) -> Option<String> {
    ids(shown).next().map(str::to_owned)
}

fn ids(shown: &Value) -> impl Iterator<Item = &str> {
    shown["undone"].as_array().into_iter().flatten().filter_map(|change| change["id"].as_str())
}

/// Whether other changes than those that were shown would be undone.
fn is_overtaken(shown: &Value, calls: OwnerCalls<'_>, wanted: &Wanted) -> Result<bool, CommandFailure> {
    let now = calls.facts(TOOL, wanted.arguments(true))?;
    Ok(!ids(&now).eq(ids(shown)))
}

/// The changes that would be undone, and what that would change in the files.
fn show(shown: &Value, screen: &mut Screen<'_>) -> Result<(), CommandFailure> {
    for change in shown["undone"].as_array().into_iter().flatten() {
        let text = |name: &str| one_line(change[name].as_str().unwrap_or_default()).into_owned();
        let (id, when) = (screen.style.painted(TextPaint::Name, &text("id")), screen.time.exact(&text("time")));
        let tool = screen.style.strong(&text("tool"));
        writeln!(screen, "{id}  {when}  {tool}")?;
    }
    writeln!(screen)?;
    screen.diff(shown["diff"].as_str().unwrap_or_default())?;
    writeln!(screen)?;
    screen.flush()?;
    Ok(())
}

enum Choice {
    Change(String),
    /// The user wants none of them.
    None,
    /// There is none.
    Nothing,
}

/// A numbered list, and the number that the user types.
fn chosen(calls: OwnerCalls<'_>, screen: &mut Screen<'_>) -> Result<Choice, CommandFailure> {
    let answer = calls.facts("checkpoint_list", json!({ "limit": CHOICES }))?;
    let changes = answer["checkpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    if changes.is_empty() {
        report::note("nothing has been changed yet");
        return Ok(Choice::Nothing);
    }
    let rows: Vec<_> = changes
        .iter()
        .enumerate()
        .map(|(index, change)| {
            let mut row = change_list::row(change, &screen.time);
            // The id stays in the answer and is used once a number is chosen.
            // A number is easier to type than an id.
            row[0] = super::table::TableCell::from((index + 1).to_string()).number().strong();
            row
        })
        .collect();
    let mut columns = change_list::COLUMNS;
    columns[0] = "";
    screen.table(&columns, &rows)?;
    screen.flush()?;
    let typed = report::answer(&format!("Which one? 1 to {}, Enter for none:", changes.len()));
    let number = typed.and_then(|typed| typed.parse::<usize>().ok()).and_then(|number| number.checked_sub(1));
    let id = number.and_then(|number| changes.get(number)).and_then(|change| change["id"].as_str());
    Ok(id.map_or(Choice::None, |id| Choice::Change(id.to_owned())))
}
