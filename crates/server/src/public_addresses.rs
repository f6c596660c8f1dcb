//! Which addresses are those of the open internet. Names are looked up first and all of their addresses are checked; the
//! connection is then made to one of exactly these, so that a name cannot lead elsewhere a moment later.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lapidary_config::HostPattern;
use ureq::{
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

/// Names that lead only to public addresses, except those of hosts that the owner named as private.
#[derive(Debug)]
pub(crate) struct PublicAddresses<R> {
    names: R,
    private_hosts: Vec<HostPattern>,
}

/// Why a name is not followed: an error of the resolver, which the one who asked finds again. One for names that do not
/// exist and for those with another address, so that no caller learns which names the owner's own network has.
#[derive(Debug, thiserror::Error)]
#[error("the host has no public address")]
pub(crate) struct NoPublicAddress;

impl<R> PublicAddresses<R> {
    pub(crate) fn new(names: R, private_hosts: Vec<HostPattern>) -> Self {
        Self { names, private_hosts }
    }
}

impl<R: Resolver> Resolver for PublicAddresses<R> {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let closed = || ureq::Error::Other(Box::new(NoPublicAddress));
        let found = self.names.resolve(uri, config, timeout).map_err(|error| match error {
            late @ ureq::Error::Timeout(_) => late,
            _ => closed(),
        })?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let usual = if uri.scheme_str() == Some("http") { 80 } else { 443 };
        let port = uri.port_u16().unwrap_or(usual);
        let may_be_private = self.private_hosts.iter().any(|pattern| pattern.matches(host, port));
        // One private address among public ones is an attempt, too.
        match may_be_private || found.iter().all(|address| is_public(address.ip())) {
            true => Ok(found),
            false => Err(closed()),
        }
    }
}

/// Whether an address is one of the open internet, and of no network that only this computer can reach.
pub(crate) fn is_public(address: IpAddr) -> bool {
    // An address of version 4 inside one of version 6 is judged as what it reaches.
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by the customers of a provider, for protocols, for 6to4, for measuring.
        || (a == 100 && (b & 0xc0) == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b & 0xfe) == 18))
}

/// Global unicast is 2000::/3; within it are ranges for documentation and for tunnels that hide an address of version 4.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_special =
        first == 0x2001 && (second < 0x200 || second == 0xdb8) || first == 0x2002 || (first & 0xfff0) == 0x3ff0;
    (first & 0xe000) == 0x2000 && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_open_internet_are_public() {
        for address in
            ["8.8.8.8", "93.184.216.34", "160.79.104.10", "100.63.0.1", "100.128.0.1", "2606:4700::6810:84e5"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "127.0.0.1",
            "127.255.255.254",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "3fff::1",
            "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
