//! Notes that have to do with a note and are not linked with it: by the notes between them, by tags, by words, by what
//! they say.

use std::collections::{BTreeMap, BTreeSet};

use lapidary_note::count_steps;
use lapidary_operation::{Context, Reason};
use lapidary_query::words;
use lapidary_vault::{CloseNote, NoMeaning, PassageSize, RankedPage, RankedQuery, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    link_walk::{LinkWalk, WalkDirection},
    naming::title,
};

// Why a note is related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RelatedBy {
    Links,
    Tags,
    Words,
    Meaning,
}

impl RelatedBy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Tags => "tags",
            Self::Words => "words",
            Self::Meaning => "meaning",
        }
    }
}

/// A related note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RelatedNote {
    pub path: String,
    /// The strongest first.
    pub by: Vec<RelatedBy>,
}

/// What each reason counts at most.
const LINK_WEIGHT: f64 = 1.0;
const TAG_WEIGHT: f64 = 0.8;
const WORD_WEIGHT: f64 = 0.8;
const MEANING_WEIGHT: f64 = 1.0;
/// Notes that are found by meaning.
const MOST_BY_MEANING: usize = 20;
/// Words of a title that are searched for, and notes that are found by them.
const MOST_WORDS: usize = 8;
const MOST_BY_WORDS: usize = 20;
/// Shorter words say nothing about a note.
const SHORTEST_WORD: usize = 3;

/// The most related notes, best first. Vectors that would have to be made first do not count.
pub fn find<'n>(
    context: &Context<'_>,
    view: &View,
    walk: &LinkWalk<'n>,
    start: &'n VaultPath,
    most: usize,
) -> Result<Vec<RelatedNote>, Reason> {
    let close = close_notes(context, view, start, MOST_BY_MEANING, false)?.unwrap_or_default();
    find_with(context, view, walk, start, most, &close)
}

/// The notes that are closest by what they say; why there are none, if that is not known.
pub fn close_notes(
    context: &Context<'_>,
    view: &View,
    start: &VaultPath,
    most: usize,
    patient: bool,
) -> Result<Result<Vec<CloseNote>, NoMeaning>, Reason> {
    if !view.has_meaning() {
        return Ok(Err(NoMeaning::Off));
    }
    let found = view
        .close_notes(start, most, patient, &|| context.cancel.check().is_ok())
        .map_err(|error| Reason::from_index(&error, context.cancel))?;
    Ok(found.and_then(|found| found.ok_or(NoMeaning::UnknownWords)))
}

/// The same with these notes among them.
pub fn find_with<'n>(
    context: &Context<'_>,
    view: &View,
    walk: &LinkWalk<'n>,
    start: &'n VaultPath,
    most: usize,
    close: &[CloseNote],
) -> Result<Vec<RelatedNote>, Reason> {
    // Two links: what both notes link to, or are linked from.
    let around = walk.around(context, start, 2, WalkDirection::Both)?;
    // What is linked is known already.
    let mut left_out: BTreeSet<&str> = BTreeSet::from([start.as_str()]);
    left_out.extend(around.reached.iter().filter(|note| note.hops == 1).map(|note| note.path.as_str()));
    let mut scores: BTreeMap<String, Vec<(RelatedBy, f64)>> = BTreeMap::new();
    let mut put = |by: RelatedBy, weight: f64, found: Vec<(String, f64)>| {
        // Each reason is scaled to its best note, so that no measure outweighs the others by its unit.
        let best = found.iter().map(|(_, score)| *score).fold(0.0, f64::max);
        for (path, score) in found.into_iter().filter(|_| best > 0.0) {
            scores.entry(path).or_default().push((by, weight * score / best));
        }
    };
    let two_links = around.reached.iter().filter(|note| note.hops == 2);
    put(RelatedBy::Links, LINK_WEIGHT, two_links.map(|note| (note.path.to_string(), note.weight)).collect());
    put(RelatedBy::Tags, TAG_WEIGHT, by_tags(context, walk, start, &left_out)?);
    let by_words = by_words(context, view, start)?;
    put(
        RelatedBy::Words,
        WORD_WEIGHT,
        by_words.into_iter().filter(|(path, _)| !left_out.contains(path.as_str())).collect(),
    );
    let close = close.iter().map(|note| (note.path.to_string(), note.cosine));
    put(RelatedBy::Meaning, MEANING_WEIGHT, close.filter(|(path, _)| !left_out.contains(path.as_str())).collect());
    let mut ranked: Vec<(String, Vec<(RelatedBy, f64)>)> = scores.into_iter().collect();
    // A note with several reasons comes before one with a single strong one.
    let total = |reasons: &[(RelatedBy, f64)]| reasons.iter().map(|(_, score)| score).sum::<f64>();
    // Stable, so equals stay in path order.
    ranked.sort_by(|(_, one), (_, other)| total(other).total_cmp(&total(one)));
    ranked.truncate(most);
    let related = |(path, mut reasons): (String, Vec<(RelatedBy, f64)>)| {
        reasons.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        RelatedNote { path, by: reasons.into_iter().map(|(by, _)| by).collect() }
    };
    Ok(ranked.into_iter().map(related).collect())
}

/// Notes that share tags, the rare ones counting more.
fn by_tags(
    context: &Context<'_>,
    walk: &LinkWalk<'_>,
    start: &VaultPath,
    left_out: &BTreeSet<&str>,
) -> Result<Vec<(String, f64)>, Reason> {
    let own: BTreeSet<String> = walk
        .notes()
        .digest(start)
        .into_iter()
        .flat_map(|digest| digest.tags())
        .map(|tag| tag.name.to_lowercase())
        .collect();
    // Without tags the whole vault need not be read.
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut sharing: Vec<(&VaultPath, Vec<String>)> = Vec::new();
    let mut notes = 0_u32;
    for (entry, digest) in walk.notes().notes() {
        context.check()?;
        notes += 1;
        count_steps(8);
        let shared: Vec<String> =
            digest.tags().map(|tag| tag.name.to_lowercase()).filter(|tag| own.contains(tag)).collect();
        // Counted in linked notes as well: how rare a tag is does not depend on this note.
        for tag in &shared {
            *counts.entry(tag.clone()).or_default() += 1;
        }
        if !shared.is_empty() && !left_out.contains(entry.path().as_str()) {
            sharing.push((entry.path(), shared));
        }
    }
    let weight = |tag: &String| {
        let with_it = counts.get(tag).copied().unwrap_or(1).max(1);
        // As in a search: a tag that every note has says nothing.
        (1.0 + f64::from(notes) / f64::from(with_it)).ln()
    };
    Ok(sharing.into_iter().map(|(path, tags)| (path.to_string(), tags.iter().map(weight).sum())).collect())
}

/// Notes that have the words of its name.
fn by_words(context: &Context<'_>, view: &View, start: &VaultPath) -> Result<Vec<(String, f64)>, Reason> {
    let mut wanted: Vec<String> = words(title(start));
    // A number, such as that of a year, is in the names of unrelated notes.
    wanted.retain(|word| word.chars().count() >= SHORTEST_WORD && !word.chars().all(|c| c.is_ascii_digit()));
    wanted.truncate(MOST_WORDS);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let page = RankedPage {
        offset: 0,
        limit: MOST_BY_WORDS,
        size: PassageSize { context: 0, max_matches: 1, pieces: 0 },
        room: usize::MAX,
        takes: |_| 0,
    };
    let text = wanted.join(" ");
    let query = RankedQuery::from(text.as_str());
    let found = view
        .ranked(query, page, &|| context.cancel.check().is_ok())
        .map_err(|error| Reason::from_index(&error, context.cancel))?;
    Ok(found.hits.into_iter().map(|note| (note.path.to_string(), note.score)).collect())
}
