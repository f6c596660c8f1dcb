//! Changes as people read them: when, who, with which tool, what became of which files.

use lapidary_pipeline::Principal;
use serde_json::Value;

use super::{local_time::LocalTime, table::TableCell};

/// A change of many files names as many as fit a line.
const MOST_FILES: usize = 3;

/// The columns of a list of changes.
pub(super) const COLUMNS: [&str; 5] = ["change", "when", "by", "tool", "files"];

/// One change of `checkpoint_list`, in these columns.
pub(super) fn row(change: &Value, time: &LocalTime) -> Vec<TableCell> {
    let text = |name: &str| change[name].as_str().unwrap_or_default();
    // Changes that no tool made, such as those of another program, have only a kind.
    let tool = if text("tool").is_empty() { text("kind").replace('_', " ") } else { text("tool").to_owned() };
    vec![
        TableCell::from(text("id")).name(),
        TableCell::from(format!("{:<10}", time.ago(text("time")))),
        TableCell::from(client_name(text("client"))),
        TableCell::from(tool),
        TableCell::from(files(change)),
    ]
}

/// What became of its files, on one line.
pub(super) fn files(change: &Value) -> String {
    let files = change["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |file: &Value| {
        let text = |name: &str| file[name].as_str().unwrap_or_default();
        let to = file["movedTo"].as_str().map_or_else(String::new, |to| format!(" → {to}"));
        format!("{} {}{to}", text("what"), text("path"))
    };
    let mut words: Vec<String> = files.iter().take(MOST_FILES).map(one).collect();
    if files.len() > MOST_FILES {
        words.push(format!("{} more", files.len() - MOST_FILES));
    }
    words.join(", ")
}

/// What changes and calls of the owner are recorded under, and what could be taken for that.
const OWNERS: [&str; 4] = [Principal::COMMAND_LINE, Principal::CONSOLE, "owner", "lapidary"];

/// The name of a client without how it is connected: that of its token, or else the one that the program chose.
pub(crate) fn client_name(client: &str) -> &str {
    let Some((_, rest)) = client.split_once(':') else { return client };
    match rest.split_once('~') {
        // `http:phone:~cursor`: of a token, which the program cannot choose.
        Some((token, _)) if token.ends_with(':') => token.trim_end_matches(':'),
        // A program may call itself what the owner is called here, and is shown with its connection then.
        Some((_, program)) if OWNERS.contains(&program.trim().to_lowercase().as_str()) => client,
        // `stdio:~cursor`, or a session before it.
        Some((_, program)) => program,
        // `http:phone`, or a session behind it.
        None => rest.rsplit_once(':').map_or(rest, |(token, _)| token),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_one_line() {
        let file = |path: &str| json!({ "path": path, "what": "changed" });
        let many: Vec<Value> = ["a.md", "b.md", "c.md", "d.md", "e.md"].iter().map(|path| file(path)).collect();
        assert_eq!(files(&json!({ "files": many })), "changed a.md, changed b.md, changed c.md, 2 more");
        let moved = json!({ "files": [{ "path": "a.md", "what": "moved", "movedTo": "b.md" }] });
        assert_eq!(files(&moved), "moved a.md → b.md");
        for (client, name) in [
            ("stdio:~Claude", "Claude"),
            ("stdio", "stdio"),
            ("cli", "cli"),
            ("http:1f2e3d4c~Claude", "Claude"),
            ("http:1f2e3d4c", "1f2e3d4c"),
            ("http:~Claude", "Claude"),
            ("stdio:~console", "stdio:~console"),
            ("stdio:~ CLI", "stdio:~ CLI"),
            ("http:1f2e3d4c~Owner", "http:1f2e3d4c~Owner"),
            ("http:phone:~console", "phone"),
            ("http:phone", "phone"),
            ("http:phone:~Claude", "phone"),
            ("http:phone:1f2e3d4c", "phone"),
        ] {
            assert_eq!(client_name(client), name, "{client}");
        }
    }
}
