//! The source location that a line of output names.

use std::fmt;

use serde::Serialize;

use crate::rules::lazy_regex::LazyRegex;

/// A location in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourcePlace {
    /// The file, as the output calls it.
    pub file: String,
    /// The line number, 1-based.
    pub line: u32,
    /// The column, 1-based, if known.
    pub column: Option<u32>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// The ways in which tools write a location.
static FORMS: [LazyRegex; 9] = [
    // Python, OCaml
    LazyRegex::new(
        r#"File "(?P<file>[^"]+)", lines? (?P<line>\d+)(?:-\d+)?(?:, characters? (?P<column>\d+))?"#,
    ),
    // a.c:3:5, A.java:[3,5], a.ts[3, 5]
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9})(?::\[|[:\[])(?P<line>\d+)(?:[:,.] ?(?P<column>\d+))?",
    ),
    // a.ts(3,5): error, a.pas(3,5) Error
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9})\((?P<line>\d+)(?:[:,.] ?(?P<column>\d+))?(?:,\d+)*\)(?: ?:| [A-Z])",
    ),
    // at t/a.t line 17, /p/a.php on line 3, a.js: line 12, col 3
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9})(?::|,? |:? (?:on )?)line (?P<line>\d+)(?:,? col(?:umn)? (?P<column>\d+)| char:(?P<column2>\d+))?",
    ),
    // on line 9 of sass/a.sass
    LazyRegex::new(
        r"line (?P<line>\d+)(?:, col(?:umn)? (?P<column>\d+))? (?:of|in) (?P<file>\S+\.[A-Za-z]\w{0,9})",
    ),
    // spec/a_spec.lua @ 12, test-a.R#12
    LazyRegex::new(r"(?P<file>[\w./@+~-]*\.[A-Za-z]\w{0,9})(?: @ |#L?)(?P<line>\d+)"),
    // ERROR in ./src/a.js 3:0-26, a.scss 3:12  root stylesheet
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9}) (?P<line>\d+):(?P<column>\d+)(?:-\d+)?(?:\s|$)",
    ),
    // src/a.mjs (3:10): Expression expected
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9}) \((?P<line>\d+):(?P<column>\d+)\)(?::|$)",
    ),
    // a.js: SyntaxError: Unexpected token (3:10)
    LazyRegex::new(
        r"(?P<file>[\w./\\@+~-]*\.[A-Za-z]\w{0,9}): .*\((?P<line>\d+):(?P<column>\d+)\)$",
    ),
];

/// Matches a complaint of a linter that names the file once, above all complaints about it.
static BELOW_FILE: LazyRegex =
    LazyRegex::new(r"^\s*(?P<line>\d+):(?P<column>\d+)(?:-\d+:\d+)?\s+\S");
/// Matches a line that is nothing but the name of a file.
static FILE_ALONE: LazyRegex = LazyRegex::new(r"^\s*(?P<file>\S*[\w-]\.[A-Za-z]\w{0,9})\s*$");

/// How many locations of a line are read.
const MAX_PER_LINE: usize = 8;
/// How far from the cause a location may be.
const AROUND: usize = 12;

impl SourcePlace {
    /// Parses the first location in the project itself that a line names.
    #[must_use]
    pub fn in_line(line: &str) -> Option<Self> {
        FORMS.iter().find_map(|form| first_of_form(form, line))
    }

    /// Finds the location that the line at `at` is about: one that the line names, or else the
    /// nearest one around it.
    #[must_use]
    pub fn around(lines: &[&str], at: usize) -> Option<Self> {
        let line = *lines.get(at)?;
        let above = || lines[..at].iter().rev().copied();
        Self::in_line(line)
            .or_else(|| below_file(line, above()))
            .or_else(|| {
                let paragraph = above().take_while(|line| !line.trim().is_empty());
                nearest(paragraph, lines[at + 1..].iter().copied())
            })
            .or_else(|| above().find_map(Self::in_line))
    }
}

/// Returns the place that stands nearest: above before below.
fn nearest<'a>(
    mut above: impl Iterator<Item = &'a str>,
    mut below: impl Iterator<Item = &'a str>,
) -> Option<SourcePlace> {
    (0..AROUND).find_map(|_| {
        let near = above.next().into_iter().chain(below.next());
        near.into_iter().find_map(SourcePlace::in_line)
    })
}

/// Reads `3:5  error …` below a line with the name of the file.
fn below_file<'a>(line: &str, mut above: impl Iterator<Item = &'a str>) -> Option<SourcePlace> {
    let (_, complaint) = BELOW_FILE.captures(line)?;
    let (_, header) = above.find_map(|line| FILE_ALONE.captures(line))?;
    let of = |named: &[(&str, &'a str)], wanted: &str| {
        let found = named.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, text)| *text)
    };
    let number = |wanted: &str| {
        let found = complaint.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, text)| *text)
    };
    place(of(&header, "file")?, number("line")?, number("column"))
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

/// Suffixes of names of hosts and plugins, which are not files.
const HOSTS: [&str; 7] = ["com", "org", "net", "io", "dev", "test", "plugin"];
/// Parts of library paths, which show where a failure was noticed rather than where it is.
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
            ("ERROR in ./src/a.js 12:0-26", "src/a.js:12:0"),
            ("  a.scss 12:3  root stylesheet", "a.scss:12:3"),
            (
                "[error] a.js: SyntaxError: Unexpected token (12:3)",
                "a.js:12:3",
            ),
            (
                "in function cart_tests:tax_test/0 (cart_tests.erl, line 4)",
                "cart_tests.erl:4",
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
            "Failure/Error: expect(Cart.total(100)).to eq(119)",
        ] {
            check(line, None);
        }
    }

    #[track_caller]
    fn check_around(lines: &[&str], at: usize, expected: &str) {
        let place = SourcePlace::around(lines, at).map(|place| place.to_string());
        assert_eq!(place.as_deref(), Some(expected));
    }

    #[test]
    fn a_linter_names_the_file_once_above_its_complaints() {
        let lines = [
            "/w/src/a.js",
            "  1:7  error  'x' is unused",
            "  2:1  error  'y'",
        ];
        check_around(&lines, 2, "/w/src/a.js:2:1");
    }

    #[test]
    fn a_place_in_another_paragraph_counts_if_there_is_no_other() {
        let lines = [
            "/w/a.js:1",
            "function ( {",
            "         ^",
            "",
            "SyntaxError: no name",
        ];
        check_around(&lines, 4, "/w/a.js:1");
        let lines = [
            "b.rb:3: warning: x",
            "",
            "1) adds",
            "  # ./spec/a_spec.rb:4",
        ];
        check_around(&lines, 2, "spec/a_spec.rb:4");
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
