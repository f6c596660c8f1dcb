//! Other forms of a word, by the most common endings of English and German. They are looked up, so one that does not
//! exist is harmless.

/// A shorter word has no ending to remove.
const SHORTEST: usize = 3;
/// Short words commonly end in a single letter or a German ending.
const SHORTEST_STEM: usize = 4;

const ENGLISH: &[&str] = &["s", "es", "ed", "d", "ing"];
const GERMAN: &[&str] = &["e", "n", "en", "er", "ern", "em"];

/// Other forms of the same word, in order and without the word itself.
pub fn word_forms(word: &str) -> Vec<String> {
    // The endings are those of English and German; terms in other scripts have none of them.
    if word.len() < SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    // First every stem that the word may come from, then every form of each stem.
    let mut stems: Vec<String> = vec![word.to_owned()];
    let mut stem = |stem: &str, shortest: usize| {
        if stem.len() >= shortest {
            stems.push(stem.to_owned());
        }
    };
    for ending in ENGLISH {
        let Some(rest) = word.strip_suffix(ending) else { continue };
        stem(rest, SHORTEST);
        // `baking` comes from `bake`, `running` from `run`.
        if matches!(*ending, "ed" | "ing") {
            stem(&format!("{rest}e"), SHORTEST_STEM);
            if let Some(single) = undoubled(rest) {
                stem(single, SHORTEST);
            }
        }
    }
    // `studies` comes from `study`.
    if let Some(rest) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")) {
        stem(&format!("{rest}y"), SHORTEST);
    }
    GERMAN.iter().filter_map(|ending| word.strip_suffix(ending)).for_each(|rest| stem(rest, SHORTEST_STEM));
    let mut forms: Vec<String> = Vec::new();
    for stem in &stems {
        forms.push(stem.clone());
        forms.extend(ENGLISH.iter().map(|ending| format!("{stem}{ending}")));
        if let Some(rest) = stem.strip_suffix('y') {
            forms.extend([format!("{rest}ies"), format!("{rest}ied")]);
        }
        if let Some(rest) = stem.strip_suffix('e') {
            forms.push(format!("{rest}ing"));
        }
        // `stop` becomes `stopped`; vowels, `w`, `x` and `y` are not doubled.
        if let Some(last) = stem.chars().last().filter(|last| !"aeiouwxy".contains(*last)) {
            forms.extend([format!("{stem}{last}ed"), format!("{stem}{last}ing")]);
        }
        if stem.len() >= SHORTEST_STEM {
            forms.extend(GERMAN.iter().map(|ending| format!("{stem}{ending}")));
        }
    }
    // The word itself is searched anyway.
    forms.retain(|form| form != word);
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// `runn` as `run`.
fn undoubled(stem: &str) -> Option<&str> {
    let mut letters = stem.bytes().rev();
    let (last, before) = (letters.next()?, letters.next()?);
    (last == before).then(|| &stem[..stem.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_lead_both_ways() {
        for (one, other) in [
            ("stone", "stones"),
            ("city", "cities"),
            ("box", "boxes"),
            ("run", "running"),
            ("stop", "stopped"),
            ("make", "making"),
            ("plan", "planned"),
            ("garten", "gartens"),
            ("stein", "steine"),
            ("steine", "steinen"),
            ("bild", "bilder"),
        ] {
            assert!(word_forms(one).iter().any(|form| form == other), "{one} {other}");
            assert!(word_forms(other).iter().any(|form| form == one), "{other} {one}");
        }
        for (one, other) in [("car", "care"), ("the", "then"), ("new", "newer"), ("石庭", "石庭s")] {
            assert!(!word_forms(one).iter().any(|form| form == other), "{one} {other}");
        }
    }
}
