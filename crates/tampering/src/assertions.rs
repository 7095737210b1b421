//! Assertions that are gone, accept more than before, or can't fail.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::change::{Edited, Hunk};
use crate::sign::{Sign, TamperSign};
use crate::test_functions::{TestFunction, tests_in, words};

static ASSERTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?x)
        \b(?:assert\w*!?|expect\w*|verify\w*|refute\w*|check[A-Z_]\w*|should\w*|must_\w+|wont_\w+)\s*[\s.(!]
        |\b(?:assert|require|Assert|check|td|is|c)\.[A-Z]\w*\(|\bt\.(?:Error|Fatal|Fail)\w*\(
        |\b(?:EXPECT|ASSERT|REQUIRE|CHECK|CU_ASSERT|ck_assert|TEST_ASSERT|g_assert|XCTAssert|cr_assert)\w*\s*\(
        |\bpytest\.raises\(|\.(?:toBe|toEqual|to_eq|to\.|should|shouldBe|isEqualTo)\b
        |^\s*(?:is|ok|is_deeply|like|isnt|cmp_ok|is-deeply)[\s(]
        |^\s*\[\[?\s|@test\b.*==").ok()
});

/// An assertion of exactly one result.
static STRICT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?x)
        \bassert\b[^=]*==|assertEquals?\b|assertSame|assert_equals?\b|assert_eq!|AreEqual|AreSame|\.Equal\(|\.DeepEqual\(
        |\.(?:toBe|toEqual|toStrictEqual|toHaveBeenCalledTimes|toHaveBeenCalledWith|toHaveLength|toMatchObject|toHaveBeenLastCalledWith|toBeNull)\(|\.(?:equal|strictEqual|deepEqual|deepStrictEqual|eql)\(
        |\b(?:eq|eql|equal|contain_exactly|match_array)[\s(]|\b(?:EXPECT|ASSERT)_(?:EQ|STREQ|DOUBLE_EQ|FLOAT_EQ)|\bshouldBe\b|isEqualTo|containsExactly|must_equal
        |assertDictEqual|assertListEqual|assertCountEqual|assertIs\(|assert_called_once_with|assert_called_with|\bis_deeply\b|\bassert\s+.*\bis\s+(?:None|True|False)\b|assertStringEqualsFile|\bREQUIRE\([^)]*==|\bCHECK\([^)]*==").ok()
});

/// An assertion that accepts many results.
static LOOSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?x)
        \.(?:toBeDefined|toBeTruthy|toBeFalsy|toContain|toMatch|toHaveProperty|toBeInstanceOf|toHaveBeenCalled|toBeCloseTo|toBeGreaterThan\w*|toBeLessThan\w*|toContainEqual)\(|\.not\.to(?:Be|Throw|Equal)\w*\(|expect\.(?:any|anything|stringContaining|objectContaining)|\.to\.(?:exist|be\.ok|include|contain|be\.an?)\b|\.(?:ok|isOk|isDefined|exists|include|notEqual|isNotNull|isTrue)\(
        |\bis\s+not\s+None|assertIsNotNone|\bisinstance\(|assertIsInstance|assertIn\(|\bassert\s+[^=<>!]*\bin\b|assertTrue\(|assertNotEquals?\b|assertGreater\w*|assertLess\w*|assertAlmostEqual|\bapprox\(|\.startswith\(|\.endswith\(|assertRegex|\bassert_called(?:_once)?\(\)|\bassert\s+[\w.]+(?:\([^=]*\))?\s*(?:\#.*)?$|\bassert\b[^=]*(?:!=|<=|>=|<|>)|assert\s+(?:len|bool)\(
        |assert_ne!|\bassert!\(|\.is_(?:ok|some|err)\(\)|matches!
        |assertNotNull|assertDoesNotThrow|assertNotSame|isNotNull|isNotEmpty|IsNotNull|\.NotNil\(|\.NotEmpty\(|\.Contains\(|\.True\(|\.NoError\(|\bNotEqual\(|IsTrue\(|IsInstanceOf|\.contains\(|hasSizeGreaterThan
        |\bbe_truthy|\bbe_present|not_to\s+be_nil|\brefute_nil|\binclude\(|\bbe_a\b|\brespond_to|assert_not_nil|assert_match|assert_includes|\bstart_with
        |(?:EXPECT|ASSERT)_(?:TRUE|NE|NEAR|GT|GE|LT|LE|NO_THROW)").ok()
});

/// An expected error of any kind, in place of a certain one.
static ANY_ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"raises\(\s*\(?(?:Exception|BaseException)\b|assertRaises\(\s*(?:Exception|BaseException)\b|\.(?:toThrow|toThrowError|throw|throws)\(\s*\)|assertThrows\(\s*(?:Exception|Throwable|RuntimeException)\.class|Throws(?:Any)?<Exception>|raise_error\s*$|raise_error\(?\s*(?:StandardError|Exception)?\s*\)?$|#\[should_panic\]|expectException\(\s*\\?(?:Exception|Throwable)::class|\.is_err\(\)|require\.Error\(|assert\.Error\(").ok()
});

static CERTAIN_ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"raises\(\s*[\w.]+|assertRaises\(\s*[\w.]+|\.(?:toThrow|toThrowError|throw|throws)\(\s*[^)\s]|assertThrows\(\s*\w+\.class|Throws(?:Any)?<\w+>|raise_error\(?\s*\w+|should_panic\(expected|expectException\(|unwrap_err\(\)|matches!\(|ErrorIs\(|EqualError\(|ErrorContains\("#).ok()
});

/// The two sides of a comparison.
static SIDES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"\bassert\s+(.+?)\s*(?:==|\bis\b)\s*(.+?)\s*(?:#.*|,\s*f?['\x22].*)?$",
        r"\b(?:assert_?[Ee]quals?|assertSame|assertIs|assertListEqual|assertDictEqual)\s*\(?\s*(.+?)\s*,\s*(.+?)\s*\)?\s*;?$",
        r"\bexpect\((.+?)\)\.(?:toBe|toEqual|toStrictEqual|to\.equal|to\.eql)\((.+?)\)",
        r"\bassert_eq!\(\s*(.+?)\s*,\s*(.+?)\s*\)\s*;",
        r"\b(?:assert|t|require)\.(?:equal|strictEqual|deepEqual|deepStrictEqual|Equal)\((?:t,\s*)?(.+?)\s*,\s*(.+?)\)\s*;?$",
        r"\bAssert\.(?:AreEqual|Equal)\(\s*(.+?)\s*,\s*(.+?)\s*\)",
        r"\b(?:EXPECT|ASSERT)_EQ\(\s*(.+?)\s*,\s*(.+?)\s*\)",
        r"\bexpect\((.+?)\)\.to\s+eq(?:\s+|\()(.+?)\)?$",
    ];
    shapes
        .iter()
        .filter_map(|shape| Regex::new(shape).ok())
        .collect()
});

/// Finds weakened assertions in a file of tests.
pub(crate) fn signs(file: &Edited<'_>, all: &[Edited<'_>]) -> Vec<TamperSign> {
    let mut signs = self_comparisons(file);
    if file.is_new || file.is_gone {
        return signs;
    }
    signs.extend(file.hunks.iter().filter_map(|hunk| loosened(file, hunk)));
    signs.extend(removed(file, all));
    signs
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// Returns whether the line asserts something.
pub(crate) fn is_assertion(text: &str) -> bool {
    let text = text.trim_start();
    let is_comment = ["#", "//", "*", "/*", "--", ";"]
        .iter()
        .any(|mark| text.starts_with(mark));
    !is_comment && matches(&ASSERTION, text)
}

fn self_comparisons(file: &Edited<'_>) -> Vec<TamperSign> {
    let is_trivial = |text: &str| {
        SIDES.iter().any(|sides| {
            sides.captures(text).is_some_and(|found| {
                let side = |at| {
                    let side = found.get(at).map(|side| side.as_str().trim());
                    side.map(|side| side.trim_end_matches(".clone()").trim_start_matches('&'))
                };
                // A call may give another result the second time.
                side(1) == side(2) && !side(1).is_some_and(|side| side.contains('('))
            })
        })
    };
    if file.is_new {
        return Vec::new();
    }
    let trivial = file.added().filter(|line| is_trivial(line.text));
    trivial
        .map(|line| file.sign_at(Sign::AssertionTrivial, line))
        .collect()
}

/// Finds lines that assert less than those that they replace.
fn loosened(file: &Edited<'_>, hunk: &Hunk<'_>) -> Option<TamperSign> {
    let count = |lines: &[crate::change::Line<'_>], pattern| {
        let asserts = lines.iter().filter(|line| is_assertion(line.text));
        asserts.filter(|line| matches(pattern, line.text)).count()
    };
    let loose = |lines: &[crate::change::Line<'_>]| {
        let asserts = lines.iter().filter(|line| is_assertion(line.text));
        asserts
            .filter(|line| matches(&LOOSE, line.text) && !matches(&STRICT, line.text))
            .count()
    };
    let is_looser = count(&hunk.removed, &STRICT) > count(&hunk.added, &STRICT)
        && loose(&hunk.added) > loose(&hunk.removed);
    if is_looser {
        let line = hunk.added.iter().find(|line| {
            is_assertion(line.text) && matches(&LOOSE, line.text) && !matches(&STRICT, line.text)
        })?;
        return Some(file.sign_at(Sign::AssertionLoosened, *line));
    }
    let any_error = hunk
        .added
        .iter()
        .find(|line| matches(&ANY_ERROR, line.text))?;
    let was_certain = hunk
        .removed
        .iter()
        .any(|line| matches(&CERTAIN_ERROR, line.text) && !matches(&ANY_ERROR, line.text));
    was_certain.then(|| file.sign_at(Sign::AssertionLoosened, *any_error))
}

/// Finds tests with fewer assertions than before, if what those named is gone from the test too.
fn removed(file: &Edited<'_>, all: &[Edited<'_>]) -> Option<TamperSign> {
    let extension = file.extension();
    let (before, after) = (
        tests_in(file.before, extension),
        tests_in(file.after, extension),
    );
    if before.is_empty() {
        return removed_anywhere(file, all);
    }
    // Helpers of the tests assert, too.
    let helpers = |text, tests: &[TestFunction<'_>]| above(text, tests).to_owned();
    let (old, new) = (helpers(file.before, &before), helpers(file.after, &after));
    if let Some(lost) = lost_assertion(&old, &new, file).filter(|lost| !file.after.contains(*lost))
    {
        return Some(file.sign_of_loss(Sign::AssertionRemoved, lost));
    }
    let bodies = |tests: &[TestFunction<'_>], name: &str| -> String {
        let of_name = tests.iter().filter(|test| test.name == name);
        of_name.map(|test| test.body).collect()
    };
    let names: BTreeSet<&str> = after.iter().map(|test| test.name).collect();
    let weaker = before
        .iter()
        .filter(|test| names.contains(test.name))
        .find_map(|test| {
            let (old, new) = (bodies(&before, test.name), bodies(&after, test.name));
            lost_assertion(&old, &new, file).map(str::to_owned)
        })?;
    Some(file.sign_of_loss(Sign::AssertionRemoved, &weaker))
}

/// Returns what stands above the first test.
fn above<'a>(text: &'a str, tests: &[TestFunction<'_>]) -> &'a str {
    let first = tests.first().and_then(|test| text.find(test.body));
    text.get(..first.unwrap_or(text.len())).unwrap_or_default()
}

fn removed_anywhere(file: &Edited<'_>, all: &[Edited<'_>]) -> Option<TamperSign> {
    let lost = lost_assertion(file.before, file.after, file)?;
    let is_moved = all
        .iter()
        .any(|other| other.path != file.path && other.after.contains(lost.trim()));
    (!is_moved).then(|| file.sign_of_loss(Sign::AssertionRemoved, lost))
}

/// Returns an assertion of the old text that the new text has nothing in place of.
fn lost_assertion<'a>(old: &'a str, new: &str, file: &Edited<'_>) -> Option<&'a str> {
    let count = |text: &str| text.lines().filter(|line| is_assertion(line)).count();
    let strict = |text: &str| text.lines().filter(|line| matches(&STRICT, line)).count();
    if count(new) >= count(old) || strict(new) > strict(old) {
        return None;
    }
    let kept: BTreeSet<&str> = words(new).collect();
    let new_lines: BTreeSet<&str> = new.lines().map(str::trim).collect();
    // A helper of the same file may assert in its place.
    let added: BTreeSet<&str> = file.added().flat_map(|line| words(line.text)).collect();
    let is_lost = |line: &&str| {
        !new_lines.contains(line.trim())
            && words(line).any(|word| !kept.contains(word) && !added.contains(word))
    };
    let asserts = old.lines().filter(|line| is_assertion(line));
    let missing: Vec<&str> = asserts
        .filter(|line| !new_lines.contains(line.trim()))
        .collect();
    // Everything that it named may be named elsewhere in the test, if nothing asserts in its place.
    let is_replaced = new
        .lines()
        .any(|line| is_assertion(line) && !old.contains(line.trim()));
    let lost = missing.iter().find(|line| is_lost(line));
    lost.or_else(|| missing.first().filter(|_| !is_replaced))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        for pattern in [&ASSERTION, &STRICT, &LOOSE, &ANY_ERROR, &CERTAIN_ERROR] {
            assert!(pattern.is_some());
        }
        assert_eq!(SIDES.len(), 8);
    }
}
