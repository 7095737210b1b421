//! Determines the kind of each line in one pass.
//!
//! List items are containers: lines indented to an item's content belong to it. The scanner keeps
//! the open items on a stack, as CommonMark does, because they decide whether four spaces mean
//! code, nesting or nothing.

use std::collections::BTreeMap;

use regreen_model::Warning;

use super::line::{FenceMark, Item, Line, LineKind, skip_blank, split};
use super::line_shape::{
    CODE_INDENT, is_row, is_underline, leaf_kind, leaves_text_open, marker_length, may_interrupt,
};

/// Nobody writes more nested items (`- - - x`) on one line than this.
const MAX_ITEMS_PER_LINE: usize = 8;

/// The container of a quotation: no indent reaches it, only text can continue it.
const QUOTE: usize = usize::MAX;

#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) lines: Vec<Line>,
    pub(crate) warnings: Vec<Warning>,
}

/// Determines the kind of each line. This works for any text.
pub(crate) fn scan(text: &str) -> Scan {
    let mut scanner = Scanner {
        text,
        lines: split(text),
        containers: Vec::new(),
        paragraph: None,
        bare_item: false,
        unclosed: BTreeMap::new(),
        last_closers: BTreeMap::new(),
        warnings: Vec::new(),
    };
    let mut at = 0;
    while at < scanner.lines.len() {
        at = scanner.line(at);
    }
    Scan {
        lines: scanner.lines,
        warnings: scanner.warnings,
    }
}

struct Scanner<'t> {
    text: &'t str,
    lines: Vec<Line>,
    /// The content columns of the open list items.
    containers: Vec<usize>,
    /// The first line of the paragraph that may continue.
    paragraph: Option<usize>,
    /// Whether the innermost open item has only a list marker so far.
    bare_item: bool,
    /// Searches that found no closing line, so that none is repeated.
    unclosed: BTreeMap<Search, Failed>,
    /// The last line that could close anything opened with a symbol.
    last_closers: BTreeMap<u8, usize>,
    warnings: Vec<Warning>,
}

/// A search for a closing line: what closes, and inside which container.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Search {
    symbol: u8,
    container: usize,
}

/// A search for a mark of `length` that failed, having looked up to line `until`.
#[derive(Clone, Copy)]
struct Failed {
    length: usize,
    until: usize,
}

/// The position of a line relative to the containers and the paragraph before it.
#[derive(Clone, Copy)]
struct Position {
    /// The number of open containers that the line is indented to.
    depth: usize,
    /// The content column of the innermost one.
    base: usize,
    /// Whether the line could continue the previous paragraph in the same container.
    continues: bool,
}

/// A list marker: its position and its length in bytes.
#[derive(Clone, Copy)]
struct ItemStart {
    offset: usize,
    column: usize,
    marker: usize,
}

enum ItemContent {
    Item(ItemStart),
    Block { next_line: usize },
}

impl<'t> Scanner<'t> {
    /// Handles the line at `at` and whatever it opens. Returns the next line to handle.
    fn line(&mut self, at: usize) -> usize {
        let (first, indent) = match self.lines.get(at) {
            Some(line) if !line.is_blank() => (line.first, line.indent),
            _ => {
                self.blank_line(at);
                return at + 1;
            }
        };
        self.bare_item = false;
        let position = self.position(indent);
        if indent - position.base >= CODE_INDENT {
            return self.deep_line(at, position);
        }
        self.block(at, first, indent, position)
    }

    fn blank_line(&mut self, at: usize) {
        self.paragraph = None;
        // An item may start with one blank line but not two. Markdown viewers treat blanks that
        // reach the item's content as content.
        let indent = self.lines.get(at).map_or(0, |line| line.indent);
        if self.bare_item && self.containers.last().is_some_and(|item| indent < *item) {
            self.bare_item = false;
            self.containers.pop();
        }
    }

    fn position(&self, indent: usize) -> Position {
        let depth = self.containers.iter().take_while(|c| indent >= **c).count();
        let base = depth
            .checked_sub(1)
            .and_then(|innermost| self.containers.get(innermost));
        Position {
            depth,
            base: base.copied().unwrap_or_default(),
            continues: self.paragraph.is_some() && depth == self.containers.len(),
        }
    }

    /// Handles a line that is too deep for anything but code or the rest of a paragraph.
    fn deep_line(&mut self, at: usize, position: Position) -> usize {
        if self.paragraph.is_none() {
            self.containers.truncate(position.depth);
            self.set(at, LineKind::IndentedCode);
        }
        at + 1
    }

    /// Handles a line that can start a block; its content starts at `offset` and `column`.
    fn block(&mut self, at: usize, offset: usize, column: usize, position: Position) -> usize {
        let content = self.content(at, offset);
        if let Some((mark, _)) = FenceMark::opening(content) {
            self.containers.truncate(position.depth);
            return self.fence(at, mark, position.base);
        }
        if content.starts_with("<!--") {
            self.containers.truncate(position.depth);
            return self.comment(at, position.base);
        }
        if position.continues && is_underline(content) && self.underline(at) {
            return at + 1;
        }
        if let Some(kind) = leaf_kind(content) {
            self.containers.truncate(position.depth);
            self.paragraph = None;
            self.set(at, kind);
            return at + 1;
        }
        match marker_length(content) {
            Some(marker) if !position.continues || may_interrupt(content, marker) => {
                self.containers.truncate(position.depth);
                let start = ItemStart {
                    offset,
                    column,
                    marker,
                };
                self.item(at, start)
            }
            _ => self.text_line(at, content, position),
        }
    }

    fn text_line(&mut self, at: usize, content: &str, position: Position) -> usize {
        if content.starts_with('>') {
            let goes_on = self.containers.last() == Some(&QUOTE) && self.paragraph.is_some();
            self.containers.truncate(position.depth);
            self.quote(at, content, goes_on);
        } else if self.paragraph.is_none() {
            self.containers.truncate(position.depth);
            self.paragraph = Some(at);
        }
        // Otherwise it continues the previous paragraph, however deep that is nested.
        at + 1
    }

    /// Handles a quoted line. It is never a row, but text below it may continue its paragraph.
    fn quote(&mut self, at: usize, content: &str, goes_on: bool) {
        self.paragraph = leaves_text_open(content, goes_on).then_some(at);
        if self.paragraph.is_some() {
            self.containers.push(QUOTE);
        }
    }

    /// Handles a list item, and the items that start after its marker on the same line.
    fn item(&mut self, at: usize, mut start: ItemStart) -> usize {
        for _ in 0..MAX_ITEMS_PER_LINE {
            let Some((offset, column)) = self.open_item(at, start) else {
                return at + 1;
            };
            match self.item_content(at, offset, column) {
                ItemContent::Item(inner) => start = inner,
                ItemContent::Block { next_line } => return next_line,
            }
        }
        at + 1
    }

    /// Opens the container of an item. Returns where its content starts, unless that is empty or
    /// code.
    fn open_item(&mut self, at: usize, start: ItemStart) -> Option<(usize, usize)> {
        let end = self.end(at);
        let after = start.offset + start.marker;
        let marker_end = start.column + start.marker;
        let (content, column) = skip_blank(self.text.as_bytes(), after, end, marker_end);
        let has_text = content < end && column - marker_end <= CODE_INDENT;
        let content_indent = if has_text { column } else { marker_end + 1 };
        self.containers.push(content_indent);
        self.paragraph = has_text.then_some(at);
        self.bare_item = content == end;
        let item = Item {
            indent: start.column,
            marker: start.offset..after,
            content: if has_text { content } else { end },
            content_indent,
        };
        self.set(at, LineKind::Item(item));
        has_text.then_some((content, column))
    }

    /// Returns whether the text after a list marker can be a block of its own.
    fn item_content(&mut self, at: usize, offset: usize, column: usize) -> ItemContent {
        let content = self.content(at, offset);
        let opened = if let Some((mark, _)) = FenceMark::opening(content) {
            self.fence_body(at, mark, column)
        } else if content.starts_with("<!--") {
            self.comment_body(at, column)
        } else if content.starts_with('>') {
            self.quote(at, content, false);
            None
        } else if leaf_kind(content).is_some() {
            self.paragraph = None;
            None
        } else if let Some(marker) = marker_length(content) {
            return ItemContent::Item(ItemStart {
                offset,
                column,
                marker,
            });
        } else {
            None
        };
        ItemContent::Block {
            next_line: opened.unwrap_or(at + 1),
        }
    }

    fn fence(&mut self, at: usize, mark: FenceMark, container: usize) -> usize {
        match self.fence_body(at, mark, container) {
            Some(next) => {
                self.set(at, LineKind::FenceOpen);
                next
            }
            None => at + 1,
        }
    }

    /// Marks the lines of the code that `mark` opens at `at`. Without a closing line it isn't code:
    /// the rows that follow must not vanish from the list.
    fn fence_body(&mut self, at: usize, mark: FenceMark, container: usize) -> Option<usize> {
        self.paragraph = None;
        let search = Search {
            symbol: mark.symbol,
            container,
        };
        let close = self.find_close(at, search, mark.length, |line, content| {
            line.indent < container + CODE_INDENT && mark.is_closed_by(content)
        });
        let Some(close) = close else {
            let opener = if mark.symbol == b'`' { "```" } else { "~~~" };
            self.warn(
                at,
                format!(
                    "unclosed code fence {opener}; ignored, so that the tasks below it are not lost"
                ),
            );
            return None;
        };
        for line in self.lines.iter_mut().take(close).skip(at + 1) {
            line.kind = LineKind::FenceBody;
        }
        self.set(close, LineKind::FenceClose);
        Some(close + 1)
    }

    fn comment(&mut self, at: usize, container: usize) -> usize {
        match self.comment_body(at, container) {
            Some(next) => {
                self.set(at, LineKind::Comment);
                next
            }
            None => at + 1,
        }
    }

    fn comment_body(&mut self, at: usize, container: usize) -> Option<usize> {
        self.paragraph = None;
        if self.content(at, self.start(at)).contains("-->") {
            return Some(at + 1);
        }
        let search = Search {
            symbol: b'<',
            container,
        };
        let close = self.find_close(at, search, 0, |_, content| content.contains("-->"));
        let Some(close) = close else {
            self.warn(
                at,
                "unclosed comment <!--; ignored, so that the tasks below it are not lost",
            );
            return None;
        };
        for line in self.lines.iter_mut().take(close + 1).skip(at + 1) {
            line.kind = LineKind::Comment;
        }
        Some(close + 1)
    }

    /// Finds the line that closes what was opened at `at`. A row outside the list item it was
    /// opened in ends the search, so that the code of one task never hides the next.
    fn find_close(
        &mut self,
        at: usize,
        search: Search,
        length: usize,
        closes: impl Fn(&Line, &str) -> bool,
    ) -> Option<usize> {
        if at >= self.last_closer(search.symbol) {
            return None;
        }
        let failed = self.unclosed.get(&search);
        if failed.is_some_and(|f| length >= f.length && at < f.until) {
            return None;
        }
        let mut until = self.lines.len();
        for (index, line) in self.lines.iter().enumerate().skip(at + 1) {
            let content = &self.text[line.first..line.end];
            if closes(line, content) {
                return Some(index);
            }
            if line.indent < search.container && is_row(content) {
                until = index;
                break;
            }
        }
        self.unclosed.insert(search, Failed { length, until });
        None
    }

    /// Returns an upper bound for the search, whatever exactly must be closed.
    fn last_closer(&mut self, symbol: u8) -> usize {
        let (text, lines) = (self.text, &self.lines);
        let could_close = |line: &Line| {
            let content = &text[line.first..line.end];
            match symbol {
                b'<' => content.contains("-->"),
                _ => FenceMark { symbol, length: 3 }.is_closed_by(content),
            }
        };
        let find = || lines.iter().rposition(could_close).unwrap_or(0);
        *self.last_closers.entry(symbol).or_insert_with(find)
    }

    /// Turns the paragraph before an underline into a heading, unless a list item starts with it.
    fn underline(&mut self, at: usize) -> bool {
        let Some(start) = self.paragraph.take() else {
            return false;
        };
        let is_item = |line: &Line| line.item().is_some();
        if self.lines.get(start).is_some_and(is_item) {
            return true;
        }
        for line in self.lines.iter_mut().take(at + 1).skip(start) {
            line.kind = LineKind::Heading;
        }
        true
    }

    fn set(&mut self, at: usize, kind: LineKind) {
        if let Some(line) = self.lines.get_mut(at) {
            line.kind = kind;
        }
    }

    fn start(&self, at: usize) -> usize {
        self.lines
            .get(at)
            .map_or(self.text.len(), |line| line.start)
    }

    fn end(&self, at: usize) -> usize {
        self.lines.get(at).map_or(self.text.len(), |line| line.end)
    }

    fn content(&self, at: usize, offset: usize) -> &'t str {
        self.text.get(offset..self.end(at)).unwrap_or_default()
    }

    fn warn(&mut self, at: usize, message: impl Into<String>) {
        self.warnings.push(Warning::new(at + 1, message));
    }
}

#[cfg(test)]
mod tests;
