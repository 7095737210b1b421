//! The normal form of a line: paths, hosts, versions, numbers, hashes, times and names of the
//! project become placeholders.

const NUMBER: &str = "<n>";
const PATH: &str = "<path>";
const HOST: &str = "<host>";
const NAME: &str = "<name>";

/// Endings of file names. Elsewhere, a dot separates the parts of a name or a host.
const ENDINGS: [&str; 48] = [
    "c", "cc", "cfg", "cjs", "conf", "cpp", "cs", "css", "csv", "db", "env", "go", "gradle", "gz",
    "h", "hpp", "html", "ini", "ipynb", "java", "js", "json", "jsx", "kt", "lock", "log", "md",
    "mjs", "o", "php", "pl", "pm", "py", "rb", "rs", "scala", "sh", "so", "sql", "sqlite", "swift",
    "tar", "toml", "ts", "tsx", "txt", "yaml", "yml",
];

/// Opening quotes, each with the closing ones that may end it. In old messages a backtick opens
/// and an apostrophe closes.
const QUOTES: [(char, &[char]); 5] = [
    ('\'', &['\'']),
    ('"', &['"']),
    ('`', &['`', '\'']),
    ('‘', &['’']),
    ('“', &['”']),
];

/// A quote that closes later than this is an apostrophe.
const MAX_QUOTED: usize = 200;

/// Words after which languages put a name without quotes, and before.
const BEFORE_NAME: [&str; 11] = [
    "referenceerror:",
    "undefined:",
    "name:",
    "table:",
    "column:",
    "merge:",
    "subroutine",
    "function",
    "member",
    "branch",
    "target",
];
const AFTER_NAME: [(&str, &str); 4] = [
    ("is", "not"),
    ("got", "an"),
    ("missing", "<n>"),
    ("takes", "<n>"),
];

/// Returns the normal form. With `keeps_names`, names in it are part of the cause.
pub(super) fn normal_form(line: &str, keeps_names: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    for piece in pieces(line) {
        match piece {
            Piece::Quoted(text) => words.push(quoted(text, keeps_names)),
            Piece::Plain(text) => {
                let plain = text.split(|c: char| c.is_whitespace() || "[]()".contains(c));
                let plain = plain.filter(|word| !word.is_empty());
                words.extend(plain.map(|word| plain_word(word, keeps_names)));
            }
        }
    }
    if !keeps_names {
        hide_bare_names(&mut words);
    }
    joined(&words)
}

enum Piece<'t> {
    Quoted(&'t str),
    Plain(&'t str),
}

/// Divides a line at its quotes.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain_from = 0;
    let mut at = 0;
    while let Some(c) = line.get(at..).and_then(|rest| rest.chars().next()) {
        let inside = at + c.len_utf8();
        let opens = !line[..at].ends_with(char::is_alphanumeric);
        let closing = closing_of(c).filter(|_| opens);
        let rest = line.get(inside..).unwrap_or_default();
        let end = closing.and_then(|closing| end_of_quote(rest, closing));
        let Some((length, quote)) = end else {
            at = inside;
            continue;
        };
        pieces.push(Piece::Plain(&line[plain_from..at]));
        pieces.push(Piece::Quoted(&rest[..length]));
        at = inside + length + quote;
        plain_from = at;
    }
    pieces.push(Piece::Plain(line.get(plain_from..).unwrap_or_default()));
    pieces
}

fn closing_of(c: char) -> Option<&'static [char]> {
    QUOTES
        .iter()
        .find(|(open, _)| *open == c)
        .map(|(_, close)| *close)
}

/// Returns the length of the quoted text and of its closing quote.
fn end_of_quote(rest: &str, closing: &[char]) -> Option<(usize, usize)> {
    let (length, quote) = rest.char_indices().take(MAX_QUOTED).find(|(at, c)| {
        let after = rest.get(at + c.len_utf8()..).unwrap_or_default();
        closing.contains(c) && !after.starts_with(char::is_alphanumeric)
    })?;
    Some((length, quote.len_utf8()))
}

fn quoted(text: &str, keeps_names: bool) -> String {
    if text.is_empty() {
        return NAME.to_owned();
    }
    // A version may follow: `serde v1.0.3`.
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    if keeps_names && is_package(first) && words.all(is_number) {
        return package(first);
    }
    NAME.to_owned()
}

/// Whether the text is the name of a package, a program or a variable: not a path or a sentence.
fn is_package(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "._-@/+:".contains(c);
    let is_path = text.starts_with(['.', '/', '~']) || text.contains("..");
    text.chars().all(is_name) && text.contains(char::is_alphabetic) && !is_path
}

/// Returns the package that a module belongs to, without its version: `yaml.loader` is in `yaml`,
/// `@a/b/c@1.2` in `@a/b`.
fn package(text: &str) -> String {
    let version = text.rfind('@').filter(|at| *at > 0);
    let name = version.and_then(|at| text.get(..at)).unwrap_or(text);
    let mut parts = name.split(['/', ':']).filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    let whole = match parts.next() {
        Some(second) if first.starts_with('@') => format!("{first}/{second}"),
        _ => first.to_owned(),
    };
    let is_file = whole
        .rsplit_once('.')
        .is_some_and(|(_, end)| is_ending(end));
    let module = if is_file {
        whole.as_str()
    } else {
        whole.split('.').next().unwrap_or_default()
    };
    module.to_lowercase()
}

fn is_ending(end: &str) -> bool {
    ENDINGS.contains(&end.to_lowercase().as_str())
}

/// Returns the normal form of a word outside of quotes, with the punctuation around it.
fn plain_word(word: &str, keeps_names: bool) -> String {
    let is_edge = |c: char| "{}<>,;:!?*|=".contains(c);
    let start = word.len() - word.trim_start_matches(is_edge).len();
    let core = word[start..]
        .trim_end_matches(is_edge)
        .trim_end_matches('.');
    let (before, after) = (&word[..start], &word[start + core.len()..]);
    if core.is_empty() {
        return word.to_owned();
    }
    // A symbol of Ruby or Elixir.
    if before == ":" && core.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return format!(":{NAME}{after}");
    }
    format!("{before}{}{after}", core_word(core, keeps_names))
}

fn core_word(core: &str, keeps_names: bool) -> String {
    if core.contains("://") || is_address(core) {
        return HOST.to_owned();
    }
    if is_number(core) || core.contains("+0x") {
        return NUMBER.to_owned();
    }
    if keeps_names && is_library(core) {
        return core.to_lowercase();
    }
    if is_path(core) {
        return PATH.to_owned();
    }
    if let Some(after) = after_place(core) {
        return format!("{PATH}:{}", core_word(after, keeps_names));
    }
    if is_host(core) {
        return HOST.to_owned();
    }
    if is_hash(core) {
        return NUMBER.to_owned();
    }
    if keeps_names && is_package(core) {
        return package(core);
    }
    if is_identifier(core) {
        return NAME.to_owned();
    }
    let text = core.to_lowercase();
    // `[Errno 2]` is a number of the tool's, `line 3` one of the file's; neither names a cause
    // that the words beside it do not.
    replace_digits(&text)
}

/// A number, a version, a time, a duration or a size: `12`, `v1.2.3-rc1`, `12:30:01`, `3.2s`.
fn is_number(core: &str) -> bool {
    let digits = core.strip_prefix(['v', 'V', '-', '+', '^', '~', '#', '$']);
    let digits = digits.unwrap_or(core);
    let starts = digits.starts_with(|c: char| c.is_ascii_digit());
    let letters = digits.chars().filter(|c| c.is_alphabetic()).count();
    let is_dotted = digits.contains('.') && !digits.contains('/');
    starts
        && (letters <= 2 || core.starts_with("0x") || (is_dotted && letters <= 8))
        && !digits.contains('/')
}

fn is_path(core: &str) -> bool {
    let place = without_place(core);
    let has_folder = place.contains(['/', '\\']) && place.len() > 1;
    let name = place.rsplit(['/', '\\']).next().unwrap_or(place);
    let ends = name.rsplit_once('.').is_some_and(|(_, end)| is_ending(end));
    has_folder || ends
}

/// A header or a shared library: other names are other libraries.
fn is_library(core: &str) -> bool {
    let end = core.rsplit_once('.').map(|(_, end)| end);
    !core.contains(['/', '\\']) && matches!(end, Some("h" | "hpp" | "so"))
}

/// Removes `:12:5` behind a path.
fn without_place(core: &str) -> &str {
    core.trim_end_matches(|c: char| c.is_ascii_digit() || ":,".contains(c))
}

/// Returns what follows the place in a file: `in` of `main.rb:4:in`.
fn after_place(core: &str) -> Option<&str> {
    let (file, rest) = core.split_once(':')?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let word = after.strip_prefix(':').filter(|word| !word.is_empty())?;
    (after.len() < rest.len() && is_path(file)).then_some(word)
}

/// An address of four numbers, with or without a port.
fn is_address(core: &str) -> bool {
    let numbers: Vec<&str> = core.split(':').next().unwrap_or(core).split('.').collect();
    let is_number = |label: &&str| label.parse::<u8>().is_ok();
    numbers.len() == 4 && numbers.iter().all(is_number)
}

/// An address or a name with dots: `db.example.org:5432`, `127.0.0.1:80`, `localhost`.
fn is_host(core: &str) -> bool {
    let name = core.split(':').next().unwrap_or(core).to_lowercase();
    if name == "localhost" {
        return true;
    }
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    labels.len() >= 3 && labels.iter().all(is_label)
}

/// A commit, a checksum, an id: hexadecimal, with a digit.
fn is_hash(core: &str) -> bool {
    let plain: String = core.chars().filter(|c| *c != '-').collect();
    plain.len() >= 7
        && plain.chars().all(|c| c.is_ascii_hexdigit())
        && plain.contains(|c: char| c.is_ascii_digit())
}

/// A name that someone gave: `user_count`, `itemIndex`, `job7`, `obj.run`. Classes of errors are
/// the language's.
fn is_identifier(core: &str) -> bool {
    let is_error = ["Error", "Exception", "Warning", "Interrupt"]
        .iter()
        .any(|end| core.ends_with(end));
    if is_error {
        return false;
    }
    let has_inner_upper = core
        .chars()
        .zip(core.chars().skip(1))
        .any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    let is_scoped = core.contains("::");
    let is_code =
        |c: char| c.is_alphanumeric() || "_.$".contains(c) || (is_scoped && "&:".contains(c));
    let has_digit = core.contains(|c: char| c.is_ascii_digit());
    let joins = core.contains('_') || core.trim_end_matches('.').contains('.');
    // `E0425` is the compiler's.
    let is_code_of_error = core.len() <= 7
        && core.starts_with(|c: char| c.is_ascii_uppercase())
        && core
            .chars()
            .skip(1)
            .all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    core.chars().all(is_code)
        && !is_code_of_error
        && (has_inner_upper || joins || is_scoped || has_digit)
}

fn replace_digits(text: &str) -> String {
    // The compiler's own numbers of errors are part of the cause: `e0425`, `ts2304`.
    let letters = text.chars().take_while(char::is_ascii_alphabetic).count();
    let rest = text.get(letters..).unwrap_or_default();
    let is_code =
        (1..=4).contains(&letters) && rest.len() >= 2 && rest.chars().all(|c| c.is_ascii_digit());
    if is_code {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with(NUMBER) {
            out.push_str(NUMBER);
        }
    }
    out
}

/// Hides names that stand in a sentence without quotes, where their place gives them away.
fn hide_bare_names(words: &mut [String]) {
    for at in 0..words.len() {
        let is_name = |word: &String| {
            word.contains(char::is_alphabetic)
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_-".contains(c))
        };
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let follows = before.is_some_and(|word| BEFORE_NAME.contains(&word.as_str()));
        let next = (words.get(at + 1), words.get(at + 2));
        let precedes = AFTER_NAME.iter().any(|(one, other)| {
            next.0.is_some_and(|word| word == one) && next.1.is_some_and(|word| word == other)
        });
        if let Some(word) = words.get_mut(at)
            && (follows || precedes)
            && is_name(word)
        {
            NAME.clone_into(word);
        }
    }
}

/// Joins words; repeated placeholders are one.
fn joined(words: &[String]) -> String {
    let mut text = String::new();
    let mut last = "";
    for word in words {
        let is_repeated = word == last && word.starts_with('<');
        if !is_repeated {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
        last = word;
    }
    text
}
