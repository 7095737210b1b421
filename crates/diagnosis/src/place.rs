//! The place in a source file that a line of output names.

use std::fmt;

use serde::Serialize;

use crate::rules::lazy_regex::LazyRegex;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourcePlace {
    /// The file, as the output calls it.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, where known.
    pub column: Option<u32>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// The ways in which tools write a place.
static FORMS: [LazyRegex; 5] = [
    // Python, OCaml
    LazyRegex::new(
        r#"File "(?P<file>[^"]+)", lines? (?P<line>\d+)(?:-\d+)?(?:, characters? (?P<column>\d+))?"#,
    ),
    // a.c:3:5, a.ts(3,5), A.java:[3,5], a.ts[3, 5]
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9})(?::\[|[:(\[])(?P<line>\d+)(?:[:,.] ?(?P<column>\d+))?",
    ),
    // at t/a.t line 17, /p/a.php on line 3, a.js: line 12, col 3
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9})(?::|:? (?:on )?)line (?P<line>\d+)(?:,? col(?:umn)? (?P<column>\d+)| char:(?P<column2>\d+))?",
    ),
    // on line 9 of sass/a.sass
    LazyRegex::new(
        r"line (?P<line>\d+)(?:, col(?:umn)? (?P<column>\d+))? (?:of|in) (?P<file>\S+\.[A-Za-z]\w{0,9})",
    ),
    // spec/a_spec.lua @ 12, test-a.R#12
    LazyRegex::new(r"(?P<file>[\w./@+~-]*\.[A-Za-z]\w{0,9})(?: @ |#L?)(?P<line>\d+)"),
];

/// A line names no more places than this that are worth reading.
const MAX_PER_LINE: usize = 8;
/// How far from the cause a place may be.
const AROUND: usize = 12;

impl SourcePlace {
    /// Reads the first place of the project's own that a line names.
    #[must_use]
    pub fn in_line(line: &str) -> Option<Self> {
        FORMS.iter().find_map(|form| first_of_form(form, line))
    }

    /// Finds the place that the line at `at` is about: one that the line names, else the nearest one
    /// around it.
    #[must_use]
    pub fn around(lines: &[&str], at: usize) -> Option<Self> {
        let named = lines.get(at).and_then(|line| Self::in_line(line));
        named.or_else(|| {
            // What stands nearer comes first, and above before below.
            (1..=AROUND).find_map(|distance| {
                let above = at.checked_sub(distance).and_then(|at| lines.get(at));
                let below = lines.get(at + distance);
                let near = above.into_iter().chain(below);
                near.copied().find_map(Self::in_line)
            })
        })
    }
}

fn first_of_form(form: &LazyRegex, line: &str) -> Option<SourcePlace> {
    let mut rest = line;
    for _ in 0..MAX_PER_LINE {
        let (whole, named) = form.captures(rest)?;
        let of = |name: &str| {
            named
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, text)| *text)
        };
        let column = of("column").or_else(|| of("column2"));
        let place = of("file")
            .zip(of("line"))
            .and_then(|(file, line)| place(file, line, column));
        if place.is_some() {
            return place;
        }
        let next = rest.find(whole)? + whole.len();
        rest = &rest[next..];
    }
    None
}

/// Ends of names that are hosts rather than files.
const HOSTS: [&str; 6] = ["com", "org", "net", "io", "dev", "test"];
/// Parts of paths of libraries: they are where a failure was noticed, not where it is.
const LIBRARIES: [&str; 14] = [
    "node_modules/",
    "site-packages/",
    "dist-packages/",
    ".cargo/registry/",
    "/rustc/",
    "/usr/",
    "/gems/",
    ".rvm/",
    ".rbenv/",
    "vendor/",
    "lib/python",
    ".m2/",
    "/pkg/mod/",
    "node:",
];

fn place(file: &str, line: &str, column: Option<&str>) -> Option<SourcePlace> {
    let name = file.rsplit(['/', '\\']).next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_file = !stem.is_empty() && !HOSTS.contains(&ending);
    let is_own = !LIBRARIES.iter().any(|part| file.contains(part));
    // Java and Node name frames of their own libraries by class: internal/module.js, sun.reflect.
    let line: u32 = line
        .parse()
        .ok()
        .filter(|line| (1..10_000_000).contains(line))?;
    (is_file && is_own && !file.starts_with("internal/")).then(|| SourcePlace {
        file: file.trim_start_matches("./").to_owned(),
        line,
        column: column.and_then(|text| text.parse().ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let place = SourcePlace::in_line(line).map(|place| place.to_string());
        assert_eq!(place.as_deref(), expected, "{line}");
    }

    #[test]
    fn a_place_is_read_in_the_form_of_any_tool() {
        for (line, place) in [
            ("a.c:3:5: error: unknown type", "a.c:3:5"),
            ("src/b.ts(3,7): error TS2322: no", "src/b.ts:3:7"),
            (
                "[ERROR] /p/src/A.java:[12,34] cannot find symbol",
                "/p/src/A.java:12:34",
            ),
            ("ERROR: src/a.ts[12, 3]: Missing semicolon", "src/a.ts:12:3"),
            ("  File \"./py/a.py\", line 6, in f", "py/a.py:6"),
            (
                "File \"src/a.ml\", line 12, characters 3-9:",
                "src/a.ml:12:3",
            ),
            ("PHP Fatal error:  boom in /p/a.php on line 3", "/p/a.php:3"),
            ("  at A.B() in /w/tests/B.cs:line 14", "/w/tests/B.cs:14"),
            ("Connection error at t/https.t line 17.", "t/https.t:17"),
            (
                "  on line 9 of sass/layout/footer.sass",
                "sass/layout/footer.sass:9",
            ),
            (
                "src/a.js: line 12, col 3, Missing semicolon.",
                "src/a.js:12:3",
            ),
            (
                "Failure → spec/parser_spec.lua @ 12",
                "spec/parser_spec.lua:12",
            ),
            ("FAIL in (reads) (parser_test.clj:12)", "parser_test.clj:12"),
            ("  --> src/main.rs:1:4", "src/main.rs:1:4"),
            (
                "at Object.<anonymous> (node_modules/x/a.js:1:2) from src/b.js:3:4",
                "src/b.js:3:4",
            ),
        ] {
            check(line, Some(place));
        }
    }

    #[test]
    fn hosts_times_and_libraries_are_no_places() {
        for line in [
            "refused by 127.0.0.1:8080 at 12:30:01",
            "could not reach api.example.com:443",
            "/usr/lib/python3/x.py:3: boom",
            "    at Module.load (internal/module.js:12:17)",
            "version 1.2.3",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn the_nearest_place_around_a_line_is_its_own() {
        let lines = [
            "error[E0425]: cannot find value `x`",
            " --> src/main.rs:1:4",
            "  |",
            "b.rs:7",
        ];
        let place = SourcePlace::around(&lines, 0).map(|place| place.to_string());
        assert_eq!(place.as_deref(), Some("src/main.rs:1:4"));
    }
}
