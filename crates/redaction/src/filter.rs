use std::cmp::Reverse;

use crate::anchors::Anchor;
use crate::judge::{LOOK_BEHIND, Place, judge, literal};
use crate::masks::Masks;
use crate::verdict::{Span, Verdict};

/// So much is looked at in one go, whatever is fed.
const STRIDE: usize = 64 * 1024;
const LITERAL_NAME: &str = "secret";

/// Masks one stream, however it is cut into chunks.
///
/// What is masked depends on the bytes alone: every anchor is judged by itself, and where
/// secrets overlap, all of them are hidden by one mask. Only what may still turn out to be a
/// secret is held back: a few kilobytes at most, and nothing at all behind a line break.
#[derive(Debug)]
pub struct Filter {
    masks: Masks,
    /// What is still needed of the stream: a little of what is done, then what is not.
    text: Vec<u8>,
    /// Everything before is in the output, as it was or masked.
    done: usize,
    /// Every anchor before has been judged.
    judged: usize,
    /// What to mask that is not in the output yet, or still grows.
    found: Vec<Found>,
    /// The first byte that is no blank of the line that `text` begins in.
    line_opener: Option<u8>,
}

#[derive(Debug)]
struct Found {
    span: Span,
    name: &'static str,
    /// Where the anchor stands that gave it away.
    anchor: usize,
}

impl Filter {
    pub(crate) fn new(masks: Masks) -> Self {
        Self {
            masks,
            text: Vec::new(),
            done: 0,
            judged: 0,
            found: Vec::new(),
            line_opener: None,
        }
    }

    /// Takes the next bytes of the stream and appends to `out` what can be shown by now.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.chunks(STRIDE) {
            self.text.extend_from_slice(piece);
            self.work(false, out);
        }
    }

    /// The stream has ended: appends what was held back. The filter can then be fed another.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.work(true, out);
        *self = Self::new(self.masks.clone());
    }

    fn work(&mut self, complete: bool, out: &mut Vec<u8>) {
        self.grow();
        self.judge_anchors(complete);
        self.settle(out);
        self.forget();
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

    fn judge_anchors(&mut self, complete: bool) {
        let limit = if complete {
            self.text.len()
        } else {
            self.masks.anchors().unfinished(&self.text)
        };
        let masks = self.masks.clone();
        while let Some((at, anchors)) = masks.anchors().find(&self.text, self.judged) {
            self.judged = at;
            if at >= limit {
                break;
            }
            let Some(found) = self.judge_place(at, anchors, complete) else {
                return;
            };
            self.found.extend(found);
            self.judged = at + 1;
        }
        self.judged = limit;
    }

    /// What the anchors at `at` give away; `None` if that cannot be said yet.
    fn judge_place<'a>(
        &self,
        at: usize,
        anchors: impl Iterator<Item = &'a Anchor>,
        complete: bool,
    ) -> Option<Vec<Found>> {
        let mut all = Vec::new();
        for anchor in anchors {
            let place = Place {
                text: &self.text,
                anchor: at,
                after_anchor: at + anchor.text.len(),
                complete,
                in_json: matches!(self.opener_of_line_at(at), Some(b'{' | b'[')),
            };
            let verdict = anchor
                .rule
                .map_or_else(|| literal(place), |rule| judge(rule, place));
            match verdict {
                Verdict::No => {}
                Verdict::Undecided => return None,
                Verdict::Mask(span) => all.push(Found {
                    span,
                    name: anchor.rule.map_or(LITERAL_NAME, |rule| rule.name),
                    anchor: at,
                }),
            }
        }
        Some(all)
    }

    /// Puts everything before the first anchor not judged into the output: what will be found
    /// from there on begins there or later.
    fn settle(&mut self, out: &mut Vec<u8>) {
        // Of several masks that begin in one place, the nearest anchor knows best.
        self.found
            .sort_by_key(|found| (found.span.start, Reverse(found.anchor)));
        for found in &self.found {
            if found.span.start >= self.judged {
                break;
            }
            if found.span.start >= self.done {
                out.extend_from_slice(&self.text[self.done..found.span.start]);
                out.extend_from_slice(b"***");
                out.extend_from_slice(found.name.as_bytes());
                out.extend_from_slice(b"***");
            }
            self.done = self.done.max(found.span.end);
        }
        if self.done < self.judged {
            out.extend_from_slice(&self.text[self.done..self.judged]);
            self.done = self.judged;
        }
        let done = self.done;
        self.found
            .retain(|found| found.span.growth.is_some() || found.span.start >= done);
    }

    /// Drops what nothing looks at any more.
    fn forget(&mut self) {
        let cut = self.judged.saturating_sub(LOOK_BEHIND);
        self.line_opener = self.opener_of_line_at(cut);
        self.text.drain(..cut);
        self.done -= cut;
        self.judged -= cut;
        for found in &mut self.found {
            found.span.start = found.span.start.saturating_sub(cut);
            found.span.end -= cut;
            found.anchor = found.anchor.saturating_sub(cut);
        }
    }

    /// The first byte that is no blank of the line that `at` is in, as far as before `at`.
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
