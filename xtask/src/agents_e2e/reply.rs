//! What a model would say.

/// The answer to one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Text, and tools to use.
    Say(&'static str, Vec<Tool>),
    Fail(Failure),
    /// No answer at all, ever.
    Hang,
}

#[derive(Clone, Debug)]
pub(crate) enum Tool {
    /// Writes a file in the workspace.
    Write(&'static str, &'static str),
    Run(&'static str),
}

/// What a service says that refuses.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) word: &'static str,
    pub(crate) message: &'static str,
    pub(crate) retry_after: Option<u32>,
}

impl Reply {
    pub(crate) fn say(text: &'static str) -> Self {
        Self::Say(text, Vec::new())
    }

    pub(crate) fn write(path: &'static str, content: &'static str) -> Self {
        Self::Say("Writing.", vec![Tool::Write(path, content)])
    }

    pub(crate) fn run(command: &'static str) -> Self {
        Self::Say("Trying.", vec![Tool::Run(command)])
    }

    pub(crate) fn fail(status: u16, word: &'static str, message: &'static str) -> Self {
        Self::Fail(Failure {
            status,
            word,
            message,
            retry_after: None,
        })
    }
}
