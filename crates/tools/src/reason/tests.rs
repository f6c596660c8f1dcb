use serde_json::json;

use super::{samples::samples, *};

/// All that callers read of all reasons, with every tool on: a change of wording is a change of this file.
#[test]
fn what_is_said_of_every_reason() {
    let mut said = String::new();
    for reason in samples() {
        let facts = reason.kind().facts();
        let mut data = json!(reason.data()).to_string();
        let (mut message, mut hint) = (reason.to_string(), reason.hint());
        if let Reason::Internal(bug) = &reason {
            // It is drawn by lot.
            for text in [&mut data, &mut message, &mut hint] {
                *text = text.replace(&bug.id(), "b-XXXXXXXX");
            }
        }
        said += &format!("{} {} {}\n  {message}\n  {hint}\n  {data}", facts.id, facts.number, facts.code);
        let hashes = json!(reason.current_hashes()).to_string();
        said += &if hashes == "{}" { "\n\n".to_owned() } else { format!(" {hashes}\n\n") };
    }
    insta::assert_snapshot!(said);
}
