//! Which scripts a model was made for, told by its vocabulary. Models of one language have some letters of others, and vectors of a
//! text in those mean nothing.

use crate::piece_table::PieceTable;

/// Scripts that are told apart. Japanese is written in two, so these are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Indic,
    Thai,
    Hangul,
    HanAndKana,
    Other,
}

impl Script {
    const COUNT: usize = Self::Other as usize + 1;

    /// `None` for what is not a letter.
    fn of(character: char) -> Option<Self> {
        character.is_alphabetic().then_some(match character {
            'A'..='Z' | 'a'..='z' | '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Self::Latin,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Self::Greek,
            '\u{400}'..='\u{52f}' => Self::Cyrillic,
            '\u{590}'..='\u{5ff}' => Self::Hebrew,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{fb50}'..='\u{feff}' => Self::Arabic,
            '\u{900}'..='\u{dff}' => Self::Indic,
            '\u{e00}'..='\u{eff}' => Self::Thai,
            '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => Self::Hangul,
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'.. => {
                Self::HanAndKana
            }
            _ => Self::Other,
        })
    }
}

/// From this many pieces on, or such a share of all, a script counts as known: the usual English vocabulary of 30,522 pieces
/// has 672 with Chinese and Japanese letters, a multilingual one thousands.
const MANY_PIECES: usize = 1_000;
const LARGE_SHARE: usize = 30;

/// The scripts of a vocabulary.
#[derive(Debug)]
pub(crate) struct KnownScripts([bool; Script::COUNT]);

impl KnownScripts {
    pub(crate) fn of(table: &PieceTable) -> Self {
        let mut counts = [0_usize; Script::COUNT];
        for row in 0..table.len() as u32 {
            // A piece of bytes that are not text has no script.
            let text = str::from_utf8(table.piece(row)).unwrap_or_default();
            // The first letter is enough, as hardly a piece mixes scripts.
            if let Some(script) = text.chars().find_map(Script::of) {
                counts[script as usize] += 1;
            }
        }
        Self(counts.map(|count| count >= MANY_PIECES || count * LARGE_SHARE >= table.len()))
    }

    /// Whether at least half of the letters of a text are of known scripts.
    pub(crate) fn cover(&self, text: &str) -> bool {
        let scripts = || text.chars().filter_map(Script::of);
        // Numbers and signs alone are covered: half of no letters is none.
        2 * scripts().filter(|script| self.0[*script as usize]).count() >= scripts().count()
    }
}

#[cfg(test)]
mod tests {
    use crate::TextModel;

    #[test]
    fn the_bundled_model_knows_latin_letters_alone() {
        let model = TextModel::bundled();
        for known in ["roof", "Straßenbahn", "déjà vu", "żółć", "", "42", "roof 屋"] {
            assert!(model.knows_script(known), "{known}");
        }
        for unknown in ["味噌汁", "屋根の修理", "红烧肉", "крыша", "στέγη", "سقف", "지붕", "छत", "屋根 x"]
        {
            assert!(!model.knows_script(unknown), "{unknown}");
        }
    }
}
