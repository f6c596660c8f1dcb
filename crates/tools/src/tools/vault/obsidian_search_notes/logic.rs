//! A rule over each note.

use std::collections::{BTreeSet, HashMap};

use lapidary_note::{LinkKind, shown_text};
use lapidary_query::{Logic, LogicHalt, is_truthy};
use lapidary_vault::{Digest, FileEntry, Notes, Properties, VaultPath, View};
use serde_json::{Map, Value, json};

use super::hits::Hit;
use crate::{
    Context, Reason,
    shared::{cursor::Cursor, index, page::Page, properties, time::milliseconds},
};

/// How many notes fit, and those of one page, in path order.
pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    rule: &Map<String, Value>,
    cursor: Cursor,
) -> Result<(usize, Vec<Hit>), Reason> {
    let logic = Logic::parse(Value::Object(rule.clone()))
        .map_err(|error| Reason::LogicInvalid { problem: error.to_string() })?;
    let notes = index::notes(context, view)?;
    let world = World { logic: &logic, notes, backlinks: backlinks(context, notes, &logic)? };
    let found: Vec<Result<Hit, LogicHalt>> = if logic.reads("content") {
        let look = |entry: FileEntry<'_>, bytes: &[u8]| {
            let digest = notes.digest(entry.path())?;
            world.judge(entry, &digest, Some(&shown_text(bytes)))
        };
        index::map_texts(context, notes, look)?
    } else {
        let mut found = Vec::new();
        for (entry, digest) in notes.notes() {
            context.check()?;
            found.extend(world.judge(entry, &digest, None));
        }
        found
    };
    // Which note it was is no matter of the caller's: it may not be one of those it asked for.
    let found = found
        .into_iter()
        .collect::<Result<Vec<Hit>, LogicHalt>>()
        .map_err(|halt| Reason::LogicInvalid { problem: halt.to_string() })?;
    let page = Page::of(found, cursor.offset, cursor.limit);
    Ok((page.total, page.items))
}

/// The sources of the links to each file, if anybody asks.
fn backlinks<'n>(
    context: &Context<'_>,
    notes: &'n Notes,
    logic: &Logic,
) -> Result<HashMap<&'n VaultPath, BTreeSet<&'n VaultPath>>, Reason> {
    let mut backlinks: HashMap<&VaultPath, BTreeSet<&VaultPath>> = HashMap::new();
    if !logic.reads("backlinks") {
        return Ok(backlinks);
    }
    for (entry, digest) in notes.notes() {
        context.check()?;
        for target in links(notes, entry.path(), &digest).0 {
            backlinks.entry(target).or_default().insert(entry.path());
        }
    }
    Ok(backlinks)
}

/// The files that the links of a note lead to, and the targets of those that lead nowhere; each once, in order.
fn links<'n>(notes: &'n Notes, source: &'n VaultPath, digest: &Digest<'n>) -> (Vec<&'n VaultPath>, Vec<&'n str>) {
    let (mut resolved, mut unresolved) = (Vec::new(), Vec::new());
    for link in digest.links().filter(|link| link.kind != LinkKind::Reference && !link.target.is_empty()) {
        match notes.resolve(link.target, source) {
            Some(target) if !resolved.contains(&target) => resolved.push(target),
            None if !unresolved.contains(&link.target) => unresolved.push(link.target),
            _ => {}
        }
    }
    (resolved, unresolved)
}

struct World<'w> {
    logic: &'w Logic,
    notes: &'w Notes,
    backlinks: HashMap<&'w VaultPath, BTreeSet<&'w VaultPath>>,
}

impl World<'_> {
    /// A hit if the rule makes something of the note that is not empty.
    fn judge(&self, entry: FileEntry<'_>, digest: &Digest<'_>, text: Option<&str>) -> Option<Result<Hit, LogicHalt>> {
        let data = Value::Object(self.data(entry, digest, text));
        let keep = |result: &Value| is_truthy(result) && *result != json!({});
        match self.logic.apply(&data) {
            Ok(result) if keep(&result) => Some(Ok(Hit::Logic { filename: entry.path().to_string(), result })),
            Ok(_) => None,
            Err(halt) => Some(Err(halt)),
        }
    }

    /// As much of the note as the rule looks at.
    fn data(&self, entry: FileEntry<'_>, digest: &Digest<'_>, text: Option<&str>) -> Map<String, Value> {
        let mut data = Map::new();
        let mut put = |name: &str, value: &dyn Fn() -> Value| {
            if self.logic.reads(name) {
                data.insert(name.to_owned(), value());
            }
        };
        let names = |paths: &[&VaultPath]| paths.iter().map(|path| Value::from(path.as_str())).collect::<Value>();
        let links = || links(self.notes, entry.path(), digest);
        put("path", &|| Value::from(entry.path().as_str()));
        put("content", &|| Value::from(text.unwrap_or_default()));
        put("frontmatter", &|| match digest.properties() {
            Properties::Read(entries) => {
                entries.iter().map(|(name, value)| (name.clone(), properties::json(value))).collect()
            }
            Properties::Absent | Properties::Unreadable => json!({}),
        });
        put("tags", &|| digest.tags().map(|tag| Value::from(tag.name)).collect());
        put("stat", &|| {
            json!({
                "ctime": milliseconds(entry.created()),
                "mtime": milliseconds(Some(entry.modified())),
                "size": entry.bytes(),
            })
        });
        put("links", &|| names(&links().0));
        put("unresolvedLinks", &|| links().1.into_iter().map(Value::from).collect());
        put("backlinks", &|| {
            self.backlinks
                .get(entry.path())
                .map_or_else(|| json!([]), |sources| sources.iter().map(|path| Value::from(path.as_str())).collect())
        });
        data
    }
}
