//! Which characters names may have, and the names that Dataview makes of others.

pub(super) use lapidary_query::is_letter;

/// What JavaScript's `\s` matches.
pub(super) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// How many bytes an emoji at the beginning of a text has; 0 if there is none.
pub(super) fn emoji_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let Some((_, first)) = characters.next() else { return 0 };
    // By themselves they are not emoji.
    if matches!(first, '#' | '*' | '0'..='9') {
        return keycap_length(text);
    }
    if is_regional(first) {
        let second = characters.next().filter(|(_, c)| is_regional(*c));
        return second.map_or(0, |(at, c)| at + c.len_utf8());
    }
    if !is_emoji(first) {
        return 0;
    }
    let mut end = first.len_utf8();
    while let Some((at, c)) = characters.next() {
        // A joiner makes one emoji of two only if another one follows.
        let joined = c == '\u{200d}' && characters.peek().is_some_and(|(_, next)| is_emoji(*next));
        if !joined && !matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}') {
            break;
        }
        end = at + c.len_utf8();
        if joined && let Some((at, next)) = characters.next() {
            end = at + next.len_utf8();
        }
    }
    end
}

/// `1️⃣`
fn keycap_length(text: &str) -> usize {
    let behind = text.get(1..).unwrap_or_default();
    let sign = behind.strip_prefix('\u{fe0f}').unwrap_or(behind);
    if sign.starts_with('\u{20e3}') { text.len() - sign.len() + '\u{20e3}'.len_utf8() } else { 0 }
}

fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Those that are emoji by themselves, in Unicode 15.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{2199}' | '\u{21a9}'..='\u{21aa}' | '\u{231a}'..='\u{231b}' | '\u{2328}' | '\u{23cf}' | '\u{23e9}'..='\u{23f3}' | '\u{23f8}'..='\u{23fa}' | '\u{24c2}' | '\u{25aa}'..='\u{25ab}' | '\u{25b6}' | '\u{25c0}' | '\u{25fb}'..='\u{25fe}' | '\u{2600}'..='\u{2604}' | '\u{260e}' | '\u{2611}' | '\u{2614}'..='\u{2615}' | '\u{2618}' | '\u{261d}' | '\u{2620}' | '\u{2622}'..='\u{2623}' | '\u{2626}' | '\u{262a}' | '\u{262e}'..='\u{262f}' | '\u{2638}'..='\u{263a}' | '\u{2640}' | '\u{2642}' | '\u{2648}'..='\u{2653}' | '\u{265f}'..='\u{2660}' | '\u{2663}' | '\u{2665}'..='\u{2666}' | '\u{2668}' | '\u{267b}' | '\u{267e}'..='\u{267f}' | '\u{2692}'..='\u{2697}' | '\u{2699}' | '\u{269b}'..='\u{269c}' | '\u{26a0}'..='\u{26a1}' | '\u{26a7}' | '\u{26aa}'..='\u{26ab}' | '\u{26b0}'..='\u{26b1}' | '\u{26bd}'..='\u{26be}' | '\u{26c4}'..='\u{26c5}' | '\u{26c8}' | '\u{26ce}'..='\u{26cf}' | '\u{26d1}' | '\u{26d3}'..='\u{26d4}' | '\u{26e9}'..='\u{26ea}' | '\u{26f0}'..='\u{26f5}' | '\u{26f7}'..='\u{26fa}' | '\u{26fd}' | '\u{2702}' | '\u{2705}' | '\u{2708}'..='\u{270d}' | '\u{270f}' | '\u{2712}' | '\u{2714}' | '\u{2716}' | '\u{271d}' | '\u{2721}' | '\u{2728}' | '\u{2733}'..='\u{2734}' | '\u{2744}' | '\u{2747}' | '\u{274c}' | '\u{274e}' | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2763}'..='\u{2764}' | '\u{2795}'..='\u{2797}' | '\u{27a1}' | '\u{27b0}' | '\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}'..='\u{2b1c}' | '\u{2b50}' | '\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f004}' | '\u{1f0cf}' | '\u{1f170}'..='\u{1f171}' | '\u{1f17e}'..='\u{1f17f}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}' | '\u{1f201}'..='\u{1f202}' | '\u{1f21a}' | '\u{1f22f}' | '\u{1f232}'..='\u{1f23a}' | '\u{1f250}'..='\u{1f251}' | '\u{1f300}'..='\u{1f321}' | '\u{1f324}'..='\u{1f393}' | '\u{1f396}'..='\u{1f397}' | '\u{1f399}'..='\u{1f39b}' | '\u{1f39e}'..='\u{1f3f0}' | '\u{1f3f3}'..='\u{1f3f5}' | '\u{1f3f7}'..='\u{1f4fd}' | '\u{1f4ff}'..='\u{1f53d}' | '\u{1f549}'..='\u{1f54e}' | '\u{1f550}'..='\u{1f567}' | '\u{1f56f}'..='\u{1f570}' | '\u{1f573}'..='\u{1f57a}' | '\u{1f587}' | '\u{1f58a}'..='\u{1f58d}' | '\u{1f590}' | '\u{1f595}'..='\u{1f596}' | '\u{1f5a4}'..='\u{1f5a5}' | '\u{1f5a8}' | '\u{1f5b1}'..='\u{1f5b2}' | '\u{1f5bc}' | '\u{1f5c2}'..='\u{1f5c4}' | '\u{1f5d1}'..='\u{1f5d3}' | '\u{1f5dc}'..='\u{1f5de}' | '\u{1f5e1}' | '\u{1f5e3}' | '\u{1f5e8}' | '\u{1f5ef}' | '\u{1f5f3}' | '\u{1f5fa}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6c5}' | '\u{1f6cb}'..='\u{1f6d2}' | '\u{1f6d5}'..='\u{1f6d7}' | '\u{1f6dc}'..='\u{1f6e5}' | '\u{1f6e9}' | '\u{1f6eb}'..='\u{1f6ec}' | '\u{1f6f0}' | '\u{1f6f3}'..='\u{1f6fc}' | '\u{1f7e0}'..='\u{1f7eb}' | '\u{1f7f0}' | '\u{1f90c}'..='\u{1f93a}' | '\u{1f93c}'..='\u{1f945}' | '\u{1f947}'..='\u{1f9ff}' | '\u{1fa70}'..='\u{1fa7c}' | '\u{1fa80}'..='\u{1fa88}' | '\u{1fa90}'..='\u{1fabd}' | '\u{1fabf}'..='\u{1fac5}' | '\u{1face}'..='\u{1fadb}' | '\u{1fae0}'..='\u{1fae8}' | '\u{1faf0}'..='\u{1faf8}')
}

/// The name under which a field answers beside its own: `Basic Field` → `basic-field`.
pub(super) fn canonical_name(name: &str) -> String {
    canonical(name, |run| run.to_lowercase(), "-", "")
}

/// Whether a name has this canonical name.
pub(super) fn has_canonical_name(name: &str, wanted: &str) -> bool {
    // The loop below compares without making a text, which most names allow.
    if !name.is_ascii() {
        return canonical_name(name) == wanted;
    }
    let mut rest = wanted.as_bytes();
    let mut after_space = false;
    for byte in name.bytes() {
        let written = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' => byte.to_ascii_lowercase(),
            // A run of spaces becomes one hyphen.
            b' ' | b'\t'..=b'\r' if after_space => continue,
            b' ' | b'\t'..=b'\r' => b'-',
            _ => {
                after_space = false;
                continue;
            }
        };
        after_space = matches!(byte, b' ' | b'\t'..=b'\r');
        match rest.split_first() {
            Some((first, behind)) if *first == written => rest = behind,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Whether a name is its own canonical name, as far as can be seen at once.
pub(super) fn is_canonical(name: &str) -> bool {
    name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// A heading as links write it: `My: Head!` → `My Head`.
pub(super) fn linkable_heading(heading: &str) -> String {
    let spaced = canonical(heading, str::to_owned, " ", " ");
    spaced.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn canonical(name: &str, letters: impl Fn(&str) -> String, space: &str, other: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let emoji = emoji_length(rest);
        let in_name = |c: char| c.is_ascii_digit() || c == '_' || c == '-' || is_letter(c);
        let taken = if emoji > 0 {
            text += &rest[..emoji];
            emoji
        } else if in_name(c) {
            let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
            text += &letters(&rest[..end]);
            end
        } else if is_space(c) {
            text += space;
            rest.find(|c| !is_space(c)).unwrap_or(rest.len())
        } else {
            text += other;
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was given to Dataview 0.5.68.
    #[test]
    fn names_become_what_queries_can_say() {
        for (name, canonical) in [
            ("Basic Field", "basic-field"),
            ("Hello!", "hello"),
            ("a/b", "ab"),
            ("key.with.dot", "keywithdot"),
            ("É", "é"),
            ("🎅 x", "🎅-x"),
            ("  lead", "-lead"),
            ("plain_1-2", "plain_1-2"),
            ("!!", ""),
        ] {
            assert_eq!(canonical_name(name), canonical, "{name}");
            assert!(has_canonical_name(name, canonical), "{name}");
            assert!(!has_canonical_name(name, &format!("{canonical}x")), "{name}");
            assert_eq!(is_canonical(name), name == "plain_1-2", "{name}");
        }
        assert_eq!(linkable_heading("My: Head!"), "My Head");
        assert_eq!(linkable_heading("  a -- b  "), "a -- b");
        assert_eq!(linkable_heading("🎅 1.2"), "🎅 1 2");
    }

    #[test]
    fn emoji_are_taken_whole() {
        for (text, length) in
            [("🎅x", 4), ("👩‍👩‍👧x", 18), ("❤️x", 6), ("🇩🇪x", 8), ("1️⃣x", 7), ("1", 0), ("a", 0), ("👍🏽", 8)]
        {
            assert_eq!(emoji_length(text), length, "{text}");
        }
    }
}
