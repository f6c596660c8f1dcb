//! What contents and parsed structures take in memory, charged to the call of their thread as long as they exist.
//!
//! The price of a parse is estimated before anything is built. Without a account, nothing is charged.

use std::{cell::RefCell, fmt, sync::Arc};

/// A text below this is priced by its length alone.
const SHORT: usize = 32 << 10;
/// The price of a byte of text: the text that the parser sees, and what an edit makes of it.
const PER_BYTE: u64 = 4;
/// The price of a character with which structure may begin or end: the nodes of the parser and our own parts.
const PER_MARK: u64 = 96;

/// Keeps account of what a call holds.
pub trait MemoryCharges: Send + Sync {
    /// This many bytes more. May wait until there is room, or unwind ([`crate::check_work`]) if there will be none.
    fn hold(&self, bytes: u64);

    /// The same on a thread that works for the call: never unwinds, and waits only as long as `go_on` says so. Returns
    /// whether there is room; without it the call ends soon, and this is charged until then.
    fn hold_aside(&self, bytes: u64, go_on: &dyn Fn() -> bool) -> bool;

    /// This many bytes less; on any thread.
    fn release(&self, bytes: u64);
}

/// Charges a call for a thread of a pool. It does not wait: the call that it would wait for may need the thread.
struct PoolCharges(Arc<dyn MemoryCharges>);

impl MemoryCharges for PoolCharges {
    fn hold(&self, bytes: u64) {
        self.0.hold_aside(bytes, &|| false);
    }

    fn hold_aside(&self, bytes: u64, _: &dyn Fn() -> bool) -> bool {
        self.0.hold_aside(bytes, &|| false)
    }

    fn release(&self, bytes: u64) {
        self.0.release(bytes);
    }
}

thread_local! {
    static CHARGES: RefCell<Option<Arc<dyn MemoryCharges>>> = const { RefCell::new(None) };
}

/// While this exists, what this thread holds is charged to a account.
#[must_use]
pub struct ChargedThread(Option<Arc<dyn MemoryCharges>>);

/// Charges what this thread holds from now on to a account, or to none.
pub fn charge_thread(account: Option<Arc<dyn MemoryCharges>>) -> ChargedThread {
    // The account before it is restored when this ends, as calls may be nested.
    ChargedThread(CHARGES.replace(account))
}

/// The account that this thread's memory is charged to.
pub fn current_charges() -> Option<Arc<dyn MemoryCharges>> {
    CHARGES.with_borrow(Clone::clone)
}

/// Charges other threads to the account of this one, while they work for its call.
#[derive(Clone)]
pub struct ChargeAside(Option<Arc<dyn MemoryCharges>>);

impl ChargeAside {
    /// For work that this thread gives to others.
    pub fn of_this_thread() -> Self {
        Self(current_charges().map(|account| Arc::new(PoolCharges(account)) as Arc<dyn MemoryCharges>))
    }

    /// On the other thread, for a piece of the work.
    pub fn charge<T>(&self, work: impl FnOnce() -> T) -> T {
        let _charged = charge_thread(self.0.clone());
        work()
    }
}

impl Drop for ChargedThread {
    fn drop(&mut self) {
        CHARGES.set(self.0.take());
    }
}

/// How much memory it takes to parse a text and to work with its structure, as an estimated upper bound.
pub fn parse_price(text: &str) -> u64 {
    // Counting the marks of a short text would take longer than it saves.
    let marks = if text.len() < SHORT { text.len() / 8 } else { text.bytes().filter(|byte| is_mark(*byte)).count() };
    (text.len() as u64).saturating_mul(PER_BYTE).saturating_add((marks as u64).saturating_mul(PER_MARK))
}

/// Punctuation, and the end of a line.
fn is_mark(byte: u8) -> bool {
    byte.is_ascii_punctuation() || byte == b'\n'
}

/// Memory that is charged as long as this exists: that of a content or a parse, or what other crates make of them.
#[derive(Default)]
pub struct HeldMemory {
    account: Option<Arc<dyn MemoryCharges>>,
    bytes: u64,
}

impl HeldMemory {
    pub fn of(bytes: u64) -> Self {
        let mut held = Self::default();
        held.add(bytes);
        held
    }

    /// Charges this many bytes more.
    pub fn add(&mut self, bytes: u64) {
        let Some(account) = self.account.clone().or_else(current_charges) else { return };
        // Before it is charged, so that unwinding releases it.
        self.bytes = self.bytes.saturating_add(bytes);
        self.account = Some(Arc::clone(&account));
        account.hold(bytes);
    }

    /// Charges what has grown to this many bytes. It never shrinks.
    pub fn grow_to(&mut self, bytes: usize) {
        let more = (bytes as u64).saturating_sub(self.bytes);
        if more > 0 {
            self.add(more);
        }
    }

    /// What is charged; 0 without an account.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// For parsing a text, and for what is kept of it.
    pub(crate) fn for_parsing(text: &str) -> Self {
        // The price is looked for only if it is paid.
        if CHARGES.with_borrow(Option::is_none) { Self::default() } else { Self::of(parse_price(text)) }
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.release(self.bytes);
        }
    }
}

/// A copy takes as much again.
impl Clone for HeldMemory {
    fn clone(&self) -> Self {
        if self.account.is_none() { Self::default() } else { Self::of(self.bytes) }
    }
}

/// Equal structures are equal, however they are charged.
impl PartialEq for HeldMemory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for HeldMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldMemory")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::Document;

    #[derive(Default)]
    struct CountingCharges(AtomicU64);

    impl MemoryCharges for CountingCharges {
        fn hold(&self, bytes: u64) {
            self.0.fetch_add(bytes, Ordering::Relaxed);
        }

        fn hold_aside(&self, bytes: u64, _: &dyn Fn() -> bool) -> bool {
            self.hold(bytes);
            true
        }

        fn release(&self, bytes: u64) {
            self.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn threads_that_work_for_a_call_are_charged_to_it() {
        let account = Arc::new(CountingCharges::default());
        let held = || account.0.load(Ordering::Relaxed);
        let charged = charge_thread(Some(Arc::<CountingCharges>::clone(&account)));
        let aside = ChargeAside::of_this_thread();
        drop(charged);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let open = || Document::open("# A\n".repeat(1000)).unwrap();
                let document = aside.charge(open);
                assert_eq!(held(), 4000);
                let other = open();
                assert_eq!(held(), 4000, "only while it works for the call");
                drop((document, other));
            });
        });
        assert_eq!(held(), 0);
    }

    #[test]
    fn contents_and_structures_are_charged_while_they_exist() {
        let account = Arc::new(CountingCharges::default());
        let held = || account.0.load(Ordering::Relaxed);
        let charged = charge_thread(Some(Arc::<CountingCharges>::clone(&account)));
        let document = Document::open("# A\n".repeat(1000)).unwrap();
        assert_eq!(held(), 4000, "the content");
        assert_eq!(document.note().headings.len(), 1000);
        let parsed = held();
        assert!(parsed > 4000 + 4 * 4000, "{parsed}");
        let again = document.clone();
        assert_eq!((again.note().headings.len(), held()), (1000, parsed), "the same document");
        drop((document, again));
        assert_eq!(held(), 0);
        drop(charged);
        let later = Document::open("# A\n".to_owned()).unwrap();
        assert_eq!((later.note().headings.len(), held()), (1, 0), "another call");
    }

    #[test]
    fn prose_is_cheap_and_a_text_of_links_is_dear() {
        let price = |text: &str| parse_price(&text.repeat((1 << 20) / text.len())) >> 20;
        assert_eq!(price("plain words of a long note and no structure at all, none, for a whole line.\n"), 9);
        assert!(price("[[a]] ") >= 60, "{}", price("[[a]] "));
    }
}
