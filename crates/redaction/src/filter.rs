//! The values to mask, and the masking of one stream.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::anchors::{Anchor, Anchors};
use crate::colours::{Code, set_colours_aside};
use crate::matching::{Candidate, LOOK_BEHIND, literal, match_rule};
use crate::rule::Rule;
use crate::span::{MatchOutcome, Span};

/// Shorter values are words; masking them would hide the log rather than a secret.
pub const MIN_VALUE_CHARS: usize = 8;
/// Longer values are searched for piece by piece.
const PIECE: usize = 4096;

/// The masks: the built-in rules and the given values. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Masks {
    anchors: Arc<Anchors>,
}

impl Masks {
    /// Creates masks for the built-in rules and for `values`, also where these are escaped in JSON
    /// strings. Values of fewer than [`MIN_VALUE_CHARS`] characters are left out.
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let values = values.into_iter();
        let texts = values.flat_map(|value| searchable(value.as_ref()));
        Self {
            anchors: Arc::new(Anchors::new(texts)),
        }
    }

    /// Creates masks for the built-in rules alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self::new::<&str>([])
    }

    /// Returns a filter for one stream of bytes.
    #[must_use]
    pub fn filter(&self) -> Filter {
        Filter::new(self.clone())
    }

    /// Masks a text.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut masked = Vec::with_capacity(text.len());
        let mut filter = self.filter();
        filter.feed(text.as_bytes(), &mut masked);
        filter.finish(&mut masked);
        String::from_utf8_lossy(&masked).into_owned()
    }

    pub(crate) fn anchors(&self) -> &Anchors {
        &self.anchors
    }
}

/// Returns the texts to search for to find `value`: its lines, because no search text has a line
/// break, both raw and as escaped in JSON.
fn searchable(value: &str) -> Vec<Vec<u8>> {
    let lines = value.lines().map(str::trim);
    let long = lines.filter(|line| line.chars().count() >= MIN_VALUE_CHARS);
    long.flat_map(|line| [line.to_owned(), json_escaped(line)])
        .flat_map(|text| pieces(text.as_bytes()))
        .collect()
}

fn json_escaped(line: &str) -> String {
    line.chars().fold(String::new(), |mut escaped, c| {
        if matches!(c, '"' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
        escaped
    })
}

/// Splits `text` into pieces of bounded length; the last one overlaps the previous one rather than
/// being short.
fn pieces(text: &[u8]) -> Vec<Vec<u8>> {
    if text.len() <= PIECE {
        return vec![text.to_vec()];
    }
    let last = &text[text.len() - PIECE..];
    let whole = text.chunks_exact(PIECE).chain([last]);
    whole.map(<[u8]>::to_vec).collect()
}

/// How much is searched at once, however much is fed.
const STRIDE: usize = 64 * 1024;
const LITERAL_NAME: &str = "secret";

/// Masks one stream, however it is split into chunks.
///
/// Masking depends only on the bytes: every anchor is matched by itself, and where secrets overlap,
/// one mask hides all of them. Only what may still turn out to be a secret is held back: a few
/// kilobytes at most, and nothing after a line break.
///
/// Colour codes aren't part of the searched text, so a secret may change colour in the middle. All
/// of them reach the output; those inside a secret follow its mask.
#[derive(Debug)]
pub struct Filter {
    masks: Masks,
    /// The part of the stream that is still needed: a little of the finished text, then the rest.
    text: Vec<u8>,
    /// The colour codes in `text`, in order.
    codes: Vec<Code>,
    /// How many of them are in the output.
    codes_done: usize,
    /// The beginning of a colour code that hasn't arrived completely.
    cut_code: Vec<u8>,
    /// Everything before this position is in the output, raw or masked.
    done: usize,
    /// Every anchor before this position has been matched.
    matched: usize,
    /// Secrets that aren't in the output yet, or may still grow.
    found: Vec<FoundSecret>,
    /// The first non-blank byte of the line in which `text` starts.
    line_opener: Option<u8>,
}

#[derive(Debug)]
struct FoundSecret {
    span: Span,
    name: &'static str,
    /// Whether only the name of the value revealed it.
    is_general: bool,
    /// The position of the anchor that revealed it.
    anchor: usize,
}

impl Filter {
    pub(crate) fn new(masks: Masks) -> Self {
        Self {
            masks,
            text: Vec::new(),
            codes: Vec::new(),
            codes_done: 0,
            cut_code: Vec::new(),
            done: 0,
            matched: 0,
            found: Vec::new(),
            line_opener: None,
        }
    }

    /// Takes the next bytes of the stream, and appends to `out` whatever can be shown by now.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.chunks(STRIDE) {
            self.take(piece);
            self.work(false, out);
        }
    }

    /// Ends the stream: appends what was held back. The filter can then be used for another one.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.text.append(&mut self.cut_code);
        self.work(true, out);
        *self = Self::new(self.masks.clone());
    }

    fn take(&mut self, piece: &[u8]) {
        let (text, codes) = (&mut self.text, &mut self.codes);
        let cut = if self.cut_code.is_empty() {
            set_colours_aside(piece, text, codes)
        } else {
            self.cut_code.extend_from_slice(piece);
            set_colours_aside(&self.cut_code, text, codes)
        };
        self.cut_code = cut;
    }

    fn work(&mut self, complete: bool, out: &mut Vec<u8>) {
        self.grow();
        self.match_anchors(complete);
        self.write_matched(out);
        self.discard_done();
    }

    fn grow(&mut self) {
        for found in &mut self.found {
            let shown = found.span.start < self.done;
            found.span.grow(&self.text);
            if shown {
                self.done = self.done.max(found.span.end);
            }
        }
    }

    fn match_anchors(&mut self, complete: bool) {
        let limit = if complete {
            self.text.len()
        } else {
            self.masks.anchors().unfinished(&self.text)
        };
        let masks = self.masks.clone();
        while let Some((at, anchors)) = masks.anchors().find(&self.text, self.matched) {
            self.matched = at;
            if at >= limit {
                break;
            }
            let Some(found) = self.match_at(at, anchors, complete) else {
                return;
            };
            self.found.extend(found);
            self.matched = at + 1;
        }
        self.matched = limit;
    }

    /// Returns the secrets that the anchors at `at` reveal; `None` if that is undecided.
    fn match_at<'a>(
        &self,
        at: usize,
        anchors: impl Iterator<Item = &'a Anchor>,
        complete: bool,
    ) -> Option<Vec<FoundSecret>> {
        let mut all = Vec::new();
        for anchor in anchors {
            let candidate = Candidate {
                text: &self.text,
                codes: &self.codes,
                anchor: at,
                after_anchor: at + anchor.text.len(),
                complete,
                in_json: matches!(self.opener_of_line_at(at), Some(b'{' | b'[')),
            };
            let outcome = anchor
                .rule
                .map_or_else(|| literal(candidate), |rule| match_rule(rule, candidate));
            match outcome {
                MatchOutcome::No => {}
                MatchOutcome::Undecided => return None,
                MatchOutcome::Mask(span) => all.push(FoundSecret {
                    span,
                    name: anchor.rule.map_or(LITERAL_NAME, |rule| rule.name),
                    is_general: anchor.rule.is_some_and(Rule::is_general),
                    anchor: at,
                }),
            }
        }
        Some(all)
    }

    /// Writes everything before the first unmatched anchor, because any further secret starts there
    /// or later.
    fn write_matched(&mut self, out: &mut Vec<u8>) {
        let mut all = std::mem::take(&mut self.found);
        // If several masks start at one position, the most specific rule wins, then the nearest
        // anchor.
        all.sort_by_key(|found| (found.span.start, found.is_general, Reverse(found.anchor)));
        for found in &all {
            if found.span.start >= self.matched {
                break;
            }
            if found.span.start >= self.done {
                self.write_until(found.span.start, out);
                out.extend_from_slice(b"***");
                out.extend_from_slice(found.name.as_bytes());
                out.extend_from_slice(b"***");
            }
            self.done = self.done.max(found.span.end);
        }
        self.write_until(self.done.max(self.matched), out);
        all.retain(|found| found.span.growth.is_some() || found.span.start >= self.done);
        self.found = all;
    }

    /// Writes the text up to `end` with its colour codes and those of the masks before it.
    fn write_until(&mut self, end: usize, out: &mut Vec<u8>) {
        while let Some(code) = self.codes.get(self.codes_done)
            && code.at <= end
        {
            let text = self.done..code.at.max(self.done);
            out.extend_from_slice(&self.text[text.clone()]);
            self.done = text.end;
            out.extend_from_slice(code.bytes());
            self.codes_done += 1;
        }
        out.extend_from_slice(&self.text[self.done..end]);
        self.done = end;
    }

    /// Discards what is no longer needed.
    fn discard_done(&mut self) {
        let cut = self.matched.saturating_sub(LOOK_BEHIND);
        self.line_opener = self.opener_of_line_at(cut);
        self.text.drain(..cut);
        let codes = self.codes.partition_point(|code| code.at < cut);
        self.codes.drain(..codes);
        self.codes_done -= codes;
        for code in &mut self.codes {
            code.at -= cut;
        }
        self.done -= cut;
        self.matched -= cut;
        for found in &mut self.found {
            found.span.start = found.span.start.saturating_sub(cut);
            found.span.end -= cut;
            found.anchor = found.anchor.saturating_sub(cut);
        }
    }

    /// Returns the first non-blank byte before `at` in the line of `at`.
    fn opener_of_line_at(&self, at: usize) -> Option<u8> {
        let before = &self.text[..at];
        let line = before.iter().rposition(|&byte| byte == b'\n');
        let opener = |text: &[u8]| text.iter().copied().find(|byte| !b" \t\r".contains(byte));
        match line {
            Some(end) => opener(&before[end + 1..]),
            None => self.line_opener.or_else(|| opener(before)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[&str], text: &str) -> String {
        Masks::new(values).mask(text)
    }

    #[test]
    fn a_given_value_is_masked_wherever_it_occurs() {
        let values = ["correct horse"];
        assert_eq!(
            mask(&values, "a=correct horse;acorrect horseb"),
            "a=***secret***;a***secret***b"
        );
    }

    #[test]
    fn a_given_value_is_masked_where_json_escapes_it() {
        let value = r#"quo"te\slash"#;
        let json = serde_json::json!({ "v": value }).to_string();
        assert_eq!(mask(&[value], &json), r#"{"v":"***secret***"}"#);
    }

    #[test]
    fn short_values_are_not_secrets() {
        assert_eq!(mask(&["1234567", "", "  "], "1234567  8"), "1234567  8");
    }

    #[test]
    fn each_line_of_a_value_is_masked() {
        let value = "first line\nsecond line\nx";
        assert_eq!(
            mask(&[value], "second line, first line, x"),
            "***secret***, ***secret***, x"
        );
    }

    #[test]
    fn a_very_long_value_is_masked_as_a_whole() {
        let value: String = (0..3000).map(|n| format!("{n:x}.")).collect();
        assert!(value.len() > 2 * PIECE);
        let masked = mask(&[&value], &format!("<{value}>"));
        assert!(masked.replace("***secret***", "") == "<>", "{masked}");
    }

    #[test]
    fn a_letter_that_may_belong_to_an_escape_stays() {
        assert_eq!(mask(&["new-secret"], r"C:\new-secret"), r"C:\n***secret***");
        assert_eq!(
            mask(&["new-secret"], r"C:\\new-secret"),
            r"C:\\***secret***"
        );
    }

    #[test]
    fn a_value_and_a_key_that_overlap_are_both_masked() {
        let key = format!("sk-ant-{}", "a1".repeat(20));
        let value = "prefix and sk-ant-a1a1a1";
        let masked = mask(&[value], &format!("prefix and {key} tail"));
        assert_eq!(masked, "***secret*** tail");
    }
}
