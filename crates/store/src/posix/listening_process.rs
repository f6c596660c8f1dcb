//! Which process listens on a port of this computer, for the person who wants that port.

use std::fs;

/// A process, as a person finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListeningProcess {
    pub id: u32,
    pub name: String,
}

/// The process that listens on a port, if the system says so without a privilege. Only Linux does, and only of the same user.
pub fn listening_process(port: u16) -> Option<ListeningProcess> {
    // Other systems have no such files.
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].iter().filter_map(|table| fs::read_to_string(table).ok());
    let sockets: Vec<String> = tables.flat_map(|table| listening_sockets(&table, port)).collect();
    let processes = fs::read_dir("/proc").ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path()))
    });
    for (id, folder) in processes {
        // Those of other users cannot be looked at.
        let Ok(open) = fs::read_dir(folder.join("fd")) else { continue };
        let mut places = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        if places.any(|place| sockets.iter().any(|socket| place.as_os_str() == socket.as_str())) {
            let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
            return Some(ListeningProcess { id, name: name.trim().to_owned() });
        }
    }
    None
}

/// The sockets in a table of the kernel that listen on a port, as the files of a process name them.
fn listening_sockets(table: &str, port: u16) -> Vec<String> {
    const LISTENS: &str = "0A";
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, found) = fields.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(found, 16) == Ok(port) && *fields.get(3)? == LISTENS;
        is_it.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]"))).flatten()
    };
    table.lines().filter_map(socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_found_in_the_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:0BC2 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0\n   \
                     1: 0100007F:0BC2 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0\n";
        assert_eq!(listening_sockets(table, 3010), ["socket:[4711]"]);
        assert_eq!(listening_sockets(table, 3011), Vec::<String>::new());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_by_its_port() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = listening_process(listener.local_addr().unwrap().port()).unwrap();
        assert_eq!(found.id, std::process::id());
        assert!(!found.name.is_empty());
    }
}
