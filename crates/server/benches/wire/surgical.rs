//! The cost of ten edits of a long note in bytes, sent and received: one at a time in place, or by reading and
//! rewriting the note each time.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{client::Server, report::Failure};

const EDITS: usize = 10;

/// Bytes of surgical edits, and of reading and rewriting.
pub(crate) fn bytes(vault: &Path, state: &Path) -> Result<(usize, usize), Failure> {
    let note: String =
        (1..=5_000).map(|line| format!("Line {line} of a long note, with some words in it.\n")).collect();
    fs::write(vault.join("surgical.md"), &note)?;
    fs::write(vault.join("rewritten.md"), &note)?;
    let mut server = Server::start(vault, state)?;
    let (mut surgical, mut rewriting) = (0, 0);
    for number in 1..=EDITS {
        let line = number * 437;
        let (old, new) = (format!("Line {line} of"), format!("Row {line} of"));
        let edit = json!({ "file": "surgical.md", "find": old, "replace": new });
        surgical += spent(&mut server, "str_replace", &edit)?.0;
        let (read, answer) = spent(&mut server, "file_read", &json!({ "file": "rewritten.md" }))?;
        let answer = &answer["result"]["structuredContent"];
        let content = answer["content"].as_str().unwrap_or_default().replacen(&old, &new, 1);
        let replace =
            json!({ "file": "rewritten.md", "content": content, "expected_content_hash": answer["contentHash"] });
        rewriting += read + spent(&mut server, "file_replace", &replace)?.0;
    }
    if fs::read(vault.join("surgical.md"))? != fs::read(vault.join("rewritten.md"))? {
        return Err("the two ways do not lead to the same note".into());
    }
    Ok((surgical, rewriting))
}

fn spent(server: &mut Server, tool: &str, arguments: &Value) -> Result<(usize, Value), Failure> {
    let params = json!({ "name": tool, "arguments": arguments });
    let reply = server.request("tools/call", &params)?;
    if reply["result"]["isError"] == true {
        return Err(reply.to_string().into());
    }
    Ok((params.to_string().len() + reply.to_string().len(), reply))
}
