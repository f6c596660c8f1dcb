use lapidary_operation::{Catalogue, Effect, Off, ProfileRules, Selection, Standing};

use crate::TOOL_SET;

/// Every tool, on a server with two vaults.
pub(super) fn everything() -> Catalogue {
    let selection = Selection { chosen: vec!["all".to_owned()], ..Selection::default() };
    let vaults = ["Notes".to_owned(), "Work".to_owned()];
    Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &vaults).expect("a word that is known")
}

fn standings(chosen: &[&str], excluded: &[&str], read_only: bool) -> impl Fn(&str) -> Standing {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    let selection = Selection { chosen: words(chosen), excluded: words(excluded), read_only, ..Selection::default() };
    let catalogue = Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &[]).unwrap();
    move |name| catalogue.find(name).unwrap().standing
}

#[test]
fn by_default_the_core_is_listed_and_the_rest_can_be_found() {
    let standing = standings(&[], &[], false);
    assert_eq!(standing("str_replace"), Standing::Listed);
    assert_eq!(standing("find_tool"), Standing::Listed);
    assert_eq!(standing("file_read"), Standing::Deferred);
}

#[test]
fn a_family_by_itself_is_all_there_is() {
    let standing = standings(&["files"], &[], false);
    assert_eq!(standing("file_read"), Standing::Listed);
    assert_eq!(standing("obsidian_get_note"), Standing::Off(Off::NotChosen));
    assert_eq!(standing("call_tool"), Standing::Off(Off::NotChosen));
}

#[test]
fn words_add_up_and_dotted_names_count() {
    let standing = standings(&["default", "file.read"], &[], false);
    assert_eq!(standing("file_read"), Standing::Listed);
    assert_eq!(standing("obsidian_get_note"), Standing::Listed);
}

#[test]
fn exclusion_wins_over_choice_and_read_only_over_everything() {
    let standing = standings(&["all"], &["str_replace", "agent"], true);
    assert_eq!(standing("str_replace"), Standing::Off(Off::ReadOnly));
    assert_eq!(standing("obsidian_write_note"), Standing::Off(Off::ReadOnly));
    assert_eq!(standing("call_tool"), Standing::Off(Off::Excluded));
    assert_eq!(standing("file_read"), Standing::Listed);
}

#[test]
fn a_profile_takes_away_and_adds_nothing() {
    let standing = |chosen: &[&str], rules: &ProfileRules, name: &str| {
        let chosen = chosen.iter().map(|word| (*word).to_owned()).collect();
        let selection = Selection { chosen, ..Selection::default() };
        Catalogue::new(TOOL_SET, &selection, rules, &[]).unwrap().find(name).unwrap().standing
    };
    let own = ProfileRules {
        allow: vec!["read".into(), "str_replace".into()],
        exclude: vec!["outline".into()],
        most: Effect::Destroy,
    };
    let off = Standing::Off(Off::Profile);
    for (chosen, rules, name, expected) in [
        (&[][..], ProfileRules::reader(), "obsidian_get_note", Standing::Listed),
        (&[], ProfileRules::reader(), "file_read", Standing::Deferred),
        (&[], ProfileRules::reader(), "call_tool", Standing::Listed),
        (&[], ProfileRules::reader(), "str_replace", off),
        (&[], ProfileRules::reader(), "obsidian_open_in_ui", off),
        (&[], ProfileRules::editor(), "str_replace", Standing::Listed),
        (&[], ProfileRules::editor(), "obsidian_open_in_ui", off),
        (&[], ProfileRules::curator(), "obsidian_open_in_ui", Standing::Deferred),
        (&["str_replace"], ProfileRules::curator(), "file_read", Standing::Off(Off::NotChosen)),
        (&[], own.clone(), "str_replace", Standing::Listed),
        (&[], own.clone(), "outline", off),
        (&[], own, "apply_edits", off),
    ] {
        assert_eq!(standing(chosen, &rules, name), expected, "{name} with {chosen:?} and {rules:?}");
    }
}

#[test]
fn an_unknown_word_is_refused_with_the_nearest() {
    let selection = Selection { chosen: vec!["file_reed".into()], ..Selection::default() };
    let error = Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &[]).err().expect("an error");
    assert_eq!(error.nearest, Some("file_read"));
}
