"""Uses the API by the client that openapi-python-client generates: create, edit, validate, publish, call, follow.

Arguments: URL of the API, API key, agent that calls, number of the phone that it calls. Prints a JSON object.
"""

import json
import sys
import time
import uuid

from parley_client import AuthenticatedClient
from parley_client.api.agents import agents_create
from parley_client.api.drafts import drafts_edit, drafts_get, drafts_validate
from parley_client.api.publications import publications_publish
from parley_client.api.runs import runs_cancel, runs_create, runs_get, runs_timeline
from parley_client.models import (
    AgentNameDraftEditInput,
    AgentsCreateRequest,
    AgentsCreateRequestTemplate,
    DraftsEditRequest,
    FlowPromptDraftEditInput,
    PublicationsPublishRequest,
    RunsCancelRequest,
    RunsCreateRequest,
    RunsCreateRequestChannel,
    RunsCreateRequestMode,
)

URL, KEY, CALLER, PHONE = sys.argv[1:]
GIVE_UP_AFTER_S = 120
MOST_CALLS = 8


def key() -> str:
    return str(uuid.uuid4())


def follow(client, run_id, is_wanted):
    until = time.monotonic() + GIVE_UP_AFTER_S
    while True:
        run = runs_get.sync(run_id, client=client)
        if is_wanted(run):
            return run
        if time.monotonic() > until:
            raise SystemExit(f"the run did not get there: {run}")
        time.sleep(0.2)


def call_until_answered(client):
    """A phone on a busy machine may refuse a call (503): then it is called again."""
    request = RunsCreateRequest(
        agent_id=CALLER,
        channel=RunsCreateRequestChannel.PHONE,
        mode=RunsCreateRequestMode.OUTBOUND,
        to=PHONE,
    )
    for _ in range(MOST_CALLS):
        run = runs_create.sync(client=client, body=request, idempotency_key=key())
        run = follow(client, run.run_id, lambda found: found.phone_state == "active" or found.ended_at is not None)
        if run.phone_state == "active":
            return run
        time.sleep(1)
    raise SystemExit(f"no call was answered: {run}")


def main() -> None:
    with AuthenticatedClient(base_url=URL, token=KEY, raise_on_unexpected_status=True) as client:
        body = AgentsCreateRequest(name="Made by Python", template=AgentsCreateRequestTemplate.CLOUD_CHAT)
        agent = agents_create.sync(client=client, body=body, idempotency_key=key())
        agent_id = agent.ref.id
        edits = [
            AgentNameDraftEditInput(type_="agent.name", name="Renamed by Python"),
            FlowPromptDraftEditInput(type_="flow.prompt", text="You answer briefly."),
        ]
        edit = DraftsEditRequest(
            draft_id=agent.draft.draft_id, expected_revision=agent.draft.revision, edits=edits
        )
        draft = drafts_edit.sync(agent_id, client=client, body=edit)
        name = drafts_get.sync(agent_id, client=client).name
        diagnostics = drafts_validate.sync(agent_id, client=client).diagnostics
        publish = PublicationsPublishRequest(draft_id=draft.draft_id, expected_revision=draft.revision)
        published = publications_publish.sync(agent_id, client=client, body=publish, idempotency_key=key())

        talking = call_until_answered(client)
        runs_cancel.sync(talking.run_id, client=client, body=RunsCancelRequest())
        ended = follow(client, talking.run_id, lambda found: found.ended_at is not None)
        timeline = runs_timeline.sync(talking.run_id, client=client)
        print(
            json.dumps(
                {
                    "agent_id": agent_id,
                    "name": name,
                    "errors": [item.message for item in diagnostics if item.severity == "error"],
                    "version": published.publication.ref.version,
                    "talked_to": talking.to_number,
                    "state": ended.state,
                    "kinds": sorted({item.kind for item in timeline.items}),
                }
            )
        )


main()
