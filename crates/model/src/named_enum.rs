/// Declares an enum whose variants have names for data, settings and tables.
///
/// Adds `ALL`, `name`, `from_name` and a `Display` that honours padding. The enum has its own
/// derives; if it is serialized, its serde names must be these names.
///
/// ```
/// regreen_model::named_enum! {
///     /// A volume.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Volume {
///         /// A whisper.
///         Low = "low",
///         /// A shout.
///         High = "high",
///     }
/// }
///
/// assert_eq!(Volume::ALL.map(Volume::name), ["low", "high"]);
/// assert_eq!(Volume::from_name("high"), Some(Volume::High));
/// assert_eq!(format!("{:<5}|", Volume::Low), "low  |");
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $enum:ident {
            $(
                $(#[$variant_attribute:meta])*
                $variant:ident = $name:literal,
            )+
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $enum {
            $(
                $(#[$variant_attribute])*
                $variant,
            )+
        }

        impl $enum {
            /// All variants, in declaration order.
            $visibility const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name used in stored data.
            #[must_use]
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the variant with this name.
            #[must_use]
            $visibility fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use crate::{
        AnswerKind, ChoiceKind, Dialect, FailureCategory, FailureKind, PromptKind, RepairPolicy,
        RetryMode, TaskKind,
    };

    /// Stored journals, settings and tables depend on these names.
    #[track_caller]
    fn check<T: Copy + Debug + PartialEq + Serialize + DeserializeOwned>(
        all: &[T],
        name: fn(T) -> &'static str,
        from_name: fn(&str) -> Option<T>,
    ) {
        for variant in all {
            let name = name(*variant);
            assert_eq!(serde_json::to_value(variant).unwrap(), name);
            assert_eq!(from_name(name), Some(*variant));
        }
        let names: BTreeSet<_> = all.iter().map(|variant| name(*variant)).collect();
        assert_eq!(names.len(), all.len());
        assert_eq!(from_name(""), None);
    }

    #[test]
    fn every_name_is_unique_and_is_the_name_in_serialized_data() {
        check(&AnswerKind::ALL, AnswerKind::name, AnswerKind::from_name);
        check(&ChoiceKind::ALL, ChoiceKind::name, ChoiceKind::from_name);
        check(&Dialect::ALL, Dialect::name, Dialect::from_name);
        check(
            &FailureCategory::ALL,
            FailureCategory::name,
            FailureCategory::from_name,
        );
        check(&FailureKind::ALL, FailureKind::name, FailureKind::from_name);
        check(&PromptKind::ALL, PromptKind::name, PromptKind::from_name);
        check(
            &RepairPolicy::ALL,
            RepairPolicy::name,
            RepairPolicy::from_name,
        );
        check(&RetryMode::ALL, RetryMode::name, RetryMode::from_name);
        check(&TaskKind::ALL, TaskKind::name, TaskKind::from_name);
    }
}
