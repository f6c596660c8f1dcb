//! Tests of which tools are offered.

use lapidary_operation::{Catalogue, Effect, OffReason, ProfileRules, ToolSelection, ToolStanding};

use crate::TOOL_SET;

/// Every tool, on a server with two vaults.
pub(super) fn everything() -> Catalogue {
    let selection = ToolSelection { chosen: vec!["all".to_owned()], commands: true, ..ToolSelection::default() };
    let vaults = ["Notes".to_owned(), "Work".to_owned()];
    Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &vaults).expect("a word that is known")
}

fn standings(chosen: &[&str], excluded: &[&str], read_only: bool) -> impl Fn(&str) -> ToolStanding {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    let selection =
        ToolSelection { chosen: words(chosen), excluded: words(excluded), read_only, ..ToolSelection::default() };
    let catalogue = Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &[]).unwrap();
    move |name| catalogue.find(name).unwrap().standing
}

#[test]
fn by_default_the_core_is_listed_and_the_rest_can_be_found() {
    let standing = standings(&[], &[], false);
    assert_eq!(standing("str_replace"), ToolStanding::Listed);
    assert_eq!(standing("find_tool"), ToolStanding::Listed);
    assert_eq!(standing("file_read"), ToolStanding::Deferred);
}

#[test]
fn a_chosen_family_is_the_whole_list() {
    let standing = standings(&["files"], &[], false);
    assert_eq!(standing("file_read"), ToolStanding::Listed);
    assert_eq!(standing("obsidian_get_note"), ToolStanding::Off(OffReason::NotChosen));
    assert_eq!(standing("call_tool"), ToolStanding::Off(OffReason::NotChosen));
}

#[test]
fn words_add_up_and_dotted_names_count() {
    let standing = standings(&["default", "file.read"], &[], false);
    assert_eq!(standing("file_read"), ToolStanding::Listed);
    assert_eq!(standing("obsidian_get_note"), ToolStanding::Listed);
}

#[test]
fn exclusion_wins_over_choice_and_read_only_over_everything() {
    let standing = standings(&["all"], &["str_replace", "agent"], true);
    assert_eq!(standing("str_replace"), ToolStanding::Off(OffReason::ReadOnly));
    assert_eq!(standing("obsidian_write_note"), ToolStanding::Off(OffReason::ReadOnly));
    assert_eq!(standing("call_tool"), ToolStanding::Off(OffReason::Excluded));
    assert_eq!(standing("file_read"), ToolStanding::Listed);
}

#[test]
fn commands_of_the_app_are_listed_once_the_owner_opens_them() {
    let standing = |chosen: &[&str], commands: bool, read_only: bool, tool: &str| {
        let chosen = chosen.iter().map(|word| (*word).to_owned()).collect();
        let selection = ToolSelection { chosen, commands, read_only, ..ToolSelection::default() };
        Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &[]).unwrap().find(tool).unwrap().standing
    };
    for tool in ["obsidian_list_commands", "obsidian_execute_command", "rest/commands", "rest/command"] {
        let is_internal = tool.contains('/');
        for chosen in [&[][..], &["all"], &["obsidian"], &["default"]] {
            assert_eq!(standing(chosen, false, false, tool), ToolStanding::Off(OffReason::Commands), "{tool}");
            assert_eq!(standing(chosen, true, true, tool), ToolStanding::Off(OffReason::ReadOnly), "{tool}");
            let open = if is_internal { ToolStanding::Deferred } else { ToolStanding::Listed };
            assert_eq!(standing(chosen, true, false, tool), open, "{tool} {chosen:?}");
        }
        let other = if is_internal { ToolStanding::Deferred } else { ToolStanding::Off(OffReason::NotChosen) };
        assert_eq!(standing(&["files"], true, false, tool), other, "{tool}");
    }
    // Opening a note only reads.
    assert_eq!(standing(&[], false, true, "obsidian_open_in_ui"), ToolStanding::Deferred);
}

#[test]
fn a_profile_only_removes_tools() {
    let standing = |chosen: &[&str], rules: &ProfileRules, name: &str| {
        let chosen = chosen.iter().map(|word| (*word).to_owned()).collect();
        let selection = ToolSelection { chosen, ..ToolSelection::default() };
        Catalogue::new(TOOL_SET, &selection, rules, &[]).unwrap().find(name).unwrap().standing
    };
    let own = ProfileRules {
        allow: vec!["read".into(), "str_replace".into()],
        exclude: vec!["outline".into()],
        most: Effect::Destroy,
    };
    let off = ToolStanding::Off(OffReason::Profile);
    for (chosen, rules, name, expected) in [
        (&[][..], ProfileRules::reader(), "obsidian_get_note", ToolStanding::Listed),
        (&[], ProfileRules::reader(), "file_read", ToolStanding::Deferred),
        (&[], ProfileRules::reader(), "call_tool", ToolStanding::Listed),
        (&[], ProfileRules::reader(), "str_replace", off),
        (&[], ProfileRules::reader(), "obsidian_open_in_ui", off),
        (&[], ProfileRules::editor(), "str_replace", ToolStanding::Listed),
        (&[], ProfileRules::editor(), "obsidian_open_in_ui", off),
        (&[], ProfileRules::curator(), "obsidian_open_in_ui", ToolStanding::Deferred),
        (&["str_replace"], ProfileRules::curator(), "file_read", ToolStanding::Off(OffReason::NotChosen)),
        (&[], own.clone(), "str_replace", ToolStanding::Listed),
        (&[], own.clone(), "outline", off),
        (&[], own, "apply_edits", off),
    ] {
        assert_eq!(standing(chosen, &rules, name), expected, "{name} with {chosen:?} and {rules:?}");
    }
}

#[test]
fn an_unknown_word_is_refused_with_the_nearest() {
    let selection = ToolSelection { chosen: vec!["file_reed".into()], ..ToolSelection::default() };
    let error = Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &[]).err().expect("an error");
    assert_eq!(error.nearest, Some("file_read"));
}
