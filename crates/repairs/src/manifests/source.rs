//! Where packages are fetched from, without the secret parts of an address.

/// Returns the scheme, host and port of an address: `https://host:8443`. `None` for anything that
/// isn't fetched over HTTP.
pub(crate) fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '?', '#']).next()?;
    // Some parsers take a backslash for the end of the host.
    if authority.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control()) {
        return None;
    }
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let usual_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(usual_port).unwrap_or(&host);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]_".contains(c);
    (!host.is_empty() && host.chars().all(is_plain)).then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path_and_no_password() {
        for (address, expected) in [
            (
                "https://registry.example/ms/-/ms.tgz#x",
                "https://registry.example",
            ),
            (
                "HTTPS://me:secret@Registry.Example:443/",
                "https://registry.example",
            ),
            (
                "http://registry.example:8080",
                "http://registry.example:8080",
            ),
        ] {
            assert_eq!(origin(address).as_deref(), Some(expected), "{address}");
        }
        for address in [
            "git+https://registry.example/x",
            "ssh://git@registry.example/x",
            "file:///x",
            "https:///x",
            "https://registry.example\\@evil.example/x",
            "packages/a",
            "",
        ] {
            assert_eq!(origin(address), None, "{address}");
        }
    }
}
