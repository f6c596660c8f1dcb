//! Why a call of the plugin failed: a closed list, with nothing of what the other side said.

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    #[error("no connection to Obsidian's Local REST API")]
    Unreachable,
    #[error("its certificate is not the expected one")]
    CertificateRejected,
    #[error("it does not accept the key")]
    KeyRejected,
    #[error("it forbids this")]
    Forbidden,
    #[error("it has no such file, note or command")]
    NotFound,
    /// The path is a folder, or the version of the plugin does not have this method.
    #[error("it does not allow this for the path")]
    MethodNotAllowed,
    #[error("the path is a folder")]
    IsFolder,
    #[error("the destination exists")]
    Exists,
    /// The condition of a request does not hold.
    #[error("the file is not in the expected version")]
    Changed,
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("it did not answer in time")]
    Timeout,
    /// It is Lapidary, which says so (see [`AppState`](crate::AppState)).
    #[error("it has no Obsidian app")]
    NoApp,
    #[error("it keeps the commands of its app off")]
    CommandsOff,
    #[error("it has too many requests")]
    TooManyRequests,
    #[error("this period is not enabled in its settings")]
    PeriodDisabled,
    #[error("this version of the plugin does not know periodic notes")]
    PeriodUnsupported,
    /// `code` is the plugin's own number for the error, if it gave one.
    #[error("it refused the request with {status}")]
    Rejected { status: u16, code: Option<u32> },
    #[error("it failed with {status}")]
    Upstream { status: u16 },
    /// The answer is not one of the plugin; another program may have its port.
    #[error("its answer is not one of the Local REST API")]
    Unexpected,
}

impl PluginError {
    /// What a status says. `code` is the number in the body.
    pub(crate) fn of_status(status: u16, code: Option<u32>) -> Self {
        match status {
            401 => Self::KeyRejected,
            402 | 403 => Self::Forbidden,
            404 => Self::NotFound,
            405 => Self::MethodNotAllowed,
            408 | 425 | 504 => Self::Timeout,
            409 => Self::Exists,
            412 => Self::Changed,
            429 => Self::TooManyRequests,
            // It is this process: see `SENDER`.
            508 => Self::Unreachable,
            400..500 => Self::Rejected { status, code },
            500.. => Self::Upstream { status },
            // Nothing that the plugin sends; a redirect would take the key elsewhere.
            _ => Self::Unexpected,
        }
    }

    /// What went wrong with a request before there was an answer, or while it arrived.
    pub(crate) fn of_transport(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::Tls(_) => Self::CertificateRejected,
            ureq::Error::Rustls(error) => Self::of_tls(error),
            ureq::Error::BodyExceedsLimit(limit) => Self::TooLarge { limit: *limit },
            ureq::Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                // A handshake fails as reading does.
                Some(error) => Self::of_tls(error),
                None if error.kind() == std::io::ErrorKind::TimedOut => Self::Timeout,
                None => Self::Unreachable,
            },
            _ => Self::Unreachable,
        }
    }

    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => Self::CertificateRejected,
            _ => Self::Unreachable,
        }
    }

    /// Whether the same request may succeed a moment later.
    pub(crate) fn is_transient(self) -> bool {
        match self {
            Self::Unreachable | Self::Timeout | Self::TooManyRequests => true,
            // It will not learn a method that it does not have.
            Self::Upstream { status } => status != 501,
            _ => false,
        }
    }

    /// Whether the other side may have carried out a request that failed like this.
    pub fn is_undecided(self) -> bool {
        matches!(self, Self::Unreachable | Self::Timeout | Self::Upstream { .. } | Self::Unexpected)
    }
}
