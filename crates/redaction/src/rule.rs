use crate::class::Class;

/// One kind of secret: how to notice it, and what of it to hide.
#[derive(Debug)]
pub(crate) struct Rule {
    /// What stands in the mask: `***name***`.
    pub(crate) name: &'static str,
    /// Texts one of which every such secret has. Nothing else of a log is looked at twice.
    pub(crate) anchors: &'static [&'static str],
    pub(crate) before: Before,
    pub(crate) shape: Shape,
    /// What must be masked: exactly the part between `«` and `»`. `{alnum:36}` stands for
    /// that many made-up characters, so that no scanner takes this table for a leak.
    #[cfg_attr(not(test), expect(dead_code, reason = "the examples are the tests"))]
    pub(crate) masks: &'static [&'static str],
    /// What looks like it and must stay.
    #[cfg_attr(not(test), expect(dead_code, reason = "the examples are the tests"))]
    pub(crate) keeps: &'static [&'static str],
}

/// What may stand in front of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// The anchor says enough by itself.
    Anything,
    /// The anchor could be the end of a word (`risk-`) or a piece of base64.
    NoWord,
}

#[derive(Debug)]
pub(crate) enum Shape {
    /// The anchor begins the secret.
    Token(Body),
    /// The secret follows the anchor directly.
    After(Body),
    /// The anchor is a name; the secret is what it is set to.
    Assigned(Body),
    /// A header's name, then a scheme and credentials.
    Authorization,
    /// `header.payload.signature`.
    Jwt,
    /// The end of a URL's scheme, then `user:password@`.
    UrlPassword,
    /// The beginning of a private key in PEM form.
    KeyBlock,
}

/// What a secret consists of.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) class: &'static Class,
    pub(crate) min: usize,
    /// `None`: as long as it goes on. With a maximum, a longer word is no secret.
    pub(crate) max: Option<usize>,
    pub(crate) needs: Needs,
}

/// What tells a secret from a word. Judged by the first `min` bytes, so that it does not
/// matter how long the secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A digit, or upper and lower case together.
    Mix,
    Digit,
}

impl Body {
    pub(crate) const fn open(class: &'static Class, min: usize) -> Self {
        Self {
            class,
            min,
            max: None,
            needs: Needs::Nothing,
        }
    }

    pub(crate) const fn exact(class: &'static Class, len: usize) -> Self {
        Self {
            class,
            min: len,
            max: Some(len),
            needs: Needs::Nothing,
        }
    }

    pub(crate) const fn needing(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }
}

impl Needs {
    pub(crate) fn are_met_by(self, text: &[u8]) -> bool {
        let digit = text.iter().any(u8::is_ascii_digit);
        match self {
            Self::Nothing => true,
            Self::Digit => digit,
            Self::Mix => {
                digit
                    || text.iter().any(u8::is_ascii_uppercase)
                        && text.iter().any(u8::is_ascii_lowercase)
            }
        }
    }
}
