import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type UnixMs, VirtualTime } from '@parley/kernel'
import {
  admitRun,
  type Blobs,
  type Database,
  finishRun,
  moveRun,
  openFileBlobs,
  type RunEnding,
  readRecording,
  recordingKey,
  recordingPrefix,
} from '@parley/store'
import type { TestDatabase } from '@parley/store/testing'
import { type JoinServices, joinRecordings } from '../join-recording.ts'
import { type RecordedRun, RecordingSpool, type RecordingSpoolOptions } from '../recording-spool.ts'

export const SECOND = 8000
export const SEGMENT = 10 * SECOND
const HEADER_BYTES = 58
const HOUR_MS = 3_600_000

/** Samples that encode the position of their frame; never silence. */
const leftAt = (position: number) => (Math.imul(position, 0x9e3779b1) >>> 24) % 254
const rightAt = (position: number) => leftAt(position + 1)

const COMPLETED: RunEnding = {
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
  disposition: 'completed',
}

/** An outbound call that an engine owns, in its own environment. */
export async function callOf(test: TestDatabase): Promise<RecordedRun> {
  const scope = await test.scope()
  await test.owner.query(
    'update parley.tenants set admission_enabled = true, concurrent_capacity = 100 where tenant_id = $1',
    [scope.tenant_id],
  )
  await test.owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, 'greeter', 'A')", [
    scope.tenant_id,
  ])
  await test.owner.query(
    `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
       source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
     values ($1, 'greeter', 1, 'd', 3, '{phone}', '{en}', 'api', '{}', false, uuidv7(), 1, '{}', '{}', '[]')`,
    [scope.tenant_id],
  )
  const owned = await test.database.transaction(scope, async tx => {
    const admission = await admitRun(
      tx,
      scope,
      {
        agent_id: 'greeter',
        version: 1,
        channel: 'phone',
        mode: 'outbound',
        test: false,
        trigger: { kind: 'api', idempotency_key_sha256: 'a'.repeat(64) },
        trunk_id: 'carrier',
        from_number: '+4930111',
        to_number: '+4930222',
        dynamic_variables: {},
        metadata: null,
        caller_identity: null,
        key_id: null,
        can_dial: true,
        notifies: false,
      },
      { owner: { engine: 'engine-1', worker: null, leaseMs: HOUR_MS } },
    )
    if (admission.kind !== 'admitted' || admission.owned === null) throw new Error('refused')
    await moveRun(tx, scope, admission.owned, { state: 'running' })
    return admission.owned
  })
  return { scope, owned }
}

export function endCall(
  test: TestDatabase,
  { scope, owned }: RecordedRun,
  ending: Partial<RunEnding> = {},
): Promise<unknown> {
  return test.database.transaction(scope, tx => finishRun(tx, scope, owned, { ...COMPLETED, ...ending }))
}

/** Ends a run as the reaper does after its engine was killed. */
export async function reapCall(test: TestDatabase, { scope, owned }: RecordedRun): Promise<void> {
  await test.owner.query("update parley.run_ownership set lease_until = now() - interval '1 s' where run_id = $1", [
    owned.run_id,
  ])
  const reaped = await test.database.runs.reap({ engine: 'worker-9', worker: 'reaper' }, 1000, HOUR_MS)
  const run = reaped.find(({ run_id }) => run_id === owned.run_id)!
  const outcome = { kind: 'error', detail: 'engine_lost', sip_status: null, ended_by: 'system' }
  await test.database.transaction(scope, tx =>
    finishRun(tx, scope, run, { ...COMPLETED, state: 'failed', outcome, engine_lost: true }),
  )
}

/** The directories of a machine's spool and blobs. */
export async function machine() {
  const home = await mkdtemp(join(tmpdir(), 'parley-recordings-'))
  const directory = join(home, 'spool')
  const blobs = await openFileBlobs({ directory: join(home, 'blobs') })
  return { home, directory, blobs, remove: () => rm(home, { recursive: true, force: true }) }
}

/** A process of that machine with a spool; its clock moves only on request, so that it works only when a test calls it. */
export function engineOn(
  test: { readonly database: Database },
  { directory, blobs }: { readonly directory: string; readonly blobs: Blobs },
  options: Partial<RecordingSpoolOptions> = {},
) {
  const time = new VirtualTime()
  const problems: string[] = []
  const spool = new RecordingSpool({
    directory,
    blobs,
    time,
    database: test.database,
    joinsAtClose: true,
    // The dead process wrote its last file some time ago.
    wallClock: () => (Date.now() + 10_000) as UnixMs,
    onProblem: what => problems.push(what),
    ...options,
  })
  return { spool, time, problems, services: { database: test.database, blobs, time } }
}

/** One sweep of a worker; resolves to its results for this call. */
export async function joinsOf(services: JoinServices, call: RecordedRun, graceMs?: number) {
  const swept = await joinRecordings(services, 1000, graceMs === undefined ? {} : { graceMs })
  return swept.filter(({ run_id }) => run_id === call.owned.run_id)
}

/**
 * Writes frames `from` to before `to` as the media plane does: a segment of 10 s is renamed when the next one begins.
 * `rate`: frames per second.
 */
export async function record(path: string, from: number, to: number, isOver = false, rate = SECOND): Promise<void> {
  const segment = 10 * rate
  const name = (number: number) => `${path}.${String(number).padStart(6, '0')}.wav`
  for (let start = Math.floor(from / segment) * segment; start < to || start === 0; start += segment) {
    const number = start / segment + 1
    const end = Math.min(start + segment, to)
    await writeFile(`${name(number)}.part`, wav(start, end, end - start, rate))
    if (isOver || to > start + segment) await rename(`${name(number)}.part`, name(number))
    if (to <= start + segment) return
  }
}

/** A WAV of frames `from` to before `to`, whose header counts `counted` of them. */
export function wav(from: number, to: number, counted = to - from, rate = SECOND): Buffer {
  const frames = Math.max(0, to - from)
  const bytes = Buffer.alloc(HEADER_BYTES + 2 * frames)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(HEADER_BYTES - 8 + 2 * counted, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(18, 16)
  bytes.writeUInt16LE(7, 20)
  bytes.writeUInt16LE(2, 22)
  bytes.writeUInt32LE(rate, 24)
  bytes.writeUInt32LE(2 * rate, 28)
  bytes.writeUInt16LE(2, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write('fact', 38)
  bytes.writeUInt32LE(4, 42)
  bytes.writeUInt32LE(counted, 46)
  bytes.write('data', 50)
  bytes.writeUInt32LE(2 * counted, 54)
  for (let i = 0; i < frames; i++) {
    bytes[HEADER_BYTES + 2 * i] = leftAt(from + i)
    bytes[HEADER_BYTES + 2 * i + 1] = rightAt(from + i)
  }
  return bytes
}

/** The stored recording of a call, from the database and its blobs. */
export async function storedRecording(test: TestDatabase, blobs: Blobs, { scope, owned }: RecordedRun) {
  const row = await readRecording(test.database.within(scope), scope, owned.run_id)
  const names: string[] = []
  const prefix = recordingPrefix(scope, owned.run_id)
  for await (const { key } of blobs.list(prefix)) names.push(key.slice(prefix.length))
  const content = row?.content as { artifact_id: string; sha256: string; byte_size: number; media_type: string } | null
  const found = content ? await blobs.get(recordingKey(scope, owned.run_id, content.artifact_id)) : null
  const bytes = found === null ? null : Buffer.concat(await found.bytes.toArray())
  return { state: row?.state, segments: row?.segments.length, content, names, bytes }
}

/** The number of frames of a WAV. Throws unless header and size agree, `except` is silent and all other frames are in position. */
export function framesOf(bytes: Buffer, except: readonly (readonly [number, number])[] = []): number {
  const frames = (bytes.length - HEADER_BYTES) / 2
  if (bytes.readUInt32LE(54) !== 2 * frames || bytes.readUInt32LE(46) !== frames)
    throw new Error('the WAV header and its size differ')
  for (let i = 0; i < frames; i++) {
    const isSilent = except.some(([from, to]) => i >= from && i < to)
    const [left, right] = [bytes[HEADER_BYTES + 2 * i], bytes[HEADER_BYTES + 2 * i + 1]]
    if (left !== (isSilent ? 0xff : leftAt(i)) || right !== (isSilent ? 0xff : rightAt(i)))
      throw new Error(`frame ${i} of ${frames} is not in position: ${left}, ${right}`)
  }
  return frames
}

export async function spooledIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => [])
}
