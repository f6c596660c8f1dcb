//! The owner's settings of the Dataview plugin, as far as they change results.

use serde_json::Value;

/// From the plugin's `data.json`; what it does not say is as the plugin has it by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataviewSettings {
    /// `renderNullAs`
    pub null_text: String,
    /// `defaultDateFormat`, in the letters of Luxon.
    pub date_format: String,
    /// `defaultDateTimeFormat`
    pub date_time_format: String,
    /// `tableIdColumnName`
    pub id_column: String,
    /// `inlineQueryPrefix`
    pub inline_prefix: String,
    /// `inlineJsQueryPrefix`
    pub inline_js_prefix: String,
    /// `dataviewJsKeyword`
    pub js_keyword: String,
    /// `allowHtml`
    pub allows_html: bool,
}

impl Default for DataviewSettings {
    fn default() -> Self {
        Self::from_json(&Value::Null)
    }
}

impl DataviewSettings {
    /// Settings that cannot be understood are the default ones, as in the plugin.
    pub fn read(data_json: &[u8]) -> Self {
        Self::from_json(&serde_json::from_slice(data_json).unwrap_or(Value::Null))
    }

    fn from_json(settings: &Value) -> Self {
        let text = |name: &str, usual: &str| settings[name].as_str().unwrap_or(usual).to_owned();
        Self {
            null_text: text("renderNullAs", "\\-"),
            date_format: text("defaultDateFormat", "MMMM dd, yyyy"),
            date_time_format: text("defaultDateTimeFormat", "h:mm a - MMMM dd, yyyy"),
            id_column: text("tableIdColumnName", "File"),
            inline_prefix: text("inlineQueryPrefix", "="),
            inline_js_prefix: text("inlineJsQueryPrefix", "$="),
            js_keyword: text("dataviewJsKeyword", "dataviewjs"),
            allows_html: settings["allowHtml"].as_bool().unwrap_or(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_the_default() {
        let read = DataviewSettings::read(br#"{"renderNullAs": "none", "allowHtml": false, "inlineQueryPrefix": 3}"#);
        let expected =
            DataviewSettings { null_text: "none".to_owned(), allows_html: false, ..DataviewSettings::default() };
        assert_eq!(read, expected);
        assert_eq!(DataviewSettings::read(b"[").null_text, "\\-");
    }
}
