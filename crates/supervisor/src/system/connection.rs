//! Who is on the other end of a connection on this machine.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::linux::{all_processes, is_one_below_keeper};

/// Returns whether the program that opened a connection belongs to a run; `None` if the connection
/// isn't one of this machine any more. `peer` is the other end, as the accepting side sees it.
///
/// A program whose open files can't be read could be the one, so it counts if it belongs to a run.
pub(crate) fn is_connected_by_a_run(peer: SocketAddr) -> Option<bool> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let texts = tables
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok());
    let sockets: BTreeSet<PathBuf> = texts
        .flat_map(|text| sockets_with(&text, peer.port()))
        .map(|inode| PathBuf::from(format!("socket:[{inode}]")))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let processes = all_processes();
    let mut alive = processes.iter().filter(|stat| !stat.is_dead());
    Some(alive.any(|stat| {
        let has_it = match fs::read_dir(format!("/proc/{}/fd", stat.pid)) {
            Ok(entries) => {
                let open = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
                open.into_iter().any(|open| sockets.contains(&open))
            }
            Err(_) => true,
        };
        has_it && is_one_below_keeper(stat.pid)
    }))
}

/// Returns the sockets whose own end has this port. One that is closed has no number any more.
fn sockets_with(table: &str, port: u16) -> Vec<u64> {
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (_, local) = fields.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(local, 16).ok()? == port;
        let inode = fields.get(9)?.parse().ok()?;
        (is_it && inode != 0).then_some(inode)
    };
    table.lines().filter_map(socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_known_by_its_own_port_until_it_is_closed() {
        let line = "   0: 0100007F:1F90 0100007F:1234 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0";
        assert_eq!(sockets_with(line, 8080), [4711]);
        assert_eq!(sockets_with(line, 0x1234), [0; 0]);
        assert_eq!(sockets_with(&line.replace("4711", "0"), 8080), [0; 0]);
    }
}
