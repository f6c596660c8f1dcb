//! How answers and refusals look to a client. Each family has its own form; this is the only place that knows them.

use std::borrow::Cow;

use lapidary_note::{ContentHash, counted};
use serde_json::{Map, Value, json};

use crate::{ContentBlock, OfferedTools, Reason, ReplyFacts, ToolAnswer, WireFamily, fence::fenced};

/// A reply: text for a model and the same facts for programs. The facts are serialised once, when the reply is built;
/// its length, its digest, the text of tools that have none, and the wire all use that.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedReply {
    /// `None` if the text is the facts themselves.
    text: Option<Vec<String>>,
    facts: ReplyFacts,
    blocks: Vec<ContentBlock>,
    pub is_error: bool,
}

impl RenderedReply {
    /// The parts of the text.
    pub fn text(&self) -> Vec<&str> {
        match &self.text {
            Some(parts) => parts.iter().map(String::as_str).collect(),
            // Clients that do not read structured content get the same JSON as text.
            None => vec![self.facts.as_json()],
        }
    }

    /// The facts as JSON.
    pub fn structured(&self) -> &str {
        self.facts.as_json()
    }

    /// The facts, for code that inspects them.
    pub fn facts(&self) -> Map<String, Value> {
        self.facts.to_map()
    }

    /// Pictures and sounds beside the text.
    pub fn blocks(&self) -> &[ContentBlock] {
        &self.blocks
    }

    /// The parts of the text, the blocks and the facts, for code that forwards them.
    pub fn into_parts(self) -> (Vec<String>, Vec<ContentBlock>, ReplyFacts) {
        let text = self.text.unwrap_or_else(|| vec![self.facts.as_json().to_owned()]);
        (text, self.blocks, self.facts)
    }

    /// What is sent: the text, the blocks and the facts.
    pub fn bytes(&self) -> usize {
        // All count towards the limit, since which of them a client gives to its model is not known.
        let text = self.text().iter().map(|part| part.len()).sum::<usize>();
        text + self.blocks.iter().map(ContentBlock::bytes).sum::<usize>() + self.facts.as_json().len()
    }

    /// A fingerprint of the reply.
    pub fn digest(&self) -> ContentHash {
        // The facts say everything that the text does, and have the hash of the file that a block shows.
        ContentHash::of(self.facts.as_json().as_bytes())
    }

    /// Adds a notice for the caller.
    pub fn add_notice(&mut self, notice: &str) {
        // Clients show one field, so it keeps what is in it already.
        let all: Vec<String> = self.facts.text("notice").into_iter().chain([notice.to_owned()]).collect();
        self.facts.insert("notice", &*all.join(" "));
        if let Some(parts) = &mut self.text {
            parts.push(format!("\n\n> {notice}"));
        }
    }

    /// Serialises the reply so that it can be kept until it is requested.
    pub fn to_json(&self) -> Value {
        let blocks: Vec<Value> = self.blocks.iter().map(ContentBlock::to_json).collect();
        json!({ "structured": self.facts(), "text": self.text(), "blocks": blocks, "isError": self.is_error })
    }

    /// Restores a kept reply, if it is one.
    pub fn from_json(mut kept: Value) -> Option<Self> {
        let (Value::Object(facts), Value::Array(parts)) = (kept["structured"].take(), kept["text"].take()) else {
            return None;
        };
        let parts: Vec<String> = parts.iter().filter_map(|part| part.as_str().map(str::to_owned)).collect();
        let facts = ReplyFacts::from(facts);
        // A reply whose text is its facts stores them twice; compared here, it is one string again.
        let is_own = parts.len() != 1 || parts[0] != facts.as_json();
        // Replies that were kept before there were blocks have none.
        let blocks = kept["blocks"].as_array().into_iter().flatten().filter_map(ContentBlock::from_json).collect();
        Some(Self { text: is_own.then_some(parts), facts, blocks, is_error: kept["isError"] == true })
    }
}

pub fn render_answer(ToolAnswer { mut output, text, blocks }: ToolAnswer, notices: &[String]) -> RenderedReply {
    // A tool may give a notice itself. Clients show one field, so all are joined into it.
    let notice = output.text("notice").into_iter().chain(notices.iter().cloned()).collect::<Vec<_>>().join(" ");
    if !notice.is_empty() {
        output.insert("notice", notice.as_str());
    }
    let text = text.map(|text| match notice.is_empty() {
        true => vec![text],
        false => vec![text, format!("\n\n> {notice}")],
    });
    RenderedReply { text, facts: output, blocks, is_error: false }
}

/// An answer with the id of the checkpoint that undoes the change.
pub fn render_change(mut answer: ToolAnswer, checkpoint: Option<&str>, notices: &[String]) -> RenderedReply {
    if let Some(checkpoint) = checkpoint {
        answer.output.insert("checkpoint", checkpoint);
        answer.text = answer.text.map(|text| format!("{text}\nCheckpoint {checkpoint}"));
    }
    render_answer(answer, notices)
}

/// As much of a diff as a model will read.
const SHOWN_DIFF: usize = 20_000;

/// The start of a diff, in whole lines if it has any, and how much is left out.
pub fn clip_diff(diff: &str, most: usize) -> Cow<'_, str> {
    if diff.len() <= most {
        return Cow::Borrowed(diff);
    }
    // A diff may have one very long line; then it is cut within the line, at a character.
    let start = &diff[..diff.floor_char_boundary(most)];
    // A line that is cut in half could be read as a change that is not made.
    let shown = start.rfind('\n').map_or(start, |end| &start[..=end]);
    let left = diff[shown.len()..].lines().count();
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!("{shown}{end}… ({})\n", counted(left, "more line")))
}

/// The answer that would have been given, and the change that would have been made.
pub fn render_dry_run(mut answer: ToolAnswer, diff: Option<&str>, notices: &[String]) -> RenderedReply {
    let Some(diff) = diff else { return render_answer(answer, notices) };
    let diff = clip_diff(diff, SHOWN_DIFF);
    answer.output.insert("diff", &*diff);
    let shown = if diff.is_empty() { "Nothing would change.".to_owned() } else { fenced(&diff) };
    answer.text = answer.text.map(|text| format!("{text}\n{shown}"));
    render_answer(answer, notices)
}

/// A refusal, with a hint that names only what the caller is offered.
pub fn render_refusal(family: WireFamily, reason: &Reason, offered: OfferedTools<'_>) -> RenderedReply {
    match family {
        WireFamily::Files => file_form(reason, offered),
        WireFamily::Obsidian | WireFamily::Own | WireFamily::ChatGpt => note_form(reason, offered),
    }
}

fn note_form(reason: &Reason, offered: OfferedTools<'_>) -> RenderedReply {
    let (message, hint) = (reason.to_string(), reason.hint(&offered));
    let data = refusal_data(reason, offered);
    let error = json!({ "code": reason.kind().wire_code().number, "message": message, "data": data });
    let text = vec![format!("Error: {message}\n\nRecovery: {hint}")];
    let facts = Map::from_iter([("error".to_owned(), error)]).into();
    RenderedReply { text: Some(text), facts, blocks: Vec::new(), is_error: true }
}

/// The data of a refusal, for programs: in the answer of a note tool, and in a protocol error.
pub fn refusal_data(reason: &Reason, offered: OfferedTools<'_>) -> Map<String, Value> {
    let mut data = Map::from_iter([("reason".to_owned(), json!(reason.kind().wire_code().id))]);
    data.extend(reason.data());
    if let Reason::Overtaken { .. } = reason {
        // The hash would be taken as permission to overwrite content that the caller has not seen. The file tools still
        // promise it.
        data.remove("actual");
    } else {
        data.extend(reason.current_hash().map(|hash| ("currentHash".to_owned(), json!(hash.to_string()))));
    }
    data.insert("recovery".to_owned(), json!({ "hint": reason.hint(&offered) }));
    data
}

fn file_form(reason: &Reason, offered: OfferedTools<'_>) -> RenderedReply {
    let code = reason.kind().wire_code();
    let mut error = Map::from_iter([("code".to_owned(), json!(code.code)), ("reason".to_owned(), json!(code.id))]);
    error.extend(reason.current_hashes());
    let mut structured = Map::from_iter([("ok".to_owned(), json!(false))]);
    structured.extend(said(reason, offered));
    // After the flat fields: clients of the original read either.
    structured.insert("error".to_owned(), json!(error));
    let text = || vec![format!("{}: {reason}\n{}", code.code, reason.hint(&offered))];
    let text = (!offered.in_json(WireFamily::Files)).then(text);
    RenderedReply { text, facts: structured.into(), blocks: Vec::new(), is_error: true }
}

fn said(reason: &Reason, offered: OfferedTools<'_>) -> Map<String, Value> {
    Map::from_iter([
        ("code".to_owned(), json!(reason.kind().wire_code().code)),
        ("message".to_owned(), json!(reason.to_string())),
        ("details".to_owned(), json!(reason.data())),
        ("hint".to_owned(), json!(reason.hint(&offered))),
    ])
}

/// Why one of several operations was refused, next to the results of the others.
pub fn operation_error(reason: &Reason, offered: OfferedTools<'_>) -> Map<String, Value> {
    let mut error = said(reason, offered);
    error.insert("reason".to_owned(), json!(reason.kind().wire_code().id));
    error.extend(reason.current_hashes());
    error
}

#[cfg(test)]
mod tests {
    use lapidary_note::ExpectedHash;
    use lapidary_vault::VaultPath;

    use super::*;
    use crate::{BlockKind, Catalogue, ProfileRules, ToolSelection, ToolSet, facts::tests::SERIALISED};

    fn facts(facts: &Value) -> ReplyFacts {
        ReplyFacts::of(facts).unwrap()
    }

    #[test]
    fn a_reply_is_serialised_only_once() {
        let answer = || ToolAnswer { output: facts(&json!({ "a": [1, 2] })), text: None, blocks: Vec::new() };
        let before = SERIALISED.get();
        let rendered = render_answer(answer(), &["Read as x.".into()]);
        let text: Vec<String> = rendered.text().into_iter().map(str::to_owned).collect();
        assert_eq!(rendered.bytes(), 2 * rendered.structured().len());
        assert_eq!(rendered.digest(), render_answer(answer(), &["Read as x.".into()]).digest());
        assert_eq!(SERIALISED.get() - before, 2, "two replies");
        assert_eq!(rendered.into_parts().0, text);
        assert_eq!(SERIALISED.get() - before, 2);
    }

    #[test]
    fn a_kept_reply_is_restored_unchanged() {
        for text in [None, Some("text".to_owned())] {
            let picture = ContentBlock { kind: BlockKind::Image, media_type: "image/png".into(), data: "AAAA".into() };
            let answer = ToolAnswer { output: facts(&json!({ "a": 1 })), text, blocks: vec![picture] };
            let reply = render_answer(answer, &[]);
            assert_eq!(reply.bytes(), reply.text()[0].len() + reply.structured().len() + "image/pngAAAA".len());
            assert_eq!(RenderedReply::from_json(reply.to_json()), Some(reply));
        }
        assert_eq!(RenderedReply::from_json(json!({ "rejected": true })), None);
    }

    fn stale() -> Reason {
        Reason::Stale {
            path: VaultPath::parse("a.md").unwrap(),
            argument: "expected_content_hash",
            expected: ExpectedHash::parse("sha256:000000000000").unwrap(),
            current: Some(ContentHash::of(b"now")),
        }
    }

    #[test]
    fn both_families_report_the_same_facts() {
        let now = ContentHash::of(b"now").to_string();
        let none = ToolSet { tools: &[], internal: &[], definition: |_| None };
        let all = Catalogue::new(none, &ToolSelection::default(), &ProfileRules::curator(), &[]).unwrap();
        let note = render_refusal(WireFamily::Obsidian, &stale(), OfferedTools::of(&all));
        assert_eq!(note.facts()["error"]["code"], -32002);
        assert_eq!(note.facts()["error"]["data"]["reason"], "stale_precondition");
        assert_eq!(note.facts()["error"]["data"]["actual"], now);
        assert!(note.text()[0].starts_with("Error: ") && note.text()[0].contains("\n\nRecovery: "));

        let short = render_refusal(WireFamily::Files, &stale(), OfferedTools::of(&all));
        assert!(short.text()[0].starts_with("STALE_PRECONDITION: ") && short.text()[0].len() < 400);
        let dotted = ToolSelection { dotted_names: true, ..ToolSelection::default() };
        let original = Catalogue::new(none, &dotted, &ProfileRules::curator(), &[]).unwrap();
        let file = render_refusal(WireFamily::Files, &stale(), OfferedTools::of(&original));
        assert_eq!(file.facts(), short.facts());
        assert_eq!(file.facts()["ok"], false);
        assert_eq!(file.facts()["code"], "STALE_PRECONDITION");
        assert_eq!(file.facts()["details"]["actual"], now);
        assert_eq!(file.facts()["error"]["current_content_hash"], now);
        assert_eq!(serde_json::from_str::<Value>(file.text()[0]).unwrap(), Value::Object(file.facts()));
    }

    #[test]
    fn a_long_diff_is_cut_between_lines_and_says_so() {
        for (diff, most, expected) in [
            ("+a\n+b\n", 6, "+a\n+b\n"),
            ("+a\n+b\n", 5, "+a\n… (1 more line)\n"),
            ("+a\n+b\n+c\n+d\n", 4, "+a\n… (3 more lines)\n"),
            ("+ééé\n+b\n", 4, "+é\n… (2 more lines)\n"),
        ] {
            assert_eq!(clip_diff(diff, most), expected);
        }
    }

    #[test]
    fn notices_are_in_both_renderings() {
        let rendered = render_answer(
            ToolAnswer { output: facts(&json!({})), text: Some("text".into()), blocks: Vec::new() },
            &["Read as x.".into()],
        );
        assert_eq!(rendered.text(), ["text", "\n\n> Read as x."]);
        assert_eq!(rendered.facts()["notice"], "Read as x.");
    }
}
