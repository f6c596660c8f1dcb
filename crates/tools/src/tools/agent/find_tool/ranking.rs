//! Which tools fit a request in the user's own words.

mod vocabulary;

use std::collections::{BTreeMap, BTreeSet};

use lapidary_operation::{CatalogueEntry, Effect};
use lapidary_query::words;

/// The weight of a word by where it occurs.
const IN_NAME: f32 = 5.0;
const IN_TITLE: f32 = 4.0;
const IN_WORDS: f32 = 4.0;
const IN_DESCRIPTION: f32 = 1.5;
const IN_ARGUMENTS: f32 = 0.8;
/// For two words that are adjacent in both.
const SIDE_BY_SIDE: f32 = 3.0;
/// The weight of an implied word relative to one in the request.
const MEANT: f32 = 0.8;
/// More than all words together.
const EXACT: f32 = 1000.0;

/// Words that occur in every request and say nothing; none that is typical of a tool (`get back`).
const EMPTY: &str = "\
    a an the of in on to for and or is are be was were it its this that these those my me i you your do does \
    did can could how please with by at as some one want would like need let us we from into just so far \
    about what which where when why who tool something someone anything thing things other up off out over \
    give them they then than if but not no now will should have has had our mine also only really \
    very too yet still after while during been being am got \
    der die das den dem des ein eine einen einer eines und oder im am auf aus mit von zu zum zur für ich mir \
    mich mein meine meinen meiner wie bitte machen es war waren hier dort wurde wurden etwas ans ins was hat sich ist sind welche welcher welches diese \
    dieser dieses dieses allen anderen anderer andere noch nicht mal alles kann konnte mochte will nach bei vom als \
    le la les un une du de et ou dans sur pour avec je mon ma \
    mes comment ce cette ces cet qui que quoi quel quelle quelles quels est sont au aux des d l s j qu n a se sa son ses \
    veux peux tout toute autre autres el los las una unos unas y en con por para mi mis como este esta esto estos \
    que cual cuales al del lo se ha han hay es son mas un quiero puedo otro otra otros otras aqui";

/// A set of tools, indexed for requests.
pub(super) struct ToolRanking<'a> {
    tools: Vec<(&'a CatalogueEntry, ToolFields)>,
    /// In how many tools a word occurs: the fewer, the more it says.
    common: BTreeMap<String, usize>,
}

struct ToolFields {
    name: BTreeSet<String>,
    title: BTreeSet<String>,
    words: BTreeSet<String>,
    description: BTreeSet<String>,
    arguments: BTreeSet<String>,
    /// Words that are adjacent in requests.
    pairs: BTreeSet<(String, String)>,
}

impl<'a> ToolRanking<'a> {
    pub(super) fn of(entries: impl Iterator<Item = &'a CatalogueEntry>) -> Self {
        let tools: Vec<(&CatalogueEntry, ToolFields)> = entries.map(|entry| (entry, fields(entry))).collect();
        let mut common: BTreeMap<String, usize> = BTreeMap::new();
        for (_, fields) in &tools {
            let ToolFields { name, title, words, description, arguments, .. } = fields;
            let all: BTreeSet<&String> = [name, title, words, description, arguments].into_iter().flatten().collect();
            all.into_iter().for_each(|word| *common.entry(word.clone()).or_default() += 1);
        }
        Self { tools, common }
    }

    /// The tools that fit, best first; ties go to the one that changes nothing, then to list order.
    pub(super) fn best(&self, wish: &str) -> Vec<&'a CatalogueEntry> {
        let mut wanted: BTreeMap<String, f32> = wanted(wish).into_iter().map(|word| (word, 1.0)).collect();
        for (meant, share) in vocabulary::meanings(wish) {
            let counts = wanted.entry(stem(meant)).or_default();
            *counts = counts.max(MEANT * share);
        }
        // A word that tools use themselves is first of all that word.
        let foreign: Vec<String> = words(wish).into_iter().filter(|w| !self.common.contains_key(&stem(w))).collect();
        let meant: Vec<String> =
            vocabulary::meanings(&foreign.join(" ")).into_iter().map(|(meant, _)| stem(meant)).collect();
        let pairs = pairs(wish);
        // Other languages order words differently.
        let said_or_meant = |word: &String| wanted.contains_key(word);
        let meant_together = |(one, other): &&(String, String)| {
            (meant.contains(one) && said_or_meant(other)) || (meant.contains(other) && said_or_meant(one))
        };
        let spelt: Vec<String> = words(wish);
        let mut ranked: Vec<(f32, &CatalogueEntry)> = Vec::new();
        for (entry, fields) in &self.tools {
            let mut score: f32 =
                wanted.iter().map(|(word, counts)| counts * self.tells(word) * fields.weight(word)).sum();
            let together = |pair: &(String, String)| SIDE_BY_SIDE * (self.tells(&pair.0) + self.tells(&pair.1));
            score += pairs.intersection(&fields.pairs).map(together).sum::<f32>();
            let unsaid = fields.pairs.difference(&pairs).filter(meant_together);
            score += MEANT * unsaid.map(together).sum::<f32>();
            if spelt == words(entry.spec.name()) {
                score += EXACT;
            }
            if score > 0.0 {
                let harmless = if entry.spec.effect == Effect::Read { 0.01 } else { 0.0 };
                ranked.push((score + harmless, entry));
            }
        }
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        ranked.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Whether the tools know more than half of the words of a request: no tool knows what a PDF is, so the best match
    /// for the rest of `read a pdf` would be misleading. Names and topics are the user's own and not counted.
    pub(super) fn understands(&self, wish: &str) -> bool {
        let unquoted: Vec<&str> = wish.split(['"', '`', '“', '”', '„']).step_by(2).collect();
        let unquoted = unquoted.join(" ");
        let said = unquoted.split_once(" about ").map_or(unquoted.as_str(), |(said, _)| said);
        let (mut known, mut unknown) = (0_usize, 0_usize);
        for (at, spelt) in said.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).enumerate() {
            let mut letters = spelt.chars();
            let named = at > 0
                && letters.next().is_some_and(char::is_uppercase)
                && letters.next().is_some_and(char::is_lowercase);
            for word in telling(spelt) {
                if self.common.contains_key(&word) || !vocabulary::meanings(spelt).is_empty() {
                    known += 1;
                } else if !named && !word.chars().all(char::is_numeric) {
                    unknown += 1;
                }
            }
        }
        // Only empty words: the ranking decides.
        unknown == 0 || known > unknown
    }

    fn tells(&self, word: &str) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "there are a few dozen tools")]
        let share = |count: usize| (self.tools.len() + 1) as f32 / (count + 1) as f32;
        share(self.common.get(word).copied().unwrap_or_default()).ln() + 0.1
    }
}

impl ToolFields {
    fn weight(&self, word: &str) -> f32 {
        // A title mostly repeats the name and adds nothing.
        let title = if self.name.contains(word) { 0.0 } else { IN_TITLE };
        let fields = [
            (&self.name, IN_NAME),
            (&self.title, title),
            (&self.words, IN_WORDS),
            (&self.description, IN_DESCRIPTION),
            (&self.arguments, IN_ARGUMENTS),
        ];
        fields.iter().filter(|(field, _)| field.contains(word)).map(|(_, weight)| weight).sum()
    }
}

fn fields(entry: &CatalogueEntry) -> ToolFields {
    let spec = &entry.spec;
    let arguments = spec.input().get("properties").and_then(serde_json::Value::as_object);
    let arguments: Vec<&str> = arguments.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    ToolFields {
        name: stems(spec.name()),
        title: stems(spec.declaration.title),
        words: stems(spec.declaration.words),
        description: stems(spec.description()),
        arguments: stems(&arguments.join(" ")),
        pairs: spec.declaration.words.split(',').chain([spec.declaration.title]).flat_map(pairs).collect(),
    }
}

/// Words without their endings.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// The words that say something; if there are none, all of them.
pub(super) fn wanted(wish: &str) -> BTreeSet<String> {
    let telling: BTreeSet<String> = telling(wish).collect();
    if telling.is_empty() { stems(wish) } else { telling }
}

fn telling(text: &str) -> impl Iterator<Item = String> {
    words(text)
        .into_iter()
        .filter(|word| !EMPTY.split(' ').any(|empty| empty == vocabulary::plain(word)))
        .map(|word| stem(&word))
}

/// Adjacent pairs.
fn pairs(text: &str) -> BTreeSet<(String, String)> {
    let telling: Vec<String> = telling(text).collect();
    telling.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn stem(word: &str) -> String {
    let long = |rest: &&str| rest.chars().count() >= 3;
    let cut = |ending: &str| word.strip_suffix(ending).filter(long);
    if let Some(rest) = cut("ies") {
        return format!("{rest}y");
    }
    let rest = cut("ly")
        .or_else(|| cut("ing"))
        .or_else(|| cut("ed"))
        .or_else(|| cut("es"))
        .or_else(|| cut("s"))
        .unwrap_or(word);
    // `replacing`, `replaced` and `replace` are one word.
    rest.strip_suffix('e').filter(long).unwrap_or(rest).to_owned()
}

#[cfg(test)]
mod tests {
    use lapidary_operation::{Catalogue, ProfileRules, ToolSelection};

    use super::*;
    use crate::TOOL_SET;

    /// For the phrasings in a list: how many there are, and those whose tool is not in the top three.
    fn missed(list: &str) -> (usize, Vec<String>) {
        let catalogue = Catalogue::new(TOOL_SET, &ToolSelection::default(), &ProfileRules::curator(), &[]).unwrap();
        let ranking =
            ToolRanking::of(catalogue.on().filter(|entry| !["find_tool", "call_tool"].contains(&entry.spec.name())));
        let (mut asked, mut missed) = (0, Vec::new());
        for line in list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (phrase, right) = line.split_once(" => ").unwrap();
            let right: Vec<&str> = right.split(' ').collect();
            for tool in &right {
                assert!(catalogue.find(tool).is_ok(), "{line}");
            }
            asked += 1;
            let found: Vec<&str> = ranking.best(phrase).iter().take(3).map(|entry| entry.spec.name()).collect();
            if !found.iter().any(|name| right.contains(name)) || !ranking.understands(phrase) {
                missed.push(format!("{phrase}: {found:?}, understood: {}", ranking.understands(phrase)));
            }
        }
        (asked, missed)
    }

    #[test]
    fn everyday_requests_find_their_tool_among_the_first_three() {
        let (asked, missed) = missed(include_str!("phrasings.txt"));
        assert!(asked >= 60, "{asked}");
        assert!(missed.len() * 20 <= asked, "{} of {asked} missed:\n{}", missed.len(), missed.join("\n"));
    }

    #[test]
    fn requests_written_before_the_vocabulary_find_their_tool_too() {
        let (asked, missed) = missed(include_str!("held_out.txt"));
        assert!(asked >= 60, "{asked}");
        assert!(missed.len() * 20 <= asked, "{} of {asked} missed:\n{}", missed.len(), missed.join("\n"));
    }

    #[test]
    fn of_wishes_that_nothing_was_tuned_on_seven_of_eight_find_their_tool() {
        let (asked, missed) = missed(include_str!("unseen.txt"));
        assert!(asked >= 60, "{asked}");
        assert!(missed.len() * 8 <= asked, "{} of {asked} missed:\n{}", missed.len(), missed.join("\n"));
    }

    #[test]
    fn requests_no_tool_covers_are_not_understood_and_names_do_not_matter() {
        let catalogue = Catalogue::new(TOOL_SET, &ToolSelection::default(), &ProfileRules::curator(), &[]).unwrap();
        let ranking = ToolRanking::of(catalogue.on());
        for wish in
            ["read a pdf", "PDF lesen", "overdue tasks", "überfällige Aufgaben", "send an email", "translate a note"]
        {
            assert!(!ranking.understands(wish), "{wish}");
        }
        for wish in ["rename Foo to Bar", "rename \"old plan\" to \"new zebra\"", "find my note about zebra taxes"] {
            assert!(ranking.understands(wish), "{wish}");
        }
    }

    #[test]
    fn endings_do_not_count() {
        for (one, other) in [("replacing", "replace"), ("properties", "property"), ("moved", "move"), ("links", "link")]
        {
            assert_eq!(stem(one), stem(other));
        }
    }

    #[test]
    fn an_exact_name_comes_first_in_any_spelling() {
        let catalogue = Catalogue::new(TOOL_SET, &ToolSelection::default(), &ProfileRules::curator(), &[]).unwrap();
        let ranking = ToolRanking::of(catalogue.on());
        for name in ["file.read", "FILE_READ", "file read"] {
            assert_eq!(ranking.best(name)[0].spec.name(), "file_read");
        }
    }
}
