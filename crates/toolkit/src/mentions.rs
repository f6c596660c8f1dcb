//! Which other notes a note names without a link to them.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use lapidary_note::{Note, count_steps};
use lapidary_operation::{Context, Reason};
use lapidary_query::{folded, search_tokens};
use lapidary_vault::{VaultPath, VisibleNotes};

use crate::naming::title;

/// A place in a note that names another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedNote {
    pub path: VaultPath,
    /// In the shown text.
    pub span: Range<usize>,
    /// From 1.
    pub line: usize,
}

/// A shorter name is an ordinary word more often than a name.
const SHORTEST_NAME: usize = 3;
/// Names with more words are not looked for.
const MOST_WORDS: usize = 8;

/// The first place of every note that is named in a text by its name or an alias, as words of their own and in any case,
/// in text order. Of two notes with one name neither is meant, of a longer and a shorter name the longer one is. Links, code,
/// formulas, tags, headings and properties are left out.
pub fn find(
    context: &Context<'_>,
    notes: &VisibleNotes,
    source: &VaultPath,
    text: &str,
    linked: &HashSet<VaultPath>,
    most: usize,
) -> Result<Vec<NamedNote>, Reason> {
    let names = names(context, notes, source, linked)?;
    let note = Note::parse(text);
    let covered = covered(&note);
    let is_free = |span: &Range<usize>| {
        let before = covered.partition_point(|known| known.start < span.end);
        // They do not overlap, so the last that begins before it decides.
        covered[..before].last().is_none_or(|known| known.end <= span.start)
    };
    let mut words: Vec<(String, Range<usize>)> = Vec::new();
    search_tokens(text, |token| {
        // A tail repeats what is in the pair before it.
        if !token.tail {
            words.push((token.term.to_owned(), token.start..token.end));
        }
    });
    let mut found: Vec<NamedNote> = Vec::new();
    let mut seen: HashSet<&VaultPath> = HashSet::new();
    let mut at = 0;
    while at < words.len() && found.len() < most {
        count_steps(MOST_WORDS);
        let most = MOST_WORDS.min(words.len() - at);
        // The longest name that begins here.
        let longest = (1..=most).rev().find_map(|count| {
            let run = &words[at..at + count];
            let key = run.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ");
            let span = run.first()?.1.start..run.last()?.1.end;
            let path = names.get(&key)?.as_ref()?;
            // Words of a name stand in one line, with little between them.
            let is_name = !text[span.clone()].contains('\n') && span.len() <= 2 * key.len() + 8;
            (is_name && is_free(&span)).then_some((count, path, span))
        });
        match longest {
            Some((count, path, span)) => {
                if seen.insert(path) {
                    let line = text[..span.start].matches('\n').count() + 1;
                    found.push(NamedNote { path: path.clone(), span, line });
                }
                at += count;
            }
            None => at += 1,
        }
    }
    Ok(found)
}

/// The note of every name; `None` if several notes have it.
fn names(
    context: &Context<'_>,
    notes: &VisibleNotes,
    source: &VaultPath,
    linked: &HashSet<VaultPath>,
) -> Result<HashMap<String, Option<VaultPath>>, Reason> {
    let mut names: HashMap<String, Option<VaultPath>> = HashMap::new();
    for (entry, digest) in notes.notes() {
        context.check()?;
        count_steps(8);
        let own = std::iter::once(title(entry.path())).chain(digest.aliases());
        let keys: BTreeSet<String> = own.filter_map(key).collect();
        for key in keys {
            names.entry(key).and_modify(|known| *known = None).or_insert_with(|| Some(entry.path().clone()));
        }
    }
    // Only now: a name that a linked note shares is ambiguous all the same.
    names.retain(|_, path| path.as_ref().is_some_and(|path| path != source && !linked.contains(path)));
    Ok(names)
}

/// A name as it is compared.
fn key(name: &str) -> Option<String> {
    // A number, such as that of a day, is named in other senses.
    if folded(name).chars().filter(|c| c.is_alphabetic()).count() < SHORTEST_NAME && name.is_ascii() {
        return None;
    }
    let mut words = Vec::new();
    search_tokens(name, |token| {
        if !token.tail {
            words.push(token.term.to_owned());
        }
    });
    (1..=MOST_WORDS).contains(&words.len()).then(|| words.join(" "))
}

/// Where a name is none, in order and without overlaps.
fn covered(note: &Note<'_>) -> Vec<Range<usize>> {
    let linked = note.links.iter().map(|link| link.span.clone());
    let mut covered: Vec<Range<usize>> = linked
        .chain(note.definitions.iter().map(|definition| definition.span.clone()))
        .chain(note.code.iter().map(|code| code.span.clone()))
        .chain(note.math.iter().map(|math| math.span.clone()))
        .chain(note.tags.iter().map(|tag| tag.span.clone()))
        .chain(note.headings.iter().map(|heading| heading.span.clone()))
        .chain(note.frontmatter.iter().map(|block| block.span.clone()))
        .collect();
    covered.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in covered {
        match joined.last_mut().filter(|last| span.start <= last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => joined.push(span),
        }
    }
    joined
}
