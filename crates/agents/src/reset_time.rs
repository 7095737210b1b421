//! Parses the end of a rate limit from error messages and headers.

use jiff::civil::Date;
use jiff::fmt::rfc2822;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, ToSpan, Zoned};
use regreen_model::{ClockTime, ResetTime, Timestamp, named_span};

/// The time zone of this machine, for times that name none.
#[derive(Clone, Debug)]
pub struct LocalZone(TimeZone);

impl LocalZone {
    /// Creates it from the variable `TZ`, or else from the contents of `/etc/localtime`. Without
    /// either it is UTC, as for every other program.
    #[must_use]
    pub fn new(variable: Option<&str>, localtime: Option<&[u8]>) -> Self {
        let named = variable.map(|name| name.trim_start_matches(':'));
        let named = named.filter(|name| !name.is_empty()).and_then(|name| {
            let known = TimeZoneDatabase::bundled().get(name);
            known.or_else(|_| TimeZone::posix(name)).ok()
        });
        let configured = || TimeZone::tzif("localtime", localtime?).ok();
        Self(named.or_else(configured).unwrap_or(TimeZone::UTC))
    }
}

impl Default for LocalZone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

/// The moment when a limit ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetMoment {
    /// The moment.
    pub at: Timestamp,
    /// Whether the service named a time of day without a time zone, which regreen took as local
    /// time.
    pub is_assumed: bool,
}

/// Returns the time that an error names: `try again in 1h 2m`, `Suggested retry after 3600s`,
/// seconds since 1970 after a bar, `resets 4pm (Europe/Berlin)`, `try again at 8:35 AM`, `resets at
/// 2026-11-17T04:00:00Z`.
#[must_use]
pub fn reset_in(text: &str) -> Option<ResetTime> {
    named_span(text)
        .map(ResetTime::After)
        .or_else(|| moment(text).map(ResetTime::At))
        .or_else(|| clock_in(text).map(ResetTime::Clock))
        .or_else(|| moment_in(text).map(ResetTime::At))
}

/// Parses the header `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(header: &str) -> Option<ResetTime> {
    let seconds = header.trim().parse::<u64>().ok();
    let after = seconds.and_then(|seconds| seconds.checked_mul(1000));
    let at = || http_date(header).map(ResetTime::At);
    after.map(ResetTime::After).or_else(at)
}

/// A time without a time zone may be meant for anywhere. Further in the future than this, it is
/// ignored.
const LONGEST_ASSUMED_MS: u64 = 24 * 60 * 60 * 1000;

/// Returns the moment of a reset; `None` if its time zone is unknown. A time without a time zone is
/// taken as local time if that is within a day.
#[must_use]
pub fn reset_moment(resets: &ResetTime, now: Timestamp, local: &LocalZone) -> Option<ResetMoment> {
    let known = |at| ResetMoment {
        at,
        is_assumed: false,
    };
    match resets {
        ResetTime::At(at) => {
            let millis = u64::try_from(*at).unwrap_or(0);
            Some(known(Timestamp::from_millis(millis)))
        }
        ResetTime::After(millis) => Some(known(now.plus(*millis))),
        ResetTime::Clock(clock) => match &clock.zone {
            Some(name) => {
                let zone = TimeZoneDatabase::bundled().get(name).ok()?;
                next(clock, &zone, now).map(known)
            }
            None => {
                let at = next(clock, &local.0, now)?;
                let is_assumed = true;
                let is_soon = at.since(now) <= LONGEST_ASSUMED_MS;
                is_soon.then_some(ResetMoment { at, is_assumed })
            }
        },
    }
}

/// Parses seconds since 1970, as in `usage limit reached|1794900000`.
fn moment(text: &str) -> Option<i64> {
    let (_, rest) = text.rsplit_once('|')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let seconds: i64 = digits.parse().ok()?;
    (digits.len() == 10).then_some(seconds * 1000)
}

/// In minutes. A limit that should have ended just now ends soon, not in a day.
const JUST_NOW: i64 = 10;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Phrases that precede a time of day.
const BEFORE_CLOCK: [&str; 2] = ["try again at ", "reset"];
/// Longer than any time of day with its date and its time zone.
const LONGEST_CLOCK: usize = 80;

/// Parses `resets 4pm (Europe/Berlin)`, `resets Nov 20 at 4:30 pm (UTC)`, `reset at 16:00 (UTC)`,
/// `try again at Nov 20th, 2026 8:35 AM`, `resets 9pm`.
fn clock_in(text: &str) -> Option<ClockTime> {
    let lower = text.to_ascii_lowercase();
    let mut phrases = BEFORE_CLOCK
        .iter()
        .filter_map(|phrase| lower.find(phrase).map(|at| at + phrase.len()));
    phrases.find_map(|at| clock_at(text.get(at..)?))
}

/// Parses the time of day at the start of a text.
fn clock_at(text: &str) -> Option<ClockTime> {
    let text = &text[..text.floor_char_boundary(LONGEST_CLOCK)];
    let sentence = text.split("\n").next()?.split(". ").next()?;
    let (said, place) = match sentence.split_once('(') {
        Some((said, rest)) => (said, rest.split_once(')').map(|(place, _)| place.trim())),
        None => (sentence, None),
    };
    let is_between = |c: char| !c.is_ascii_alphanumeric() && c != ':';
    let words: Vec<&str> = said
        .split(is_between)
        .filter(|word| !word.is_empty())
        .collect();
    let zone = place.or_else(|| zone_word(&words));
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let (hour, minute) = time_of(&words)?;
    Some(ClockTime {
        date: date_of(&words),
        hour,
        minute,
        zone: zone.map(str::to_owned),
    })
}

/// Returns the abbreviation of a time zone at the end: `8:35 AM UTC`.
fn zone_word<'t>(words: &[&'t str]) -> Option<&'t str> {
    let is_zone = |word: &&&str| {
        (3..=5).contains(&word.len()) && word.chars().all(|c| c.is_ascii_uppercase())
    };
    words.last().filter(is_zone).copied()
}

/// Parses the first of the words that is a time: `4pm`, `4:30pm`, `4 pm`, `16:00`.
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

/// Parses `nov 20`, by the first letters of the month.
fn date_of(words: &[&str]) -> Option<(i8, i8)> {
    let pairs = words.windows(2);
    pairs.into_iter().find_map(|pair| {
        let [month, day] = pair else { return None };
        let at = MONTHS
            .iter()
            .position(|name| month.get(..3) == Some(name))?;
        // `20th`
        let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let day: i8 = day.parse().ok()?;
        Some((i8::try_from(at + 1).ok()?, day))
    })
}

/// Parses the first ISO time with its offset: `2026-11-17T04:00:00Z`.
fn moment_in(text: &str) -> Option<i64> {
    let mut words = text.split([' ', '\t', '\n', '"', '\'', '(', ')', ',', ';']);
    let moment = words.find_map(|word| {
        let word = word.trim_end_matches('.');
        word.parse::<jiff::Timestamp>().ok()
    });
    moment.map(jiff::Timestamp::as_millisecond)
}

/// Parses `Wed, 21 Oct 2026 07:28:00 GMT`.
fn http_date(text: &str) -> Option<i64> {
    let found = rfc2822::parse(text.trim()).ok()?;
    Some(found.timestamp().as_millisecond())
}

/// Returns the next moment at which clocks in the time zone show this time. A time that daylight
/// saving skips is an hour later.
fn next(clock: &ClockTime, zone: &TimeZone, now: Timestamp) -> Option<Timestamp> {
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
    let shown = |date: Date| shown_at(clock, date, zone);
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_is_read_in_every_form() {
        for (text, expected) in [
            ("Rate limit reached. Please try again in 11.054s.", 11_054),
            ("Please retry in 3600.5s.\nSuggested", 3_600_500),
            ("Suggested retry after 30s.]", 30_000),
            ("Try again in 3 days 2 hours 5 minutes.", 266_700_000),
            ("quota will reset after 7h12m5s.", 25_925_000),
            ("try again in 850ms", 850),
            ("Try again in 1 day, 2 hours and 3 minutes", 93_780_000),
        ] {
            assert_eq!(reset_in(text), Some(ResetTime::After(expected)), "{text}");
        }
        let at = ResetTime::At(1_794_900_000_000);
        assert_eq!(
            reset_in("Claude AI usage limit reached|1794900000"),
            Some(at)
        );
    }

    #[test]
    fn a_header_has_seconds_or_a_date() {
        assert_eq!(retry_after("120"), Some(ResetTime::After(120_000)));
        let at = ResetTime::At(1_792_567_680_000);
        assert_eq!(retry_after("Wed, 21 Oct 2026 07:28:00 GMT"), Some(at));
        for none in ["", "-5", "soon", "99999999999999999999", "Wed, 99 Oct 2026"] {
            assert_eq!(retry_after(none), None, "{none}");
        }
    }

    #[test]
    fn moments_far_away_and_long_ago_are_read() {
        let now = Timestamp::from_millis(1_794_000_000_000);
        let moment =
            |resets| reset_moment(&resets, now, &LocalZone::default()).map(|moment| moment.at);
        assert_eq!(moment(ResetTime::At(-1)), Some(Timestamp::from_millis(0)));
        let last = moment(ResetTime::After(u64::MAX)).unwrap();
        assert!(last > now);
        let text = "resets at 9999-12-30T00:00:00Z";
        assert_eq!(reset_in(text), Some(ResetTime::At(253_402_128_000_000)));
    }

    #[test]
    fn other_texts_have_no_reset_time() {
        for text in [
            "",
            "try again later",
            "try again in a moment",
            "resets soon",
            "try again at noon",
            "limit|12",
            "try again in 99999999999999999999 days",
        ] {
            assert_eq!(reset_in(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_of_a_server_is_read_without_panic(
            text in "(try again in |resets (at )?)?[0-9.a-zA-Z |,:+-]{0,40}( \\((UTC|Europe/Berlin|x|)\\))?",
            now in any::<u64>(),
        ) {
            let resets = reset_in(&text).or_else(|| retry_after(&text));
            let _ = resets.and_then(|resets| reset_moment(&resets, Timestamp::from_millis(now), &LocalZone::default()));
        }
    }

    fn moment_of(text: &str) -> Timestamp {
        let moment: jiff::Timestamp = text.parse().unwrap();
        Timestamp::from_millis(u64::try_from(moment.as_millisecond()).unwrap())
    }

    /// Checks the end of a limit, reported at `now`, that names its time zone.
    #[track_caller]
    fn check(text: &str, now: &str, expected: Option<&str>) {
        let resets = clock_in(text).map(ResetTime::Clock);
        let local = LocalZone::new(Some("Asia/Tokyo"), None);
        let found = resets.and_then(|resets| reset_moment(&resets, moment_of(now), &local));
        let expected = expected.map(|at| ResetMoment {
            at: moment_of(at),
            is_assumed: false,
        });
        assert_eq!(found, expected, "{text} at {now}");
    }

    /// Checks the moment of a time without a time zone, on a machine in `zone`.
    #[track_caller]
    fn check_assumed(text: &str, zone: &LocalZone, now: &str, expected: Option<&str>) {
        let resets = reset_in(text).unwrap();
        let found = reset_moment(&resets, moment_of(now), zone);
        let expected = expected.map(|at| ResetMoment {
            at: moment_of(at),
            is_assumed: true,
        });
        assert_eq!(found, expected, "{text} at {now}");
    }

    #[test]
    fn a_time_without_a_place_is_the_local_time_of_the_machine_within_a_day() {
        let berlin = LocalZone::new(Some("Europe/Berlin"), None);
        let night = "2026-11-18T03:00:00Z";
        let morning = Some("2026-11-18T07:35:00Z");
        let codex = "You've hit your usage limit. Upgrade to Pro (https://example.com/pricing) \
                     or try again at 8:35 AM.";
        check_assumed(codex, &berlin, night, morning);
        check_assumed(
            "try again at Nov 18th, 2026 8:35 AM.",
            &berlin,
            night,
            morning,
        );
        check_assumed("try again at Nov 25th, 2026 8:35 AM.", &berlin, night, None);
        let claude = "You're out of extra usage · resets 9pm";
        check_assumed(claude, &berlin, night, Some("2026-11-18T20:00:00Z"));
        let utc = LocalZone::default();
        check_assumed(claude, &utc, night, Some("2026-11-18T21:00:00Z"));
        let posix = LocalZone::new(Some("EST5"), None);
        check_assumed(claude, &posix, night, Some("2026-11-19T02:00:00Z"));
        let unreadable = LocalZone::new(Some("No/Such"), Some(b"not a time zone"));
        check_assumed(claude, &unreadable, night, Some("2026-11-18T21:00:00Z"));
    }

    #[test]
    fn an_abbreviation_behind_a_time_is_its_time_zone() {
        let noon = "2026-11-16T12:00:00Z";
        check(
            "try again at 4:30 PM UTC",
            noon,
            Some("2026-11-16T16:30:00Z"),
        );
        // The abbreviation is ambiguous.
        check("resets 4pm CST", noon, None);
    }

    #[test]
    fn a_time_of_day_is_the_next_one_in_its_time_zone() {
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
        // Four o'clock was hours ago: tomorrow.
        let night = "2026-11-16T20:00:00Z";
        let tomorrow = Some("2026-11-17T15:00:00Z");
        check("resets 4pm (Europe/Berlin)", night, tomorrow);
        // It should have ended just now: not tomorrow.
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
    fn daylight_saving_is_respected() {
        // Skipped: half past two becomes half past three.
        let before = "2026-03-28T23:00:00Z";
        check(
            "resets 2:30am (Europe/Berlin)",
            before,
            Some("2026-03-29T01:30:00Z"),
        );
        // Shown twice: the first one counts.
        let before = "2026-10-24T22:00:00Z";
        check(
            "resets 2:30am (Europe/Berlin)",
            before,
            Some("2026-10-25T00:30:00Z"),
        );
        // A day of 25 hours lies in between.
        let before = "2026-10-24T16:00:00Z";
        check(
            "resets 4pm (Europe/Berlin)",
            before,
            Some("2026-10-25T15:00:00Z"),
        );
    }

    #[test]
    fn impossible_times_of_day_are_not_read() {
        let now = "2026-11-16T12:00:00Z";
        for text in [
            "resets 4pm (local time)",
            "resets 25:00 (UTC)",
            "resets 4:99 (UTC)",
            "resets 99999pm (UTC)",
            "resets Feb 31 at 4pm (UTC)",
            "resets soon (UTC)",
            "4pm (UTC)",
        ] {
            check(text, now, None);
        }
    }
}
