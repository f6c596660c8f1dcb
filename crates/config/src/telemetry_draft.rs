//! The settings of OpenTelemetry. Many programs read these variables, so they count only if telemetry is switched on
//! here, and are checked only then.

use super::model::OtlpSettings;
use super::raw::{GivenValue, ValueOrigin};
use super::refused::ConfigRefusal;
use super::{ConfigError, value};

/// Where collectors listen by default.
const USUAL_ENDPOINT: &str = "http://localhost:4318";

/// The values as written.
#[derive(Debug, Default)]
pub(super) struct TelemetryDraft {
    pub(super) enabled: bool,
    pub(super) endpoint: Option<WrittenValue>,
    pub(super) traces: Option<WrittenValue>,
    pub(super) metrics: Option<WrittenValue>,
    pub(super) service_name: Option<WrittenValue>,
    pub(super) service_version: Option<WrittenValue>,
    pub(super) sampled: Option<WrittenValue>,
}

/// A text, and where it was written.
#[derive(Debug, Clone)]
pub(super) struct WrittenValue {
    text: String,
    place: ValueOrigin,
}

impl WrittenValue {
    pub(super) fn of(given: &GivenValue) -> Result<Option<Self>, ConfigRefusal> {
        Ok(Some(Self { text: given.raw.text()?.to_owned(), place: given.place.clone() }))
    }
}

impl TelemetryDraft {
    pub(super) fn finish(self) -> Result<Option<OtlpSettings>, ConfigError> {
        // Nothing is checked then: the same variables may be set for another program, and be wrong for us.
        if !self.enabled {
            return Ok(None);
        }
        let base = match &self.endpoint {
            Some(endpoint) => collector(endpoint)?,
            None => USUAL_ENDPOINT.to_owned(),
        };
        let address = |own: &Option<WrittenValue>, path: &str| match own {
            // The address of one signal is used as it is; only to the common one is the path of the signal added.
            Some(own) => collector(own),
            None => Ok(format!("{base}{path}")),
        };
        let text = |written: Option<WrittenValue>| written.map(|written| written.text);
        let sampled = match self.sampled {
            Some(WrittenValue { text, place }) => value::share(&text).map_err(|refused| refused.at(place))?,
            None => value::WHOLE_SHARE,
        };
        Ok(Some(OtlpSettings {
            traces: address(&self.traces, "/v1/traces")?,
            metrics: address(&self.metrics, "/v1/metrics")?,
            service_name: text(self.service_name).unwrap_or_else(|| "lapidary".to_owned()),
            service_version: text(self.service_version).unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
            sampled_per_million: sampled,
        }))
    }
}

/// The address of a collector, without a slash at the end.
fn collector(written: &WrittenValue) -> Result<String, ConfigError> {
    let text = written.text.trim_end_matches('/');
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).unwrap_or_default();
    // A password in the address would be shown with the setting.
    if rest.is_empty() || rest.starts_with('/') || rest.contains([' ', '@']) {
        let refused = ConfigRefusal::NotCollector { value: text.to_owned() };
        return Err(refused.at(written.place.clone()));
    }
    Ok(text.to_owned())
}
