import type { Scope } from '@parley/contract'
import { answerMessage, type Bus, claimRun, moveRun, nextMessage, type RunOwnership, takeMessage } from '@parley/store'
import type { TestDatabase } from '@parley/store/testing'

const MINUTE_MS = 60_000

/** Replaces the processes that own runs. */
interface RunOwners {
  /** Claims a waiting run and sets its state to running. */
  take(runId: string): Promise<{ readonly scope: Scope; readonly owned: RunOwnership }>
  close(): void
}

/** Claims runs on request; claims each chat with a waiting message and answers the message by repeating it. */
export function runOwners(db: TestDatabase, bus: Bus): RunOwners {
  const taken = new Map<string, Promise<{ scope: Scope; owned: RunOwnership }>>()
  const take = (runId: string) => {
    const known = taken.get(runId) ?? takeRun(db, runId)
    taken.set(runId, known)
    return known
  }
  const answer = async (runId: string) => {
    const { rows } = await db.owner.query("select from parley.run_messages where run_id = $1 and state = 'waiting'", [
      runId,
    ])
    if (rows.length === 0) return
    const { scope, owned } = await take(runId)
    const message = await nextMessage(db.database.within(scope), scope, owned)
    if (message === null) return
    const { message_id, text } = message
    await db.database.transaction(scope, tx => takeMessage(tx, scope, owned, message_id))
    const utterances = [utterance('user', text), utterance('agent', `You said: ${text}`)]
    await db.database.transaction(scope, tx =>
      answerMessage(tx, scope, owned, message_id, { state: 'running', utterances }),
    )
    bus.publish('runs', runId)
  }
  const unsubscribe = bus.subscribe('run_orders', runId => {
    answer(runId).catch(() => {})
  })
  return { take, close: unsubscribe }
}

async function takeRun(db: TestDatabase, runId: string): Promise<{ scope: Scope; owned: RunOwnership }> {
  const { rows } = await db.owner.query(
    `select t.owner_id, t.environment, t.tenant_id from parley.run_ownership o join parley.tenants t using (tenant_id)
     where o.run_id = $1`,
    [runId],
  )
  const scope: Scope = rows[0]
  const owned = await db.database.transaction(scope, async tx => {
    const claimed = await claimRun(tx, scope, runId, { engine: 'of-a-test', worker: null }, MINUTE_MS * 10)
    if (claimed === null) throw new Error(`run ${runId} cannot be claimed: another process owns it, or it has ended`)
    const { run_id, fence } = claimed
    await moveRun(tx, scope, { run_id, fence }, { state: 'running' })
    return { run_id, fence }
  })
  return { scope, owned }
}

function utterance(role: 'user' | 'agent', text: string) {
  return {
    index: role === 'user' ? 0 : 1,
    role,
    text,
    segment_id: 's',
    observed_offset_ms: null,
    interrupted: false,
    start_ms: null,
    end_ms: null,
    node_id: null,
  }
}
