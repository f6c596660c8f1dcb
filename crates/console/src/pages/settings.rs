//! The settings with where they come from, and a change of their file before it is written.

use askama::Template;

use super::{changed_file::ChangedFile, page_frame::PageFrame};
use crate::{diff_rows::DiffRow, shown_text::ShownText};

#[derive(Template)]
#[template(path = "settings.html")]
pub struct SettingsPage {
    pub frame: PageFrame,
    /// The file that is written.
    pub file: ShownText,
    /// Why nothing can be changed here.
    pub lock: Option<ShownText>,
    /// Where clients over HTTP find the server.
    pub url: String,
    /// Whether clients are served there.
    pub is_served: bool,
    pub vaults: Vec<SettingsVault>,
    pub vaults_lock: Option<ShownText>,
    pub tools: Vec<ToolSwitch>,
    pub tools_lock: Option<ShownText>,
    pub groups: Vec<SettingsGroup>,
    /// The whole text of the file, if it may be edited here; escaped by the template.
    pub text: Option<String>,
    pub problem: Option<ShownText>,
}

pub struct SettingsVault {
    pub name: ShownText,
    /// As the form sends it; escaped by the template.
    pub key: String,
    pub path: ShownText,
    /// It is in the file, and can be taken out of it.
    pub is_in_file: bool,
}

/// A tool, and whether callers have it.
pub struct ToolSwitch {
    pub name: &'static str,
    pub effect: &'static str,
    pub is_on: bool,
    /// Why it is off, if the switch does not decide that.
    pub because: Option<&'static str>,
}

pub struct SettingsGroup {
    pub title: &'static str,
    pub settings: Vec<SettingRow>,
}

pub struct SettingRow {
    pub name: &'static str,
    pub about: ShownText,
    pub value: ShownText,
    /// Where it is written; nowhere, if it is the default.
    pub origin: Option<ShownText>,
    pub field: SettingField,
    /// Why it cannot be changed here.
    pub lock: Option<ShownText>,
    /// It can be taken out of the file.
    pub is_in_file: bool,
}

/// How a setting is typed; values are escaped by the template.
pub enum SettingField {
    Choice {
        options: Vec<String>,
        chosen: String,
    },
    Number {
        least: String,
        most: String,
        typed: String,
    },
    Line(String),
    /// One entry a line.
    List(String),
    /// Only in the file.
    Text,
}

impl SettingRow {
    /// The identifier of its field.
    fn id(&self) -> String {
        format!("setting-{}", self.name.replace('.', "-"))
    }
}

/// A change of the file, before it is written.
#[derive(Template)]
#[template(path = "settings_change.html")]
pub struct SettingsChangePage {
    pub frame: PageFrame,
    pub file: ChangedFile,
    pub is_split: bool,
    /// Identifies the change.
    pub digest: String,
    /// What the form sends again; escaped by the template.
    pub fields: Vec<(String, String)>,
    /// What the server would say of the new settings at its start.
    pub warnings: Vec<ShownText>,
    pub notice: Option<&'static str>,
}
