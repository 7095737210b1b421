//! What an agent asks of us, and what it is answered.

use agent_client_protocol_schema::v1::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome,
};
use regreen_model::AgentEvent;
use serde_json::{Value, json};

use crate::{Permissions, Reply};

/// Allows everything or nothing. What is not allowed is a question that nobody answers.
pub(super) fn permission(
    permissions: Permissions,
    id: &Value,
    request: &RequestPermissionRequest,
) -> Reply {
    let allows = |kind: PermissionOptionKind| {
        let mut options = request.options.iter();
        options.find(|option| option.kind == kind)
    };
    let allowed = allows(PermissionOptionKind::AllowOnce)
        .or_else(|| allows(PermissionOptionKind::AllowAlways))
        .filter(|_| permissions == Permissions::Skip);
    let outcome = match allowed {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    };
    let question = allowed.is_none().then(|| AgentEvent::Question {
        text: request.tool_call.fields.title.clone().unwrap_or_default(),
        permission: true,
    });
    let result = RequestPermissionResponse::new(outcome);
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    Reply {
        events: question.into_iter().collect(),
        write: vec![answer.to_string()],
    }
}

/// We offer nothing of what a client may offer; a question to a person is one.
pub(super) fn refusal(method: &str, id: &Value) -> Reply {
    let error = json!({"code": -32601, "message": "not offered by this client"});
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
    let is_question = method.starts_with("elicitation/");
    let question = is_question.then(|| AgentEvent::Question {
        text: "a question to a person".to_owned(),
        permission: false,
    });
    Reply {
        events: question.into_iter().collect(),
        write: vec![answer.to_string()],
    }
}
