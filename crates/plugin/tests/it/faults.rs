//! What goes wrong, and what a caller is told.

use std::time::Duration;

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault};
use lapidary_plugin::{
    ApiKey, CertificateTrust, ConnectionSettings, PluginConnection, PluginError, PluginUrl, WriteCondition,
};
use serde_json::{Value, json};

use crate::{connect, every_plugin, path, settings};

const LIMIT: u64 = 1 << 20;

#[test]
fn requests_that_may_be_repeated_are_and_no_others() {
    for setup in [FakeSetup::new(FakeVersion::V4_1), FakeSetup::new(FakeVersion::V6).encrypted()] {
        let plugin = FakePlugin::start(setup.with_files(&[("a.md", b"a")]));
        let connection = connect(&plugin);
        let a = path("a.md");
        for fault in [PluginFault::status(503), PluginFault::status(429), PluginFault::new(FaultKind::Reset)] {
            plugin.fail(fault.clone().times(2));
            assert_eq!(connection.read_file(&a, LIMIT).unwrap().bytes, b"a");
            assert_eq!(plugin.take_requests().len(), 3);
            plugin.fail(fault.clone());
            connection.put_file(&a, b"a", WriteCondition::Nothing).unwrap();
            assert_eq!(plugin.take_requests().len(), 2);
            plugin.fail(fault.clone());
            assert!(connection.search_notes::<Value>(&json!({ "var": "path" })).is_err());
            assert!(connection.search_notes::<Value>(&json!({ "var": "path" })).is_ok());
            plugin.fail(fault.clone());
            assert!(connection.find_file(&a).is_err());
            plugin.fail(fault);
            assert!(connection.without_retries().read_file(&a, LIMIT).is_err());
            plugin.take_requests();
        }
    }
}

#[test]
fn each_failure_has_its_own_name_and_none_of_the_other_sides_words() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("a.md", b"a")]));
    let connection = connect(&plugin).without_retries();
    for (status, error) in [
        (401, PluginError::KeyRejected),
        (403, PluginError::Forbidden),
        (404, PluginError::NotFound),
        (405, PluginError::MethodNotAllowed),
        (409, PluginError::Exists),
        (412, PluginError::Changed),
        (429, PluginError::TooManyRequests),
        (400, PluginError::Rejected { status: 400, code: Some(40000) }),
        (500, PluginError::Upstream { status: 500 }),
        (504, PluginError::Timeout),
        (302, PluginError::Unexpected),
    ] {
        plugin.fail(PluginFault::status(status));
        let found = connection.read_file(&path("a.md"), LIMIT).unwrap_err();
        assert_eq!(found, error);
        assert!(!format!("{found} {found:?}").contains("Secret"), "{found:?}");
    }
}

#[test]
fn a_long_pause_that_is_asked_for_is_not_waited_for() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("a.md", b"a")]));
    plugin.fail(PluginFault::new(FaultKind::Status { status: 429, retry_after: Some(3600) }));
    assert_eq!(connect(&plugin).read_file(&path("a.md"), LIMIT), Err(PluginError::TooManyRequests));
    assert_eq!(plugin.take_requests().len(), 1);
}

#[test]
fn an_answer_that_does_not_come_in_time_is_not_waited_for() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("a.md", b"a")]));
    plugin.fail(PluginFault::new(FaultKind::Slow(Duration::from_secs(3))));
    let hasty = connect(&plugin).with_timeout(Duration::from_millis(300));
    assert_eq!(hasty.read_file(&path("a.md"), LIMIT), Err(PluginError::Timeout));
}

#[test]
fn an_app_that_is_closed_and_opened_again_is_found_again() {
    for mut plugin in every_plugin(&[("a.md", b"a")]) {
        let connection = connect(&plugin);
        assert!(connection.read_file(&path("a.md"), LIMIT).is_ok());
        plugin.stop();
        let closed = connection.without_retries();
        assert_eq!(closed.read_file(&path("a.md"), LIMIT), Err(PluginError::Unreachable));
        plugin.resume();
        assert_eq!(connection.read_file(&path("a.md"), LIMIT).unwrap().bytes, b"a");
    }
}

#[test]
fn only_the_pinned_certificate_is_believed() {
    for version in FakeVersion::ALL {
        let plugin = FakePlugin::start(FakeSetup::new(version).encrypted().with_files(&[("a.md", b"a")]));
        let pinned = connect(&plugin);
        assert!(pinned.read_file(&path("a.md"), LIMIT).is_ok());
        let public = ConnectionSettings { trust: CertificateTrust::Public, ..settings(&plugin) };
        let public = PluginConnection::new(&public).unwrap();
        assert_eq!(public.read_file(&path("a.md"), LIMIT), Err(PluginError::CertificateRejected));
        let any = ConnectionSettings { trust: CertificateTrust::AnyOnThisComputer, ..settings(&plugin) };
        assert!(PluginConnection::new(&any).unwrap().read_file(&path("a.md"), LIMIT).is_ok());
        plugin.take_requests();
        let before = settings(&plugin);
        plugin.renew_certificate();
        let stale = PluginConnection::new(&before).unwrap();
        assert_eq!(stale.read_file(&path("a.md"), LIMIT), Err(PluginError::CertificateRejected));
        assert!(plugin.take_requests().is_empty(), "the key was not sent");
    }
}

#[test]
fn certificates_of_other_computers_are_always_checked() {
    // An address of a network for documentation: nothing is connected to.
    let url = PluginUrl::parse("https://192.0.2.1:27124").unwrap();
    let settings = ConnectionSettings {
        trust: CertificateTrust::AnyOnThisComputer,
        ..ConnectionSettings::new(url, ApiKey::new("key"))
    };
    let connection = PluginConnection::new(&settings).unwrap();
    assert_eq!(connection.read_file(&path("a.md"), LIMIT), Err(PluginError::CertificateRejected));
}

#[test]
fn the_key_is_in_no_debug_text() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1));
    let text = format!("{:?} {:?}", settings(&plugin), connect(&plugin));
    assert!(!text.contains(&plugin.key()), "{text}");
}

#[test]
fn what_is_not_a_certificate_cannot_be_pinned() {
    assert!(CertificateTrust::pinned(b"not a certificate").is_err());
}
