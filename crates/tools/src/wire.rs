//! How answers and refusals look to a client. Each family keeps its own form; this is the one place that knows them.

use std::borrow::Cow;

use lapidary_vault::{Changed, Receipt, VaultPath};
use serde_json::{Map, Value, json};

use crate::{Family, Offered, Reason, shared::fence::fenced};

/// The text that a model reads and the same facts for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    pub text: Vec<String>,
    pub structured: Map<String, Value>,
    pub is_error: bool,
}

impl Rendered {
    /// Says something besides to whoever called.
    pub fn add_notice(&mut self, notice: &str) {
        self.structured.insert("notice".to_owned(), json!(notice));
        match &mut self.text[..] {
            // A text that is the JSON itself stays that.
            [only] if only.starts_with('{') => *only = Value::Object(self.structured.clone()).to_string(),
            _ => self.text.push(format!("\n\n> {notice}")),
        }
    }
}

pub fn render_answer(mut output: Map<String, Value>, text: Option<String>, notices: &[String]) -> Rendered {
    let own = output.get("notice").and_then(Value::as_str).map(str::to_owned);
    let notice = own.into_iter().chain(notices.iter().cloned()).collect::<Vec<_>>().join(" ");
    if !notice.is_empty() {
        output.insert("notice".to_owned(), json!(notice));
    }
    let text = match text {
        Some(text) if notice.is_empty() => vec![text],
        Some(text) => vec![text, format!("\n\n> {notice}")],
        None => vec![Value::Object(output.clone()).to_string()],
    };
    Rendered { text, structured: output, is_error: false }
}

/// An answer with what only the commit knows: the name of what undoes it, and where files went.
pub fn render_change(
    mut output: Map<String, Value>,
    text: Option<String>,
    receipt: &Receipt,
    notices: &[String],
) -> Rendered {
    tell_trash(&mut output, receipt);
    let Some(checkpoint) = &receipt.checkpoint else { return render_answer(output, text, notices) };
    output.insert("checkpoint".to_owned(), json!(checkpoint));
    render_answer(output, text.map(|text| format!("{text}\n\nCheckpoint: `{checkpoint}`")), notices)
}

/// In which folder of the vault a trashed file is now; an answer for several operations tells it for each. Not under which
/// name: a number in it would tell of files in there that the caller may not see.
fn tell_trash(output: &mut Map<String, Value>, receipt: &Receipt) {
    if output.get("trashed") == Some(&json!(true)) {
        let named = output.get("file").or_else(|| output.get("path")).and_then(Value::as_str);
        let path = named.and_then(|named| VaultPath::parse(named).ok());
        let went = |changed: &&Changed| changed.after.is_none() && Some(&changed.path) == path.as_ref();
        let place = receipt.changed.iter().find(went).and_then(|changed| changed.moved_to.as_ref()?.folder());
        output.extend(place.map(|place| ("trashedTo".to_owned(), json!(place.to_string()))));
    }
    let results = output.get_mut("results").and_then(Value::as_array_mut);
    for result in results.into_iter().flatten() {
        if let Some(output) = result.get_mut("result").and_then(Value::as_object_mut) {
            tell_trash(output, receipt);
        }
    }
}

/// Of a diff, as much as a model will look through.
const SHOWN_DIFF: usize = 20_000;

/// The beginning of a diff, in whole lines if it has any, and how much is left out.
pub fn clip_diff(diff: &str, most: usize) -> Cow<'_, str> {
    if diff.len() <= most {
        return Cow::Borrowed(diff);
    }
    let start = &diff[..diff.floor_char_boundary(most)];
    let shown = start.rfind('\n').map_or(start, |end| &start[..=end]);
    let left = diff[shown.len()..].lines().count();
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!("{shown}{end}… (the diff goes on for {left} lines)\n"))
}

/// What would have been answered, and what would have changed.
pub fn render_dry_run(
    mut output: Map<String, Value>,
    text: Option<String>,
    diff: &str,
    notices: &[String],
) -> Rendered {
    let diff = clip_diff(diff, SHOWN_DIFF);
    output.insert("diff".to_owned(), json!(diff));
    let shown = if diff.is_empty() { "Nothing would change.".to_owned() } else { fenced(&diff) };
    render_answer(output, text.map(|text| format!("{text}\n\n{shown}")), notices)
}

/// A refusal, with a hint that names only what the caller is offered.
pub fn render_refusal(family: Family, reason: &Reason, offered: Offered<'_>) -> Rendered {
    match family {
        Family::Files => file_form(reason, offered),
        Family::Obsidian | Family::Own => note_form(reason, offered),
    }
}

fn note_form(reason: &Reason, offered: Offered<'_>) -> Rendered {
    let code = reason.kind().wire_code();
    let (message, hint) = (reason.to_string(), reason.hint(&offered));
    let mut data = Map::from_iter([("reason".to_owned(), json!(code.id))]);
    data.extend(reason.data());
    data.extend(reason.current_hash().map(|hash| ("currentHash".to_owned(), json!(hash.to_string()))));
    data.insert("recovery".to_owned(), json!({ "hint": hint }));
    let structured =
        Map::from_iter([("error".to_owned(), json!({ "code": code.number, "message": message, "data": data }))]);
    Rendered { text: vec![format!("Error: {message}\n\nRecovery: {hint}")], structured, is_error: true }
}

fn file_form(reason: &Reason, offered: Offered<'_>) -> Rendered {
    let code = reason.kind().wire_code();
    let mut error = Map::from_iter([("code".to_owned(), json!(code.code)), ("reason".to_owned(), json!(code.id))]);
    error.extend(reason.current_hashes());
    let mut structured = Map::from_iter([("ok".to_owned(), json!(false))]);
    structured.extend(said(reason, offered));
    structured.insert("error".to_owned(), json!(error));
    Rendered { text: vec![Value::Object(structured.clone()).to_string()], structured, is_error: true }
}

fn said(reason: &Reason, offered: Offered<'_>) -> Map<String, Value> {
    Map::from_iter([
        ("code".to_owned(), json!(reason.kind().wire_code().code)),
        ("message".to_owned(), json!(reason.to_string())),
        ("details".to_owned(), json!(reason.data())),
        ("hint".to_owned(), json!(reason.hint(&offered))),
    ])
}

/// Why one of several operations was refused, beside what became of the others.
pub(crate) fn operation_error(reason: &Reason, offered: Offered<'_>) -> Map<String, Value> {
    let mut error = said(reason, offered);
    error.insert("reason".to_owned(), json!(reason.kind().wire_code().id));
    error.extend(reason.current_hashes());
    error
}

#[cfg(test)]
mod tests {
    use lapidary_note::{ContentHash, ExpectedHash};

    use super::*;

    fn stale() -> Reason {
        Reason::Stale {
            path: VaultPath::parse("a.md").unwrap(),
            argument: "expected_content_hash",
            expected: ExpectedHash::parse("sha256:000000000000").unwrap(),
            current: Some(ContentHash::of(b"now")),
        }
    }

    #[test]
    fn both_families_say_the_same_in_their_own_form() {
        let now = ContentHash::of(b"now").to_string();
        let all = crate::catalogue::everything();
        let note = render_refusal(Family::Obsidian, &stale(), Offered::of(&all));
        assert_eq!(note.structured["error"]["code"], -32002);
        assert_eq!(note.structured["error"]["data"]["reason"], "stale_precondition");
        assert_eq!(note.structured["error"]["data"]["actual"], now);
        assert!(note.text[0].starts_with("Error: ") && note.text[0].contains("\n\nRecovery: "));

        let file = render_refusal(Family::Files, &stale(), Offered::of(&all));
        assert_eq!(file.structured["ok"], false);
        assert_eq!(file.structured["code"], "STALE_PRECONDITION");
        assert_eq!(file.structured["details"]["actual"], now);
        assert_eq!(file.structured["error"]["current_content_hash"], now);
        assert_eq!(serde_json::from_str::<Value>(&file.text[0]).unwrap(), Value::Object(file.structured));
    }

    #[test]
    fn a_long_diff_is_cut_between_lines_and_says_so() {
        for (diff, most, expected) in [
            ("+a\n+b\n", 6, "+a\n+b\n"),
            ("+a\n+b\n", 5, "+a\n… (the diff goes on for 1 lines)\n"),
            ("+a\n+b\n+c\n+d\n", 4, "+a\n… (the diff goes on for 3 lines)\n"),
            ("+ééé\n+b\n", 4, "+é\n… (the diff goes on for 2 lines)\n"),
        ] {
            assert_eq!(clip_diff(diff, most), expected);
        }
    }

    #[test]
    fn notices_stand_in_both_renderings() {
        let rendered = render_answer(Map::new(), Some("text".into()), &["Read as x.".into()]);
        assert_eq!(rendered.text, ["text", "\n\n> Read as x."]);
        assert_eq!(rendered.structured["notice"], "Read as x.");
    }
}
