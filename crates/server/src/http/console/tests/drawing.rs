//! The page about a vault, and its link graph.

use std::time::{Duration, SystemTime};

use super::*;

const HOSTILE: &str = "<img src=x onerror=alert(1)>";

const NOTES: &[(&str, &str)] = &[
    ("Hub.md", "[[Alpha]] [[Beta|b]] [[Nowhere]] ![[gem.png]] #home/big\n"),
    ("Projects/Alpha.md", "[[Beta]] [[Alpha]] [[nowhere]] #Home\n"),
    ("Projects/Beta.md", "# Beta\n"),
    ("Lonely.md", "nothing #rare\n"),
    ("gem.png", "PNG"),
];

/// The data of the picture, when it is drawn.
async fn drawn(trial: &ConsoleTrial) -> (String, Vec<u8>) {
    loop {
        let (status, mark, bytes) = trial.bytes("/console/graph.bin", "").await;
        if status == StatusCode::OK {
            return (mark, bytes);
        }
        assert_eq!(status, StatusCode::ACCEPTED);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_vault_page_says_what_is_in_it() {
    let trial = ConsoleTrial::start(NOTES, &[], &[]).await;
    let page = trial.get("/console/vault").await;
    assert_eq!(page.status, StatusCode::OK);
    for text in [
        "4 (114 bytes)",
        "1 (3 bytes)",
        "all notes are indexed",
        // A name that two notes link to, in two spellings.
        "Links that lead nowhere <span class=\"soft\">(1)",
        "<td class=\"path\">Nowhere</td><td class=\"right\">2<",
        "Notes without links <span class=\"soft\">(1)",
        "/console/graph?note=Lonely.md",
        "#home/big</a>",
        "/console/graph?tag=Home",
        "<svg viewBox",
    ] {
        page.has(text);
    }
    page.lacks("style=");
    let empty = ConsoleTrial::start(&[("gem.png", "PNG")], &[], &[]).await.get("/console/vault").await;
    for text in ["No notes yet.", "Every link leads to a file.", "No tags yet.", "CLAUDE.md</span>: clients get it"] {
        empty.has(text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_vault_page_shows_the_guide_and_whether_clients_get_it() {
    let page = async |settings: &[(&str, &str)], text: &str| {
        ConsoleTrial::start(&[("AGENTS.md", text)], &[], settings).await.get("/console/vault").await
    };
    let whole = page(&[], "Notes go to <b>Inbox</b>.\n").await;
    whole.has("AGENTS.md</span>: 25 bytes. It reaches clients whole");
    whole.has("Notes go to &lt;b&gt;Inbox");
    page(&[("LAPIDARY_GUIDE_BYTES", "10")], "One line.\nAnother.\n").await.has("Its first lines reach clients");
    page(&[("LAPIDARY_GUIDE_BYTES", "0")], "x\n").await.has("vault_guide alone");
    page(&[("LAPIDARY_GUIDE_NOTE", "off")], "x\n").await.has("The setting guide_note is off.");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_says_in_words_what_the_picture_shows() {
    let trial = ConsoleTrial::start(NOTES, &[], &[]).await;
    let page = trial.get("/console/graph?note=alpha&to=Hub").await;
    for text in [
        "4 notes, 3 links between them.",
        "<h2>Alpha</h2>",
        "obsidian://open?vault=Notes&#38;file=Projects%2FAlpha.md",
        "/console/history?note=Projects%2FAlpha.md",
        "Links to <span class=\"soft\">(1)",
        "Nowhere (no such file)",
        "Linked from <span class=\"soft\">(1)",
        "<ol class=\"names\"><li><a href=\"/console/graph?note=Projects%2FAlpha.md\">Alpha</a></li><li><a href=\"/console/graph?note=Hub.md\">Hub</a></li></ol>",
    ] {
        page.has(text);
    }
    let rows = |page: &PageAnswer| -> Vec<String> {
        let found = page.body.split("<section id=\"found\"").nth(1).unwrap();
        let links = found.split("title=\"").skip(1);
        links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let all = ["Hub.md", "Projects/Alpha.md", "Projects/Beta.md", "Lonely.md"];
    assert_eq!(rows(&page), all, "those with the most links first");
    for (query, expected) in [
        ("find=PRO+al", &["Projects/Alpha.md"][..]),
        ("folder=Projects", &["Projects/Alpha.md", "Projects/Beta.md"]),
        ("folder=Proj", &[]),
        ("tag=home", &["Hub.md", "Projects/Alpha.md"]),
        ("tag=%23home%2Fbig", &["Hub.md"]),
        ("links=none", &["Lonely.md"]),
        ("days=7", &all),
        ("days=x", &all),
        ("find=%F0", &all),
    ] {
        assert_eq!(rows(&trial.get(&format!("/console/graph?{query}")).await), expected, "{query}");
    }
    trial.get("/console/graph?note=Hub&to=Lonely").await.has("No links lead from one to the other.");
    trial.get("/console/graph?note=Hub&to=Gone").await.has("is called <q>Gone</q>");
    trial.get("/console/graph?note=Gone").await.has("Choose a note");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_picture_is_computed_once_and_sent_once() {
    let trial = ConsoleTrial::start(NOTES, &[], &[]).await;
    let (mark, bytes) = drawn(&trial).await;
    assert_eq!((number(&bytes, 1), number(&bytes, 2)), (4, 3));
    let links: Vec<u32> = (0..6).map(|at| number(&bytes, 5 + 6 * 4 + at)).collect();
    // In path order: Hub, Lonely, Alpha, Beta.
    assert_eq!(links, [0, 2, 0, 3, 2, 3]);
    let (status, _, again) = trial.bytes("/console/graph.bin", &mark).await;
    assert_eq!((status, again.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(trial.bytes("/console/graph.bin", "\"other\"").await.0, StatusCode::OK, "it is kept");
    trial.get("/console/graph/progress").await.has("{\"working\":null}");
    // After an edit, another; what has not been touched stays near its place.
    #[expect(clippy::disallowed_methods, reason = "changes the vault of a test")]
    std::fs::write(trial.place.path().join("Notes/New.md"), "[[Hub]]\n").unwrap();
    let (later, more) = drawn(&trial).await;
    assert_eq!((later != mark, number(&more, 1), number(&more, 2)), (true, 5, 4));
}

/// The file with the places, when it is there.
#[expect(clippy::disallowed_methods, reason = "looks into the state of a test")]
async fn kept_file(place: &TempDir) -> std::path::PathBuf {
    loop {
        let vaults = std::fs::read_dir(place.path().join("state")).into_iter().flatten();
        let mut files = vaults.map(|vault| vault.unwrap().path().join("graph.db"));
        // With its content: SQLite makes the file before it has any.
        if let Some(file) = files.find(|file| std::fs::metadata(file).is_ok_and(|file| file.len() > 0)) {
            return file;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_picture_is_the_same_after_a_start_and_damage_costs_only_time() {
    let trial = ConsoleTrial::start(NOTES, &[], &[]).await;
    let (_, bytes) = drawn(&trial).await;
    let file = kept_file(&trial.place).await;
    let ConsoleTrial { place, assembled, .. } = trial;
    drop(assembled);
    let trial = ConsoleTrial::open(place, &[], &[]).await;
    assert_eq!(drawn(&trial).await.1, bytes);
    let ConsoleTrial { place, assembled, .. } = trial;
    drop(assembled);
    #[expect(clippy::disallowed_methods, reason = "damages the state of a test")]
    std::fs::write(&file, "no database").unwrap();
    let trial = ConsoleTrial::open(place, &[], &[]).await;
    assert_eq!(drawn(&trial).await.1, bytes, "a layout is the same every time");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_ways_are_asked_for_by_number_and_word() {
    let odd = format!("Odd \u{202e}{}.md", HOSTILE.replace('/', ""));
    let files: Vec<(&str, &str)> = NOTES.iter().copied().chain([(odd.as_str(), HOSTILE)]).collect();
    let trial = ConsoleTrial::start(&files, &[], &[]).await;
    let json = |answer: PageAnswer| serde_json::from_str::<serde_json::Value>(&answer.body).unwrap();
    let named = json(trial.get("/console/graph/names?numbers=3,0,99,x&find=alpha").await);
    assert_eq!(named["notes"][0]["path"], "Projects/Alpha.md");
    assert_eq!(named["notes"][1]["name"], "Hub");
    assert_eq!((named["notes"].as_array().unwrap().len(), &named["found"]), (2, &serde_json::json!([3])));
    let way = json(trial.get("/console/graph/way?note=Hub.md&to=Projects%2FBeta.md").await);
    assert_eq!((&way["way"], &way["mark"]), (&serde_json::json!([0, 4]), &named["mark"]));
    let (_, bytes) = drawn(&trial).await;
    let names = String::from_utf8_lossy(&bytes);
    assert!(names.contains(named["mark"].as_str().unwrap()), "numbers of one list of notes");
    // Its name is a name, in every form.
    let odd = json(trial.get("/console/graph/names?numbers=2").await)["notes"][0].clone();
    assert!(odd["path"].as_str().unwrap().contains('\u{202e}') && !odd["name"].as_str().unwrap().contains('\u{202e}'));
    for path in [
        "/console/vault",
        "/console/graph",
        "/console/graph?note=odd",
        &format!("/console/graph?note={}", percent_encoded(odd["path"].as_str().unwrap())),
    ] {
        let page = trial.get(path).await;
        page.lacks("<img src=x");
        // Only a form sends it as it is, to find it again.
        let mut parts = page.body.split("value=\"");
        let shown = parts.next().unwrap().to_owned();
        let shown = parts.fold(shown, |shown, part| shown + part.split_once('"').unwrap().1);
        assert!(!shown.contains('\u{202e}'), "{path}");
    }
}

/// A vault in which every file is as old.
#[expect(clippy::disallowed_methods, reason = "makes the vault of a test")]
fn aged(files: &[(&str, &str)]) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let file = place.path().join("Notes").join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let opened = std::fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    }
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_note_is_in_no_byte() {
    let hidden = [
        ("secret/Hidden.md", "[[Alpha]] [[Hub]] [[Nowhere]] [[Xyzzy]] #xyzzy #home\n"),
        ("secret/Other.md", "[[Hidden]]\n"),
        ("secret/picture.png", "PNG"),
    ];
    let open: Vec<(&str, &str)> = NOTES.iter().copied().chain([("Open.md", "[[Hidden]] [[Beta]]\n")]).collect();
    let all: Vec<(&str, &str)> = open.iter().copied().chain(hidden).collect();
    let environment = [("OBSIDIAN_DENY_PATHS", "secret")];
    let (with, without) = (aged(&all), aged(&open));
    let (with, without) =
        (ConsoleTrial::open(with, &[], &environment).await, ConsoleTrial::open(without, &[], &environment).await);
    let (drawn_with, drawn_without) = (drawn(&with).await.1, drawn(&without).await.1);
    assert_eq!(drawn_with, drawn_without);
    for path in [
        "/console/vault",
        "/console/graph",
        "/console/graph?note=Open",
        "/console/graph?note=Hidden",
        "/console/graph?note=secret%2FHidden.md",
        "/console/graph?note=Open&to=Hidden",
        "/console/graph?tag=xyzzy",
        "/console/graph?folder=secret",
        "/console/graph?find=hidden",
        "/console/graph/names?numbers=0,1,2,3,4,5,6,7,8&find=hid",
        "/console/graph/way?note=Open.md&to=secret%2FHidden.md",
        "/console/graph/way?note=Lonely.md&to=Hub.md",
    ] {
        let (one, other) = (with.get(path).await, without.get(path).await);
        // Each session has its own token.
        let plain = |page: &PageAnswer| match page.body.split_once("name=\"form\" value=\"") {
            Some((before, after)) => format!("{before}{}", &after[71..]),
            None => page.body.clone(),
        };
        assert_eq!(plain(&one), plain(&other), "{path}");
        if !path.contains("xyzzy") {
            one.lacks("xyzzy");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_drawn_without_a_session() {
    let mut trial = ConsoleTrial::start(NOTES, &[], &[]).await;
    trial.cookie.push('x');
    for path in ["vault", "graph", "graph.bin", "graph/progress", "graph/names?numbers=0", "graph/way?note=Hub&to=Hub"]
    {
        let answer = trial.get(&format!("/console/{path}")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        answer.lacks("Hub");
    }
}
