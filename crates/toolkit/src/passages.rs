//! The passages of notes that fit a question, within a room.

use lapidary_note::counted;
use lapidary_operation::{Context, Reason, fence::fenced, quote::one_line};
use lapidary_vault::{
    DocumentKind, FoundPage, NoMeaning, NotePiece, PassageSize, RankedBy, RankedNote, RankedNotes, RankedPage,
    RankedQuery, VaultPath, View,
};
use schemars::JsonSchema;
use serde::Serialize;

/// A passage of a note, with its place.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundPassage {
    pub path: String,
    /// Of a document: the page, slide, sheet or chapter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    #[serde(skip)]
    pub place: Option<String>,
    /// The heading above it, as a section to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Where it starts, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub text: String,
    /// The end was left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How alike it is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Of its note, the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
}

/// What was found for a question.
pub struct FoundPassages {
    pub passages: Vec<FoundPassage>,
    /// Notes that fit, with those that are not shown.
    pub total: usize,
    /// Notes with passages that had no room.
    pub left: usize,
    pub by: RankedBy,
    /// If it was not ranked as it was asked for.
    pub notice: Option<String>,
}

/// How much is wanted.
#[derive(Clone, Copy, Debug)]
pub struct PassageRoom {
    pub bytes: usize,
    pub notes: usize,
    pub pieces_per_note: usize,
}

/// What the place of a passage takes.
const PLACE_BYTES: usize = 60;
/// A passage is not cut to less than this.
const LEAST_BYTES: usize = 120;
/// Characters on either side of a word, for a note without pieces.
const CONTEXT: usize = 200;
/// A further piece of a note is worth reading from this share of the first one's cosine on.
const LEAST_SHARE: f64 = 0.75;

/// The passages that fit a question best, those of one note together.
pub fn find(
    context: &Context<'_>,
    view: &View,
    by: RankedBy,
    query: RankedQuery<'_>,
    room: PassageRoom,
) -> Result<FoundPassages, Reason> {
    let size = PassageSize { context: CONTEXT, max_matches: 1, pieces: room.pieces_per_note };
    let takes =
        |note: &RankedNote| PLACE_BYTES + note.pieces.first().map_or(note.excerpt.len(), |piece| piece.text.len());
    let page = RankedPage { offset: 0, limit: room.notes, size, room: room.bytes, takes };
    let found = view
        .ranked_by(by, query, page, &|| context.cancel.check().is_ok())
        .map_err(|error| Reason::from_index(&error, context.cancel))?;
    // A hybrid search still has the words, and the notice says why; one by meaning has nothing.
    match found.no_meaning {
        Some(NoMeaning::NotReady(done)) if by == RankedBy::Meaning => {
            return Err(Reason::MeaningNotReady { done: usize::from(done) });
        }
        Some(NoMeaning::Off) if by == RankedBy::Meaning => return Err(Reason::MeaningOff),
        _ => {}
    }
    let (mut passages, mut used, mut shown) = (Vec::new(), 0, 0);
    for note in &found.hits {
        let before = passages.len();
        for passage in of_note(note) {
            let wanted = PLACE_BYTES + passage.path.len() + passage.text.len();
            let left = room.bytes.saturating_sub(used);
            if wanted <= left {
                used += wanted;
                passages.push(passage);
            } else if passages.len() == before && left >= PLACE_BYTES + passage.path.len() + LEAST_BYTES
                || passages.is_empty()
            {
                // The best passage is shown in part rather than not at all.
                let most = left.saturating_sub(PLACE_BYTES + passage.path.len()).max(LEAST_BYTES);
                used = room.bytes;
                passages.push(shortened(passage, most));
            }
        }
        shown += usize::from(passages.len() > before);
    }
    let left = found.total.saturating_sub(shown);
    let why = found.no_meaning.map(why_by_words).or_else(|| found.stood_in.map(stood_in));
    let said: Vec<String> = why.into_iter().chain(waiting_documents(&found)).collect();
    let notice = (!said.is_empty()).then(|| said.join(" "));
    Ok(FoundPassages { passages, total: found.total, left, by: found.by, notice })
}

/// The best first; the words that were found if there is nothing else.
fn of_note(note: &RankedNote) -> Vec<FoundPassage> {
    let hash = note.page.as_ref().map(|page| &page.hash).or_else(|| note.near.as_ref().map(|near| &near.hash));
    let content_hash = hash.map(lapidary_note::ContentHash::short);
    // A sheet or a chapter has a name, and no headings.
    let section = |page: &Option<FoundPage>, section: &Option<Vec<String>>| match page {
        Some(page) => page.label.clone(),
        None => section.as_ref().map(|headings| headings.join("::")),
    };
    let place_of = |page: &Option<FoundPage>| page.as_ref().map(|page| place(&note.path, page));
    let of_piece = |piece: &NotePiece| FoundPassage {
        path: note.path.to_string(),
        page: piece.page.as_ref().and_then(page_number),
        place: place_of(&piece.page),
        section: section(&piece.page, &piece.section),
        line: piece.page.is_none().then_some(piece.line),
        text: piece.text.clone(),
        cut: false,
        similarity: Some(rounded(piece.cosine)),
        content_hash: content_hash.clone(),
    };
    let best = note.pieces.first().map_or(0.0, |piece| piece.cosine);
    let pieces: Vec<FoundPassage> =
        note.pieces.iter().filter(|piece| piece.cosine >= LEAST_SHARE * best).map(of_piece).collect();
    if !pieces.is_empty() {
        return pieces;
    }
    vec![FoundPassage {
        path: note.path.to_string(),
        page: note.page.as_ref().and_then(page_number),
        place: place_of(&note.page),
        section: section(&note.page, &note.section),
        line: note.line,
        text: note.excerpt.clone(),
        cut: false,
        similarity: note.near.as_ref().map(|near| rounded(near.cosine)),
        content_hash,
    }]
}

/// Two digits say enough, and cost less.
pub fn rounded(cosine: f64) -> f64 {
    (cosine * 100.0).round() / 100.0
}

fn shortened(passage: FoundPassage, most: usize) -> FoundPassage {
    if passage.text.len() <= most {
        return passage;
    }
    let end = passage.text.floor_char_boundary(most);
    // At a word, if one ends near.
    let end = passage.text[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    FoundPassage { text: passage.text[..end].trim_end().to_owned(), cut: true, ..passage }
}

/// What a tool answers with passages.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PassageAnswer {
    passages: Vec<FoundPassage>,
    /// Further notes that fit.
    left: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl PassageAnswer {
    pub fn of(found: FoundPassages) -> Self {
        Self { passages: found.passages, left: found.left, notice: found.notice }
    }

    /// As a model reads it. `nothing` is said if there are no passages.
    pub fn text(&self, nothing: &str) -> String {
        let Self { passages, left, notice } = self;
        let mut text = notice.clone().map(|notice| notice + "\n").unwrap_or_default();
        if passages.is_empty() {
            return text + nothing;
        }
        text += &self::text(passages);
        if *left > 0 {
            text += &format!("\n{} more", counted(*left, "note"));
        }
        text
    }
}

/// The passages as a model reads them.
pub fn text(passages: &[FoundPassage]) -> String {
    let mut text = String::new();
    for passage in passages {
        let section = passage.section.as_ref().map_or(String::new(), |section| format!(" § {section}"));
        let line = passage.line.map_or(String::new(), |line| format!(":{line}"));
        let hash = passage.content_hash.as_ref().map_or(String::new(), |hash| format!(" · {hash}"));
        let cut = if passage.cut { "…" } else { "" };
        let head = format!("{}{line}{section}{hash}", passage.place.as_ref().unwrap_or(&passage.path));
        text += &format!("{}\n{}{cut}\n\n", one_line(&head), passage.text.trim());
    }
    fenced(&(text.trim_end().to_owned() + "\n"))
}

/// Another model than the chosen one was asked.
pub fn stood_in(done: u8) -> String {
    format!("Ranked by the bundled model: the chosen one has read {done} % of the notes.")
}

/// A place in a document as people write it: with the link of Obsidian, where it knows one.
pub fn place(path: &VaultPath, page: &FoundPage) -> String {
    match page.kind {
        DocumentKind::Pdf => format!("{path}#page={}", page.number),
        kind => match page_number(page) {
            Some(number) => format!("{path} {} {number}", kind.part_name()),
            None => path.to_string(),
        },
    }
}

/// `None` for a kind that has only one part.
pub fn page_number(page: &FoundPage) -> Option<u32> {
    page.kind.has_pages().then_some(page.number)
}

/// That documents were not searched, or not by meaning.
pub fn waiting_documents(found: &RankedNotes) -> Option<String> {
    let documents = |count: usize, state: &str| {
        let is = if count == 1 { "is" } else { "are" };
        (count > 0).then(|| format!("{} {is} not {state} yet.", counted(count, "document")))
    };
    let unread = documents(found.unread_documents, "read");
    let without = documents(found.documents_without_meaning, "found by meaning");
    let said: Vec<String> = unread.into_iter().chain(without).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Why meaning did not count.
pub fn why_by_words(why: NoMeaning) -> String {
    let why = match why {
        NoMeaning::NotReady(done) => {
            format!("the index of meanings is being made, {done} % are done. Ask again in a moment")
        }
        NoMeaning::UnknownWords => "the model knows none of these".to_owned(),
        NoMeaning::NoFreeWords => "the query has only operators and phrases".to_owned(),
        NoMeaning::Off => "the owner has switched the search by meaning off".to_owned(),
    };
    format!("Ranked by words: {why}.")
}
