//! Addresses and ranges of them, as an owner writes them.

use std::{net::IpAddr, str::FromStr};

/// An address, or all that begin like it: `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    start: IpAddr,
    bits: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write an address like 10.0.0.7 or a range like 10.0.0.0/8")]
pub struct AddressRangeError;

impl FromStr for AddressRange {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let start: IpAddr = address.trim().parse().map_err(|_| AddressRangeError)?;
        // A bare address is a range of one: all bits count.
        let most = if start.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.trim().parse().map_err(|_| AddressRangeError))?;
        if bits <= most { Ok(Self { start, bits }) } else { Err(AddressRangeError) }
    }
}

impl AddressRange {
    pub fn contains(self, address: IpAddr) -> bool {
        // A range of zero bits would shift by the whole width, which is an overflow; it contains everything.
        let shifted = |value: u128, width: u32| value.checked_shr(width - u32::from(self.bits)).unwrap_or(0);
        match (self.start, address) {
            (IpAddr::V4(start), IpAddr::V4(address)) => {
                shifted(u32::from(start).into(), 32) == shifted(u32::from(address).into(), 32)
            }
            (IpAddr::V6(start), IpAddr::V6(address)) => shifted(start.into(), 128) == shifted(address.into(), 128),
            // An IPv4 address is never in a range of IPv6, not even in its mapped form.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_with_a_number_of_bits() {
        for text in ["10.0.0.0/33", "10.0.0/8", "::/129", "x", "10.0.0.1/", "10.0.0.1/-1"] {
            assert_eq!(text.parse::<AddressRange>(), Err(AddressRangeError), "{text}");
        }
        let everything: AddressRange = "0.0.0.0/0".parse().unwrap();
        assert!(everything.contains("203.0.113.9".parse().unwrap()));
    }
}
