//! The checkpoint of a batch undoes all of it.

use std::collections::BTreeMap;

use lapidary_vault::{VaultPath, store::MemoryStore};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::testing::TestServer;

const FILES: [&str; 6] = ["a.md", "b.md", "f/a.md", "f/d.md", "g/e.md", "t.md"];

fn operations() -> impl Strategy<Value = Vec<Value>> {
    let file = || prop::sample::select(FILES.to_vec());
    let conflict = prop::sample::select(vec!["error", "overwrite", "rename"]);
    let op = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let operation = prop_oneof![
        2 => (file(), 0..3).prop_map(move |(file, number)| op("file_append", json!({ "file": file, "content": format!("{number} [[a]]") }))),
        1 => file().prop_map(move |file| op("file_create", json!({ "file": file, "content": "# New\n[[b]] #tag\n" }))),
        3 => (file(), file(), conflict)
            .prop_map(move |(from, to, conflict)| op("file_move", json!({ "from": from, "to": to, "on_conflict": conflict }))),
        1 => prop::sample::select(vec![("f", "h"), ("g", "f"), ("f", "g"), ("h", "f")])
            .prop_map(move |(from, to)| op("file_move", json!({ "from": from, "to": to }))),
        2 => file().prop_map(move |file| op("file_delete", json!({ "file": file }))),
        1 => file().prop_map(move |file| op("frontmatter_set", json!({ "file": file, "keyPath": "k", "value": file }))),
        1 => Just(op("tag_rename", json!({ "from": "tag", "to": "gem" }))),
    ];
    prop::collection::vec(operation, 1..8)
}

/// Everything that a person sees; trashed files may stay in the trash.
fn files(store: &MemoryStore) -> BTreeMap<String, Vec<u8>> {
    let places = FILES
        .iter()
        .chain(&["h/a.md", "h/d.md", "f/e.md", "h/e.md", "g/a.md", "g/d.md", "f/keep.txt", "g/keep.txt", "h/keep.txt"])
        .copied();
    let numbered = places.clone().map(|path| path.replace(".md", " (1).md"));
    let all = places.map(str::to_owned).chain(numbered);
    all.filter_map(|path| Some((path.clone(), store.bytes(&VaultPath::parse(&path).unwrap())?))).collect()
}

proptest! {
    #[test]
    fn a_batch_is_undone_as_a_whole(operations in operations()) {
        // In memory a folder exists only while something is in it.
        let start = ["a.md", "b.md", "f/a.md", "f/d.md", "f/keep.txt", "g/e.md", "g/keep.txt"];
        let texts = start.map(|path| (path, format!("start of [[{path}]] #tag\n")));
        let notes: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let server = TestServer::new(&notes);
        let before = files(&server.store);
        let done = server.call("bulk_apply", json!({ "atomic": false, "ops": operations })).rendered();
        prop_assert!(done.as_ref().is_some_and(|done| !done.is_error), "{done:?}");
        if files(&server.store) != before {
            let undone = server.call("checkpoint_restore", json!({ "id": "c0ff" })).rendered();
            prop_assert!(undone.as_ref().is_some_and(|undone| !undone.is_error), "{undone:?} {done:#?}");
            prop_assert_eq!(files(&server.store), before, "{:#?}", done);
        }
    }
}
