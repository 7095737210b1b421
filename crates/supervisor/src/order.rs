use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use crate::Spec;

/// What a keeper is told to run. Regreen and its keeper are the same binary, so the form has
/// no version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) argv: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) grace: Duration,
}

/// The order was cut short or is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an order for a keeper")]
pub(crate) struct NotAnOrder;

impl Order {
    pub(crate) fn of(spec: &Spec) -> Self {
        let (name, value) = spec.marker.variable();
        let mut env = spec.env.clone();
        env.push((name, Some(value)));
        Self {
            argv: spec.argv.clone(),
            cwd: spec.cwd.clone(),
            env,
            grace: spec.limits.grace,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(
            &mut out,
            self.grace.as_millis().try_into().unwrap_or(u64::MAX),
        );
        put_text(&mut out, self.cwd.as_os_str().as_bytes());
        put_number(&mut out, self.argv.len() as u64);
        for argument in &self.argv {
            put_text(&mut out, argument.as_bytes());
        }
        put_number(&mut out, self.env.len() as u64);
        for (name, value) in &self.env {
            put_text(&mut out, name.as_bytes());
            put_number(&mut out, u64::from(value.is_some()));
            put_text(&mut out, value.as_deref().unwrap_or_default().as_bytes());
        }
        out
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> Result<Self, NotAnOrder> {
        let from = &mut bytes;
        Ok(Self {
            grace: Duration::from_millis(take_number(from)?),
            cwd: take_text(from)?.into(),
            argv: take_list(from, take_text)?,
            env: take_list(from, take_change)?,
        })
    }
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

fn take_number(from: &mut &[u8]) -> Result<u64, NotAnOrder> {
    let (number, rest) = from.split_first_chunk().ok_or(NotAnOrder)?;
    *from = rest;
    Ok(u64::from_le_bytes(*number))
}

fn take_text(from: &mut &[u8]) -> Result<OsString, NotAnOrder> {
    let len = usize::try_from(take_number(from)?).map_err(|_| NotAnOrder)?;
    let (text, rest) = from.split_at_checked(len).ok_or(NotAnOrder)?;
    *from = rest;
    Ok(OsString::from_vec(text.to_vec()))
}

fn take_change(from: &mut &[u8]) -> Result<(OsString, Option<OsString>), NotAnOrder> {
    let name = take_text(from)?;
    let is_set = take_number(from)? == 1;
    let value = take_text(from)?;
    Ok((name, is_set.then_some(value)))
}

fn take_list<T>(
    from: &mut &[u8],
    mut take: impl FnMut(&mut &[u8]) -> Result<T, NotAnOrder>,
) -> Result<Vec<T>, NotAnOrder> {
    let len = take_number(from)?;
    (0..len).map(|_| take(from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = OsString> {
        vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
    }

    prop_compose! {
        fn order()(
            argv in vec(text(), 0..5),
            cwd in text(),
            env in vec((text(), option::of(text())), 0..5),
            grace in 0..10_000_u64,
        ) -> Order {
            Order { argv, cwd: cwd.into(), env, grace: Duration::from_millis(grace) }
        }
    }

    proptest! {
        #[test]
        fn every_order_arrives_as_it_was_sent(order in order()) {
            prop_assert_eq!(Order::decode(&order.encode()), Ok(order));
        }

        #[test]
        fn an_order_cut_short_is_none(order in order(), cut in any::<proptest::sample::Index>()) {
            let bytes = order.encode();
            prop_assert_eq!(Order::decode(&bytes[..cut.index(bytes.len())]), Err(NotAnOrder));
        }
    }
}
