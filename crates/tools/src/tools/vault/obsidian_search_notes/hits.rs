//! Search hits, and how much of them is shown.

use lapidary_operation::{
    fence::fenced,
    quote::{one_line, quoted},
};
use lapidary_query::utf16_length;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::SearchMode;

/// How many matches of a note are shown unless the caller says otherwise.
pub(super) const USUAL_MATCHES: usize = 10;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HitPage {
    pub(super) mode: SearchMode,
    pub(super) hits: Vec<SearchHit>,
    pub(super) total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    // There may be more than all pages show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truncated: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum SearchHit {
    Text {
        filename: String,
        matches: Vec<HitMatch>,
        #[serde(skip_serializing_if = "Option::is_none")]
        total_matches: Option<usize>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        truncated: bool,
    },
    Logic {
        filename: String,
        result: Value,
    },
    Ranked {
        filename: String,
        basename: String,
        // Of a document: the page, slide, sheet or chapter that the excerpt is from.
        #[serde(skip_serializing_if = "Option::is_none")]
        page: Option<u32>,
        #[serde(skip)]
        place: Option<String>,
        score: f64,
        found_words: Vec<String>,
        matches: Vec<MatchSpot>,
        excerpt: String,
        /// The heading above the excerpt, as a section to read.
        #[serde(skip_serializing_if = "Option::is_none")]
        section: Option<String>,
        // Of a note found by meaning alone, the beginning.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_hash: Option<String>,
        // What each word contributed to the score.
        #[serde(skip_serializing_if = "Option::is_none")]
        ranking: Option<String>,
    },
}

#[derive(Serialize, JsonSchema)]
pub(super) struct MatchSpot {
    pub(super) r#match: String,
    // In the note, in UTF-16 units.
    pub(super) offset: usize,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct HitMatch {
    pub(super) context: String,
    pub(super) r#match: MatchPlace,
}

/// Counted in UTF-16 units, as JavaScript does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MatchPlace {
    /// In the note, or in its name.
    pub(super) start: usize,
    pub(super) end: usize,
    // In the context.
    pub(super) context_start: usize,
    pub(super) context_end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<&'static str>,
}

impl SearchHit {
    /// Text of notes is between markers, one match per line.
    pub(super) fn markdown(&self) -> String {
        match self {
            Self::Text { filename, matches, total_matches, .. } => {
                let some = total_matches.map_or(String::new(), |total| {
                    format!(" — truncated, showing first {} of {total} matches", matches.len())
                });
                let line = |found: &[HitMatch]| {
                    let place = |found: &HitMatch| format!("{}–{}", found.r#match.start, found.r#match.end);
                    let places: Vec<String> = found.iter().map(place).collect();
                    // Line breaks would end the line of the match.
                    let context = found[0].context.split_whitespace().collect::<Vec<_>>().join(" ");
                    format!("{}: {}\n", places.join(", "), one_line(&context))
                };
                let lines: String = shown_together(matches).into_iter().map(line).collect();
                format!("\n\n### {}{some}\n{}", quoted(filename), fenced(&lines))
            }
            // Combined, between the same markers.
            Self::Ranked { .. } => String::new(),
            Self::Logic { filename, result: Value::Bool(true) } => format!("\n- {}", quoted(filename)),
            Self::Logic { filename, result } => {
                format!("\n\n### {}\n{}", quoted(filename), fenced(&result.to_string()))
            }
        }
    }
}

/// Matches that the context of the first of them shows, too: it is said once.
fn shown_together(matches: &[HitMatch]) -> Vec<&[HitMatch]> {
    let (mut groups, mut rest): (Vec<&[HitMatch]>, &[HitMatch]) = (Vec::new(), matches);
    while let Some(first) = rest.first() {
        let place = &first.r#match;
        let begin = place.start.saturating_sub(place.context_start);
        let context = begin..begin + utf16_length(&first.context);
        let is_shown = |found: &&HitMatch| {
            let MatchPlace { start, end, source, .. } = &found.r#match;
            *source == place.source && context.start <= *start && *end <= context.end
        };
        let (group, others) = rest.split_at(1 + rest[1..].iter().take_while(is_shown).count());
        groups.push(group);
        rest = others;
    }
    groups
}

/// Ranked hits as a model reads them: a line for each, and for the best a line of text. All of it is note text.
pub(super) fn ranked_lines(hits: &[SearchHit]) -> String {
    let line = |(number, hit): (usize, &SearchHit)| {
        let SearchHit::Ranked {
            basename,
            filename,
            place,
            score,
            found_words,
            matches,
            excerpt,
            section,
            content_hash,
            ranking,
            ..
        } = hit
        else {
            return String::new();
        };
        // Conditions such as `[status:done]` have no score.
        let score = if *score > 0.0 { format!(" · {}", shown_score(*score)) } else { String::new() };
        // The heading that repeats the name of the note says nothing.
        let section = section.as_ref().filter(|section| *section != basename);
        let section = section.map_or(String::new(), |section| format!(" § {section}"));
        let hash = content_hash.as_ref().map_or(String::new(), |hash| format!(" · by meaning, hash {hash}"));
        let place = place.as_ref().unwrap_or(filename);
        let mut line = match number < WITH_TEXT || ranking.is_some() {
            true => one_line(&format!("{place}{section}{score}{hash}")).into_owned(),
            false => one_line(place).into_owned(),
        };
        if let Some(ranking) = ranking {
            line += &format!(" = {}", one_line(ranking));
        }
        // If no text was looked for, the excerpt is only the start of the note.
        let has_match = !found_words.is_empty() || !matches.is_empty() || content_hash.is_some();
        if number < WITH_TEXT && !excerpt.is_empty() && has_match {
            let room = LINE_BYTES.saturating_sub(line.len()).max(LEAST_TEXT);
            line += &format!("\n  {}", one_line(&short(excerpt, found_words, room)));
        }
        line + "\n"
    };
    hits.iter().enumerate().map(line).collect()
}

/// Joined scores are at most 1, and those by words are not.
fn shown_score(score: f64) -> String {
    if score <= 1.0 { format!("{score:.2}") } else { format!("{score:.1}") }
}

/// Text is shown for this many hits; the others are only named.
pub(super) const WITH_TEXT: usize = 5;
/// The room for one of them, and the minimum for its text if its name is long.
const LINE_BYTES: usize = 132;
const LEAST_TEXT: usize = 60;

/// Part of an excerpt on one line, with the first match in it.
fn short(excerpt: &str, words: &[String], most: usize) -> String {
    let text = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() <= most {
        return text;
    }
    let lower = text.to_lowercase();
    // If another case has a different byte length, the start is good enough.
    let found = words.iter().filter_map(|word| lower.find(word.as_str())).min().filter(|_| lower.len() == text.len());
    // A third of the room before the match, but never so late that room is left at the end.
    let start = found.unwrap_or_default().saturating_sub(most / 3).min(text.len() - most);
    let start = text.ceil_char_boundary(start);
    let start =
        if start == 0 { 0 } else { text[start..].find(' ').filter(|at| *at < 20).map_or(start, |at| start + at + 1) };
    let end = text.floor_char_boundary((start + most).min(text.len()));
    let cut = if end < text.len() { "…" } else { "" };
    format!("{}{}{cut}", if start > 0 { "…" } else { "" }, &text[start..end])
}

/// The default length of a page, in hits and in bytes: some 2,000 tokens.
const USUAL_HITS: usize = 50;
const USUAL_BYTES: usize = 7_500;

/// How many bytes a page of this many hits may have. A search that finds more than fit with one match each can stop.
pub(super) fn room(limit: usize) -> usize {
    USUAL_BYTES * limit.max(USUAL_HITS) / USUAL_HITS
}

/// The default number of notes on a ranked page: readers who want more request the next one.
pub(super) const RANKED_HITS: usize = 10;

/// As many hits as the caller's budget allows, and whether fewer matches are shown for each than usual. An explicit
/// number of matches is respected; otherwise matches are dropped before hits.
pub(super) fn fitting(
    mut hits: Vec<SearchHit>,
    given_matches: Option<usize>,
    limit: usize,
) -> (Vec<SearchHit>, Option<usize>) {
    let room = room(limit);
    let mut fewer = None;
    if let Some(given) = given_matches {
        hits.iter_mut().for_each(|hit| hit.show(given));
    } else {
        let fits = |shown: &usize| hits.iter().map(|hit| hit.bytes(*shown)).sum::<usize>() <= room;
        // As many matches for each as let all hits stay on the page.
        let shown = (1..=USUAL_MATCHES).rev().find(fits).unwrap_or(1);
        let cuts = |hit: &SearchHit| matches!(hit, SearchHit::Text { matches, .. } if matches.len() > shown);
        fewer = Some(shown).filter(|_| hits.iter().any(cuts));
        hits.iter_mut().for_each(|hit| hit.show(shown));
    }
    let mut used = 0;
    let fit = hits.iter().take_while(|hit| {
        used += hit.bytes(usize::MAX);
        used <= room
    });
    // At least one must be shown, or paging would never advance.
    let fit = fit.count().max(1);
    hits.truncate(fit);
    (hits, fewer)
}

impl SearchHit {
    pub(super) fn filename(&self) -> &str {
        match self {
            Self::Text { filename, .. } | Self::Logic { filename, .. } | Self::Ranked { filename, .. } => filename,
        }
    }

    /// Its size with this many matches.
    pub(super) fn bytes(&self, shown: usize) -> usize {
        match self {
            Self::Text { filename, matches, truncated, .. } => {
                let frame = r#"{"filename":"","matches":[]},"#.len();
                // Only there when matches were cut.
                let rest = r#","totalMatches":1000,"truncated":true"#.len();
                let rest = if *truncated || matches.len() > shown { rest } else { 0 };
                let shown: usize = matches.iter().take(shown).map(|found| written(found) + 1).sum();
                frame + filename.len() + shown + rest
            }
            Self::Logic { .. } => written(self) + 1,
            Self::Ranked {
                filename, basename, found_words, matches, excerpt, section, content_hash, ranking, ..
            } => {
                let frame = r#"{"filename":,"basename":,"score":10.123,"foundWords":[],"matches":[],"excerpt":,"section":,"contentHash":,"page":123},"#;
                let spot = |spot: &MatchSpot| r#"{"match":,"offset":1234567},"#.len() + json_length(&spot.r#match);
                let texts = [filename, basename, excerpt]
                    .into_iter()
                    .chain(section)
                    .chain(content_hash)
                    .chain(ranking)
                    .map(|text| json_length(text));
                let words = found_words.iter().map(|word| json_length(word) + 1);
                frame.len() + texts.chain(words).chain(matches.iter().take(shown).map(spot)).sum::<usize>()
            }
        }
    }

    fn show(&mut self, shown: usize) {
        if let Self::Text { matches, total_matches, truncated, .. } = self
            && matches.len() > shown
        {
            // The search may have set the real number, which is larger than what it kept.
            total_matches.get_or_insert(matches.len());
            matches.truncate(shown);
            *truncated = true;
        }
        if let Self::Ranked { matches, .. } = self {
            matches.truncate(shown);
        }
    }
}

/// The approximate length of a text as JSON. Needed for many pages before one is sent, so it is not serialised each
/// time.
fn json_length(text: &str) -> usize {
    let longer = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\t' => 1,
        byte if byte < 0x20 => 5,
        _ => 0,
    };
    2 + text.len() + text.bytes().map(longer).sum::<usize>()
}

fn written(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(matches: usize, context: usize) -> SearchHit {
        let place = || MatchPlace { start: 0, end: 1, context_start: 0, context_end: 1, source: None };
        let found = || HitMatch { context: "x".repeat(context), r#match: place() };
        let matches = (0..matches).map(|_| found()).collect();
        SearchHit::Text { filename: "Folder/Note.md".into(), matches, total_matches: None, truncated: false }
    }

    /// How many hits are left, and how many matches the first of them shows.
    fn left(hits: Vec<SearchHit>, most_matches: Option<usize>, limit: usize) -> (usize, usize) {
        let (hits, _) = fitting(hits, most_matches, limit);
        let shown = match hits.first() {
            Some(SearchHit::Text { matches, .. }) => matches.len(),
            _ => 0,
        };
        assert!(hits.len() == 1 || written(&hits) <= USUAL_BYTES * limit.max(USUAL_HITS) / USUAL_HITS + 2);
        (hits.len(), shown)
    }

    #[test]
    fn matches_in_one_context_share_a_line() {
        let found = |start: usize, context: &str, context_start: usize, source| HitMatch {
            context: context.into(),
            r#match: MatchPlace { start, end: start + 2, context_start, context_end: context_start + 2, source },
        };
        let matches = vec![
            found(10, "a 石 and 石s\nb", 2, None),
            found(17, "nd 石s\nb", 3, None),
            found(40, "石 far", 0, None),
            found(1, "x石", 1, Some("filename")),
        ];
        let hit = SearchHit::Text { filename: "a.md".into(), matches, total_matches: None, truncated: false };
        assert_eq!(hit.markdown(), "\n\n### `a.md`\n```\n10–12, 17–19: a 石 and 石s b\n40–42: 石 far\n1–3: x石\n```");
    }

    #[test]
    fn the_size_of_a_ranked_hit_is_estimated_well() {
        let spot = || MatchSpot { r#match: "石\n".into(), offset: 123 };
        let hit = SearchHit::Ranked {
            filename: "a/\"b\".md".into(),
            basename: "\"b\"".into(),
            page: Some(12),
            place: None,
            score: 12.5,
            found_words: vec!["one".into(), "two".into()],
            matches: vec![spot(), spot()],
            excerpt: "a\tb\u{1}\\".into(),
            section: Some("A::B".into()),
            content_hash: Some("12345678".into()),
            ranking: None,
        };
        let (said, taken) = (hit.bytes(2), written(&hit));
        assert!(said >= taken && said < taken + 20, "{said} {taken}");
    }

    #[test]
    fn a_note_that_only_meets_a_condition_is_a_line() {
        let hit = |score: f64, words: &[&str]| SearchHit::Ranked {
            filename: "a.md".into(),
            basename: "a".into(),
            page: None,
            place: None,
            score,
            found_words: words.iter().map(|word| (*word).to_owned()).collect(),
            matches: Vec::new(),
            excerpt: "status: open".into(),
            section: None,
            content_hash: None,
            ranking: None,
        };
        assert_eq!(ranked_lines(&[hit(0.0, &[]), hit(1.25, &["open"])]), "a.md\na.md · 1.2\n  status: open\n");
    }

    #[test]
    fn matches_go_before_hits_and_one_hit_always_stays() {
        let many = |count: usize, matches: usize, context: usize| (0..count).map(|_| hit(matches, context)).collect();
        assert_eq!(left(many(50, 1, 10), None, 50), (50, 1));
        assert_eq!(left(many(3, 10, 100), None, 50), (3, 10));
        assert_eq!(left(many(10, 10, 200), None, 50), (10, 2));
        let (hits, shown) = left(many(50, 10, 200), None, 50);
        assert!(hits > 15 && shown == 1, "{hits}");
        assert_eq!(left(many(5, 100, 200), Some(100), 50), (1, 100), "more were requested");
        assert_eq!(left(many(50, 10, 200), Some(3), 50).1, 3, "this number was requested");
        assert_eq!(left(many(200, 1, 10), None, 200), (200, 1), "a longer page was requested");
        assert_eq!(left(many(1, 1, 100_000), None, 50), (1, 1));
        assert_eq!(left(Vec::new(), None, 50), (0, 0));
    }

    #[test]
    fn omitted_matches_are_counted() {
        let mut one = hit(7, 10);
        one.show(2);
        let SearchHit::Text { matches, total_matches, truncated, .. } = one else { panic!() };
        assert_eq!((matches.len(), total_matches, truncated), (2, Some(7), true));
    }
}
