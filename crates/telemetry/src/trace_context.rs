//! W3C trace context: whose trace a call belongs to, and whether it is kept.

use std::str::FromStr;

/// The span of the caller, as `traceparent` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    trace: [u8; 16],
    span: [u8; 8],
    sampled: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct NotTraceParent;

impl FromStr for TraceParent {
    type Err = NotTraceParent;

    /// `00-` trace `-` span `-` flags. Versions to come may have more parts; ours has not.
    fn from_str(text: &str) -> Result<Self, NotTraceParent> {
        let mut parts = text.trim().split('-');
        let (Some(version), Some(trace), Some(span), Some(flags)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NotTraceParent);
        };
        let [version] = bytes::<1>(version)?;
        // W3C Trace Context: 0xff is not a version; a later version than 0 may have more parts, which are ignored.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return Err(NotTraceParent);
        }
        let (trace, span, [flags]) = (bytes::<16>(trace)?, bytes::<8>(span)?, bytes::<1>(flags)?);
        // All zeros mean that there is none.
        if trace == [0; 16] || span == [0; 8] {
            return Err(NotTraceParent);
        }
        Ok(Self { trace, span, sampled: flags & 1 == 1 })
    }
}

/// Lower-case hexadecimal digits, exactly this number.
fn bytes<const N: usize>(digits: &str) -> Result<[u8; N], NotTraceParent> {
    let digits = digits.as_bytes();
    if digits.len() != 2 * N || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(NotTraceParent);
    }
    let value = |digit: u8| if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = value(pair[0]) << 4 | value(pair[1]);
    }
    Ok(bytes)
}

/// The trace that a call is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallTrace {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
}

#[cfg(feature = "otlp")]
impl CallTrace {
    /// A new span, if it is to be kept: as the caller decided, otherwise by its share.
    pub(super) fn begin(parent: Option<TraceParent>, sampled_per_million: u32) -> Option<Self> {
        let trace = match parent {
            Some(parent) if !parent.sampled => return None,
            Some(parent) => parent.trace,
            None => {
                let trace: [u8; 16] = random()?;
                // The number of the trace is random, so it decides as well as another random number would.
                let [.., a, b, c, d] = trace;
                let lot = (u64::from(u32::from_be_bytes([a, b, c, d])) * 1_000_000) >> 32;
                if lot >= u64::from(sampled_per_million) {
                    return None;
                }
                trace
            }
        };
        Some(Self { trace, span: random()?, parent: parent.map(|parent| parent.span) })
    }
}

/// Without random numbers there is no trace; the call itself does not fail for it.
#[cfg(feature = "otlp")]
pub(super) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn only_what_the_standard_allows_is_a_parent() {
        let parent: TraceParent = GOOD.parse().unwrap();
        assert_eq!((parent.trace[0], parent.span[7], parent.sampled), (0x0a, 0x31, true));
        assert!(!GOOD.replace("-01", "-00").parse::<TraceParent>().unwrap().sampled);
        assert!(format!("01{}-more", &GOOD[2..]).parse::<TraceParent>().is_ok());
        for bad in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "00-0af7-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319é-b7ad6b7169203331-01",
        ] {
            assert_eq!(bad.parse::<TraceParent>(), Err(NotTraceParent), "{bad}");
        }
    }

    #[cfg(feature = "otlp")]
    #[test]
    fn the_caller_decides_and_otherwise_the_share() {
        let parent: TraceParent = GOOD.parse().unwrap();
        let trace = CallTrace::begin(Some(parent), 0).unwrap();
        assert_eq!((trace.trace, trace.parent), (parent.trace, Some(parent.span)));
        assert_eq!(CallTrace::begin(Some(TraceParent { sampled: false, ..parent }), 1_000_000), None);
        assert!((0..100).all(|_| CallTrace::begin(None, 0).is_none()));
        assert!((0..100).all(|_| CallTrace::begin(None, 1_000_000).is_some()));
    }
}
