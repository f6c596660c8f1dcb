//! Tests of the generated reference.

use super::*;
use crate::reference::EXAMPLE;

#[test]
fn the_reference_names_every_setting_and_every_variable() {
    let text = reference();
    for setting in settings::all() {
        assert_holds(&text, &[setting.key.unwrap_or_default(), setting.variable.unwrap_or_default()]);
        assert_holds(&text, &[setting.flag.as_ref().map_or("", |flag| flag.name)]);
        assert!(setting.doc.ends_with('.'), "{}", setting.doc);
        assert!(setting.key.or(setting.variable).is_some() || setting.flag.is_some());
    }
    for name in inert::names() {
        assert_holds(&text, &[name]);
    }
    assert_holds(&text, &["LAPIDARY_CONFIG", "--config", "| `http.port` | `MCP_HTTP_PORT` | `--http PORT` | `3010` |"]);
}

#[test]
fn every_row_of_a_table_has_as_many_cells_as_its_head() {
    let text = reference();
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    for pair in text.lines().collect::<Vec<_>>().windows(2).filter(|pair| pair[0].starts_with('|')) {
        assert!(!pair[1].starts_with('|') || cells(pair[0]) == cells(pair[1]), "{pair:?}");
    }
}

#[test]
fn the_example_of_the_reference_works() {
    let machine = Machine::new().folder("/home/me/Documents/Notes").folder("/srv/vaults/work").toml(EXAMPLE);
    assert_eq!(machine.vaults(), ["notes=/home/me/Documents/Notes", "work=/srv/vaults/work"]);
    assert!(machine.warnings().is_empty());
}

#[test]
fn the_example_of_variables_names_all_of_them_and_sets_nothing() {
    let text = env_example();
    for name in settings::all().filter_map(|setting| setting.variable) {
        assert!(text.contains(&format!("\n#{name}=")), "{name}");
    }
    assert!(Machine::with_vault().dotenv(&text).warnings().is_empty());
    assert_eq!(Machine::with_vault().dotenv(&text).config(), Machine::with_vault().config());
}

#[test]
fn the_example_of_variables_changes_nothing_when_all_of_it_is_set() {
    let set: Vec<_> = env_example()
        .lines()
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or("").to_owned())
        .collect();
    let machine = Machine::with_vault().variable("LAPIDARY_ENV_FILE", ".env").dotenv(&set.join("\n"));
    let config = crate::Config { own_files: Vec::new(), ..machine.config() };
    assert_eq!(config, Machine::with_vault().config());
    assert!(machine.warnings().is_empty(), "{:?}", machine.warnings());
}

#[test]
fn every_setting_says_how_it_is_typed() {
    let machine = Machine::with_vault();
    let shown = machine.shown();
    let form = |name: &str| &shown.iter().find(|setting| setting.name == name).unwrap().form;
    assert_eq!(form("access.read_only"), &SettingForm::Toggle);
    assert_eq!(form("http.port"), &SettingForm::Number { least: "0".to_owned(), most: "65535".to_owned() });
    assert_eq!(form("transport"), &SettingForm::Choice(vec!["stdio", "http"]));
    assert_eq!(form("tools.exclude"), &SettingForm::List);
    assert_eq!(form("access.deny_paths"), &SettingForm::List);
    assert_eq!(form("profile"), &SettingForm::Line);
    for table in ["vaults", "profiles", "approval", "tokens", "folders"] {
        assert_eq!(form(table), &SettingForm::Table, "{table}");
    }
    // No number is typed as a text, and no secret leaves here.
    for setting in &shown {
        let is_number = setting.name.ends_with("_ms") || setting.name.ends_with("_bytes");
        assert!(!is_number || matches!(setting.form, SettingForm::Number { .. }), "{}", setting.name);
        assert!(!setting.is_secret || setting.typed.is_empty(), "{}", setting.name);
    }
}
