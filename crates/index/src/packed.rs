//! Small values packed into a buffer: numbers in as many bytes as they need, text with its length first.

#[derive(Debug)]
pub(crate) struct BytePacker<'b> {
    pub(crate) bytes: &'b mut Vec<u8>,
}

impl BytePacker<'_> {
    pub(crate) fn number(&mut self, mut number: u64) {
        // Seven bits a byte, the lowest first; the highest bit says that more follow.
        while number >= 0x80 {
            self.bytes.push((number as u8) | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(crate) fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn fixed(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn short(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn optional(&mut self, text: Option<&str>) {
        match text {
            None => self.byte(0),
            Some(text) => {
                self.byte(1);
                self.text(text);
            }
        }
    }
}

/// Reads packed values; `None` if the buffer does not contain them.
#[derive(Clone, Debug)]
pub(crate) struct ByteUnpacker<'b> {
    rest: &'b [u8],
}

impl<'b> ByteUnpacker<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        // More than ten bytes are not a number of 64 bits.
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn length(&mut self) -> Option<usize> {
        self.number().and_then(|number| usize::try_from(number).ok())
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(crate) fn fixed(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    pub(crate) fn short(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let length = self.length()?;
        str::from_utf8(self.bytes(length)?).ok()
    }

    pub(crate) fn optional(&mut self) -> Option<Option<&'b str>> {
        match self.byte()? {
            0 => Some(None),
            _ => self.text().map(Some),
        }
    }

    pub(crate) fn rest(&self) -> &'b [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_are_read_back_and_truncated_ones_are_not() {
        let mut bytes = Vec::new();
        let mut packer = BytePacker { bytes: &mut bytes };
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.into_iter().for_each(|number| packer.number(number));
        packer.fixed(7);
        packer.short(8);
        packer.text("石x");
        packer.optional(None);
        packer.optional(Some(""));
        let mut unpacker = ByteUnpacker::new(&bytes);
        for number in numbers {
            assert_eq!(unpacker.number(), Some(number));
        }
        assert_eq!(unpacker.fixed(), Some(7));
        assert_eq!(unpacker.short(), Some(8));
        assert_eq!(unpacker.text(), Some("石x"));
        assert_eq!(unpacker.optional(), Some(None));
        assert_eq!(unpacker.optional(), Some(Some("")));
        assert_eq!(unpacker.byte(), None);
        assert_eq!(ByteUnpacker::new(&[0x80]).number(), None);
        assert_eq!(ByteUnpacker::new(&[0xff; 12]).number(), None);
        assert_eq!(ByteUnpacker::new(&[5, b'a']).text(), None);
        assert_eq!(ByteUnpacker::new(&[2, 0xff, 0xff]).text(), None);
    }
}
