//! A skill that is kept in a vault.

use lapidary_note::ContentHash;
use lapidary_operation::{Context, Reason, SkillEntry, SkillFile, quote::one_line};
use lapidary_toolkit::reading;
use lapidary_vault::{VaultPath, View, store::EntryKind};
use serde_json::{Map, Value, json};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{DEEPEST, MAIN_FILE, MOST_BYTES, MOST_FILES, PlaybookSource, SkillUri};
use crate::{
    prompts::{body_of, first_line},
    resources::media_type,
};

/// The longest name and description that a skill may have.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;

/// The content of a file as it is served.
pub(super) struct SkillBytes {
    pub(super) media_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct VaultSkill {
    /// The vault, the folders below that of all skills, and the name.
    place: Vec<String>,
    frontmatter: Map<String, Value>,
    /// Its `SKILL.md` as it is served.
    main: Vec<u8>,
    source: PlaybookSource,
}

impl VaultSkill {
    /// `None` if the note is gone or is not text.
    pub(super) fn of(view: &View, root: &VaultPath, source: PlaybookSource) -> Option<Self> {
        let file = reading::read(view, &source.note).ok()?;
        let shown = reading::show(&source.note, &file).ok().filter(|shown| !shown.is_lossy())?;
        let properties = shown.properties();
        let given = properties.json();
        let own = source.folder.as_ref().unwrap_or(&source.note);
        // A byte order mark before the properties would hide them from a client.
        let is_whole = file.bytes().starts_with(b"---") && properties.problem().is_none() && has_form(&given);
        let (frontmatter, main) =
            if is_whole { (given, file.bytes().to_vec()) } else { with_form(own, shown.text(), &given) };
        let name = frontmatter.get("name").and_then(Value::as_str)?.to_owned();
        let below: Vec<String> = own.names().skip(root.names().count()).map(str::to_owned).collect();
        let folders = below.split_last().map_or(&[][..], |(_, folders)| folders);
        let place = [vec![view.vault().to_owned()], folders.to_vec(), vec![name]].concat();
        Some(Self { place, frontmatter, main, source })
    }

    /// Whether both would have the same URI.
    pub(super) fn is_at_the_place_of(&self, other: &Self) -> bool {
        self.place == other.place
    }

    /// The path of a file below the skill, if the URI is one of it.
    pub(super) fn file_in(&self, uri: &SkillUri) -> Option<String> {
        // The vault was chosen by its name, in any case.
        let rest = uri.names.get(1..)?.strip_prefix(&self.place[1..])?;
        (!rest.is_empty()).then(|| rest.join("/"))
    }

    /// Its files with their hashes; `None` if there are too many, or too large ones, for clients to accept.
    pub(super) fn entry(&self, context: &Context<'_>, view: &View) -> Result<Option<SkillEntry>, Reason> {
        let file = |name: &str, bytes: &[u8]| SkillFile {
            uri: self.uri(name),
            hash: ContentHash::of(bytes),
            bytes: bytes.len() as u64,
        };
        let mut files = vec![file(MAIN_FILE, &self.main)];
        let Some(others) = self.others(context, view)? else { return Ok(None) };
        let mut bytes = self.main.len() as u64;
        for (name, path) in others {
            context.check()?;
            // It is gone, or too large; then the list would not be complete.
            let Ok(content) = reading::read_exactly(view, &path) else { return Ok(None) };
            bytes += content.bytes().len() as u64;
            if bytes > MOST_BYTES {
                return Ok(None);
            }
            files.push(file(&name, content.bytes()));
        }
        let frontmatter = self.frontmatter.clone();
        Ok(Some(SkillEntry { uri: self.uri(MAIN_FILE), frontmatter, files }))
    }

    /// A file of it by its path below the skill.
    pub(super) fn read(&self, context: &Context<'_>, view: &View, name: &str) -> Result<Option<SkillBytes>, Reason> {
        if name == MAIN_FILE {
            return Ok(Some(SkillBytes { media_type: "text/markdown", bytes: self.main.clone() }));
        }
        // Looked for among the files that were listed: no name leads anywhere else.
        let others = self.others(context, view)?.unwrap_or_default();
        let Some((_, path)) = others.into_iter().find(|(known, _)| known == name) else { return Ok(None) };
        let file = reading::read_exactly(view, &path)?;
        let media_type = media_type(&path).unwrap_or("text/plain");
        Ok(Some(SkillBytes { media_type, bytes: file.bytes().to_vec() }))
    }

    fn uri(&self, file: &str) -> String {
        SkillUri::of(self.place.iter().map(String::as_str).chain(file.split('/'))).to_string()
    }

    /// The other files of its folder, by their path below it; `None` if there are too many.
    fn others(&self, context: &Context<'_>, view: &View) -> Result<Option<Vec<(String, VaultPath)>>, Reason> {
        let Some(own) = &self.source.folder else { return Ok(Some(Vec::new())) };
        let (mut files, mut folders) = (Vec::new(), vec![(own.clone(), 0)]);
        while let Some((folder, depth)) = folders.pop() {
            context.check()?;
            for entry in view.list(Some(&folder)).unwrap_or_default() {
                match entry.kind {
                    EntryKind::Folder if depth < DEEPEST => folders.push((entry.path, depth + 1)),
                    EntryKind::File if entry.path != self.source.note => {
                        let names: Vec<&str> = entry.path.names().skip(own.names().count()).collect();
                        files.push((names.join("/"), entry.path.clone()));
                    }
                    EntryKind::Folder | EntryKind::File => {}
                }
                // Counted with `SKILL.md`.
                if files.len() >= MOST_FILES {
                    return Ok(None);
                }
            }
        }
        files.sort();
        Ok(Some(files))
    }
}

/// Whether the properties are those of a skill.
fn has_form(properties: &Map<String, Value>) -> bool {
    let text = |name: &str| properties.get(name).and_then(Value::as_str);
    let is_named = text("name").is_some_and(is_name);
    let is_described =
        text("description").is_some_and(|text| !text.trim().is_empty() && text.chars().count() <= LONGEST_DESCRIPTION);
    is_named && is_described
}

/// Small letters, digits and single hyphens between them.
fn is_name(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    name.len() <= LONGEST_NAME && name.split('-').all(is_word)
}

/// A playbook as a `SKILL.md`: its text under properties that a client accepts. Its other properties are for Obsidian.
fn with_form(own: &VaultPath, text: &str, properties: &Map<String, Value>) -> (Map<String, Value>, Vec<u8>) {
    let title = own.name();
    let title = if own.is_note() { &title[..title.len() - ".md".len()] } else { title };
    let body = body_of(text);
    let name = properties.get("name").and_then(Value::as_str).filter(|name| is_name(name));
    let name = name.map_or_else(|| name_for(title, own), str::to_owned);
    let given = properties.get("description").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let description = given.map(str::to_owned).or_else(|| first_line(body, title)).unwrap_or_else(|| title.to_owned());
    // YAML does not allow these two even between quotes.
    let allowed = |letter: &char| !matches!(letter, '\u{fffe}' | '\u{ffff}');
    let description: String = one_line(&description).chars().filter(allowed).take(LONGEST_DESCRIPTION).collect();
    let description = if description.is_empty() { name.clone() } else { description };
    // A JSON string is one of YAML.
    let main = format!("---\nname: {name}\ndescription: {}\n---\n\n{}", json!(description), body.trim_start());
    let frontmatter = [("name", name), ("description", description)];
    let frontmatter = frontmatter.map(|(key, value)| (key.to_owned(), Value::String(value)));
    (frontmatter.into_iter().collect(), main.into_bytes())
}

/// A name made of a title: `Weekly Review` is `weekly-review`.
fn name_for(title: &str, path: &VaultPath) -> String {
    // An accent is dropped and its letter stays.
    let plain: String = title.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase();
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words.collect::<Vec<_>>().join("-").chars().take(LONGEST_NAME).collect();
    match name.trim_end_matches('-') {
        // No letter of the title may be in a name.
        "" => {
            let hash = ContentHash::of(path.as_str().as_bytes()).to_string();
            format!("playbook-{}", &hash["sha256:".len()..][..8])
        }
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use lapidary_note::Document;
    use lapidary_toolkit::properties::NoteProperties;

    use super::*;

    #[test]
    fn a_title_becomes_a_name() {
        let path = VaultPath::parse("Skills/x.md").unwrap();
        for (title, name) in [
            ("Weekly Review", "weekly-review"),
            ("  Über -- Größe_2 ", "uber-gro-e-2"),
            ("meeting", "meeting"),
            ("a&b", "a-b"),
        ] {
            assert_eq!(name_for(title, &path), name);
        }
        for title in ["石", "", "--", &"ab-".repeat(60), "🙂"] {
            let name = name_for(title, &path);
            assert!(is_name(&name), "{title}: {name}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "a b", "ä", &"a".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn the_properties_of_a_made_skill_are_those_that_it_says() {
        let path = VaultPath::parse("Skills/Weekly review.md").unwrap();
        for text in [
            "",
            "Look: \"back\" \\ at # it\n",
            "---\ntags: [x]\ndescription: 'a: b\u{2028}c\u{85}d\u{1}'\n---\nBody\n",
            "---\nbroken: [\n---\nx\n",
            "\u{fffe}\u{7f}*x",
        ] {
            let read = |text: &str| NoteProperties::of(&Document::open(text.as_bytes().to_vec()).unwrap());
            let (frontmatter, main) = with_form(&path, text, &read(text).json());
            let main = String::from_utf8(main).unwrap();
            let read = read(&main);
            assert_eq!(read.problem(), None, "{main}");
            assert_eq!(read.json(), frontmatter, "{main}");
            assert!(has_form(&frontmatter), "{main}");
        }
    }
}
