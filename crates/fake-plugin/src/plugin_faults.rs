//! What goes wrong, and when.

use std::time::Duration;

use parking_lot::Mutex;

use crate::RecordedRequest;

/// A fault of the next requests that fit.
#[derive(Clone, Debug)]
pub struct PluginFault {
    pub kind: FaultKind,
    /// Only requests of this method.
    pub method: Option<&'static str>,
    /// Only requests whose path contains this.
    pub path: Option<String>,
    /// Requests that fit and are left alone before it begins.
    pub after: usize,
    /// How many requests fail.
    pub times: usize,
}

#[derive(Clone, Debug)]
pub enum FaultKind {
    /// The connection ends before the request is carried out.
    Reset,
    /// It is carried out, and the connection ends before the answer.
    Unanswered,
    Status {
        status: u16,
        retry_after: Option<u64>,
    },
    Slow(Duration),
    /// Something else has the port: these bytes are the answer, and then the connection ends.
    Raw(Vec<u8>),
    /// The same, followed by this, again and again with a pause, until the other side has gone.
    Endless {
        head: Vec<u8>,
        part: Vec<u8>,
        pause: Duration,
    },
    /// Another program writes a file just before the request is carried out.
    Written {
        path: String,
        bytes: Vec<u8>,
    },
}

impl PluginFault {
    pub fn new(kind: FaultKind) -> Self {
        Self { kind, method: None, path: None, after: 0, times: 1 }
    }

    pub fn status(status: u16) -> Self {
        Self::new(FaultKind::Status { status, retry_after: None })
    }

    #[must_use]
    pub fn of(mut self, method: &'static str, path: &str) -> Self {
        self.method = Some(method);
        self.path = Some(path.to_owned());
        self
    }

    #[must_use]
    pub fn after(mut self, requests: usize) -> Self {
        self.after = requests;
        self
    }

    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    fn fits(&self, request: &RecordedRequest) -> bool {
        self.method.is_none_or(|method| request.method == method)
            && self.path.as_ref().is_none_or(|path| request.path.contains(path.as_str()))
    }
}

#[derive(Default)]
pub(crate) struct FaultQueue(Mutex<Vec<PluginFault>>);

impl FaultQueue {
    pub(crate) fn add(&self, fault: PluginFault) {
        self.0.lock().push(fault);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }

    /// What happens to this request.
    pub(crate) fn take(&self, request: &RecordedRequest) -> Option<FaultKind> {
        let mut faults = self.0.lock();
        // In the order in which they were added; one that is used up is passed over.
        let at = faults.iter().position(|fault| fault.times > 0 && fault.fits(request))?;
        let fault = &mut faults[at];
        if fault.after > 0 {
            // Counted even though nothing fails yet.
            fault.after -= 1;
            return None;
        }
        fault.times -= 1;
        Some(fault.kind.clone())
    }
}
