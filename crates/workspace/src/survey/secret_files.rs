/// Endings and names of files that keep keys and passwords. They are never read.
const ENDINGS: [&str; 8] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".tfstate",
];
const NAMES: [&str; 10] = [
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".envrc",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
];
const PARTS: [&str; 4] = ["secret", "credential", "password", "token"];
/// What shows how a file of secrets looks has none.
const EXAMPLES: [&str; 4] = ["example", "sample", "template", "dist"];

/// Whether a file may keep secrets, by its name.
pub(super) fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_env = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    let is_data = !is_source(&name);
    NAMES.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || is_env && !EXAMPLES.iter().any(|example| name.contains(example))
        || is_data && PARTS.iter().any(|part| name.contains(part))
}

/// Code that is about secrets does not keep them.
fn is_source(name: &str) -> bool {
    const SOURCES: [&str; 12] = [
        ".rs", ".py", ".js", ".ts", ".tsx", ".go", ".java", ".rb", ".c", ".cpp", ".h", ".md",
    ];
    SOURCES.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_secrets_are_known_by_their_names() {
        for path in [
            ".env",
            "a/.env.local",
            "prod.env",
            "tls/server.KEY",
            "home/.netrc",
            "config/secrets.yml",
            "aws-credentials",
            "id_rsa",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [".env.example", "src/token.rs", "README.md", "keyboard.py"] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
