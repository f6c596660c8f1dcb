//! Requests whose tools are known: a request for nearly the same means the same tool.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use lapidary_query::words;

use super::{stem, terms, vocabulary};

/// Learnt from `phrasings.txt`. It never changes, so requests share it.
pub(super) static KNOWN: LazyLock<KnownRequests> =
    LazyLock::new(|| KnownRequests::read(include_str!("../phrasings.txt")));

/// The weight of a word as it is spelt, relative to the words that it means: `who is` and `where did I` say what kind of
/// request it is.
const SPELT: f32 = 0.4;
/// The weight of a name: it is the user's own.
const NAMED: f32 = 0.3;
/// How many similar requests count for a tool, and how much of each relative to the one before.
const COUNTED: usize = 10;
const NEXT: f32 = 0.8;
/// How much less a request says about each of its tools if it has several.
const SHARED: f32 = 0.3;
/// Less in common is chance.
const SIMILAR: f32 = 0.1;

pub(super) struct KnownRequests {
    /// A number for each feature, and how much it says.
    features: HashMap<String, (usize, f32)>,
    /// For each feature, the requests that have it, and its part of their length.
    holders: Vec<Vec<(usize, f32)>>,
    /// The tools of each request.
    tools: Vec<Vec<&'static str>>,
}

/// How similar the known requests of each tool are to a wish.
pub(super) struct SimilarRequests {
    tools: HashMap<&'static str, Vec<f32>>,
    /// The greatest similarity, at most 1.
    pub(super) nearest: f32,
}

impl KnownRequests {
    pub(super) fn read(list: &'static str) -> Self {
        let lines = list.lines().filter(|line| !line.starts_with('#'));
        let known: Vec<(BTreeMap<String, f32>, Vec<&str>)> = lines
            .filter_map(|line| line.split_once(" => "))
            .map(|(request, tools)| (features(request), tools.split(' ').collect()))
            .collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for feature in known.iter().flat_map(|(features, _)| features.keys()) {
            *counts.entry(feature).or_default() += 1;
        }
        let says = |count: usize| rarity(known.len(), count);
        let numbered = counts.iter().enumerate();
        let features: HashMap<String, (usize, f32)> =
            numbered.map(|(number, (feature, count))| ((*feature).to_owned(), (number, says(*count)))).collect();
        let mut holders = vec![Vec::new(); features.len()];
        let mut tools = Vec::with_capacity(known.len());
        for (request, (own, wanted)) in known.iter().enumerate() {
            let weighed = |(feature, weight): (&String, &f32)| {
                let (number, says) = features[feature];
                (number, weight * says)
            };
            let weights: Vec<(usize, f32)> = own.iter().map(weighed).collect();
            let length = length(weights.iter().map(|(_, weight)| *weight));
            weights.into_iter().for_each(|(number, weight)| holders[number].push((request, weight / length)));
            tools.push(wanted.clone());
        }
        Self { features, holders, tools }
    }

    /// Compares a wish with all requests, except the one that is left out.
    pub(super) fn similar(&self, wish: &str, left_out: Option<usize>) -> SimilarRequests {
        let wished = features(wish);
        let unknown = rarity(self.tools.len(), 0);
        let says = |feature: &str| self.features.get(feature).map_or(unknown, |(_, says)| *says);
        let length = length(wished.iter().map(|(feature, weight)| weight * says(feature)));
        let mut alike = vec![0.0_f32; self.tools.len()];
        for (feature, weight) in &wished {
            let Some((number, says)) = self.features.get(feature) else { continue };
            for (request, part) in &self.holders[*number] {
                alike[*request] += weight * says / length * part;
            }
        }
        let mut similar = SimilarRequests { tools: HashMap::new(), nearest: 0.0 };
        for (request, tools) in self.tools.iter().enumerate() {
            if alike[request] < SIMILAR || left_out == Some(request) {
                continue;
            }
            similar.nearest = similar.nearest.max(alike[request]);
            #[expect(clippy::cast_precision_loss, reason = "a request has a handful of tools")]
            let share = alike[request] / (tools.len() as f32).powf(SHARED);
            tools.iter().for_each(|tool| similar.tools.entry(tool).or_default().push(share));
        }
        similar.tools.values_mut().for_each(|found| found.sort_by(|one, other| other.total_cmp(one)));
        similar
    }
}

impl SimilarRequests {
    pub(super) fn score(&self, tool: &str) -> f32 {
        let found = self.tools.get(tool).map(Vec::as_slice).unwrap_or_default();
        found.iter().take(COUNTED).rev().fold(0.0, |sum, alike| alike + NEXT * sum)
    }
}

/// What a request has, and how much each counts: the words that its own mean, those themselves, and in languages without
/// spaces every two letters.
// In order, so that sums are the same each time.
fn features(request: &str) -> BTreeMap<String, f32> {
    let mut features: BTreeMap<String, f32> = BTreeMap::new();
    let mut put = |feature: String, weight: f32| {
        let known = features.entry(feature).or_default();
        *known = known.max(weight);
    };
    for term in terms(request) {
        let share = if term.own { NAMED } else { 1.0 };
        term.means.into_iter().for_each(|(word, weight)| put(word, share * weight));
    }
    for word in words(request) {
        let letters: Vec<char> = word.chars().collect();
        if letters.first().copied().is_some_and(vocabulary::is_unspaced) {
            letters.windows(2).for_each(|pair| put(format!("~{}{}", pair[0], pair[1]), SPELT));
        } else {
            put(format!("~{}", stem(&word)), SPELT);
        }
    }
    features
}

/// As in search: the fewer requests have a feature, the more it says.
#[expect(clippy::cast_precision_loss, reason = "there are a thousand requests")]
fn rarity(all: usize, having: usize) -> f32 {
    ((all + 1) as f32 / (having + 1) as f32).ln()
}

fn length(weights: impl Iterator<Item = f32>) -> f32 {
    // Never zero: a wish of nothing but known and useless words has no direction, and nothing is similar to it.
    weights.map(|weight| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON)
}
