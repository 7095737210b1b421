//! What a CI system or a runner puts before every line: timestamps, the names of jobs, services and
//! scripts. Behind it stands the line as its program printed it, with its indentation.

/// The fractions of a second of timestamps that GitHub Actions and Azure Pipelines write, and those
/// of GitLab CI. Records of programs have others, and their timestamps say that they are records.
const GITHUB_DIGITS: usize = 7;
const GITLAB_DIGITS: usize = 6;
/// Those of Jenkins, which writes them in brackets.
const JENKINS_DIGITS: usize = 3;
/// How long the name of a job or a step may be.
const MAX_NAME: usize = 120;
/// Scripts whose name and package pnpm and turbo put before each line.
const SCRIPTS: [&str; 12] = [
    "test",
    "build",
    "lint",
    "check",
    "ci",
    "typecheck",
    "types",
    "format",
    "prepare",
    "compile",
    "e2e",
    "unit",
];

/// Returns a line without the prefixes of the systems that ran its program.
pub(crate) fn without_prefix(line: &str) -> &str {
    let rest = without_job(line);
    let rest = without_time(rest).unwrap_or(rest);
    let inner = without_build_step(rest)
        .or_else(|| without_service(rest))
        .or_else(|| without_script(rest));
    inner.unwrap_or(rest)
}

/// `gh` names the job and the step before the timestamp.
fn without_job(line: &str) -> &str {
    let mut names = line.splitn(3, '\t');
    let is_name = |name: Option<&str>| name.is_some_and(|name| name.len() <= MAX_NAME);
    let rest = (is_name(names.next()) && is_name(names.next())).then(|| names.next());
    let stamped = |rest: &&str| without_time(rest).is_some();
    rest.flatten().filter(stamped).unwrap_or(line)
}

/// Strips `2026-01-02T03:04:05.1234567Z `, `[2026-01-02T03:04:05.123Z] ` of Jenkins, and GitLab's stream number behind its timestamps.
fn without_time(line: &str) -> Option<&str> {
    const SECONDS: &[u8] = b"dddd-dd-ddTdd:dd:dd.";
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let (line, is_bracketed) = match line.strip_prefix('[') {
        Some(line) => (line, true),
        None => (line, false),
    };
    let bytes = line.as_bytes();
    let fits = |(byte, form): (&u8, &u8)| byte == form || (*form == b'd' && byte.is_ascii_digit());
    if bytes.len() <= SECONDS.len() || !bytes.iter().zip(SECONDS).all(fits) {
        return None;
    }
    let (fraction, rest) = line[SECONDS.len()..].split_once('Z')?;
    let rest = if is_bracketed {
        rest.strip_prefix(']')?
    } else {
        rest
    };
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match (fraction.len(), is_bracketed) {
        (GITHUB_DIGITS, false) | (JENKINS_DIGITS, true) => Some(rest),
        (GITLAB_DIGITS, false) => without_stream(rest),
        _ => None,
    }
}

/// Strips `01O `, or `01O+` before the continuation of a line.
fn without_stream(line: &str) -> Option<&str> {
    let (number, rest) = line.split_at_checked(2)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rest = rest.strip_prefix(['O', 'E']).filter(|_| is_number)?;
    Some(rest.strip_prefix([' ', '+']).unwrap_or(rest))
}

/// Strips `#9 1.234 ` of docker build.
fn without_build_step(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('#')?.split_once(' ')?;
    let (seconds, rest) = rest.split_once(' ')?;
    let is_time = |text: &str| {
        let (whole, part) = text.split_once('.')?;
        (is_number(whole) && is_number(part)).then_some(())
    };
    (is_number(number) && is_time(seconds).is_some()).then_some(rest)
}

/// Strips `web_1  | ` and `web-1 | ` of docker compose.
fn without_service(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(' ')?;
    let (_, number) = name.rsplit_once(['_', '-'])?;
    let rest = rest.trim_start_matches(' ').strip_prefix('|')?;
    is_number(number).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// Strips `packages/web test: ` of pnpm and `web:test: ` of turbo.
fn without_script(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(": ")?;
    let (package, script) = name.split_once([' ', ':'])?;
    let is_package = !package.is_empty() && !package.contains(|c: char| c.is_whitespace());
    let script = script.split(':').next().unwrap_or(script);
    let is_folder = package == "." || package.contains('/') || !name.contains(' ');
    (is_package && is_folder && SCRIPTS.contains(&script)).then_some(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_a_runner_is_stripped_and_the_indentation_stays() {
        for prefix in [
            "2026-01-02T03:04:05.1234567Z ",
            "\u{feff}2026-01-02T03:04:05.1234567Z ",
            "build (3.11)\tRun tests\t2026-01-02T03:04:05.1234567Z ",
            "2026-01-02T03:04:05.123456Z 01O ",
            "2026-01-02T03:04:05.123456Z 01E+",
            "[2026-01-02T03:04:05.123Z] ",
            "#12 0.345 ",
            "2026-01-02T03:04:05.1234567Z #12 0.345 ",
            "web_1  | ",
            "shop-web-1  | ",
            "packages/web test: ",
            ". build: ",
            "@shop/web:test: ",
        ] {
            assert_eq!(without_prefix(&format!("{prefix}  1) adds")), "  1) adds");
        }
    }

    #[test]
    fn lines_of_programs_stay_as_they_are() {
        for line in [
            "",
            "  1) adds",
            "2026-01-02T03:04:05.678Z ERROR pool-3 boom",
            "2026-01-02T03:04:05Z boom",
            "2026-01-02T03:04:05.12é4567Z boom",
            "#12 [4/5] RUN make",
            "#12 DONE 3.4s",
            "src/a.c error: boom",
            "src/a.c:3:5: error: boom",
            "a test: boom",
            "x | y",
            "a\tb\tc",
            "E   assert 3 == 4",
        ] {
            assert_eq!(without_prefix(line), line);
        }
    }
}
