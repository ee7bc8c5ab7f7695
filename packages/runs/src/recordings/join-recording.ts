import { createHash, randomUUID } from 'node:crypto'
import type { Scope } from '@parley/contract'
import type { Ms, Time } from '@parley/kernel'
import {
  type Blobs,
  type Database,
  endJoin,
  type JsonObject,
  keepJoined,
  type RecordingJoin,
  type RunOfTenant,
  recordingKey,
  renewJoin,
  takeJoin,
} from '@parley/store'
import {
  deleteSegments,
  findSegments,
  planWhole,
  type StoredSegments,
  type WholePlan,
  wholeBytes,
} from './stored-segments.ts'

const LEASE_MS: Ms = 120_000
const RENEW_AFTER_MS: Ms = 30_000
/** Pause after a failed join; it doubles with each failure. */
const FIRST_PAUSE_MS: Ms = 2000
const LONGEST_PAUSE_MS: Ms = 300_000
/** How long the spool of a dead process may take to be found again. */
const GRACE_MS: Ms = 20_000

export interface JoinServices {
  readonly database: Database
  readonly blobs: Blobs
  readonly time: Time
}

/** The new state of a recording; null: there was nothing to do, or another process joins it. */
type JoinedState = 'ready' | 'partial' | 'failed' | 'not_required' | null

/**
 * Joins a recording's segments to one WAV, stores its state in the database, and deletes the segments. The recording must
 * be closed or its run ended. `ready`: complete; `partial`: audio is missing, replaced by silence where its length is
 * known; `failed`: no audio is left; `not_required`: there was nothing to record. Idempotent, and safe in many processes
 * at once. Rejects with errors of blobs and database; the join is then due again.
 */
export async function joinRecording(services: JoinServices, scope: Scope, runId: string): Promise<JoinedState> {
  const { database } = services
  const join = await database.transaction(scope, tx => takeJoin(tx, scope, runId, LEASE_MS))
  if (join === null) return null
  try {
    return await joinTaken(services, scope, runId, join)
  } catch (error) {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(Number(join.fence) - 1, 10), LONGEST_PAUSE_MS)
    // While the database is away the lease expires by itself.
    await database.transaction(scope, tx => renewJoin(tx, scope, runId, join.fence, pauseMs)).catch(() => false)
    throw error
  }
}

/**
 * Joins at most `atMost` due recordings. A recording that was never closed is due `graceMs` (20 s) after the end of its run.
 * Resolves to those that changed. A failed recording is reported to `onProblem` and does not reject the call.
 */
export async function joinRecordings(
  services: JoinServices,
  atMost: number,
  { graceMs = GRACE_MS, onProblem }: JoinSweep = {},
): Promise<RunOfTenant[]> {
  const joined: RunOfTenant[] = []
  for (const due of await services.database.contents.recordingsToJoin(atMost, graceMs))
    try {
      if ((await joinRecording(services, due.scope, due.run_id)) !== null) joined.push(due)
    } catch (error) {
      onProblem?.(`the recording of ${due.run_id} cannot be joined`, error)
    }
  return joined
}

interface JoinSweep {
  readonly graceMs?: Ms
  readonly onProblem?: (what: string, error: unknown) => void
}

async function joinTaken(
  services: JoinServices,
  scope: Scope,
  runId: string,
  join: RecordingJoin,
): Promise<JoinedState> {
  const { database, blobs } = services
  const pieces = await findSegments(blobs, scope, runId)
  const before = join.content === null ? null : String(join.content.artifact_id)
  const isNew = join.state !== 'ready' && (before === null || pieces.segments.size > 0)
  let artifact = before
  let state: JoinedState = join.state === 'ready' ? 'ready' : 'partial'
  if (isNew) {
    const plan = await planWhole(blobs, pieces, before)
    state = stateOf(join, pieces, plan)
    artifact = plan === null ? before : randomUUID()
    // Deleted now: once the state says that there is no audio, no later join looks for the empty segments.
    if (plan === null) await deleteSegments(blobs, scope, runId, pieces, artifact)
    const isKept = await putWhole(services, { scope, runId, join, plan, artifact, state })
    if (!isKept) return null
  }
  await deleteSegments(blobs, scope, runId, pieces, artifact)
  await database.transaction(scope, tx => endJoin(tx, scope, runId, join))
  return state
}

function stateOf(join: RecordingJoin, { segments }: StoredSegments, plan: WholePlan | null): NonNullable<JoinedState> {
  const { expected, state, connected } = join
  if (plan === null) {
    if (state === 'partial' || state === 'failed') return state
    if (expected !== null) return segments.size >= expected ? 'not_required' : 'failed'
    return connected || state === 'recording' ? 'failed' : 'not_required'
  }
  const isWhole = expected !== null && segments.size === expected && segments.has(expected)
  return isWhole && plan.isSeamless && state === 'processing' ? 'ready' : 'partial'
}

interface NewWhole {
  readonly scope: Scope
  readonly runId: string
  readonly join: RecordingJoin
  readonly plan: WholePlan | null
  readonly artifact: string | null
  readonly state: NonNullable<JoinedState>
}

/** False: another process has taken the recording meanwhile, and this result is discarded. */
async function putWhole({ database, blobs, time }: JoinServices, whole: NewWhole): Promise<boolean> {
  const { scope, runId, join, plan, artifact, state } = whole
  if (plan === null || artifact === null)
    return database.transaction(scope, tx => keepJoined(tx, scope, runId, join.fence, state, join.content))
  const key = recordingKey(scope, runId, artifact)
  let renewedAt = time.now()
  const content = await putCounted(blobs, key, plan, async () => {
    if (time.now() - renewedAt < RENEW_AFTER_MS) return
    renewedAt = time.now()
    await database.transaction(scope, tx => renewJoin(tx, scope, runId, join.fence, LEASE_MS))
  })
  const isKept = await database.transaction(scope, tx =>
    keepJoined(tx, scope, runId, join.fence, state, { artifact_id: artifact, ...content, expires_at: null }),
  )
  if (!isKept) await blobs.delete(key)
  return isKept
}

/** Stores the whole recording as a stream; resolves to its ContentRef facts. */
async function putCounted(
  blobs: Blobs,
  key: string,
  plan: WholePlan,
  onStretch: () => Promise<void>,
): Promise<JsonObject> {
  const hash = createHash('sha256')
  let byte_size = 0
  const counted = async function* () {
    for await (const chunk of wholeBytes(blobs, plan, onStretch)) {
      hash.update(chunk)
      byte_size += chunk.length
      yield chunk
    }
  }
  await blobs.put(key, counted())
  return { sha256: hash.digest('hex'), byte_size, media_type: 'audio/wav' }
}
