//! Canvases that are made and changed.

use std::collections::{BTreeMap, HashSet};

use lapidary_tools::ReasonKind;
use serde_json::{Value, json};

use crate::testing::TestServer;

fn canvas(server: &TestServer, path: &str) -> Value {
    serde_json::from_str(&server.text(path)).unwrap()
}

fn list<'c>(canvas: &'c Value, name: &str) -> &'c [Value] {
    canvas[name].as_array().unwrap()
}

/// No card covers another, groups hold whole cards, and every line joins two cards.
#[track_caller]
fn is_sound(canvas: &Value) {
    let place = |node: &Value| ["x", "y", "width", "height"].map(|key| node[key].as_i64().unwrap());
    let overlap = |[ax, ay, aw, ah]: [i64; 4], [bx, by, bw, bh]: [i64; 4]| {
        ax < bx + bw && bx < ax + aw && ay < by + bh && by < ay + ah
    };
    let (groups, cards): (Vec<&Value>, Vec<&Value>) =
        list(canvas, "nodes").iter().partition(|node| node["type"] == "group");
    for (number, card) in cards.iter().enumerate() {
        assert!(!cards[..number].iter().any(|other| overlap(place(other), place(card))), "{card}");
    }
    let holds = |[ax, ay, aw, ah]: [i64; 4], [bx, by, bw, bh]: [i64; 4]| {
        ax <= bx && bx + bw <= ax + aw && ay <= by && by + bh <= ay + ah
    };
    for (number, group) in groups.iter().enumerate() {
        assert!(!groups[..number].iter().any(|other| overlap(place(other), place(group))), "{group}");
        let is_whole = |card: &&Value| !overlap(place(group), place(card)) || holds(place(group), place(card));
        assert!(cards.iter().all(is_whole), "{group}");
        assert!(cards.iter().any(|card| holds(place(group), place(card))), "an empty group: {group}");
    }
    let ids: HashSet<&str> = list(canvas, "nodes").iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), groups.len() + cards.len(), "ids are different");
    for edge in list(canvas, "edges") {
        assert!(ids.contains(edge["fromNode"].as_str().unwrap()) && ids.contains(edge["toNode"].as_str().unwrap()));
    }
}

/// Notes that link to each other by a fixed pattern.
fn linked(count: usize) -> BTreeMap<String, String> {
    (0..count)
        .map(|number| {
            let links: Vec<String> =
                (1..=number % 4).map(|step| format!("[[N{}]]", number * 7 % count + step)).collect();
            let text = format!("---\nkind: k{}\n---\n#t/{} {}\n", number % 3, number % 2, links.join(" "));
            (format!("F{}/N{number}.md", number % 5), text)
        })
        .collect()
}

fn serve(notes: &BTreeMap<String, String>) -> TestServer {
    let files: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    TestServer::new(&files)
}

#[test]
fn a_generated_canvas_is_sound_however_its_notes_are_chosen() {
    for count in [1, 2, 9, 60] {
        let server = serve(&linked(count));
        for (number, choice) in [
            json!({ "folder": "/" }),
            json!({ "folder": "F0", "groupBy": "kind" }),
            json!({ "tag": "#t", "groupBy": "folder" }),
            json!({ "query": "LIST FROM #t/0" , "groupBy": "kind" }),
            json!({ "search": "N0" }),
            json!({ "notes": ["N0", "[[N0]]"], "links": false }),
        ]
        .into_iter()
        .enumerate()
        {
            let mut call = choice.clone();
            call["path"] = json!(format!("{number}.canvas"));
            let done = server.done("canvas_generate", call);
            let made = canvas(&server, &format!("{number}.canvas"));
            is_sound(&made);
            let count_of = |kind: &str| list(&made, "nodes").iter().filter(|node| node["type"] == kind).count();
            assert_eq!(done["cardCount"], count_of("file"), "{choice}");
            assert_eq!(done["groupCount"], count_of("group"), "{choice}");
            assert_eq!(done["lineCount"], list(&made, "edges").len(), "{choice}");
        }
    }
}

#[test]
fn a_generated_canvas_has_as_many_cards_as_wanted() {
    let server = serve(&linked(520));
    let done = server.done("canvas_generate", json!({ "path": "a.canvas", "folder": "/", "maxCards": 500 }));
    assert_eq!((&done["cardCount"], &done["leftOut"]), (&json!(500), &json!(20)));
    is_sound(&canvas(&server, "a.canvas"));
    let refused = server.refused("canvas_generate", json!({ "path": "b.canvas", "folder": "/", "maxCards": 501 }));
    assert_eq!(refused.kind(), ReasonKind::InvalidArguments);
    // The same canvas again, and only if it may be replaced.
    let before = server.text("a.canvas");
    let again = json!({ "path": "a.canvas", "folder": "/", "maxCards": 500 });
    assert_eq!(server.refused("canvas_generate", again.clone()).kind(), ReasonKind::FileExists);
    let mut again = again;
    again["overwrite"] = json!(true);
    server.done("canvas_generate", again);
    assert_eq!(server.text("a.canvas"), before);
}

#[test]
fn a_canvas_is_edited_card_by_card() {
    let server = TestServer::new(&[("b.canvas", ""), ("A.md", "a")]);
    let edit = |operations: Value| server.done("canvas_edit", json!({ "path": "b.canvas", "operations": operations }));
    edit(json!([
        { "op": "add", "type": "group", "id": "group", "label": "G", "x": 0, "y": 0, "width": 300, "height": 100 },
        { "op": "add", "type": "text", "id": "one", "text": "1", "group": "group" },
        { "op": "add", "type": "text", "id": "two", "text": "2", "group": "group" },
        { "op": "add", "type": "file", "id": "file", "file": "A", "subpath": "#H", "color": "#00ff00" },
        { "op": "connect", "from": "one", "to": "two", "arrow": "both" },
        { "op": "connect", "from": "two", "to": "file", "id": "line", "label": "x" },
    ]));
    let made = canvas(&server, "b.canvas");
    is_sound(&made);
    assert_eq!(made["nodes"][3]["file"], "A.md");
    let read = server.done("canvas_read", json!({ "path": "b.canvas" }));
    assert_eq!(read["cards"][2]["group"], "grou");
    assert_eq!(read["lines"][0]["arrow"], "both");
    // A group takes its cards along; a card that is removed takes its lines along.
    let x = |made: &Value, number: usize| made["nodes"][number]["x"].as_i64().unwrap();
    edit(json!([{ "op": "move", "id": "group", "dx": 1000 }]));
    let moved = canvas(&server, "b.canvas");
    assert_eq!([0, 1, 2, 3].map(|number| x(&moved, number) - x(&made, number)), [1000, 1000, 1000, 0]);
    edit(json!([{ "op": "change", "id": "line", "label": " ", "color": "1" }, { "op": "remove", "id": "one" }]));
    let left = canvas(&server, "b.canvas");
    assert_eq!((list(&left, "nodes").len(), list(&left, "edges").len()), (3, 1));
    assert_eq!((&left["edges"][0]["color"], left["edges"][0].get("label")), (&json!("1"), None));
    server.done("undo", json!({}));
    assert_eq!(canvas(&server, "b.canvas"), moved);
}

#[test]
fn a_wrong_operation_changes_nothing() {
    let before =
        "{\"nodes\":[{\"id\":\"abcd1\",\"type\":\"text\",\"text\":\"t\"},{\"id\":\"abcd2\",\"type\":\"group\"}]}";
    let server = TestServer::new(&[("b.canvas", before), ("A.md", "a")]);
    for operation in [
        json!({ "op": "remove", "id": "abcd" }),
        json!({ "op": "remove", "id": "" }),
        json!({ "op": "change", "id": "abcd1" }),
        json!({ "op": "change", "id": "abcd1", "url": "x" }),
        json!({ "op": "change", "id": "abcd1", "color": "red" }),
        json!({ "op": "add", "type": "text" }),
        json!({ "op": "add", "type": "text", "text": "x", "id": "abcd1" }),
        json!({ "op": "add", "type": "text", "text": "x", "group": "abcd1" }),
        json!({ "op": "add", "type": "file", "file": "A.md", "subpath": "H" }),
        json!({ "op": "connect", "from": "abcd1", "to": "none" }),
    ] {
        let call = json!({ "path": "b.canvas", "operations": [{ "op": "move", "id": "abcd1", "x": 5 }, operation] });
        assert_eq!(server.refused("canvas_edit", call.clone()).kind(), ReasonKind::InvalidArguments, "{call}");
        assert_eq!(server.text("b.canvas"), before);
    }
    let missing = json!({ "path": "b.canvas", "operations": [{ "op": "add", "type": "file", "file": "None.md" }] });
    assert_eq!(server.refused("canvas_edit", missing).kind(), ReasonKind::NoteMissing);
}

#[test]
fn a_large_canvas_is_read_in_pages() {
    let nodes: Vec<Value> = (0..300)
        .map(|number| json!({ "id": format!("{number:016x}"), "type": "text", "text": "word ".repeat(50) }))
        .collect();
    let text = json!({ "nodes": nodes, "edges": [] }).to_string();
    let server = TestServer::new(&[("b.canvas", &text)]);
    let (mut seen, mut cursor) = (0, Value::Null);
    loop {
        let mut call = json!({ "path": "b.canvas" });
        if !cursor.is_null() {
            call["cursor"] = cursor;
        }
        let page = server.done("canvas_read", call);
        assert!(page.to_string().len() < 40_000);
        seen += page["cards"].as_array().unwrap().len();
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 300);
}

#[test]
fn a_drawing_has_what_the_plugin_looks_for() {
    let server = TestServer::new(&[]);
    server.done(
        "drawing_create",
        json!({
            "path": "d.excalidraw.md",
            "elements": [
                { "id": "a", "label": "A long label that needs more than one line", "shape": "diamond", "fill": "#ffec99" },
                { "id": "b", "label": "B", "shape": "ellipse", "link": "[[Note]]" },
                { "id": "c", "label": "free", "shape": "text", "x": 900, "y": -40 },
            ],
            "arrows": [{ "from": "a", "to": "b", "label": "then" }, { "from": "b", "to": "c" }],
        }),
    );
    let text = server.text("d.excalidraw.md");
    assert!(text.starts_with("---\n\nexcalidraw-plugin: parsed\n"));
    let (texts, drawing) =
        text.split_once("## Text Elements\n").unwrap().1.split_once("%%\n## Drawing\n```json\n").unwrap();
    let scene: Value = serde_json::from_str(drawing.strip_suffix("\n```\n%%\n").unwrap()).unwrap();
    let elements = scene["elements"].as_array().unwrap();
    let ids: HashSet<&str> = elements.iter().map(|element| element["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), elements.len());
    for element in elements {
        let id = element["id"].as_str().unwrap();
        match element["type"].as_str().unwrap() {
            "text" => {
                assert!(texts.contains(&format!("{} ^{id}\n", element["rawText"].as_str().unwrap())));
                assert!(element["containerId"].as_str().is_none_or(|container| ids.contains(container)));
            }
            "arrow" => {
                for end in ["startBinding", "endBinding"] {
                    let bound = elements.iter().find(|other| other["id"] == element[end]["elementId"]).unwrap();
                    assert!(bound["boundElements"].as_array().unwrap().contains(&json!({ "type": "arrow", "id": id })));
                }
            }
            _ => {}
        }
    }
    assert!(text.contains("## Element Links\n") && text.contains(": [[Note]]\n"));
    let injected = json!({ "path": "e.excalidraw.md", "elements": [{ "id": "a", "label": "x\n## Drawing\ny" }] });
    assert_eq!(server.refused("drawing_create", injected).kind(), ReasonKind::InvalidArguments);
}

#[test]
fn a_place_out_of_sight_and_a_letter_of_an_id_are_refused() {
    let card = |id: &str| json!({ "id": id, "type": "text", "text": "x", "x": 0, "y": 0, "width": 9, "height": 9 });
    let board = json!({ "nodes": [card("abcdef"), card("z")] }).to_string();
    let server = TestServer::new(&[("a.canvas", &board)]);
    for operation in [
        json!({ "op": "move", "id": "abcdef", "x": 1_000_000_000_000_000_000_i64 }),
        json!({ "op": "move", "id": "abcdef", "dx": i64::MIN }),
        json!({ "op": "change", "id": "abcdef", "width": 2_000_000 }),
        json!({ "op": "remove", "id": "a" }),
        json!({ "op": "remove", "id": "abc" }),
    ] {
        let refused = server.refused("canvas_edit", json!({ "path": "a.canvas", "operations": [operation.clone()] }));
        assert_eq!(refused.kind(), ReasonKind::InvalidArguments, "{operation}");
    }
    assert_eq!(server.text("a.canvas"), board);
    for id in ["abcd", "z"] {
        server.done("canvas_edit", json!({ "path": "a.canvas", "operations": [{ "op": "remove", "id": id }] }));
    }
}
