//! The texts: words of WordNet with their definitions.

/// Every definition with its words before it, in the order of the files.
pub(crate) fn definitions(dictionary: &[String]) -> Vec<String> {
    // The licence at the head of each file is indented.
    let lines = dictionary.iter().flat_map(|file| file.lines()).filter(|line| !line.starts_with(' '));
    lines.filter_map(definition).collect()
}

/// `offset file kind count word id word id … | definition; "example"`.
fn definition(line: &str) -> Option<String> {
    let (head, gloss) = line.split_once(" | ")?;
    let mut fields = head.split(' ').skip(3);
    let count = usize::from_str_radix(fields.next()?, 16).ok()?;
    let words = fields.step_by(2).take(count).map(|word| {
        // An adjective may say its position: `galore(ip)`.
        let word = word.split_once('(').map_or(word, |(word, _)| word);
        word.replace('_', " ")
    });
    let meaning = gloss.split("; \"").next().unwrap_or(gloss).trim();
    Some(format!("{}: {meaning}", words.collect::<Vec<_>>().join(", ")))
}

/// `count` of them, always the same ones, in their order.
pub(crate) fn drawn(mut texts: Vec<String>, count: usize) -> Vec<String> {
    let mut state = 20_261_116u64;
    let mut random = || {
        // splitmix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    for at in 0..count.min(texts.len()) {
        let other = at + (random() % (texts.len() - at) as u64) as usize;
        texts.swap(at, other);
    }
    texts.truncate(count);
    texts
}
