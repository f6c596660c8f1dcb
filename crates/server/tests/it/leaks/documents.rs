//! The text of hidden documents changes nothing: no answer, no score, no count, no notice.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    everything::assert_silent,
    twins::{Closing, Twin},
};

/// In both vaults, with the words of the hidden ones.
const DOCUMENTS: [(&str, &str); 3] = [
    ("Open/Manual.txt", "The lantern burns with oil. Trim the wick of the lantern.\n"),
    ("Open/Drafts/Table.csv", "lantern;12\ngem;3\n"),
    ("Open/Page.html", "<title>Lamps</title><p>A light made of paper, for the open garden.</p>"),
];

fn requests() -> Vec<Value> {
    let mut requests = Vec::new();
    for query in [
        "lantern",
        "lanterns gem",
        "lantren",
        "lamp made of paper",
        "open ext:txt",
        "ext:csv OR ext:html OR ext:txt",
        "page:1 lantern",
        "path:denied lantern",
        "zqtext16x",
        "\"lantern burns\"",
        "/lant\\w+/ ext:txt",
    ] {
        for mode in ["hybrid", "omnisearch", "semantic"] {
            let arguments = json!({ "query": query, "mode": mode, "explain": true });
            requests.push(json!({ "name": "obsidian_search_notes", "arguments": arguments }));
        }
        requests.push(json!({ "name": "search", "arguments": { "query": query } }));
        requests.push(json!({ "name": "semantic_search", "arguments": { "query": query } }));
        requests.push(json!({ "name": "answer_context", "arguments": { "question": query } }));
    }
    for path in ["Denied/zqname16x.txt", "Ignored/zqname17x.html", "zqname18x.csv"] {
        requests.push(json!({ "name": "attachment_read", "arguments": { "path": path } }));
        requests.push(json!({ "name": "fetch", "arguments": { "id": path } }));
    }
    // The hash in an answer is that of the document, so equal answers are equal documents.
    let mut make = |arguments: Value| {
        let mut arguments = arguments;
        arguments["dryRun"] = json!(true);
        requests.push(json!({ "name": "document_create", "arguments": arguments }));
    };
    let embeds = "# A\n\n![[zqname1x]] ![[Ignored/zqname17x.html]] ![[shadow-private]] ![[Plan]] [[zqname2x]]\n\n| a |\n|---|\n| b |\n";
    for ending in ["docx", "pptx", "xlsx"] {
        let path = format!("Open/zqmade.{ending}");
        make(json!({ "path": path, "content": embeds }));
        make(json!({ "path": path, "query": "TABLE file.path, file.inlinks, file.outlinks, file.tags" }));
        make(json!({ "path": path, "content": "```dataview\nTABLE file.path, file.size\n```\n\n| a |\n|---|\n" }));
        for note in ["Plan", "zqname18x.csv", "shadow-private", "Ignored/shadow-private.md", "Denied/zqname16x.txt"] {
            make(json!({ "path": path, "note": note }));
            make(json!({ "path": path, "content": "x", "template": note }));
        }
        for hidden in ["Ignored/made", "Denied/zqname16x"] {
            make(json!({ "path": format!("{hidden}.{ending}"), "content": "x" }));
        }
    }
    requests
}

fn nothing_tells(closing: Closing) {
    let more: BTreeMap<&str, &str> = DOCUMENTS.into_iter().collect();
    let ask = |full: bool| -> Vec<String> {
        let mut twin = Twin::new(full, closing, &more, &[]);
        // How many are not read yet is counted among the visible ones, too; when they are read is a matter of luck.
        twin.settle_documents();
        let replies = requests().into_iter().map(|params| {
            let mut reply = twin.client.request("tools/call", params);
            reply.as_object_mut().unwrap().shift_remove("id");
            reply.to_string()
        });
        replies.collect()
    };
    let (with, without) = (ask(true), ask(false));
    let mut documents = 0;
    for (request, (with, without)) in requests().into_iter().zip(with.iter().zip(&without)) {
        assert_eq!(with, without, "{closing:?}: {request}");
        assert_silent(&request.to_string().to_lowercase(), &request, with);
        documents += usize::from(with.contains("Open/Manual.txt"));
    }
    assert!(documents > 10, "visible documents are found: {documents}");
}

#[test]
fn nothing_reveals_documents_closed_by_rules() {
    nothing_tells(Closing::Rules);
}

#[test]
fn nothing_reveals_documents_that_are_not_allowed() {
    nothing_tells(Closing::Lists);
}

#[test]
fn nothing_reveals_documents_that_a_token_does_not_open() {
    nothing_tells(Closing::Principal);
}
