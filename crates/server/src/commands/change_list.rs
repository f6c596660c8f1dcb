//! Changes as people read them: when, who, with which tool, what became of which files.

use serde_json::Value;

use super::{local_time::LocalTime, table::TableCell};

/// A change of many files names as many as fit a line.
const MOST_FILES: usize = 3;

/// The columns of a list of changes.
pub(super) const COLUMNS: [&str; 5] = ["change", "when", "by", "tool", "files"];

/// One change of `checkpoint_list`, in these columns.
pub(super) fn row(change: &Value, time: &LocalTime) -> Vec<TableCell> {
    let text = |name: &str| change[name].as_str().unwrap_or_default();
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

/// A client without the prefix that says how it is connected and that it chose the name itself.
pub(crate) fn client_name(client: &str) -> &str {
    client.rsplit_once('~').map_or(client, |(_, name)| name)
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
        assert_eq!(client_name("stdio:~Claude"), "Claude");
        assert_eq!(client_name("cli"), "cli");
    }
}
