//! A vault about known subjects, so that it is known which notes are wanted for a query: for each subject one note
//! about it, two that have a section on it, and some that only mention it, among many about nothing in particular.

use std::{collections::BTreeMap, fs, io, path::Path};

use super::{generate::Random, judged::Judged};

/// The name of a subject, another form of it, a typo, and what is said about it.
struct Subject {
    name: &'static str,
    form: &'static str,
    typo: &'static str,
    about: [&'static str; 4],
}

const fn subject(name: &'static str, form: &'static str, typo: &'static str, about: [&'static str; 4]) -> Subject {
    Subject { name, form, typo, about }
}

const SUBJECTS: [Subject; 24] = [
    subject("Chisel", "chisels", "chisle", ["edge", "mallet", "bevel", "whetstone"]),
    subject("Gutter", "gutters", "guttre", ["rain", "downpipe", "leaf", "bracket"]),
    subject("Beehive", "beehives", "behive", ["queen", "frame", "smoke", "honey"]),
    subject("Compass", "compasses", "comapss", ["north", "needle", "bearing", "map"]),
    subject("Sourdough", "sourdoughs", "sourdoguh", ["starter", "flour", "oven", "crumb"]),
    subject("Lighthouse", "lighthouses", "lighthuose", ["lamp", "lens", "keeper", "fog"]),
    subject("Orchard", "orchards", "orchrad", ["apple", "graft", "pruning", "blossom"]),
    subject("Telescope", "telescopes", "telesocpe", ["mirror", "eyepiece", "mount", "planet"]),
    subject("Weaving", "weave", "weavign", ["loom", "warp", "shuttle", "linen"]),
    subject("Kettle", "kettles", "ketle", ["boil", "spout", "copper", "whistle"]),
    subject("Marsh", "marshes", "mrash", ["reed", "heron", "ditch", "tide"]),
    subject("Violin", "violins", "voilin", ["bow", "string", "varnish", "bridge"]),
    subject("Harbour", "harbours", "harbuor", ["quay", "crane", "pilot", "anchor"]),
    subject("Candle", "candles", "cnadle", ["wick", "wax", "mould", "flame"]),
    subject("Pottery", "potteries", "potteyr", ["clay", "wheel", "glaze", "kiln"]),
    subject("Beacon", "beacons", "becaon", ["hill", "signal", "fire", "watch"]),
    subject("Brücke", "brücken", "brükce", ["Pfeiler", "Bogen", "Geländer", "Fluss"]),
    subject("Mühle", "mühlen", "mühel", ["Korn", "Mahlgang", "Bach", "Müller"]),
    subject("Gärtner", "gärtnern", "gaertner", ["Beet", "Hecke", "Gießkanne", "Spaten"]),
    subject("Straße", "strassen", "straßse", ["Pflaster", "Laterne", "Kreuzung", "Bordstein"]),
    subject("Crème brûlée", "creme brulee", "crme brûlée", ["vanille", "sucre", "four", "ramequin"]),
    subject("全文検索", "全文検索", "全文検索", ["索引", "単語", "順位", "速度"]),
    subject("陶芸", "陶芸", "陶芸", ["粘土", "窯", "釉薬", "轆轤"]),
    subject("한국어", "한국어", "한국어", ["문법", "단어", "발음", "사전"]),
];

/// Words that say nothing, and some that contain the name of a subject by chance.
const FILLING: [&str; 30] = [
    "morning",
    "table",
    "letter",
    "walked",
    "again",
    "before",
    "evening",
    "quiet",
    "list",
    "paper",
    "window",
    "later",
    "market",
    "small",
    "yellow",
    "encompassing",
    "marshalled",
    "guttering",
    "candlelight",
    "beaconing",
    "road",
    "meeting",
    "notes",
    "money",
    "weather",
    "call",
    "plan",
    "garden",
    "winter",
    "friend",
];

const FILLERS: usize = 800;
const MENTIONS: usize = 5;

fn sentence(random: &mut Random, among: &[&str], count: usize) -> String {
    let words: Vec<&str> = (0..count).map(|_| among[random.below(among.len())]).collect();
    format!("{}.", words.join(" "))
}

/// Writes it, and returns what is wanted for which query.
pub(crate) fn vault(root: &Path) -> io::Result<Vec<Judged>> {
    let mut random = Random::new(7);
    let mut set = Vec::new();
    let write = |path: String, text: String| -> io::Result<String> {
        fs::create_dir_all(root.join(&path).parent().unwrap_or(root))?;
        fs::write(root.join(&path), text)?;
        Ok(path)
    };
    for (number, subject) in SUBJECTS.iter().enumerate() {
        let Subject { name, form, typo, about } = subject;
        let filled = |random: &mut Random| sentence(random, &FILLING, 14);
        let mut text = format!("---\ntags: [subject]\n---\n# {name}\n\n{}\n", filled(&mut random));
        for part in about {
            text += &format!("\n## {part}\n\nThe {part} of the {name}. {} {name}.\n", filled(&mut random));
        }
        let main = write(format!("Subjects/{name}.md"), text)?;
        let mut wants = BTreeMap::from([(main.clone(), 3)]);
        let mut detailed = Vec::new();
        for part in &about[..2] {
            let text = format!(
                "# Log {number}\n\n{}\n\n## {name} and {part}\n\nMore on {part}: {} The {name} needs its {part}.\n",
                filled(&mut random),
                filled(&mut random)
            );
            let path = write(format!("Log/{number} {part} day.md"), text)?;
            wants.insert(path.clone(), 2);
            detailed.push(path);
        }
        for mention in 0..MENTIONS {
            let text = format!(
                "# Day {number}-{mention}\n\n{}\n{} a {name} {}\n{}\n",
                filled(&mut random),
                filled(&mut random),
                filled(&mut random),
                filled(&mut random)
            );
            wants.insert(write(format!("Daily/{number}-{mention}.md"), text)?, 1);
        }
        for query in [*name, *form, *typo] {
            set.push(Judged { query: query.to_owned(), wants: wants.clone() });
        }
        let part = BTreeMap::from([(detailed[0].clone(), 3), (main.clone(), 3)]);
        set.push(Judged { query: format!("{name} {}", about[0]), wants: part.clone() });
        set.push(Judged { query: format!("what is the {} for the {name}", about[0]), wants: part });
    }
    for number in 0..FILLERS {
        let text: String = (0..8).map(|_| sentence(&mut random, &FILLING, 12) + "\n").collect();
        write(format!("Filling/{:02}/{number}.md", number / 50), format!("# Note {number}\n\n{text}"))?;
    }
    set.dedup_by(|a, b| a.query == b.query);
    Ok(set)
}
