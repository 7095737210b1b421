/// What `/proc/<pid>/stat` says about a process, as far as we ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatLine {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) state: u8,
    /// In clock ticks, with that of children it has waited for.
    pub(crate) cpu_ticks: u64,
    /// In clock ticks since boot; with the pid it names a process for good.
    pub(crate) start: u64,
}

impl StatLine {
    /// A name may have blanks and brackets in it: the last bracket ends it.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (head, tail) = line.rsplit_once(')')?;
        let (pid, _name) = head.split_once('(')?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
        let ticks: i64 = (11..=14).map(number).sum::<Option<i64>>()?;
        Some(Self {
            pid: pid.trim().parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            cpu_ticks: u64::try_from(ticks).ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// A zombie or a process that is just being removed: there is nothing left to end.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_the_program_is_called() {
        let line = "4711 (a) R (b) 1) S 12 4711 4711 0 -1 4194304 100 0 0 0 5 6 7 8 20 0 1 0 98765 \
                    1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0";
        let stat = StatLine::parse(line).unwrap();
        assert_eq!(stat.pid, 4711);
        assert_eq!(stat.parent, 12);
        assert_eq!(stat.cpu_ticks, 26);
        assert_eq!(stat.start, 98_765);
        assert!(!stat.is_dead());
    }

    #[test]
    fn half_a_line_is_none() {
        assert_eq!(StatLine::parse("4711 (a) S 12"), None);
        assert_eq!(StatLine::parse(""), None);
    }
}
