//! The tests in a file by name, and those that an attempt removed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::change::Edited;
use crate::roles::{Role, roles};
use crate::sign::{Sign, TamperSign};

/// How tests are written, by the extensions of files: each pattern captures a test's name.
const SHAPES: [(&[&str], &str); 11] = [
    (&["py"], r"(?m)^\s*(?:async\s+)?def\s+(test\w*)\s*\("),
    (
        &[
            "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte",
        ],
        r#"(?m)^\s*(?:x|f)?(?:it|test|specify)(?:\.\w+)*\s*(?:\(\[[^\n]*\]\))?\(\s*["'`]([^"'`\n]+)"#,
    ),
    (
        &["rs"],
        r"#\[(?:\w+::)?(?:test|rstest|test_case)\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)",
    ),
    (
        &["go"],
        r"(?m)^func\s+(?:\([^)]*\)\s*)?((?:Test|Fuzz|Example)\w*)\(",
    ),
    (
        &["java", "kt", "kts", "scala", "groovy"],
        r#"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b[^;{]*?\b(?:void|fun)\s+(`[^`]+`|\w+)\s*\(|(?m)^\s*(?:test|it)\(\s*"([^"]+)""#,
    ),
    (
        &["cs", "fs", "vb"],
        r"\[(?:Fact|Theory|Test|TestMethod|TestCase)\b[^;{]*?\bpublic\s+(?:async\s+)?[\w<>]+\s+(\w+)\s*\(",
    ),
    (
        &["rb"],
        r#"(?m)^\s*(?:x|f)?(?:it|specify|scenario|test|example)\s*\(?\s*["']([^"'\n]+)|^\s*def\s+(test_\w+)"#,
    ),
    (
        &["php"],
        r#"(?m)function\s+(test\w+)\s*\(|^\s*(?:it|test)\(\s*["']([^"'\n]+)"#,
    ),
    (
        &["c", "cc", "cpp", "cxx", "h", "hpp"],
        r"(?m)^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE|Test)\s*\(\s*([^){]+)|^(?:static\s+)?(?:void|int)\s+(test_\w+)\s*\(",
    ),
    (
        &["ex", "exs", "bats", "dart", "clj", "lua", "hs", "erl"],
        r#"(?m)^\s*(?:@test|test|testWidgets|it|\(deftest)\s*\(?\s*["']?([^"'\n,)]+)|^(\w+_test)\("#,
    ),
    (
        &["swift", "sh", "m", "jl", "pl", "t"],
        r"(?m)^\s*(?:func\s+|function\s+|sub\s+)?(test\w+)\s*\(",
    ),
];

static PATTERNS: LazyLock<Vec<(&[&str], Regex)>> = LazyLock::new(|| {
    let pattern =
        |(files, text): &(&'static [&'static str], &str)| Some((*files, Regex::new(text).ok()?));
    SHAPES.iter().filter_map(pattern).collect()
});

/// A test, and the text up to the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestFunction<'a> {
    pub(crate) name: &'a str,
    pub(crate) body: &'a str,
}

/// Returns the tests in a text, in order.
pub(crate) fn tests_in<'a>(text: &'a str, extension: &str) -> Vec<TestFunction<'a>> {
    let pattern = PATTERNS
        .iter()
        .find(|(files, _)| files.contains(&extension));
    let Some((_, pattern)) = pattern else {
        return Vec::new();
    };
    let found: Vec<(usize, &str)> = pattern
        .captures_iter(text)
        .filter_map(|found| {
            let name = found.iter().skip(1).flatten().next()?.as_str();
            Some((found.get(0)?.start(), name.trim()))
        })
        .collect();
    let ends = found
        .iter()
        .skip(1)
        .map(|(start, _)| *start)
        .chain([text.len()]);
    let with_ends = found.iter().zip(ends);
    with_ends
        .map(|((start, name), end)| TestFunction {
            name,
            body: text.get(*start..end).unwrap_or_default(),
        })
        .collect()
}

/// One test for many values, which may have replaced many tests.
static TABLES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"parametri[sz]e|\.each\b|test_case\(|#\[case|rstest|\bfor\b.*\b(?:in|of|range)\b|@(?:Value|Csv|Method|Enum)Source|\[(?:DataRow|InlineData|TestCase)\b|subTest|\bt\.Run\(|dataProvider|where:|INSTANTIATE_TEST").ok()
});

/// Something that code defines under a name.
static DEFINITIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:def|fn|func|function|class|struct|interface|trait|enum|fun|const|let|var|val|module|defp?|defmodule|record|protocol|sub)\s+(?:\([^)]*\)\s*)?(?:\w+\.)*(\w+)|^\s*(?:public|private|protected|internal|static|export)[\w<>\[\], ]*\s(\w+)\s*\(").ok()
});

/// Finds tests that are gone although what they test is still there.
pub(crate) fn signs(file: &Edited<'_>, all: &[Edited<'_>]) -> Vec<TamperSign> {
    let extension = file.extension();
    let left: Vec<TestFunction<'_>> = all
        .iter()
        .flat_map(|other| tests_in(other.after, other.extension()))
        .collect();
    let left: BTreeSet<&str> = left.iter().map(|test| test.name).collect();
    let before = tests_in(file.before, extension);
    let names: BTreeSet<&str> = before.iter().map(|test| test.name).collect();
    let lost: Vec<&TestFunction<'_>> = before
        .iter()
        .filter(|test| !left.contains(test.name))
        .collect();
    let here = tests_in(file.after, extension);
    let new = here
        .iter()
        .filter(|test| !names.contains(test.name))
        .count();
    // Renamed, or written again as others.
    if lost.is_empty() || new >= lost.len() {
        return Vec::new();
    }
    let has_table = TABLES
        .as_ref()
        .is_some_and(|tables| file.added().any(|line| tables.is_match(line.text)));
    if has_table {
        return Vec::new();
    }
    let gone = names_that_are_gone(all);
    let is_dead = |test: &&&TestFunction<'_>| {
        words(test.body).any(|word| gone.contains(word) || gone.contains(&*word.to_lowercase()))
    };
    let lost = lost.iter().filter(|test| !is_dead(test)).take(1);
    lost.map(|test| file.sign_of_loss(Sign::TestRemoved, test.name))
        .collect()
}

/// Returns the names that code defined before the attempt and no longer does, and the names of
/// code files that were removed.
fn names_that_are_gone<'a>(all: &'a [Edited<'a>]) -> BTreeSet<&'a str> {
    let Some(definitions) = DEFINITIONS.as_ref() else {
        return BTreeSet::new();
    };
    let mut gone = BTreeSet::new();
    let sources = all.iter().filter(|file| {
        let roles = roles(file);
        roles.contains(&Role::Source)
    });
    for file in sources {
        for line in file.removed() {
            let defined = definitions.captures_iter(line.text);
            let names = defined.filter_map(|found| found.iter().skip(1).flatten().next());
            gone.extend(names.map(|name| name.as_str()));
        }
        if file.is_gone {
            let stem = file.file_name().split('.').next();
            gone.extend(stem);
        }
    }
    let kept: Vec<&str> = all.iter().map(|file| file.after).collect();
    gone.retain(|name| {
        let is_defined = |text: &&str| {
            let mut defined = definitions.captures_iter(text);
            defined.any(|found| {
                found
                    .iter()
                    .skip(1)
                    .flatten()
                    .any(|found| found.as_str() == *name)
            })
        };
        name.len() > 2 && !kept.iter().any(is_defined)
    });
    gone
}

/// Returns the words of a text that may be names.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_apart = |letter: char| !letter.is_alphanumeric() && letter != '_';
    text.split(is_apart).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        assert_eq!(PATTERNS.len(), SHAPES.len());
        assert!(TABLES.is_some() && DEFINITIONS.is_some());
    }

    #[test]
    fn tests_are_found_by_name_in_many_languages() {
        for (extension, text, expected) in [
            (
                "py",
                "def test_a():\n    pass\n\nasync def test_b(x):\n    pass\n",
                &["test_a", "test_b"][..],
            ),
            (
                "ts",
                "  it('adds', () => {\n  });\n  test.each([1])(\"b\", () => 1)\n  // it('gone')\n",
                &["adds", "b"],
            ),
            (
                "rs",
                "#[test]\nfn a() {}\n#[tokio::test]\n#[ignore]\nasync fn b() {}\nfn c() {}\n",
                &["a", "b"],
            ),
            (
                "go",
                "func TestA(t *testing.T) {}\nfunc helper() {}\n",
                &["TestA"],
            ),
            (
                "java",
                "@Test\n  public void adds() {}\n  @ParameterizedTest\n  void b(int x) {}\n",
                &["adds", "b"],
            ),
            ("cs", "[Fact]\npublic void Adds() {}\n", &["Adds"]),
            (
                "rb",
                "  it 'adds' do\n  end\n  def test_b\n",
                &["adds", "test_b"],
            ),
            (
                "php",
                "public function testAdds(): void {}\n",
                &["testAdds"],
            ),
            ("cpp", "TEST(Sum, Adds) {\n}\n", &["Sum, Adds"]),
            ("exs", "  test \"adds\" do\n", &["adds"]),
            ("bats", "@test \"adds\" {\n", &["adds"]),
        ] {
            let names: Vec<&str> = tests_in(text, extension)
                .iter()
                .map(|test| test.name)
                .collect();
            assert_eq!(names, expected, "{extension}");
        }
    }
}
