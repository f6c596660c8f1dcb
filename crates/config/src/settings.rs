//! The table of settings, by subject. Every layer and the reference are generated from it; a setting is added here and in `model`.

mod access;
mod app;
mod approval;
mod auth;
mod http;
mod http_limits;
mod limits;
mod notes;
mod rest;
mod servers;
mod state;
mod telemetry;
mod tools;
mod vaults;
mod web;

use super::raw::RawValue;
pub(super) use app::AppAddressParts;

use super::setting::{ReferenceSection, Setting};

const SECOND: u64 = 1000;
const DAY: u64 = 24 * 60 * 60 * SECOND;

/// All settings, in the order of the reference.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> + Clone {
    ReferenceSection::ALL.into_iter().flat_map(in_section)
}

pub(super) fn in_section(section: ReferenceSection) -> impl Iterator<Item = &'static Setting> + Clone {
    let tables: &[&[Setting]] = match section {
        ReferenceSection::Vaults => &[vaults::SETTINGS],
        ReferenceSection::Access => &[access::SETTINGS],
        ReferenceSection::Tools => &[tools::SETTINGS, notes::SETTINGS, web::SETTINGS, servers::SETTINGS],
        ReferenceSection::App => &[app::SETTINGS],
        ReferenceSection::Approval => &[approval::SETTINGS],
        ReferenceSection::Limits => &[limits::SETTINGS],
        ReferenceSection::Http => &[http::SETTINGS, http_limits::SETTINGS, auth::SETTINGS, rest::SETTINGS],
        ReferenceSection::State => &[state::SETTINGS],
        ReferenceSection::Telemetry => &[telemetry::SETTINGS],
    };
    tables.iter().copied().flatten()
}

/// The value of a flag that takes many; `None` if it was not given.
fn list(entries: &[String]) -> Option<RawValue> {
    (!entries.is_empty()).then(|| RawValue::List(entries.iter().cloned().map(RawValue::Text).collect()))
}

/// The value of a flag without one: it can only enable.
fn switch(given: bool) -> Option<RawValue> {
    given.then(|| text("true"))
}

fn text(value: impl Into<String>) -> RawValue {
    RawValue::Text(value.into())
}
