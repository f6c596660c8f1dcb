//! The few messages of OTLP that are sent, in the encoding of protocol buffers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct ProtoMessage(Vec<u8>);

const WIRE_VARINT: u64 = 0;
const WIRE_FIXED_64: u64 = 1;
const WIRE_BYTES: u64 = 2;

impl ProtoMessage {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        // Seven bits in a byte; the highest says that more follow.
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u64, kind: u64) {
        // The number of a field and its wire type share one varint.
        self.varint(field << 3 | kind);
    }

    pub(super) fn number(mut self, field: u64, value: u64) -> Self {
        self.tag(field, WIRE_VARINT);
        self.varint(value);
        self
    }

    pub(super) fn fixed(mut self, field: u64, value: u64) -> Self {
        self.tag(field, WIRE_FIXED_64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn double(self, field: u64, value: f64) -> Self {
        self.fixed(field, value.to_bits())
    }

    pub(super) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.tag(field, WIRE_BYTES);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub(super) fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    pub(super) fn messages(self, field: u64, values: impl IntoIterator<Item = Self>) -> Self {
        values.into_iter().fold(self, |message, value| message.message(field, &value))
    }

    /// A list of numbers of eight bytes each.
    pub(super) fn packed(self, field: u64, values: impl IntoIterator<Item = u64>) -> Self {
        // Packed, the default for repeated numbers in proto3.
        let bytes: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes)
    }

    /// A key with a text.
    pub(super) fn attribute(self, field: u64, key: &str, value: &str) -> Self {
        // A value is one of several types (`AnyValue`): field 1 is a text.
        let value = Self::default().text(1, value);
        self.message(field, &Self::default().text(1, key).message(2, &value))
    }

    /// A key with a number.
    pub(super) fn count(self, field: u64, key: &str, value: u64) -> Self {
        // Field 3 of the same is an integer.
        let value = Self::default().number(3, value);
        self.message(field, &Self::default().text(1, key).message(2, &value))
    }
}

/// Nanoseconds since 1970.
pub(super) fn nanoseconds(time: SystemTime) -> u64 {
    // A clock before 1970 counts as 1970.
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_the_standard_says() {
        let inner = ProtoMessage::default().text(1, "é");
        let written = ProtoMessage::default().number(1, 300).fixed(2, 1).message(15, &inner).into_bytes();
        assert_eq!(written, [0x08, 0xac, 0x02, 0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0x7a, 4, 0x0a, 2, 0xc3, 0xa9]);
        let packed = ProtoMessage::default().packed(6, [1, 2]).into_bytes();
        assert_eq!(packed[..2], [0x32, 16]);
        assert_eq!(ProtoMessage::default().number(1, u64::MAX).into_bytes().len(), 11);
    }
}
