import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RunState } from '../schema-runs.ts'
import { heldRow, isHeld, isOfCall, ownsRun } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

/** Result of a turn: the run's state after it and its utterances, the user's first (as Utterance). */
export interface MessageAnswer {
  readonly state: RunState
  readonly utterances: readonly JsonObject[]
}

/** A user's message in a chat. */
export interface RunMessage {
  readonly message_id: string
  /** The run that answers it: that of the message's chat, or one that continues the chat. */
  readonly run_id: string
  readonly text: string
  /** `waiting` for the run's owner, `taken` by it, then `answered` or `refused`. */
  readonly state: 'waiting' | 'taken' | 'answered' | 'refused'
  /** Of answered ones. */
  readonly answer: MessageAnswer | null
  /** Of refused ones. */
  readonly reason: string | null
  readonly created_at: string
  readonly answered_at: string | null
}

const MESSAGE = sql.raw('m.message_id, m.run_id, m.text, m.state, m.answer, m.reason, m.created_at, m.answered_at')

function ofRun(scope: Scope, runId: string) {
  return sql`m.tenant_id = ${scope.tenant_id}::uuid and m.run_id = ${runId}::uuid`
}

/**
 * Posts a message to a live chat, whose present run answers it. A message with an id that was posted before is returned as stored, in
 * any state of the run. `turn_in_progress`: another message is unanswered; `run_ended`: the run is no chat, is ending or has ended.
 */
export async function postMessage(
  tx: Queries,
  scope: Scope,
  runId: string,
  message: Pick<RunMessage, 'message_id' | 'text'>,
): Promise<RunMessage | 'turn_in_progress' | 'run_ended'> {
  const { message_id, text } = message
  const known = await readMessage(tx, scope, message_id)
  if (known !== null) return known
  // A hand-over that was committed while this waited for the row is seen by the second statement only.
  const live = (await lockChat(tx, scope, runId)) ?? (await lockChat(tx, scope, runId))
  if (live === null) return 'run_ended'
  if (live.is_answering) return (await readMessage(tx, scope, message_id)) ?? 'turn_in_progress'
  const { rows } = await sql<RunMessage>`
    insert into parley.run_messages as m (tenant_id, run_id, message_id, text)
    values (${scope.tenant_id}::uuid, ${live.run_id}::uuid, ${message_id}::uuid, ${text}::text)
    on conflict do nothing returning ${MESSAGE}`.execute(tx)
  return rows[0] ?? (await readMessage(tx, scope, message_id)) ?? 'turn_in_progress'
}

/** The run that has the chat now; its row is locked, which serialises this with hand-overs and the end of the run. */
async function lockChat(tx: Queries, scope: Scope, runId: string) {
  const { rows } = await sql<{ readonly run_id: string; readonly is_answering: boolean }>`
    select o.run_id, exists (
        select from parley.run_ownership c join parley.run_messages m using (tenant_id, run_id)
        where ${isOfCall('c', scope, runId)} and c.run_id <> o.run_id and m.state in ('waiting', 'taken')
      ) as is_answering
    from parley.run_ownership o
    where ${isOfCall('o', scope, runId)} and o.successor_run_id is null and o.kind = 'chat' and not o.cancel_asked
      and exists (
        select from parley.runs r where r.tenant_id = o.tenant_id and r.run_id = o.run_id and r.state in ('admitted', 'running')
      )
    for key share of o`.execute(tx)
  return rows[0] ?? null
}

/** The message of any run of the environment: another run may answer it than the one that it was posted to. Null: not found. */
export async function readMessage(db: Queries, scope: Scope, messageId: string): Promise<RunMessage | null> {
  const { rows } = await sql<RunMessage>`
    select ${MESSAGE} from parley.run_messages m
    where m.tenant_id = ${scope.tenant_id}::uuid and m.message_id = ${messageId}::uuid`.execute(db)
  return rows[0] ?? null
}

/** The waiting message of a run, for its owner. Null: there is none, or the run is lost. */
export async function nextMessage(db: Queries, scope: Scope, owned: RunOwnership): Promise<RunMessage | null> {
  const { rows } = await sql<RunMessage>`
    select ${MESSAGE} from parley.run_messages m
    where ${ofRun(scope, owned.run_id)} and m.state = 'waiting'
      and exists (select from parley.run_ownership where ${isHeld(scope, owned)})
    order by m.place limit 1`.execute(db)
  return rows[0] ?? null
}

/** Result of a step of the owner; `gone`: the message is not in the state for that. */
export type MessageMove = 'done' | 'lost' | 'gone'

/** The owner begins the turn. */
export function takeMessage(tx: Queries, scope: Scope, owned: RunOwnership, messageId: string): Promise<MessageMove> {
  return move(tx, scope, owned, messageId, sql`state = 'taken'`, 'waiting')
}

/** Completes the turn. If the run ends during the turn, call it with the partial result before the run is finished. */
export function answerMessage(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  messageId: string,
  answer: MessageAnswer,
): Promise<MessageMove> {
  const answered = sql`state = 'answered', answer = ${JSON.stringify(answer)}::jsonb, answered_at = parley.now_ms()`
  return move(tx, scope, owned, messageId, answered, 'taken')
}

async function move(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  messageId: string,
  assignments: ReturnType<typeof sql>,
  from: RunMessage['state'],
): Promise<MessageMove> {
  const { numAffectedRows } = await sql`
    with held as ${heldRow(scope, owned)}
    update parley.run_messages m set ${assignments} from held
    where m.tenant_id = held.tenant_id and m.run_id = held.run_id
      and m.message_id = ${messageId}::uuid and m.state = ${from}::text`.execute(tx)
  if (numAffectedRows === 1n) return 'done'
  return (await ownsRun(tx, scope, owned)) ? 'gone' : 'lost'
}
