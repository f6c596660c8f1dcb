//! Names for new files that no other file has.

use lapidary_note::count_steps;
use lapidary_operation::{Context, Reason};
use lapidary_vault::{VaultPath, View};

use crate::{naming, reading};

/// The longest name without its extension, in bytes: with a number and an ending, disks take no more.
const LONGEST_STEM: usize = 200;
/// After this many, a free name is not looked for any longer.
const MOST_TRIES: usize = 10_000;

/// The first free path for a name in a folder, numbered as the app does. None if every number is taken.
pub fn free_path(
    context: &Context<'_>,
    view: &View,
    folder: Option<&VaultPath>,
    stem: &str,
    ending: &str,
) -> Result<Option<VaultPath>, Reason> {
    let go_on = || context.cancel.check().is_ok();
    for number in 0..MOST_TRIES {
        count_steps(64);
        let numbered = if number == 0 { stem.to_owned() } else { format!("{stem} {number}") };
        let name = format!("{numbered}.{ending}");
        let path = reading::parse_path(&folder.map_or(name.clone(), |folder| format!("{folder}/{name}")))?;
        // In any case: some disks do not tell such names apart.
        let taken = view.named_like(&path, &go_on).map_err(|error| Reason::from_index(&error, context.cancel))?;
        if taken.is_empty() {
            // Its folders may be new, and then differ from others in case alone.
            naming::check_new(context, view, &path, None)?;
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// A name without what a link or a disk could not hold; empty if nothing is left.
pub fn cleaned(stem: &str) -> String {
    let is_bad = |letter: char| letter.is_control() || "#^[]|*\"\\/<>:?".contains(letter);
    let spaced: String = stem.chars().map(|letter| if is_bad(letter) { ' ' } else { letter }).collect();
    // Also white space at the ends, which some systems refuse.
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let clean = words.join(" ");
    let clean = &clean[..clean.floor_char_boundary(LONGEST_STEM)];
    // After the cut, which may be at a blank.
    clean.trim_matches(|letter: char| letter == '.' || letter.is_whitespace()).to_owned()
}
