//! A vault of any size, the same for the same seed.

use std::{fs, io, path::Path};

/// Small, fast and good enough to scatter words.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or_default()
    }
}

const WORDS: [&str; 24] = [
    "stone", "garden", "slate", "roof", "winter", "lime", "mortar", "river", "facet", "angle", "garnet", "letter",
    "archive", "map", "window", "timber", "oak", "moss", "light", "evening", "market", "bread", "walk", "hill",
];

/// Writes notes of about a kilobyte with properties, headings, links, tags and tasks, 250 to a folder.
pub(crate) fn vault(root: &Path, notes: usize, seed: u64) -> io::Result<()> {
    let mut random = Random::new(seed);
    for number in 0..notes {
        let folder = root.join(format!("Area {:03}", number / 250));
        if number % 250 == 0 {
            fs::create_dir_all(&folder)?;
        }
        fs::write(folder.join(format!("Note {number}.md")), note(&mut random, number, notes))?;
    }
    Ok(())
}

fn note(random: &mut Random, number: usize, notes: usize) -> String {
    let sentence = |random: &mut Random| {
        let words: Vec<&str> = (0..12).map(|_| WORDS[random.below(WORDS.len())]).collect();
        format!("{}.", words.join(" "))
    };
    let mut text = format!(
        "---\ntitle: Note {number}\nrating: {}\ntags: [{}]\n---\n# Note {number}\n",
        random.below(5),
        WORDS[random.below(24)]
    );
    for section in 0..3 {
        text += &format!("\n## Section {section}\n\n{} #{}\n", sentence(random), WORDS[random.below(24)]);
        text += &format!("{} [[Note {}]]\n\n- [ ] {}\n", sentence(random), random.below(notes), sentence(random));
    }
    text
}
