//! Times as clocks and calendars show them.

use jiff::civil::Date;
use jiff::fmt::rfc2822;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, ToSpan, Zoned};
use regreen_model::{ClockTime, Timestamp};

/// A limit that was to be over a moment ago is over any moment, not in a day.
const JUST_NOW: i64 = 10;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// `resets 4pm (Europe/Berlin)`, `resets Nov 20 at 4:30 pm (UTC)`, `reset at 16:00 (UTC)`.
pub(crate) fn clock_in(text: &str) -> Option<ClockTime> {
    let lower = text.to_ascii_lowercase();
    let said = text.get(lower.find("reset")?..)?;
    let (said, rest) = said.split_once('(')?;
    let (zone, _) = rest.split_once(')')?;
    let said = said.to_ascii_lowercase();
    let is_between = |c: char| !c.is_ascii_alphanumeric() && c != ':';
    let words: Vec<&str> = said
        .split(is_between)
        .filter(|word| !word.is_empty())
        .collect();
    let (hour, minute) = time_of(&words)?;
    Some(ClockTime {
        date: date_of(&words),
        hour,
        minute,
        zone: zone.trim().to_owned(),
    })
}

/// The first of the words that is a time: `4pm`, `4:30pm`, `4 pm`, `16:00`.
fn time_of(words: &[&str]) -> Option<(i8, i8)> {
    let mut after = words.iter().skip(1).copied().chain([""]);
    words.iter().find_map(|word| {
        let after = after.next().unwrap_or_default();
        let digits = word.trim_end_matches(['a', 'p', 'm']);
        let half = match &word[digits.len()..] {
            "" => after,
            half => half,
        };
        let half = Some(half).filter(|half| ["am", "pm"].contains(half));
        let (hour, minute) = digits.split_once(':').unwrap_or((digits, ""));
        if minute.is_empty() && half.is_none() {
            return None;
        }
        let minute = if minute.is_empty() { "0" } else { minute };
        let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
        let hour = match half {
            Some("am") => hour.checked_rem(12)?,
            Some(_) => hour.checked_rem(12)? + 12,
            None => hour,
        };
        let is_time = (0..24).contains(&hour) && (0..60).contains(&minute);
        is_time.then_some((hour, minute))
    })
}

/// `nov 20`, by the first letters of the month.
fn date_of(words: &[&str]) -> Option<(i8, i8)> {
    let pairs = words.windows(2);
    pairs.into_iter().find_map(|pair| {
        let [month, day] = pair else { return None };
        let at = MONTHS
            .iter()
            .position(|name| month.get(..3) == Some(name))?;
        let day: i8 = day.parse().ok()?;
        Some((i8::try_from(at + 1).ok()?, day))
    })
}

/// The first ISO time with its offset: `2026-11-17T04:00:00Z`.
pub(crate) fn moment_in(text: &str) -> Option<i64> {
    let mut words = text.split([' ', '\t', '\n', '"', '\'', '(', ')', ',', ';']);
    let moment = words.find_map(|word| {
        let word = word.trim_end_matches('.');
        word.parse::<jiff::Timestamp>().ok()
    });
    moment.map(jiff::Timestamp::as_millisecond)
}

/// `Wed, 21 Oct 2026 07:28:00 GMT`.
pub(crate) fn http_date(text: &str) -> Option<i64> {
    let found = rfc2822::parse(text.trim()).ok()?;
    Some(found.timestamp().as_millisecond())
}

/// The next time at which clocks there show it. A time that a change of clocks leaves out is
/// as much later.
pub(crate) fn next(clock: &ClockTime, now: Timestamp) -> Option<Timestamp> {
    let zone = TimeZoneDatabase::bundled().get(&clock.zone).ok()?;
    let now = jiff::Timestamp::from_millisecond(i64::try_from(now.as_millis()).ok()?).ok()?;
    let past = now
        .to_zoned(zone.clone())
        .checked_sub(JUST_NOW.minutes())
        .ok()?;
    let first = match clock.date {
        Some((month, day)) => Date::new(past.year(), month, day).ok()?,
        None => past.date(),
    };
    let step: Span = match clock.date {
        Some(_) => 1.year(),
        None => 1.day(),
    };
    let shown = |date: Date| shown_at(clock, date, &zone);
    let found = shown(first).filter(|found| *found >= past);
    let found = found.or_else(|| shown(first.checked_add(step).ok()?))?;
    let millis = found.timestamp().as_millisecond();
    Some(Timestamp::from_millis(u64::try_from(millis).ok()?))
}

fn shown_at(clock: &ClockTime, date: Date, zone: &TimeZone) -> Option<Zoned> {
    let time = date.at(clock.hour, clock.minute, 0, 0);
    time.to_zoned(zone.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a limit is over that is told at a moment.
    #[track_caller]
    fn check(text: &str, now: &str, expected: Option<&str>) {
        let millis = |text: &str| {
            let moment: jiff::Timestamp = text.parse().unwrap();
            Timestamp::from_millis(u64::try_from(moment.as_millisecond()).unwrap())
        };
        let found = clock_in(text).and_then(|clock| next(&clock, millis(now)));
        assert_eq!(found, expected.map(millis), "{text} at {now}");
    }

    #[test]
    fn a_time_of_day_is_the_next_one_where_it_is_told() {
        let noon = "2026-11-16T12:00:00Z";
        let four = Some("2026-11-16T15:00:00Z");
        check("resets 4pm (Europe/Berlin)", noon, four);
        check(
            "You’ve hit your limit · resets at 4:00 PM (Europe/Berlin)",
            noon,
            four,
        );
        check("limit will reset at 16:00 (Europe/Berlin).", noon, four);
        check("resets 4 pm (Europe/Berlin)", noon, four);
        check("resets 12am (UTC)", noon, Some("2026-11-17T00:00:00Z"));
        check("resets 12pm (UTC)", noon, Some(noon));
        // It has been four for hours: tomorrow.
        let night = "2026-11-16T20:00:00Z";
        let tomorrow = Some("2026-11-17T15:00:00Z");
        check("resets 4pm (Europe/Berlin)", night, tomorrow);
        // It was to be over just now: not tomorrow.
        let late = "2026-11-16T15:00:30Z";
        check("resets 4pm (Europe/Berlin)", late, four);
    }

    #[test]
    fn a_date_is_the_next_one_with_that_name() {
        let now = "2026-11-16T12:00:00Z";
        let friday = Some("2026-11-20T16:30:00Z");
        check("resets Nov 20 at 5:30pm (Europe/Berlin)", now, friday);
        check("resets November 20, 5:30pm (Europe/Berlin)", now, friday);
        let january = Some("2027-01-02T08:00:00Z");
        check("resets Jan 2, 8am (UTC)", now, january);
    }

    #[test]
    fn clocks_that_are_changed_do_not_confuse() {
        // Left out: half past two is half past three.
        let before = "2026-03-28T23:00:00Z";
        check(
            "resets 2:30am (Europe/Berlin)",
            before,
            Some("2026-03-29T01:30:00Z"),
        );
        // Shown twice: the first.
        let before = "2026-10-24T22:00:00Z";
        check(
            "resets 2:30am (Europe/Berlin)",
            before,
            Some("2026-10-25T00:30:00Z"),
        );
        // A day with 25 hours lies between.
        let before = "2026-10-24T16:00:00Z";
        check(
            "resets 4pm (Europe/Berlin)",
            before,
            Some("2026-10-25T15:00:00Z"),
        );
    }

    #[test]
    fn what_no_clock_shows_is_no_time() {
        let now = "2026-11-16T12:00:00Z";
        for text in [
            "resets 4pm",
            "resets 4pm (local time)",
            "resets 25:00 (UTC)",
            "resets 4:99 (UTC)",
            "resets 99999pm (UTC)",
            "resets -4pm (",
            "resets Feb 31 at 4pm (UTC)",
            "resets soon (UTC)",
            "4pm (UTC)",
        ] {
            check(text, now, None);
        }
    }
}
