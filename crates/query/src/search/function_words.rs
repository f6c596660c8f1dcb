//! Words that say nothing about the subject of a note. They are ignored where any word counts, or every note would
//! match.

use std::{collections::HashSet, sync::LazyLock};

/// Folded. A function word in one language that is a noun in another (`war`, `hat`, `due`, `pour`) is not included.
const LATIN: &str = "
    a about am an and any are as at be been being but by can could did do does doing for from had has have having he her here
    hers him his how i if in into is it its me my nor not of on onto or our ours shall she should so some than that the their theirs
    them then there these they this those to too upon was we were what whats when where whether which while who whom whose
    why will with would you your yours s t don doesn didn isn wasn
    aber als am auch auf aus bei beim bis das dass dem den denn der des dessen die dies diese diesem diesen dieser dieses doch
    dort durch ein eine einem einen einer eines er es etwas fur gegen gibt habe haben hatte ich ihm ihn ihr ihre ihrem ihren ihrer
    im ins ist kann kein keine konnen man mein meine meinem meinen meiner mich mir mit muss nach nicht noch nur ob oder ohne
    sehr sein seine seinem seinen seiner sich sie sind soll sollte uber um und uns unser unsere unter vom von vor wann warum
    wegen weil welche welchem welchen welcher welches wenn wer werden wie wieder wieso wir wird wo wurde zu zum zur zwischen
    au aux avec ce cela ces cet cette chez comment d dans de du elle elles en est et etait etre eux faut il ils j je l la le les leur
    leurs lui ma mais mes moi mon n ne nos notre nous ont ou par pas peut pourquoi qu quand que quel quelle quelles quels
    qui quoi sa sans ses si sont sur ta te tes toi ton tu un une vos votre vous
    al algun alguna como con cual cuales cuando de del donde e el ella ellos entre era es esa ese eso esta estan este esto
    hay las lo los mas mi mis muy ni nos o para pero porque puede que quien se ser su sus tambien tiene un una unas uno unos y ya
    ai agli alla alle anche che chi ci cosa da dal dalla degli dei del della delle di dove e gli ha ho ed il io lei loro lui
    nel nella noi non ogni perche per piu quale quali quando quello questa questo sono sua sul sulla suo tra un una voi
    ao aos as com da das do dos em essa esse esta este eu isso isto mais meu minha na nao nas nem no nos o os ou para pela pelo por
    porque qual quando quem seu sua sao tem uma umas voce
    aan dat de deze dit een en er het hij hoe ik je kan maar met mijn naar niet nog ook of om onder op over te toch toen uit van veel
    voor waar waarom wat we wel welke wie wij worden zich zij zijn zo
";

/// Pairs of characters in Japanese and Chinese, as texts are split.
const DENSE: &str = "
    です でし ます まし ませ した して しま する すれ され させ せる れる られ ない なか なく なら なる なっ なり いる いた いて いま ある あり
    あっ こと もの ため から まで など って てい てる とい いう った どう どの どこ どん この その あの これ それ あれ ここ そこ なに なん
    ので のに けど でも には では とは へは への より ので くだ ださ さい たい たら よう うに うな とき とか にし にな をし はど
    んで んな して にお いて につ つい いて ほう 何か 何を 教え
    什么 怎么 怎样 如何 为什 哪些 哪个 哪里 一个 一些 我们 你们 他们 这个 那个 这些 那些 可以 是否 没有 有没 以及 或者 因为 所以 但是
    关于 的是 是什 么样 了什 請問 请问 甚麼 什麼 怎麼 為什 這個 那個 沒有 關於 我的 你的 他的 是的 的时 时候
";

static FUNCTION_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| LATIN.split_whitespace().chain(DENSE.split_whitespace()).collect());

/// Whether a term, as texts are split, is one of them.
pub(super) fn is_function_word(term: &str) -> bool {
    FUNCTION_WORDS.contains(term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_words;

    #[test]
    fn every_function_word_is_written_as_texts_are_cut() {
        for word in LATIN.split_whitespace() {
            let cut = search_words(word);
            assert_eq!(cut.len(), 1, "{word}");
            assert_eq!(cut[0].term, word);
        }
        for thing in ["war", "hat", "due", "pour", "may", "roof", "plan", "石庭", "庭園"] {
            assert!(!is_function_word(thing), "{thing}");
        }
    }
}
