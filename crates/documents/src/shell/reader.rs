//! Parses text into statements.

use super::{Body, Joint, List, Pipeline, Redirection, Simple, Stage, Statement, Word};

/// Deeper nesting isn't followed, because hostile text could overflow the stack.
const DEEPEST: u32 = 60;

/// The end of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// At the end of the text.
    Text,
    /// Before `)`.
    Parenthesis,
    /// Before one of these words.
    Words(&'static [&'static str]),
    /// Before `;;`, `;&`, `;;&` or `esac`.
    Case,
}

#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The words that end the here-documents after this line, and whether leading tabs are
    /// stripped.
    pub(super) heredocs: Vec<(String, bool)>,
    depth: u32,
}

/// Words that can't start a command. A list that meets one didn't start where it seemed to.
const CLOSING: &[&str] = &[
    "then", "elif", "else", "fi", "do", "done", "esac", "}", "in",
];

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            heredocs: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn script(mut self) -> Option<List> {
        self.list(End::Text)
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, token: &str) -> bool {
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    pub(super) fn list(&mut self, end: End) -> Option<List> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut list = List::default();
        let mut is_on_new_line = true;
        loop {
            is_on_new_line |= self.skip_lines();
            if self.is_at(end)? {
                break;
            }
            let mut statement = self.statement()?;
            statement.is_on_new_line = is_on_new_line;
            is_on_new_line = false;
            self.skip_blanks();
            statement.is_background = self.rest().starts_with('&');
            list.statements.push(statement);
            let is_separated = match self.rest().as_bytes() {
                [b';', b';' | b'&', ..] => true,
                [b';' | b'&', ..] => {
                    self.at += 1;
                    true
                }
                [b'\n' | b')', ..] | [] => true,
                _ => false,
            };
            if !is_separated {
                return None;
            }
        }
        self.depth -= 1;
        Some(list)
    }

    /// `None` if the list can't end as it should.
    fn is_at(&self, end: End) -> Option<bool> {
        let rest = self.rest();
        let word = self.plain_word();
        if rest.is_empty() {
            return matches!(end, End::Text).then_some(true);
        }
        let is_end = match end {
            End::Text => false,
            End::Parenthesis => rest.starts_with(')'),
            End::Words(words) => words.contains(&word),
            End::Case => word == "esac" || rest.starts_with(";;") || rest.starts_with(";&"),
        };
        if is_end {
            return Some(true);
        }
        (!CLOSING.contains(&word) && !rest.starts_with([')', ';', '&', '|'])).then_some(false)
    }

    /// Returns the current word if it contains no quote, dollar or the like.
    fn plain_word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || ";&|()<>\"'`$\\".contains(c));
        let word = &rest[..end.unwrap_or(rest.len())];
        match end.and_then(|end| rest.as_bytes().get(end)) {
            Some(b'"' | b'\'' | b'`' | b'$' | b'\\') => "",
            _ => word,
        }
    }

    fn skip_word(&mut self, word: &str) -> Option<()> {
        self.skip_lines();
        (self.plain_word() == word).then(|| self.at += word.len())
    }

    fn statement(&mut self) -> Option<Statement> {
        let start = self.at;
        let mut pipelines = vec![(Joint::First, self.pipeline()?)];
        loop {
            let end = self.at;
            self.skip_blanks();
            let joint = if self.skip("&&") {
                Joint::And
            } else if self.skip("||") {
                Joint::Or
            } else {
                self.at = end;
                break;
            };
            self.skip_lines();
            pipelines.push((joint, self.pipeline()?));
        }
        Some(Statement {
            range: start..self.at,
            is_on_new_line: false,
            is_background: false,
            pipelines,
        })
    }

    fn pipeline(&mut self) -> Option<Pipeline> {
        let mut is_negated = false;
        while self.plain_word() == "!" {
            self.at += 1;
            is_negated = !is_negated;
            self.skip_blanks();
        }
        let start = self.at;
        let mut stages = vec![self.stage()?];
        loop {
            let end = self.at;
            self.skip_blanks();
            let rest = self.rest();
            if !rest.starts_with('|') || rest.starts_with("||") {
                self.at = end;
                break;
            }
            self.at += 1;
            self.skip("&");
            self.skip_lines();
            stages.push(self.stage()?);
        }
        Some(Pipeline {
            range: start..self.at,
            is_negated,
            stages,
        })
    }

    fn stage(&mut self) -> Option<Stage> {
        self.depth += 1;
        let stage = (self.depth <= DEEPEST).then(|| self.any_stage())?;
        self.depth -= 1;
        stage
    }

    fn any_stage(&mut self) -> Option<Stage> {
        let start = self.at;
        if self.rest().starts_with("((") {
            if self.arithmetic().is_some() {
                return self.redirected(Stage::Arithmetic);
            }
            self.at = start;
        }
        if self.rest().starts_with('(') {
            let list = self.parenthesized()?;
            return self.redirected(Stage::Group(list));
        }
        let word = self.plain_word();
        let stage = match word {
            "{" | "if" | "while" | "until" | "for" | "select" | "case" | "function" | "[["
            | "time" => {
                self.at += word.len();
                self.skip_blanks();
                self.compound(word)?
            }
            "coproc" => return None,
            _ => return self.simple(),
        };
        match stage {
            Stage::Function(_) | Stage::Simple(_) => Some(stage),
            stage => self.redirected(stage),
        }
    }

    /// Parses the compound command that a reserved word starts.
    fn compound(&mut self, word: &str) -> Option<Stage> {
        match word {
            "{" => {
                let list = self.list(End::Words(&["}"]))?;
                self.skip_word("}")?;
                Some(Stage::Group(list))
            }
            "if" => self.branches(),
            "while" | "until" => {
                let condition = self.list(End::Words(&["do"]))?;
                self.loop_body(vec![condition])
            }
            "for" | "select" => {
                self.loop_head()?;
                self.loop_body(Vec::new())
            }
            "case" => self.cases(),
            "function" => {
                self.word()?;
                self.skip_blanks();
                if self.skip("(") {
                    self.skip_blanks();
                    self.skip(")").then_some(())?;
                }
                self.function_body()
            }
            "[[" => self.test(),
            _ => {
                if self.plain_word() == "-p" {
                    self.at += 2;
                    self.skip_blanks();
                }
                self.stage()
            }
        }
    }

    fn function_body(&mut self) -> Option<Stage> {
        self.skip_lines();
        let body = self.stage()?;
        Some(Stage::Function(Box::new(body)))
    }

    fn branches(&mut self) -> Option<Stage> {
        let (mut conditions, mut bodies) = (Vec::new(), Vec::new());
        loop {
            conditions.push(self.list(End::Words(&["then"]))?);
            self.skip_word("then")?;
            bodies.push(self.body(End::Words(&["elif", "else", "fi"]))?);
            if self.skip_word("elif").is_some() {
                continue;
            }
            if self.skip_word("else").is_some() {
                bodies.push(self.body(End::Words(&["fi"]))?);
            }
            self.skip_word("fi")?;
            return Some(Stage::Control {
                conditions,
                bodies,
                is_loop: false,
            });
        }
    }

    fn body(&mut self, end: End) -> Option<Body> {
        let list = self.list(end)?;
        let end = self.at;
        Some(Body { list, end })
    }

    /// Parses `for x in a b;`, `for x;`, `for ((…));`.
    fn loop_head(&mut self) -> Option<()> {
        if self.rest().starts_with("((") {
            self.arithmetic()?;
        } else {
            self.word()?;
            self.skip_lines();
            if self.skip_word("in").is_some() {
                self.skip_blanks();
                while self.byte().is_some_and(|byte| !b";\n&|()".contains(&byte)) {
                    self.word()?;
                    self.skip_blanks();
                }
            }
        }
        self.skip_blanks();
        self.skip(";");
        Some(())
    }

    fn loop_body(&mut self, conditions: Vec<List>) -> Option<Stage> {
        self.skip_word("do")?;
        let body = self.body(End::Words(&["done"]))?;
        self.skip_word("done")?;
        Some(Stage::Control {
            conditions,
            bodies: vec![body],
            is_loop: true,
        })
    }

    fn cases(&mut self) -> Option<Stage> {
        self.word()?;
        self.skip_word("in")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_lines();
            if self.skip_word("esac").is_some() {
                return Some(Stage::Control {
                    conditions: Vec::new(),
                    bodies,
                    is_loop: false,
                });
            }
            self.skip("(");
            loop {
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                if !self.skip("|") {
                    break;
                }
            }
            self.skip(")").then_some(())?;
            bodies.push(self.body(End::Case)?);
            let _ = self.skip(";;&") || self.skip(";;") || self.skip(";&");
        }
    }

    /// Parses `[[ … ]]`, in which parentheses and pipes have their own meaning.
    fn test(&mut self) -> Option<Stage> {
        loop {
            self.skip_lines();
            if self.plain_word() == "]]" {
                self.at += 2;
                return Some(Stage::Test);
            }
            match self.byte()? {
                b'(' | b')' | b'|' | b'&' | b'<' | b'>' => self.at += 1,
                _ => {
                    self.word()?;
                }
            }
        }
    }

    fn simple(&mut self) -> Option<Stage> {
        let mut simple = Simple::default();
        loop {
            let end = self.at;
            self.skip_blanks();
            if let Some(redirection) = self.redirection(simple.words.len())? {
                simple.redirections.push(redirection);
                continue;
            }
            match self.byte() {
                Some(b'(') if simple.words.len() == 1 => {
                    self.at += 1;
                    self.skip_blanks();
                    self.skip(")").then_some(())?;
                    return self.function_body();
                }
                Some(b'(') => return None,
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => {
                    self.at = end;
                    break;
                }
                Some(_) => simple.words.push(self.word()?),
            }
        }
        let is_empty = simple.words.is_empty() && simple.redirections.is_empty();
        (!is_empty).then_some(Stage::Simple(simple))
    }

    fn redirected(&mut self, stage: Stage) -> Option<Stage> {
        loop {
            let end = self.at;
            self.skip_blanks();
            if self.redirection(0)?.is_none() {
                self.at = end;
                return Some(stage);
            }
        }
    }

    /// Parses a redirection, if there is one.
    fn redirection(&mut self, words_before: usize) -> Option<Option<Redirection>> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let is_unnumbered = self.at == start;
        let rest = self.rest();
        let is_process = rest.starts_with("<(") || rest.starts_with(">(");
        let is_both = rest.starts_with("&>");
        if is_process || !(is_both || rest.starts_with(['<', '>'])) {
            self.at = start;
            return Some(None);
        }
        let operators = [
            "&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">&", ">|", ">",
        ];
        let operator = operators.into_iter().find(|sign| rest.starts_with(sign))?;
        self.at += operator.len();
        self.skip_blanks();
        let target = self.word()?;
        if let "<<" | "<<-" = operator {
            self.heredocs.push((unquoted(&target), operator == "<<-"));
        }
        Some(Some(Redirection {
            words_before,
            is_unnumbered,
            writes: operator.contains('>'),
            target: unquoted(&target),
        }))
    }

    /// Skips spaces, tabs, line continuations and a comment.
    fn skip_blanks(&mut self) {
        let starts_word = |text: &str, at: usize| {
            at == 0 || text[..at].ends_with([' ', '\t', '\n', ';', '&', '|', '(', ')'])
        };
        loop {
            match self.rest().as_bytes() {
                [b' ' | b'\t', ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'#', ..] if starts_word(self.text, self.at) => {
                    let line = self.rest();
                    self.at += line.find('\n').unwrap_or(line.len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends, including here-documents. Returns whether a line ended.
    fn skip_lines(&mut self) -> bool {
        let mut has_ended = false;
        loop {
            self.skip_blanks();
            if !self.skip("\n") {
                return has_ended;
            }
            has_ended = true;
            for (end, skips_tabs) in std::mem::take(&mut self.heredocs) {
                self.skip_heredoc(&end, skips_tabs);
            }
        }
    }

    fn skip_heredoc(&mut self, end: &str, skips_tabs: bool) {
        loop {
            let rest = self.rest();
            let (line, length) = match rest.split_once('\n') {
                Some((line, _)) => (line, line.len() + 1),
                None => (rest, rest.len()),
            };
            self.at += length;
            let line = if skips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == end || length == 0 {
                return;
            }
        }
    }
}

fn unquoted(word: &Word) -> String {
    word.text.replace(['"', '\'', '\\'], "")
}
