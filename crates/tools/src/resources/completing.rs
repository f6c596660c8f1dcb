//! Completes values by prefix and substring.

use lapidary_operation::{CompletedValues, Context, Reason};
use lapidary_toolkit::{index, names::composed};
use lapidary_vault::View;

/// The most that a client accepts.
const MOST: usize = 100;

/// Completes the path of a file. Case does not matter.
pub(crate) fn complete_path(context: &Context<'_>, view: &View, typed: &str) -> Result<CompletedValues, Reason> {
    let mut paths = Vec::new();
    for file in index::files(context, view)?.iter() {
        context.check()?;
        paths.push(file.path().as_str());
    }
    Ok(best(&paths, typed))
}

/// First the paths that start with the typed text, then those whose file name does, then those that contain it; each in
/// its original order.
pub(crate) fn best(paths: &[&str], typed: &str) -> CompletedValues {
    // Letters with accents may be stored in another form than they are typed in.
    let folded = |text: &str| composed(text).to_lowercase();
    // A leading slash means the vault root.
    let typed = folded(typed.trim_start_matches('/'));
    let mut ranks: [Vec<&str>; 3] = Default::default();
    for path in paths {
        let path_folded = folded(path);
        let name = path_folded.rsplit('/').next().unwrap_or_default();
        let rank = if path_folded.starts_with(&typed) {
            0
        } else if name.starts_with(&typed) {
            1
        // An empty text is the beginning of every path, so all of them are offered in order.
        } else if path_folded.contains(&typed) {
            2
        } else {
            continue;
        };
        ranks[rank].push(path);
    }
    // The number before the cut, which the protocol wants to be told.
    let total = ranks.iter().map(Vec::len).sum();
    CompletedValues { values: ranks.concat().into_iter().take(MOST).map(str::to_owned).collect(), total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        let paths = ["Archive/replan.md", "Areas/Plan.md", "Plan B.md", "Projects/Plan.md", "other.md"];
        let completed = |typed: &str| best(&paths, typed).values;
        assert_eq!(completed("plan"), ["Plan B.md", "Areas/Plan.md", "Projects/Plan.md", "Archive/replan.md"]);
        assert_eq!(completed("/PROJECTS/"), ["Projects/Plan.md"]);
        assert_eq!(completed(""), paths);
        assert!(completed("nothing").is_empty());
        assert_eq!(best(&["Cafe\u{301}.md"], "caf\u{e9}").total, 1);
    }

    #[test]
    fn no_more_are_sent_than_a_client_accepts() {
        let paths: Vec<String> = (0..250).map(|number| format!("{number}.md")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let CompletedValues { values, total } = best(&paths, "");
        assert_eq!((values.len(), total), (100, 250));
    }
}
