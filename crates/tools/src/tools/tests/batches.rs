//! Whatever a batch does, its checkpoint undoes.

use std::{collections::BTreeMap, sync::Arc};

use lapidary_vault::{Vault, VaultPath, store::MemoryStore};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::call;

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

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// All that a person sees; what went to the trash may stay there.
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
        // In memory a folder is there only as long as something is in it.
        let start = ["a.md", "b.md", "f/a.md", "f/d.md", "f/keep.txt", "g/e.md", "g/keep.txt"];
        let note = |path: &str| (VaultPath::parse(path).unwrap(), format!("start of [[{path}]] #tag\n").into_bytes());
        let store = Arc::new(MemoryStore::new(start.map(note)));
        let before = files(&store);
        let vault = Vault::private("test".into(), Arc::<MemoryStore>::clone(&store));
        let done = call(&vault, "bulk_apply", arguments(&json!({ "atomic": false, "ops": operations })));
        prop_assert!(done.is_ok(), "{done:?}");
        if files(&store) != before {
            let undone = call(&vault, "checkpoint_restore", arguments(&json!({ "id": "c0ff" })));
            prop_assert!(undone.is_ok(), "{undone:?} {done:#?}");
            prop_assert_eq!(files(&store), before, "{:#?}", done);
        }
    }
}
