//! Only the faces can use the network, and none of them connects to anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::arrows::{folder_of, package_of};
use crate::outside_world::sources;
use crate::tree;

/// The faces, and which of these libraries they may be built from: one listens when it is asked to,
/// one waits for keys. The runtime of the MCP server reads standard input; its part for networks comes with that of
/// the dashboard.
const FACES: [(&str, &[&str]); 3] = [
    ("dashboard", &["hyper", "mio", "socket2", "tokio"]),
    ("tui", &["mio"]),
    ("mcp", &["mio", "socket2", "tokio"]),
];

/// Networking libraries, async runtimes and what is below them.
const NETWORKING: [&str; 16] = [
    "async-std",
    "attohttpc",
    "curl",
    "hyper",
    "isahc",
    "minreq",
    "mio",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "ureq",
];

/// Types that open connections. A `UnixStream` between regreen and its keeper leads nowhere else.
const SOCKETS: [&str; 6] = [
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "net::connect",
    "AddressFamily::INET",
];

/// The face that listens, and what it may use of these.
const LISTENING: (&str, &str) = ("dashboard", "TcpListener");

/// Returns the packages that each package is built from, without those for tests.
fn dependencies(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let names: BTreeMap<&str, &str> = packages
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let nodes = metadata["resolve"]["nodes"].as_array();
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in nodes.into_iter().flatten() {
        let name = |id: &Value| names.get(id.as_str()?).map(|name| (*name).to_owned());
        let Some(package) = name(&node["id"]) else {
            continue;
        };
        let built_from = node["deps"].as_array().into_iter().flatten();
        let built_from = built_from.filter(|dependency| {
            let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
            kinds.any(|kind| kind["kind"] != "dev")
        });
        let built_from = built_from.filter_map(|dependency| name(&dependency["pkg"]));
        all.entry(package).or_default().extend(built_from);
    }
    all
}

/// Returns the networking libraries that a package is built from, as far as they don't come with
/// one of the faces.
fn reachable(all: &BTreeMap<String, Vec<String>>, from: &str) -> BTreeSet<String> {
    let faces: Vec<String> = FACES.iter().map(|(face, _)| package_of(face)).collect();
    let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(package) = next.pop() {
        let is_other_face = package != from && faces.contains(&package);
        if !is_other_face && seen.insert(package.clone()) {
            next.extend(all.get(&package).cloned().unwrap_or_default());
        }
    }
    seen.retain(|package| NETWORKING.contains(&package.as_str()));
    seen
}

fn complaints(all: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let ours = all.keys().filter_map(|package| folder_of(package));
    let complaint = |folder: &str| {
        let allowed = FACES.iter().find(|(face, _)| *face == folder);
        let allowed = allowed.map_or(&[][..], |(_, allowed)| allowed);
        let found = reachable(all, &package_of(folder));
        let forbidden = found.into_iter();
        let forbidden: Vec<String> = forbidden
            .filter(|name| !allowed.contains(&name.as_str()))
            .collect();
        (!forbidden.is_empty()).then(|| format!("{folder} is built from {forbidden:?}"))
    };
    ours.filter_map(complaint).collect()
}

#[test]
fn only_the_faces_are_built_from_libraries_for_networks() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
        ])
        .current_dir(tree::root())
        .output()
        .expect("cargo can be run");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let all = dependencies(&metadata);
    assert!(all.contains_key("regreen"), "the product is in the graph");
    assert_eq!(complaints(&all), [""; 0]);
}

#[test]
fn a_library_for_networks_is_found_however_deep_it_is() {
    let graph = |lines: &[(&str, &str)]| {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (from, to) in lines {
            all.entry((*from).to_owned())
                .or_default()
                .push((*to).to_owned());
        }
        all
    };
    let face = ("regreen-dashboard", "tokio");
    let fine = graph(&[face, ("regreen", "regreen-dashboard")]);
    assert_eq!(complaints(&fine), [""; 0]);
    let deep = graph(&[face, ("regreen-engine", "a"), ("a", "b"), ("b", "tokio")]);
    assert_eq!(complaints(&deep), ["engine is built from [\"tokio\"]"]);
    let client = graph(&[("regreen-dashboard", "reqwest")]);
    assert_eq!(
        complaints(&client),
        ["dashboard is built from [\"reqwest\"]"]
    );
    let more_than_keys = graph(&[("regreen-tui", "mio"), ("regreen-tui", "tokio")]);
    assert_eq!(
        complaints(&more_than_keys),
        ["tui is built from [\"tokio\"]"]
    );
}

#[test]
fn nothing_of_ours_opens_a_connection() {
    for (path, text) in sources() {
        let face = path.iter().nth(1).and_then(|folder| folder.to_str());
        let is_allowed = |name: &&&str| face == Some(LISTENING.0) && **name == LISTENING.1;
        let found: Vec<&&str> = SOCKETS
            .iter()
            .filter(|name| text.contains(**name))
            .filter(|name| !is_allowed(name))
            .collect();
        assert_eq!(found, [&""; 0], "{}", path.display());
    }
    let main = std::path::Path::new("crates/cli/src/main.rs");
    assert!(sources().any(|(path, _)| path == main));
}
