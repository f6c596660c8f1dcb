//! What a tool of another server answered, cut to what a model should read of it.

use lapidary_operation::{BlockKind, ContentBlock, ServerFault, ServerReply};
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::{RpcError, answer_of};

const MOST_TEXT: usize = 50_000;
/// As JSON. What is larger is usually in the text, too.
const MOST_STRUCTURED: usize = 50_000;
const MOST_BLOCKS: usize = 4;
/// In base64, and for all together.
const MOST_BLOCK_BYTES: usize = 1_000_000;
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const SOUNDS: [&str; 5] = ["audio/wav", "audio/mpeg", "audio/ogg", "audio/mp4", "audio/webm"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallAnswer {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default)]
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

/// The answer to a call. An error of the protocol is one, too: it says what is wrong with the arguments.
pub(crate) fn read(message: &[u8]) -> Result<ServerReply, ServerFault> {
    let answer: CallAnswer = match answer_of(message)? {
        Ok(answer) => answer,
        Err(RpcError { code, message }) => {
            let mut reply = ServerReply { has_failed: true, ..ServerReply::default() };
            push(&mut reply, &format!("{message} (error {code})"));
            return Ok(reply);
        }
    };
    let mut reply = ServerReply { has_failed: answer.is_error, ..ServerReply::default() };
    // Only blocks share it: text has its own limit, and is cut and not dropped.
    let mut left = MOST_BLOCK_BYTES;
    for part in &answer.content {
        let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str);
        match text("/type") {
            Some("text") => push(&mut reply, text("/text").unwrap_or_default()),
            Some(kind @ ("image" | "audio")) => match block(kind, text("/mimeType"), text("/data")) {
                Some(block) if reply.blocks.len() < MOST_BLOCKS && block.bytes() <= left => {
                    left -= block.bytes();
                    reply.blocks.push(block);
                }
                _ => reply.left_out += 1,
            },
            Some("resource_link") => {
                // As a Markdown link: the resource itself is not read for the model.
                let name = text("/title").or(text("/name")).unwrap_or("resource");
                push(&mut reply, &format!("[{name}]({})", text("/uri").unwrap_or_default()));
            }
            Some("resource") => match text("/resource/text") {
                Some(said) => push(&mut reply, said),
                None => reply.left_out += 1,
            },
            _ => reply.left_out += 1,
        }
    }
    match answer.structured_content {
        Some(Value::Null) | None => {}
        // A model would pay for the same words twice.
        Some(structured) if repeats(&answer.content, &structured) => {}
        Some(structured) => {
            let written = structured.to_string();
            match written.len() <= MOST_STRUCTURED {
                true => reply.structured = Some(structured),
                // The beginning of it is more than nothing, and what is missing is said.
                false if reply.text.is_empty() => push(&mut reply, &written),
                false => reply.left_out += 1,
            }
        }
    }
    Ok(reply)
}

/// Whether a structured value only has once more what the texts say. Servers whose tools return a text, a number or a list wrap it
/// in an object with one field, because a structured value has to be an object.
fn repeats(content: &[Value], structured: &Value) -> bool {
    let Some(fields) = structured.as_object().filter(|fields| fields.len() == 1) else { return false };
    // The names that the libraries for servers use. Any other name says something.
    let Some(value) = ["result", "content"].iter().find_map(|name| fields.get(*name)) else { return false };
    let texts: Vec<&str> =
        content.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect();
    let is_each =
        |items: &[Value]| items.len() == texts.len() && texts.iter().zip(items).all(|(text, item)| says(text, item));
    match (texts.as_slice(), value) {
        ([], _) => false,
        ([text], value) if says(text, value) => true,
        (_, Value::Array(items)) => is_each(items),
        _ => false,
    }
}

/// Whether a text is a value, as it is or as JSON.
fn says(text: &str, value: &Value) -> bool {
    match value {
        Value::String(value) => value == text,
        // Long ones are not worth the memory that they would take.
        value => text.len() <= MOST_TEXT && serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value),
    }
}

fn push(reply: &mut ServerReply, text: &str) {
    // Without a line end once the text is full, which would exceed the limit.
    if !reply.text.is_empty() && !text.is_empty() && reply.text.len() < MOST_TEXT {
        reply.text.push('\n');
    }
    let fitting = &text[..text.floor_char_boundary(MOST_TEXT.saturating_sub(reply.text.len()))];
    reply.text += fitting;
    reply.cut += text.len() - fitting.len();
}

/// A picture or a sound, of a kind that clients know.
fn block(kind: &str, media_type: Option<&str>, data: Option<&str>) -> Option<ContentBlock> {
    let (kind, known): (BlockKind, &[&str]) = match kind {
        "image" => (BlockKind::Image, &PICTURES),
        _ => (BlockKind::Audio, &SOUNDS),
    };
    // Only kinds that cannot run anything: a client shows a block as it is.
    let media_type = media_type.filter(|media_type| known.contains(media_type))?;
    // The data goes to the client unread, so that it is base64 is all that is checked.
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let data = data.filter(|data| data.len() <= MOST_BLOCK_BYTES && data.bytes().all(is_base64))?;
    Some(ContentBlock { kind, media_type: media_type.to_owned(), data: data.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(result: &Value) -> ServerReply {
        read(json!({ "id": 1, "result": result }).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn texts_are_joined_and_cut() {
        let said = reply(&json!({ "content": [
            { "type": "text", "text": "one" },
            { "type": "resource", "resource": { "uri": "a://b", "text": "two" } },
            { "type": "resource_link", "name": "page", "uri": "a://c" },
            { "type": "dance" }, 7,
        ] }));
        assert_eq!((said.text.as_str(), said.left_out, said.has_failed), ("one\ntwo\n[page](a://c)", 2, false));
        let long = reply(&json!({ "content": [{ "type": "text", "text": "ä".repeat(MOST_TEXT) }], "isError": true }));
        assert!(long.text.len() <= MOST_TEXT && long.text.len() + long.cut == 2 * MOST_TEXT && long.has_failed);
        let wide = reply(&json!({ "structuredContent": { "a": "x".repeat(MOST_STRUCTURED) } }));
        assert_eq!((wide.structured, wide.left_out), (None, 0));
        assert!(wide.text.starts_with("{\"a\":\"xxx") && wide.text.len() == MOST_TEXT && wide.cut > 0);
        let text = json!([{ "type": "text", "text": "Done." }]);
        let beside = reply(&json!({ "content": text, "structuredContent": { "a": "x".repeat(MOST_STRUCTURED) } }));
        assert_eq!((beside.text.as_str(), beside.structured, beside.left_out), ("Done.", None, 1));
    }

    #[test]
    fn a_structured_value_that_the_texts_say_already_is_not_kept() {
        let kept = |texts: &[&str], structured: Value| {
            let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
            reply(&json!({ "content": content, "structuredContent": structured })).structured.is_some()
        };
        let long = "x".repeat(2 * MOST_STRUCTURED);
        for (texts, structured) in [
            (&["12"][..], json!({ "result": 12 })),
            (&["a \"b\""], json!({ "content": "a \"b\"" })),
            (&["one", "two"], json!({ "result": ["one", "two"] })),
            (&["one"], json!({ "result": ["one"] })),
            (&["{ \"a\": 1 }", "[2]"], json!({ "result": [{ "a": 1 }, [2]] })),
            (&["[1, 2]"], json!({ "result": [1, 2] })),
            (&["true"], json!({ "result": true })),
            (&[long.as_str()], json!({ "content": long })),
        ] {
            assert!(!kept(texts, structured.clone()), "{structured}");
        }
        for (texts, structured) in [
            (&[][..], json!({ "result": [] })),
            (&[], json!({ "result": "" })),
            (&["12"], json!({ "result": 13 })),
            (&["12"], json!({ "result": 12, "unit": "plants" })),
            (&["one", "two"], json!({ "result": ["one"] })),
            (&["one", "two"], json!({ "result": "one" })),
            (&["Two beds."], json!({ "result": [{ "a": 1 }] })),
            (&["12"], json!([12])),
        ] {
            assert!(kept(texts, structured.clone()), "{structured}");
        }
        let said =
            reply(&json!({ "content": [{ "type": "text", "text": long }], "structuredContent": { "content": long } }));
        assert_eq!(
            (said.text.len() + said.cut, said.left_out),
            (long.len(), 0),
            "it is cut, and nothing else is missing"
        );
    }

    #[test]
    fn pictures_are_few_small_and_of_known_kinds() {
        let picture = |kind: &str, data: &str| json!({ "type": "image", "mimeType": kind, "data": data });
        let many = reply(&json!({ "content": [
            picture("image/png", "AAAA"), picture("image/svg+xml", "AAAA"), picture("image/png", "<script>"),
            picture("image/png", &"A".repeat(MOST_BLOCK_BYTES + 1)), picture("image/jpeg", &"A".repeat(MOST_BLOCK_BYTES - 50)),
            picture("image/png", &"A".repeat(100)),
            { "type": "audio", "mimeType": "audio/wav", "data": "AA==" },
        ] }));
        assert_eq!(many.blocks.len(), 3, "{:?}", many.blocks.iter().map(ContentBlock::bytes).collect::<Vec<_>>());
        assert_eq!(many.left_out, 4);
    }

    #[test]
    fn an_error_of_the_protocol_is_a_failure_with_its_words() {
        let refused = json!({ "id": 1, "error": { "code": -32602, "message": "no such file" } }).to_string();
        let said = read(refused.as_bytes()).unwrap();
        assert_eq!((said.has_failed, said.text.as_str()), (true, "no such file (error -32602)"));
        assert_eq!(read(br#"{"id":1}"#), Err(ServerFault::NotMcp));
    }
}
