//! From which address a client calls, also through a proxy.

use std::net::IpAddr;

use axum::http::HeaderMap;
use lapidary_config::AddressRange;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client that sent a request. What a proxy says counts only if we trust it; behind several, the last that we
/// do not trust is the client.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    // A proxy on this computer is always trusted: to forge its header one has to be on this computer already.
    let is_trusted = |address: IpAddr| address.is_loopback() || trusted.iter().any(|range| range.contains(address));
    // Without a trusted proxy, the header is only what the client wrote.
    if !is_trusted(peer) {
        return peer;
    }
    let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    // The header may come several times, which means the same as one list (RFC 9110, 5.3).
    let chain: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    let mut client = peer;
    // From the nearest proxy outwards: each one adds the address that it saw.
    for written in chain.iter().rev() {
        // A trusted proxy writes addresses, so this and everything before it was sent by the client.
        let Ok(address) = written.parse::<IpAddr>() else { return client };
        client = address.to_canonical();
        if !is_trusted(client) {
            return client;
        }
    }
    client
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        let client = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(FORWARDED_FOR, forwarded.parse().unwrap());
            client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
        };
        assert_eq!(client("203.0.113.9", "198.51.100.1"), "203.0.113.9");
        assert_eq!(client("127.0.0.1", "198.51.100.1"), "198.51.100.1");
        assert_eq!(
            client("127.0.0.1", "1.1.1.1, 198.51.100.1, 10.2.3.4"),
            "198.51.100.1",
            "what the client wrote itself"
        );
        assert_eq!(client("127.0.0.1", "nonsense"), "127.0.0.1");
        assert_eq!(client("2001:db8::7", "::ffff:198.51.100.1"), "198.51.100.1");
        assert_eq!(client("11.0.0.1", "198.51.100.1"), "11.0.0.1");
    }
}
