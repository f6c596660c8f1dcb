//! Requests whose tools are known: a request for nearly the same means the same tool.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::LazyLock,
};

use lapidary_meaning::{Embedding, TextModel};
use lapidary_query::words;

use super::{
    WishTerm, joined, stem, terms,
    tool_weights::{LearntRequest, ToolWeights},
    vocabulary,
};

/// Learnt from `phrasings.txt`. It never changes, so requests share it.
pub(super) static KNOWN: LazyLock<KnownRequests> =
    LazyLock::new(|| KnownRequests::read(include_str!("../phrasings.txt")));

/// The weight of a word as it is spelt, relative to the words that it means: `who is` and `where did I` say what kind of
/// request it is.
const SPELT: f32 = 0.4;
/// The weight of two words that a request means both: `rename` and `tag` say little, together they say it all.
const BOTH: f32 = 0.3;
/// The weight of a name: it is the user's own. Not less, because German writes every noun like one.
const NAMED: f32 = 0.5;
/// How many similar requests count for a tool, and how much of each relative to the one before.
const COUNTED: usize = 10;
const NEXT: f32 = 0.8;
/// How much less a request says about each of its tools if it has several. Hardly less, as each of them is right: otherwise
/// the tools that nothing else can stand in for would win everywhere.
const SHARED: f32 = 0.1;
/// How many words of a request are paired.
const PAIRED: usize = 24;
/// The weight of similar requests relative to what was learnt from all.
const SIMILARITY: f32 = 1.25;
/// Less in common is chance.
const SIMILAR: f32 = 0.1;
/// Below this cosine, two requests have nothing to do with each other.
const UNRELATED: f32 = 0.3;
/// What a request without any known word has to be like, to be like a known one in meaning.
const WITHOUT_WORDS: f32 = 0.5;
/// How many requests that are close in meaning count for a tool, and how much of each relative to the one before.
const CLOSEST: usize = 5;
const NEXT_CLOSEST: f32 = 0.6;

pub(super) struct KnownRequests {
    /// A number for each feature, and how much it says.
    features: HashMap<String, (usize, f32)>,
    /// For each feature, the requests that have it, and its part of their length.
    holders: Vec<Vec<(usize, f32)>>,
    /// The tools of each request.
    tools: Vec<Vec<&'static str>>,
    /// All of them.
    names: Vec<&'static str>,
    weights: ToolWeights,
    /// What each request means, if the model knows any of its words.
    meanings: Vec<Option<Embedding>>,
}

/// How similar the known requests of each tool are to a wish.
pub(super) struct SimilarRequests {
    tools: HashMap<&'static str, Vec<f32>>,
    /// What was learnt about the features of the wish.
    learnt: HashMap<&'static str, f32>,
    /// How close in meaning the known requests of each tool are.
    close: HashMap<&'static str, Vec<f32>>,
    /// The greatest similarity, at most 1.
    pub(super) nearest: f32,
}

impl KnownRequests {
    pub(super) fn read(list: &'static str) -> Self {
        Self::of(list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" => ")))
    }

    pub(super) fn of(requests: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        let requests: Vec<(&str, &str)> = requests.collect();
        let meanings = requests.iter().map(|(request, _)| meaning_of(request)).collect();
        let known: Vec<(BTreeMap<String, f32>, Vec<&str>)> =
            requests.into_iter().map(|(request, tools)| (features(request), tools.split(' ').collect())).collect();
        // In order, so that numbers are the same each time.
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
        let names: BTreeSet<&str> = known.iter().flat_map(|(_, tools)| tools).copied().collect();
        let names: Vec<&str> = names.into_iter().collect();
        let mut lessons = Vec::with_capacity(known.len());
        for (request, (own, wanted)) in known.iter().enumerate() {
            let weighed = |(feature, weight): (&String, &f32)| {
                let (number, says) = features[feature];
                (number, weight * says)
            };
            let weights: Vec<(usize, f32)> = own.iter().map(weighed).collect();
            // Divided by it, so that long requests are not similar to everything.
            let length = length(weights.iter().map(|(_, weight)| *weight));
            let weights: Vec<(usize, f32)> =
                weights.into_iter().map(|(number, weight)| (number, weight / length)).collect();
            weights.iter().for_each(|(number, part)| holders[*number].push((request, *part)));
            let right = wanted.iter().filter_map(|tool| names.binary_search(tool).ok()).collect();
            lessons.push(LearntRequest { features: weights, tools: right });
            tools.push(wanted.clone());
        }
        let weights = ToolWeights::learn(&lessons, features.len(), names.len());
        Self { features, holders, tools, names, weights, meanings }
    }

    /// Compares a wish with all requests.
    pub(super) fn similar(&self, wish: &str) -> SimilarRequests {
        let wished = features(wish);
        // A word that no request has still makes the wish longer, and so less similar.
        let unknown = rarity(self.tools.len(), 0);
        let says = |feature: &str| self.features.get(feature).map_or(unknown, |(_, says)| *says);
        let length = length(wished.iter().map(|(feature, weight)| weight * says(feature)));
        let mut alike = vec![0.0_f32; self.tools.len()];
        let mut known: Vec<(usize, f32)> = Vec::new();
        for (feature, weight) in &wished {
            let Some((number, says)) = self.features.get(feature) else { continue };
            known.push((*number, weight * says / length));
            for (request, part) in &self.holders[*number] {
                alike[*request] += weight * says / length * part;
            }
        }
        let mut learnt = Vec::new();
        self.weights.score(&known, self.names.len(), &mut learnt);
        let learnt = self.names.iter().copied().zip(learnt).collect();
        let mut similar = SimilarRequests { tools: HashMap::new(), learnt, close: HashMap::new(), nearest: 0.0 };
        let meant = meaning_of(wish);
        for (request, tools) in self.tools.iter().enumerate() {
            let Some((one, other)) = meant.as_ref().zip(self.meanings[request].as_ref()) else { continue };
            let close = (one.cosine(other) - UNRELATED) / (1.0 - UNRELATED);
            if close > 0.0 {
                #[expect(clippy::cast_precision_loss, reason = "a request has a handful of tools")]
                let share = close / (tools.len() as f32).powf(SHARED);
                tools.iter().for_each(|tool| similar.close.entry(tool).or_default().push(share));
            }
        }
        similar.close.values_mut().for_each(|found| found.sort_by(|one, other| other.total_cmp(one)));
        // The model finds a neighbour for every text, `zzz` too.
        let closest = similar.close.values().filter_map(|found| found.first()).copied().fold(0.0, f32::max);
        if known.is_empty() && closest < WITHOUT_WORDS {
            similar.close.clear();
        }
        for (request, tools) in self.tools.iter().enumerate() {
            if alike[request] < SIMILAR {
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
        // From the last on, so that each counts less than the one before it.
        let similar = found.iter().take(COUNTED).rev().fold(0.0, |sum, alike| alike + NEXT * sum);
        let close = self.close.get(tool).map(Vec::as_slice).unwrap_or_default();
        let close = close.iter().take(CLOSEST).rev().fold(0.0, |sum, alike| alike + NEXT_CLOSEST * sum);
        SIMILARITY * similar + close + self.learnt.get(tool).copied().unwrap_or_default()
    }
}

/// What a request has, and how much each counts: the words that its own mean and every two of them, those themselves, and in
/// languages without spaces every two letters.
// In order, so that sums are the same each time.
fn features(request: &str) -> BTreeMap<String, f32> {
    let mut features: BTreeMap<String, f32> = BTreeMap::new();
    let mut put = |feature: String, weight: f32| {
        let known = features.entry(feature).or_default();
        // A word that comes twice does not count twice.
        *known = known.max(weight);
    };
    let terms = terms(request);
    let mut before: Vec<&WishTerm> = Vec::new();
    // The first words of a long text have to do: there are as many pairs as words times words.
    for term in terms.iter().filter(|term| !term.own).take(PAIRED) {
        for (one, other) in before
            .iter()
            .flat_map(|one| one.means.keys())
            .flat_map(|one| term.means.keys().map(move |other| (one, other)))
        {
            if one != other {
                put(format!("{}&{}", one.min(other), one.max(other)), BOTH);
            }
        }
        before.push(term);
    }
    for term in terms {
        let share = if term.own { NAMED } else { 1.0 };
        term.means.into_iter().for_each(|(word, weight)| put(word, share * weight));
    }
    for word in words(&joined(request)) {
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
#[expect(clippy::cast_precision_loss, reason = "there are a few thousand requests")]
fn rarity(all: usize, having: usize) -> f32 {
    ((all + 1) as f32 / (having + 1) as f32).ln()
}

fn length(weights: impl Iterator<Item = f32>) -> f32 {
    // Never zero: a wish of nothing but known and useless words has no direction, and nothing is similar to it.
    weights.map(|weight| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON)
}

/// The words and those that they stand for, so that the model, which knows English, also understands other languages.
fn meaning_of(request: &str) -> Option<Embedding> {
    let mut text = request.to_owned();
    for word in words(request) {
        let (spaced, unspaced): (String, String) = word.chars().partition(|c| !vocabulary::is_unspaced(*c));
        let within = vocabulary::meanings_within(&unspaced).into_iter().flatten();
        for meant in within.chain(vocabulary::meanings(&spaced)) {
            text.push(' ');
            text.push_str(meant);
        }
    }
    TextModel::bundled().embed(&text)
}
