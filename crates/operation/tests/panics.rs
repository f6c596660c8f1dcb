//! What the log contains about a panic. A separate test binary, because the hook is process-wide.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use lapidary_operation::{Bug, CaughtUnwind, catch_panic, install_panic_hook};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// Writes down every event.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        struct Fields<'a>(&'a mut String);
        impl Visit for Fields<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                *self.0 += &format!("{field}={value:?} ");
            }
        }
        event.record(&mut Fields(&mut self.0.lock().expect("no test panics with it")));
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn as_bug(caught: CaughtUnwind) -> Bug {
    match caught {
        CaughtUnwind::Panic(bug) => bug,
        CaughtUnwind::Stopped(_) => panic!("it was not stopped"),
    }
}

#[test]
fn a_panic_is_logged_with_id_and_place_and_without_the_text_that_it_quotes() {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    install_panic_hook();
    let said = || std::mem::take(&mut *log.0.lock().unwrap());

    let text = "my söcret diary";
    let caught = |run: fn(&str) -> usize| -> Bug { as_bug(catch_panic(|| run(text)).unwrap_err()) };
    let bug = caught(|text| text[..5].len());
    let said_of_it = said();
    assert!(bug.at().contains("panics.rs:"), "{bug:?}");
    assert!(said_of_it.contains(&bug.id()) && said_of_it.contains(bug.at()), "{said_of_it}");
    assert!(!said_of_it.contains("diary") && !format!("{bug:?}").contains("diary"), "{said_of_it}");

    // A thread outside our control: the hook logs the place, and the code that joins the thread reports the failure.
    let broken = std::thread::spawn(|| panic!("my secret diary")).join().unwrap_err();
    let bug = as_bug(catch_panic(|| std::panic::resume_unwind(broken)).unwrap_err());
    let said = said();
    assert!(said.contains("panics.rs:") && said.contains(&bug.id()), "{said}");
    assert!(!said.contains("diary"), "{said}");
}
