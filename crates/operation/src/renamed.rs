//! Tool names of earlier servers that people still have in their prompts.

use crate::OfferedTools;

/// A tool that replaces another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuccessorTool {
    pub tool: &'static str,
    /// What to send to it, in place of the old arguments.
    pub arguments: &'static str,
    /// Another tool that does part of the old one's work, and how to call it.
    also: Option<(&'static str, &'static str)>,
}

/// The tools of obsidian-mcp-server 2.x that have another name now.
pub const RENAMED_TOOLS: [(&str, SuccessorTool); 4] = [
    (
        "obsidian_read_note",
        SuccessorTool {
            tool: "obsidian_get_note",
            arguments: r#"{"format": "content", "target": {"type": "path", "path": <filePath>}}, with format `full` for properties and times"#,
            also: None,
        },
    ),
    (
        "obsidian_update_note",
        SuccessorTool {
            tool: "obsidian_write_note",
            arguments: r#"{"target": {"type": "path", "path": <targetIdentifier>}, "content": <content>, "overwrite": true}"#,
            also: Some((
                "obsidian_append_to_note",
                "; to append, `obsidian_append_to_note` with `target` and `content`",
            )),
        },
    ),
    (
        "obsidian_search_replace",
        SuccessorTool {
            tool: "obsidian_replace_in_note",
            arguments: r#"{"target": {"type": "path", "path": <targetIdentifier>}, "replacements": [{"search": …, "replace": …, "useRegex": …}]}"#,
            also: None,
        },
    ),
    (
        "obsidian_global_search",
        SuccessorTool {
            tool: "obsidian_search_notes",
            arguments: r#"{"mode": "text", "query": <query>, "pathPrefix": <searchInPath>}"#,
            also: None,
        },
    ),
];

/// Arguments of tools that have kept their name.
const ARGUMENTS: [(&str, &str); 4] = [
    ("filePath", "target"),
    ("dirPath", "path"),
    ("fileExtensionFilter", "extension"),
    ("nameRegexFilter", "nameRegex"),
];

/// The replacement of a removed tool.
pub fn successor(name: &str) -> Option<SuccessorTool> {
    RENAMED_TOOLS.into_iter().find(|(old, _)| *old == name).map(|(_, successor)| successor)
}

pub(crate) fn successor_of_argument(name: &str) -> Option<&'static str> {
    ARGUMENTS.into_iter().find(|(old, _)| *old == name).map(|(_, new)| new)
}

impl SuccessorTool {
    /// What a caller of the old tool reads.
    pub(crate) fn hint(&self, offered: &OfferedTools<'_>) -> String {
        // A tool that is off must not be suggested.
        let also = self.also.filter(|(tool, _)| offered.has(tool)).map_or("", |(_, also)| also);
        format!("It is `{}` now; send {}{also}.", self.tool, self.arguments)
    }
}
