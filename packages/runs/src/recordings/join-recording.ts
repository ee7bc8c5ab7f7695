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
/** After a join that failed, doubling with each. */
const FIRST_PAUSE_MS: Ms = 2000
const LONGEST_PAUSE_MS: Ms = 300_000
/** How long the spool of a process that died may take to be found again. */
const GRACE_MS: Ms = 20_000

export interface JoinServices {
  readonly database: Database
  readonly blobs: Blobs
  readonly time: Time
}

/** What became of a recording; null: there was nothing to do, or somebody else does it. */
export type JoinedState = 'ready' | 'partial' | 'failed' | 'not_required' | null

/**
 * Makes one WAV of a recording's segments, tells the database of it, and deletes the segments. For a recording that was
 * closed, or whose run is over. `ready`: all of what its recorder said to have; `partial`: something is missing, as
 * silence of its length where that is known; `failed`: nothing is left; `not_required`: there was nothing to record.
 * Any number of times, by any number of processes at once. Throws what blobs and database throw: then it is due again.
 */
export async function joinRecording(services: JoinServices, scope: Scope, runId: string): Promise<JoinedState> {
  const { database } = services
  const join = await database.transaction(scope, tx => takeJoin(tx, scope, runId, LEASE_MS))
  if (join === null) return null
  try {
    return await joinTaken(services, scope, runId, join)
  } catch (error) {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(Number(join.fence) - 1, 10), LONGEST_PAUSE_MS)
    // Its lease ends by itself where the database is away.
    await database.transaction(scope, tx => renewJoin(tx, scope, runId, join.fence, pauseMs)).catch(() => false)
    throw error
  }
}

/**
 * Joins what is due, at most `atMost` recordings; `graceMs` (20 s) after its end a run's recording is joined although its
 * recorder never closed it. Answers those that changed. Never throws for a single recording: `onProblem` is told.
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

export interface JoinSweep {
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
    // Of a recording without audio nobody comes back for its empty segments once its state says so.
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

/** False: somebody else has the recording by now, and nothing of this is left. */
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

/** Puts the whole recording, read and written as a stream; answers what a ContentRef says of it. */
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
