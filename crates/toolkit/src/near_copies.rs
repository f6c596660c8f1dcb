//! Texts that are nearly the same, by runs of three words: notes as a whole, and paragraphs of them.
//!
//! Of each text the smallest hashes of its runs are kept. How many of the smallest of both are common says how many of all their
//! runs are, however long the texts are.

use std::{collections::HashMap, hash::Hasher};

use lapidary_note::{Frontmatter, count_steps};
use lapidary_query::search_tokens;

/// How many hashes are kept of a text.
const SKETCH: usize = 64;
/// Texts that share none of their smallest hashes, this many of each, are not compared.
const COMPARED: usize = 8;
/// With how many texts that share one a text is compared. More are copies of these.
const MOST_REPRESENTATIVES: usize = 8;
/// Words that are one run.
const RUN: usize = 3;
/// Texts with fewer words are alike by chance.
pub const LEAST_WORDS: usize = 12;

/// A text in a few numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSketch {
    /// In order.
    smallest: Vec<u64>,
    pub words: usize,
}

impl TextSketch {
    /// `None` if the text is too short.
    pub fn of(text: &str) -> Option<Self> {
        let mut last: [u64; RUN] = [0; RUN];
        let mut smallest: Vec<u64> = Vec::new();
        let mut words = 0;
        search_tokens(text, |token| {
            // It repeats what is in the pair before it.
            if token.tail {
                return;
            }
            last.rotate_left(1);
            last[RUN - 1] = hash(token.term.as_bytes());
            words += 1;
            if words >= RUN {
                smallest.push(hash(&last.map(u64::to_le_bytes).concat()));
            }
            // Twice as many before the largest are dropped, so that dropping is rare.
            if smallest.len() >= 64 * SKETCH {
                keep_smallest(&mut smallest);
            }
        });
        keep_smallest(&mut smallest);
        (words >= LEAST_WORDS).then_some(Self { smallest, words })
    }

    /// How much of the two texts is the same, about: of all their runs, the share that both have. A text of which one word in
    /// twenty was changed is 0.85 like the first, one word in ten 0.7.
    pub fn likeness(&self, other: &Self) -> f64 {
        let (mut one, mut two) = (self.smallest.iter().peekable(), other.smallest.iter().peekable());
        let (mut seen, mut common) = (0_u32, 0_u32);
        while (seen as usize) < SKETCH {
            match (one.peek(), two.peek()) {
                (Some(a), Some(b)) if a == b => {
                    common += 1;
                    one.next();
                    two.next();
                }
                (Some(a), Some(b)) if a < b => drop(one.next()),
                (Some(_), None) => drop(one.next()),
                (_, Some(_)) => drop(two.next()),
                (None, None) => break,
            }
            seen += 1;
        }
        // A common run is among both once, and counts for both texts.
        f64::from(2 * common) / f64::from((seen + common).max(1))
    }
}

fn keep_smallest(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(SKETCH);
}

/// The same in every process, so that the same vault gives the same answer.
fn hash(bytes: &[u8]) -> u64 {
    // FNV, then mixed: its high bits alone are too regular.
    let mut state = FnvState(0xcbf2_9ce4_8422_2325);
    state.write(bytes);
    let mixed = (state.0 ^ (state.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

struct FnvState(u64);

impl Hasher for FnvState {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Groups of texts that are alike at least so much, by their numbers; each with how much its least similar one is like the first.
/// `keep_on` is asked now and then.
pub fn groups<E>(
    sketches: &[TextSketch],
    least: f64,
    mut keep_on: impl FnMut() -> Result<(), E>,
) -> Result<Vec<(Vec<usize>, f64)>, E> {
    let mut groups: Vec<(Vec<usize>, f64)> = Vec::new();
    // The groups whose first text has a hash.
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, sketch) in sketches.iter().enumerate() {
        keep_on()?;
        count_steps(COMPARED * MOST_REPRESENTATIVES);
        let keys = || sketch.smallest.iter().take(COMPARED);
        let near = keys().filter_map(|key| by_hash.get(key)).flatten();
        let alike = near.map(|group| (*group, sketch.likeness(&sketches[groups[*group].0[0]])));
        let best = alike.filter(|(_, likeness)| *likeness >= least).max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((group, likeness)) = best {
            let (members, lowest) = &mut groups[group];
            members.push(number);
            *lowest = lowest.min(likeness);
            continue;
        }
        for key in keys() {
            let known = by_hash.entry(*key).or_default();
            if known.len() < MOST_REPRESENTATIVES {
                known.push(groups.len());
            }
        }
        groups.push((vec![number], 1.0));
    }
    groups.retain(|(members, _)| members.len() > 1);
    Ok(groups)
}

/// The paragraphs of a text with their lines, from 1: without properties, code and headings.
pub fn paragraphs(text: &str) -> Vec<(usize, &str)> {
    let body = Frontmatter::find(text).map_or(0, |block| block.span.end);
    let first = 1 + text[..body].matches('\n').count();
    let mut found: Vec<(usize, &str)> = Vec::new();
    let (mut open, mut fence, mut at) = (None::<(usize, usize)>, None::<&str>, body);
    for (number, line) in (first..).zip(text[body..].split_inclusive('\n')) {
        let (start, trimmed) = (at, line.trim());
        at += line.len();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let inside = fence.is_some();
        fence = match fence {
            // Only the mark that opened it closes it.
            Some(known) => Some(known).filter(|known| mark != Some(known)),
            None => mark,
        };
        if trimmed.is_empty() || inside || mark.is_some() || trimmed.starts_with('#') {
            found.extend(open.take().map(|(number, from)| (number, text[from..start].trim_end())));
        } else {
            open.get_or_insert((number, start));
        }
    }
    found.extend(open.map(|(number, from)| (number, text[from..].trim_end())));
    found
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn sketch(text: &str) -> TextSketch {
        TextSketch::of(text).unwrap()
    }

    const STONE: &str =
        "a slate is split along its grain into thin plates that keep the rain away from the roof for a century";

    #[test]
    fn a_changed_word_makes_little_difference_and_another_text_all() {
        let changed = STONE.replace("century", "lifetime");
        assert!((sketch(STONE).likeness(&sketch(STONE)) - 1.0).abs() < f64::EPSILON);
        assert!(sketch(STONE).likeness(&sketch(&changed)) > 0.8);
        let other = "bread is made of flour and water and salt and rises over night in a basket near the warm stove";
        assert!(sketch(STONE).likeness(&sketch(other)) < 0.05);
        assert_eq!(TextSketch::of("too short to say"), None);
    }

    #[test]
    fn the_likeness_is_the_share_of_the_text_that_is_the_same() {
        let word = |n: u32| format!("w{} ", n.wrapping_mul(2_654_435_761));
        // Of one sketch it is only about right, so of several.
        let mean = |changed: fn(u32) -> bool| -> f64 {
            let likeness = |first: u32| {
                let text: String = (0..1400).map(|at| word(first + at)).collect();
                let edited: String =
                    (0..1400).map(|at| word(first + at + if changed(at) { 1_000_000 } else { 0 })).collect();
                sketch(&text).likeness(&sketch(&edited))
            };
            (0..20).map(|number| likeness(number * 10_000)).sum::<f64>() / 20.0
        };
        // Each changed word is in three runs.
        for (found, same) in [
            (mean(|at| at % 20 == 0), 17.0 / 20.0),
            (mean(|at| at % 7 == 0), 4.0 / 7.0),
            (mean(|at| at % 4 == 0), 1.0 / 4.0),
            (mean(|at| at < 700), 1.0 / 2.0),
        ] {
            assert!((found - same).abs() < 0.06, "{found} instead of {same}");
        }
    }

    #[test]
    fn copies_are_found_among_many_texts() {
        let mut texts: Vec<String> = (0..500)
            .map(|n: u32| (0..40).map(|at: u32| format!("w{} ", (n * 40 + at).wrapping_mul(2_654_435_761))).collect())
            .collect();
        texts[17] = STONE.to_owned();
        texts[300] = STONE.replace("century", "lifetime");
        texts[450] = STONE.to_uppercase();
        let sketches: Vec<TextSketch> = texts.iter().map(|text| sketch(text)).collect();
        let found = groups(&sketches, 0.6, || Ok::<(), Infallible>(())).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, [17, 300, 450]);
        assert!(found[0].1 > 0.6 && found[0].1 < 1.0);
    }

    #[test]
    fn paragraphs_have_no_code_headings_or_properties() {
        let text = "---\na: b\n---\none\ntwo\n\n# H\nthree\n```\ncode\n\n```\nfour\n";
        assert_eq!(paragraphs(text), [(4, "one\ntwo"), (8, "three"), (13, "four")]);
        assert_eq!(paragraphs(""), []);
    }

    #[test]
    fn a_thousand_copies_are_one_group() {
        let sketches = vec![sketch(STONE); 1000];
        let found = groups(&sketches, 0.9, || Ok::<(), Infallible>(())).unwrap();
        assert_eq!((found.len(), found[0].0.len()), (1, 1000));
        assert_eq!(groups(&sketches, 0.9, || Err(7)), Err(7), "it can be stopped");
    }
}
