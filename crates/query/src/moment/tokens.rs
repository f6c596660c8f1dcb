//! Splits formats of moment.js into tokens.

use std::borrow::Cow;

/// A part of a format.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormatPiece<'f> {
    Text(&'f str),
    Token(&'f str),
}

/// The first match counts, as in the expression with which moment.js splits a format.
const TOKENS: [&str; 84] = [
    "Hmmss",
    "hmmss",
    "Hmm",
    "hmm",
    "Mo",
    "MMMM",
    "MMM",
    "MM",
    "M",
    "Do",
    "DDDo",
    "DDDD",
    "DDD",
    "DD",
    "D",
    "dddd",
    "ddd",
    "dd",
    "do",
    "d",
    "wo",
    "w|",
    "ww",
    "w",
    "Wo",
    "W|",
    "WW",
    "W",
    "Qo",
    "Q",
    "NNNNN",
    "NNNN",
    "NNN",
    "NN",
    "N",
    "YYYYYY",
    "YYYYY",
    "YYYY",
    "YY",
    "Y",
    "yyyy",
    "yyy",
    "yy",
    "yo",
    "y",
    "ggggg",
    "gggg",
    "gg",
    "GGGGG",
    "GGGG",
    "GG",
    "e",
    "E",
    "a",
    "A",
    "hh",
    "h",
    "HH",
    "H",
    "kk",
    "k",
    "mm",
    "m",
    "ss",
    "s",
    "SSSSSSSSS",
    "SSSSSSSS",
    "SSSSSSS",
    "SSSSSS",
    "SSSSS",
    "SSSS",
    "SSS",
    "SS",
    "S",
    "x",
    "X",
    "zz",
    "z",
    "ZZ",
    "Z",
    "LTS",
    "LT",
    "LLLL",
    "L",
];

/// Formats that abbreviate others, in US English, which is Obsidian's own default.
const LONG: [(&str, &str); 10] = [
    ("LTS", "h:mm:ss A"),
    ("LT", "h:mm A"),
    ("LLLL", "dddd, MMMM D, YYYY h:mm A"),
    ("LLL", "MMMM D, YYYY h:mm A"),
    ("LL", "MMMM D, YYYY"),
    ("L", "MM/DD/YYYY"),
    ("llll", "ddd, MMM D, YYYY h:mm A"),
    ("lll", "MMM D, YYYY h:mm A"),
    ("ll", "MMM D, YYYY"),
    ("l", "M/D/YYYY"),
];

/// The format with its long formats expanded.
pub(super) fn expanded(format: &str) -> Cow<'_, str> {
    // Most formats have none of them.
    if !format.contains(['L', 'l']) {
        return Cow::Borrowed(format);
    }
    let mut written = String::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        // An escaped abbreviation stays, and so does its backslash, which the next step reads.
        let escaped = rest.strip_prefix('\\').and_then(|behind| Some((long(behind)?, 1)));
        let taken = match (bracket(rest), long(rest), escaped) {
            // Text in brackets is copied before anything in it can be taken for an abbreviation.
            (Some(length), ..) => length,
            (_, Some((token, meant)), _) => {
                written += meant;
                rest = &rest[token.len()..];
                continue;
            }
            (.., Some(((token, _), slash))) => slash + token.len(),
            _ => c.len_utf8(),
        };
        written += &rest[..taken];
        rest = &rest[taken..];
    }
    Cow::Owned(written)
}

fn long(rest: &str) -> Option<(&'static str, &'static str)> {
    LONG.into_iter().find(|(token, _)| rest.starts_with(token))
}

/// The length of the text in brackets that starts here: up to the last `]` before another `[`.
fn bracket(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('[')?;
    // The expression of moment.js is greedy but stops at another `[`.
    let until = inside.find('[').unwrap_or(inside.len());
    inside[..until].rfind(']').map(|end| end + 2)
}

/// Splits a format. A letter that is not a token is literal.
pub(super) fn pieces(format: &str) -> Vec<FormatPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while !rest.is_empty() {
        if let Some(length) = bracket(rest) {
            pieces.push(FormatPiece::Text(&rest[1..length - 1]));
            rest = &rest[length..];
            continue;
        }
        let (escaped, body) = rest.strip_prefix('\\').map_or((false, rest), |behind| (true, behind));
        // Anything else is one character of text.
        let length = token(body).or_else(|| body.chars().next().map(char::len_utf8)).unwrap_or_default();
        let (piece, behind) = body.split_at(length);
        pieces.push(match piece {
            // A backslash is never written.
            "\\" => FormatPiece::Text(""),
            _ if escaped || !is_known(piece) => FormatPiece::Text(piece),
            _ => FormatPiece::Token(piece),
        });
        rest = behind;
    }
    pieces
}

fn token(rest: &str) -> Option<usize> {
    TOKENS.into_iter().find(|token| rest.starts_with(token)).map(str::len)
}

/// `w|` and the long formats are one piece without meaning.
fn is_known(piece: &str) -> bool {
    TOKENS.contains(&piece) && !piece.ends_with('|') && !piece.starts_with('L')
}
