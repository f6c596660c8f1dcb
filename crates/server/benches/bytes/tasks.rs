//! Five tasks of several steps, done in three ways: call by call, by a recipe, and with what can be read in one script.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use super::{client::Server, report::Failure};

/// A task, and its bytes in each of the ways; none where a way does not fit.
pub(crate) struct TaskBytes {
    pub(crate) what: &'static str,
    pub(crate) by_hand: (usize, usize),
    pub(crate) by_recipe: Option<(usize, usize)>,
    pub(crate) by_script: Option<(usize, usize)>,
}

/// A model at work: every request that it writes and every answer that it reads is counted.
struct CountedClient {
    server: Server,
    calls: usize,
    bytes: usize,
}

type TaskWay = fn(&mut CountedClient) -> Result<(), Failure>;

impl CountedClient {
    /// With a separate demo vault, whose recipes are approved.
    fn start(around: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
        command.arg("--demo").env("LAPIDARY_SCRIPTS", "true");
        Ok(Self { server: Server::start_on(&mut command, around)?, calls: 0, bytes: 0 })
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        let reply = self.server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let parts = reply["result"]["content"].as_array().ok_or_else(|| reply.to_string())?;
        if reply["result"]["isError"] == true {
            return Err(format!("{tool} was refused: {}", reply["result"]).into());
        }
        let answer: usize = parts.iter().map(|part| part["text"].as_str().unwrap_or_default().len()).sum();
        self.calls += 1;
        self.bytes += tool.len() + arguments.to_string().len() + answer;
        Ok(reply["result"]["structuredContent"].clone())
    }

    fn script(&mut self, steps: &Value, answer: &Value) -> Result<Value, Failure> {
        let script = json!({ "steps": steps, "answer": answer });
        Ok(self.call("call_tool", &json!({ "name": "tools_script", "arguments": script }))?["answer"].clone())
    }

    fn recipe(&mut self, name: &str, arguments: &Value) -> Result<(), Failure> {
        self.call("call_tool", &json!({ "name": name, "arguments": arguments })).map(|_| ())
    }
}

fn measured(around: &Path, way: TaskWay) -> Result<(usize, usize), Failure> {
    let place = tempfile::tempdir_in(around)?;
    let mut client = CountedClient::start(place.path())?;
    way(&mut client)?;
    let CountedClient { server, calls, bytes } = client;
    server.finish()?;
    Ok((calls, bytes))
}

/// What finding a recipe and the tool for scripts costs, once in a conversation each.
pub(crate) fn finding(around: &Path) -> Result<[(usize, usize); 2], Failure> {
    let recipe =
        measured(around, |client| client.call("find_tool", &json!({ "query": "archive a project" })).map(|_| ()))?;
    let script = measured(around, |client| client.call("find_tool", &json!({ "query": "tools_script" })).map(|_| ()))?;
    Ok([recipe, script])
}

pub(crate) fn all(around: &Path) -> Result<Vec<TaskBytes>, Failure> {
    let tasks: [(&'static str, TaskWay, Option<TaskWay>, Option<TaskWay>); 5] = [
        (
            "add open tasks and what changed to the note of the week",
            week_by_hand,
            Some(week_by_recipe),
            Some(week_by_script),
        ),
        ("archive a project of four notes", archive_by_hand, Some(archive_by_recipe), Some(archive_by_script)),
        ("sort the inbox by a tag", inbox_by_hand, Some(inbox_by_recipe), Some(inbox_by_script)),
        ("start the note of a meeting and link it from today", meeting_by_hand, Some(meeting_by_recipe), None),
        ("the open tasks of each project note", read_by_hand, None, Some(read_by_script)),
    ];
    let one = |(what, by_hand, by_recipe, by_script): (&'static str, TaskWay, Option<TaskWay>, Option<TaskWay>)| {
        let optional = |way: Option<TaskWay>| way.map(|way| measured(around, way)).transpose();
        Ok(TaskBytes {
            what,
            by_hand: measured(around, by_hand)?,
            by_recipe: optional(by_recipe)?,
            by_script: optional(by_script)?,
        })
    };
    tasks.into_iter().map(one).collect()
}

/// What a model writes into the note of the week by itself.
const REVIEW: &str = "## Review of 2026-04-18\n\nOpen tasks: 62, in 14 notes. The roof first: slates, battens, flashing.\n\nChanged in seven days: 53 files.\n";

fn write_week(client: &mut CountedClient) -> Result<(), Failure> {
    client.call("daily_note", &json!({ "period": "weekly", "content": REVIEW })).map(|_| ())
}

fn week_by_hand(client: &mut CountedClient) -> Result<(), Failure> {
    client.call("tasks_list", &json!({ "status": "open", "group": "note" }))?;
    client.call("call_tool", &json!({ "name": "changes", "arguments": { "since": "7d", "limit": 50 } }))?;
    write_week(client)
}

fn week_by_recipe(client: &mut CountedClient) -> Result<(), Failure> {
    client.recipe("custom_weekly_review", &json!({}))
}

fn week_by_script(client: &mut CountedClient) -> Result<(), Failure> {
    let steps = json!([
        { "id": "open", "tool": "tasks_list", "with": { "status": "open", "group": "note", "limit": 500 } },
        { "id": "changed", "tool": "changes", "with": { "since": "7d" } },
    ]);
    let answer = json!({ "open": "{{ open.total }}", "notes": "{{ open.groups.map(value.path) }}", "changed": "{{ changed.total }}" });
    client.script(&steps, &answer)?;
    write_week(client)
}

const PROJECT: &str = "TABLE status FROM \"Projects/House\"";

/// The notes that the query found.
fn rows(answer: &Value) -> Vec<String> {
    let path = |row: &Value| row[0]["$link"]["path"].as_str().or(row.as_str()).map(str::to_owned);
    answer.as_array().into_iter().flatten().filter_map(path).collect()
}

fn archived(path: &str) -> String {
    path.replace("Projects/House/", "Projects/Archive/House/")
}

fn archive_by_hand(client: &mut CountedClient) -> Result<(), Failure> {
    let found = client.call("query", &json!({ "query": PROJECT }))?;
    for path in rows(&found["rows"]) {
        let target = json!({ "type": "path", "path": path });
        let set = json!({ "target": target, "operation": "set", "key": "status", "value": "archived" });
        client.call("obsidian_manage_frontmatter", &set)?;
        client.call("file_move", &json!({ "from": path, "to": archived(&path) }))?;
    }
    Ok(())
}

fn archive_by_recipe(client: &mut CountedClient) -> Result<(), Failure> {
    client.recipe("custom_archive_project", &json!({ "project": "House" }))
}

/// The paths alone, and one batch of changes.
fn archive_by_script(client: &mut CountedClient) -> Result<(), Failure> {
    let steps = json!([{ "id": "found", "tool": "query", "with": { "query": PROJECT } }]);
    let found = client.script(&steps, &json!("{{ found.rows.map(value[0]) }}"))?;
    let ops: Vec<Value> = rows(&found)
        .iter()
        .flat_map(|path| {
            [
                json!({ "tool": "frontmatter_set", "args": { "file": path, "keyPath": "status", "value": "archived" } }),
                json!({ "tool": "file_move", "args": { "from": path, "to": archived(path) } }),
            ]
        })
        .collect();
    client.call("bulk_apply", &json!({ "ops": ops })).map(|_| ())
}

fn sort_inbox(client: &mut CountedClient) -> Result<(), Failure> {
    let thought = json!({ "from": "Inbox/Quick thought.md", "to": "Projects/House/Quick thought.md" });
    client.call("file_move", &thought).map(|_| ())
}

fn inbox_by_hand(client: &mut CountedClient) -> Result<(), Failure> {
    client.call("query", &json!({ "query": "TABLE file.tags FROM \"Inbox\"" }))?;
    sort_inbox(client)
}

fn inbox_by_recipe(client: &mut CountedClient) -> Result<(), Failure> {
    client.recipe("custom_inbox_sorting", &json!({ "tag": "project/house", "folder": "Projects/House" }))
}

fn inbox_by_script(client: &mut CountedClient) -> Result<(), Failure> {
    let steps =
        json!([{ "id": "found", "tool": "query", "with": { "query": "LIST FROM \"Inbox\" AND #project/house" } }]);
    client.script(&steps, &json!("{{ found.values }}"))?;
    sort_inbox(client)
}

fn meeting_by_hand(client: &mut CountedClient) -> Result<(), Failure> {
    let text = "---\ntype: meeting\ndate: 2026-04-18\n---\n# Roof\n\nWith [[Ruth Okafor]], [[Tomas Arden]]\n\n## Notes\n\n## Decisions\n";
    client.call("file_create", &json!({ "file": "Meetings/2026-04-18 Roof.md", "content": text }))?;
    let link = "- Meeting: [[Meetings/2026-04-18 Roof|Roof]]";
    client.call("daily_note", &json!({ "content": link })).map(|_| ())
}

fn meeting_by_recipe(client: &mut CountedClient) -> Result<(), Failure> {
    client.recipe("custom_meeting_note", &json!({ "title": "Roof", "people": ["Ruth Okafor", "Tomas Arden"] }))
}

fn read_by_hand(client: &mut CountedClient) -> Result<(), Failure> {
    let found = client.call("query", &json!({ "query": "TABLE status FROM \"Projects\"" }))?;
    for path in rows(&found["rows"]) {
        client.call("file_read", &json!({ "file": path }))?;
    }
    Ok(())
}

fn read_by_script(client: &mut CountedClient) -> Result<(), Failure> {
    let steps = json!([
        { "id": "found", "tool": "query", "with": { "query": "LIST FROM \"Projects\"" } },
        { "id": "notes", "tool": "file_read", "for_each": "found.values", "with": { "file": "{{ item }}" } },
    ]);
    client
        .script(
            &steps,
            &json!("{{ notes.map([value.file, value.content.split('- [ ] ').slice(1).map(value.split('\\n')[0])]) }}"),
        )
        .map(|_| ())
}
