//! What the plugin answers.

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::{
    FakeVersion, RecordedRequest, SharedPlugin, WireReply,
    http_wire::decoded,
    json_logic::{evaluate, is_truthy},
    plugin_files::PluginFiles,
};

const NOTE_JSON: &str = "application/vnd.olrapi.note+json";
const JSON_LOGIC: &str = "application/vnd.olrapi.jsonlogic+json";

pub(crate) fn answer(shared: &SharedPlugin, request: &RecordedRequest) -> WireReply {
    // Even without a key, the root tells whether the server is the plugin.
    let is_known = request.header("authorization") == Some(&format!("Bearer {}", shared.key.lock()));
    if request.path == "/" {
        return WireReply::json(&status(shared.version, is_known));
    }
    // The other plugin, which has no key.
    if request.path == "/search" && request.method == "GET" {
        return omnisearch(shared, request);
    }
    if !is_known {
        return WireReply::error(40101);
    }
    let (endpoint, rest) = request.path[1..].split_once('/').unwrap_or((&request.path[1..], ""));
    match (endpoint, request.method.as_str()) {
        ("vault", _) => file(shared, request, rest),
        ("search", "POST") => search(shared, request),
        ("active", "GET" | "HEAD") => {
            let files = shared.files.lock();
            let active = files.active.clone();
            active.map_or_else(|| WireReply::error(40400), |path| note_json(shared.version, &files, &path))
        }
        ("periodic", _) if shared.version < FakeVersion::V5_1 => periodic(shared, request, rest),
        ("commands", "GET") => {
            let commands = shared.commands.lock();
            let commands: Vec<Value> = commands.iter().map(|(id, name)| json!({ "id": id, "name": name })).collect();
            WireReply::json(&json!({ "commands": commands }))
        }
        ("commands", "POST") => {
            let is_known = shared.commands.lock().iter().any(|(id, _)| id == rest.trim_end_matches('/'));
            if is_known { WireReply::new(204) } else { WireReply::error(40400) }
        }
        ("open", "POST") => {
            let mut files = shared.files.lock();
            if !files.files.contains_key(rest) {
                // The app creates a note that it is told to open.
                files.put(rest, Vec::new());
            }
            files.active = Some(rest.to_owned());
            WireReply::json(&json!(""))
        }
        _ => WireReply::error(40400),
    }
}

fn status(version: FakeVersion, is_known: bool) -> Value {
    let mut status = json!({
        "status": "OK",
        "manifest": { "id": "obsidian-local-rest-api", "name": "Local REST API", "version": version.number() },
        "versions": { "obsidian": "1.12.7", "self": version.number() },
        "service": "Obsidian Local REST API",
        "authenticated": is_known,
    });
    if is_known {
        status["apiExtensions"] = json!([]);
    }
    status
}

fn file(shared: &SharedPlugin, request: &RecordedRequest, path: &str) -> WireReply {
    // Since version 6 the app's settings cannot be reached.
    if shared.version >= FakeVersion::V6 && path.split('/').next() == Some(".obsidian") {
        return WireReply::error(40321);
    }
    let mut files = shared.files.lock();
    // Before anything else, so that a refused request has no effect.
    if let Some(refused) = refused_condition(shared.version, &files, request, path) {
        return refused;
    }
    match request.method.as_str() {
        "GET" | "HEAD" => get(shared.version, &files, request, path),
        "PUT" if path.ends_with('/') || path.is_empty() => WireReply::error(40510),
        "PUT" => {
            // JSON is written anew, without its spaces.
            let kind = request.header("content-type").unwrap_or_default();
            let bytes = match serde_json::from_slice::<Value>(&request.body) {
                Ok(value) if kind.starts_with("application/json") => value.to_string().into_bytes(),
                _ => request.body.clone(),
            };
            files.put(path, bytes);
            tagged(shared.version, &files, path, WireReply::new(204))
        }
        "DELETE" => delete(shared.version, &mut files, request, path),
        "MOVE" => relocate(shared.version, &mut files, request, path),
        _ => WireReply::error(40500),
    }
}

fn get(version: FakeVersion, files: &PluginFiles, request: &RecordedRequest, path: &str) -> WireReply {
    // Since version 5 a slash behind a file does not matter.
    let path = if version >= FakeVersion::V5_0 && files.files.contains_key(path.trim_end_matches('/')) {
        path.trim_end_matches('/')
    } else {
        path
    };
    if let Some(file) = files.files.get(path) {
        if request.header("accept") == Some(NOTE_JSON) {
            return note_json(version, files, path);
        }
        let reply = WireReply::new(200)
            .header("Content-Disposition", "attachment; filename=\"file\"")
            .header("Content-Type", if path.ends_with(".json") { "application/json" } else { "text/markdown" })
            .body(file.bytes.clone());
        return tagged(version, files, path, reply);
    }
    // A folder may be named with or without a slash.
    let folder = if path.is_empty() || path.ends_with('/') { path.to_owned() } else { format!("{path}/") };
    let names = files.names_in(&folder);
    if names.is_empty() {
        // An empty folder is unknown to the plugin, as one that does not exist.
        return WireReply::error(40400);
    }
    WireReply::json(&json!({ "files": names }))
}

fn delete(version: FakeVersion, files: &mut PluginFiles, request: &RecordedRequest, path: &str) -> WireReply {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let gone: Vec<String> =
        // Both are possible: the path does not say whether it is a folder.
        files.files.keys().filter(|known| *known == path || known.starts_with(&folder)).cloned().collect();
    if gone.is_empty() {
        return WireReply::error(40400);
    }
    for path in gone {
        files.files.remove(&path);
        // Before version 5 a deleted file was gone at once.
        if version >= FakeVersion::V5_0 && request.query != "permanent=true" {
            files.trash.push(path);
        }
    }
    WireReply::new(204)
}

fn relocate(version: FakeVersion, files: &mut PluginFiles, request: &RecordedRequest, path: &str) -> WireReply {
    let Some(to) = request.header("destination").and_then(decoded) else { return WireReply::error(40020) };
    if files.files.contains_key(&to) {
        return WireReply::error(40920);
    }
    let Some(file) = files.files.remove(path) else { return WireReply::error(40400) };
    // The times of a moved file stay.
    files.files.insert(to.clone(), file);
    tagged(version, files, &to, WireReply::new(204).header("Content-Location", to.clone()))
}

fn version_of(files: &PluginFiles, path: &str) -> Option<String> {
    let hash = ContentHash::of(&files.files.get(path)?.bytes).to_string();
    Some(hash.trim_start_matches("sha256:").chars().take(6).collect())
}

/// The tag of a file. Up to version 5 it is a weak one, which the framework makes and no condition is compared with.
fn tagged(version: FakeVersion, files: &PluginFiles, path: &str, reply: WireReply) -> WireReply {
    match version_of(files, path) {
        Some(tag) if version >= FakeVersion::V6 => reply.header("ETag", format!("\"{tag}\"")),
        Some(tag) => reply.header("ETag", format!("W/\"{tag}\"")),
        None => reply,
    }
}

/// Only version 6 looks at conditions.
fn refused_condition(
    version: FakeVersion,
    files: &PluginFiles,
    request: &RecordedRequest,
    path: &str,
) -> Option<WireReply> {
    if version < FakeVersion::V6 || matches!(request.method.as_str(), "GET" | "HEAD") {
        return None;
    }
    let current = version_of(files, path).map(|tag| format!("\"{tag}\""));
    let is_stale = request.header("if-match").is_some_and(|wanted| current.as_deref() != Some(wanted));
    let is_taken = request.header("if-none-match") == Some("*") && current.is_some();
    (is_stale || is_taken).then(|| WireReply::error(41200))
}

fn note_json(version: FakeVersion, files: &PluginFiles, path: &str) -> WireReply {
    let Some(note) = files.note(path, version < FakeVersion::V6) else { return WireReply::error(40400) };
    // With spaces, as the plugin writes it.
    let body = serde_json::to_vec_pretty(&note).unwrap_or_default();
    let kind = format!("{NOTE_JSON}; charset=utf-8");
    WireReply::new(200).header("Content-Type", kind).header("Content-Location", path).body(body)
}

fn search(shared: &SharedPlugin, request: &RecordedRequest) -> WireReply {
    if request.header("content-type") != Some(JSON_LOGIC) {
        return WireReply::error(40012);
    }
    let Ok(rule) = serde_json::from_slice::<Value>(&request.body) else { return WireReply::error(40015) };
    let files = shared.files.lock();
    let mut found = Vec::new();
    for (path, _) in files.visible().filter(|(path, _)| path.ends_with(".md")) {
        let Some(note) = files.note(path, shared.version < FakeVersion::V6) else { continue };
        // The first unknown operator fails the whole search.
        let Some(result) = evaluate(&rule, &note) else { return WireReply::error(40070) };
        if is_truthy(&result) {
            found.push(json!({ "filename": path, "result": result }));
        }
    }
    WireReply::json(&Value::Array(found))
}

/// `PERIOD/` or `PERIOD/YYYY/MM/DD/`; today is the last day that was set.
fn periodic(shared: &SharedPlugin, request: &RecordedRequest, rest: &str) -> WireReply {
    let mut parts = rest.trim_end_matches('/').split('/');
    let period = parts.next().unwrap_or_default().to_owned();
    let day: Vec<&str> = parts.collect();
    let mut files = shared.files.lock();
    if !["daily", "weekly", "monthly", "quarterly", "yearly"].contains(&period.as_str()) {
        return WireReply::error(40460);
    }
    let of_period: Vec<(String, String)> = files
        .periodic
        .iter()
        .filter(|((known, _), _)| *known == period)
        .map(|((_, day), path)| (day.clone(), path.clone()))
        .collect();
    if of_period.is_empty() {
        return WireReply::error(40060);
    }
    let found = if day.is_empty() {
        of_period.last().cloned()
    } else {
        of_period.into_iter().find(|(known, _)| *known == day.join("-"))
    };
    let Some((_, path)) = found else { return WireReply::error(40461) };
    match request.method.as_str() {
        "POST" | "PUT" => {
            if !files.files.contains_key(&path) {
                files.put(&path, request.body.clone());
            }
            WireReply::new(204).header("Content-Location", path)
        }
        _ if !files.files.contains_key(&path) => WireReply::error(40461),
        _ => note_json(shared.version, &files, &path),
    }
}

fn omnisearch(shared: &SharedPlugin, request: &RecordedRequest) -> WireReply {
    let query = request.query.strip_prefix("q=").and_then(decoded).unwrap_or_default();
    let files = shared.files.lock();
    let hits: Vec<Value> = files
        .visible()
        .filter(|(_, file)| !query.is_empty() && String::from_utf8_lossy(&file.bytes).contains(&query))
        .map(|(path, _)| {
            let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
            json!({
                "score": 1.5, "vault": "Notes", "path": path, "basename": name, "foundWords": [query],
                "matches": [{ "match": query, "offset": 0 }], "excerpt": format!("<mark>{query}</mark>"),
            })
        })
        .collect();
    WireReply::json(&Value::Array(hits))
}
