import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { forgetBlobs } from './contents.ts'
import { endJoin, keepJoined, renewJoin, takeJoin } from './recording-joins.ts'
import {
  awaitRecording,
  closeRecording,
  isOwnershipCurrent,
  moveRecording,
  openRecording,
  readRecording,
} from './recordings.ts'
import { letLeaseEnd, REAPER, talesOn, workspace } from './runs.fixture.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)
const LEASE_MS = 60_000
const GRACE_MS = 20_000

async function recorded() {
  const scope = await workspace(test)
  const run = await running(scope)
  const within = withinOf(scope)
  await within(tx => openRecording(tx, scope, run, 'recording'))
  return { scope, run, within, id: run.run_id }
}

const due = async ({ tenant_id }: Scope, graceMs = GRACE_MS) =>
  (await test.database.contents.recordingsToJoin(100, graceMs)).filter(({ scope }) => scope.tenant_id === tenant_id)

/** Moves the end of a run into the past. */
const endedLongAgo = (runId: string, seconds: number) =>
  test.owner.query("update parley.runs set ended_at = now() - $2 * interval '1 s' where run_id = $1", [runId, seconds])

describe('a recording that its recorder closed', () => {
  it('a recording that its recorder closed is joined once by one joiner, and again when segments are added', async () => {
    const { scope, within, id } = await recorded()
    const take = () => within(tx => takeJoin(tx, scope, id, LEASE_MS))
    expect(await take()).toBeNull()
    expect(await due(scope)).toEqual([])
    expect(await within(tx => closeRecording(tx, scope, id, 3))).toBe('closed')
    expect(await due(scope)).toEqual([{ run_id: id, scope }])
    const taken = await Promise.all([take(), take(), take()])
    const [join, ...others] = taken.filter(one => one !== null)
    expect(others).toEqual([])
    expect(join).toMatchObject({ state: 'processing', expected: 3, content: null, connected: false })
    expect(await due(scope)).toEqual([])
    const content = { sha256: 'x' }
    expect(await within(tx => keepJoined(tx, scope, id, join!.fence, 'partial', content))).toBe(true)
    // More comes before the join is through.
    await within(tx => closeRecording(tx, scope, id, null))
    expect(await within(tx => endJoin(tx, scope, id, join!))).toBe(true)
    expect(await due(scope)).toEqual([{ run_id: id, scope }])
    const again = (await take())!
    expect(again).toMatchObject({ state: 'partial', expected: 3, content })
    expect(await within(tx => endJoin(tx, scope, id, again))).toBe(true)
    expect(await due(scope)).toEqual([])
    expect(await take()).toBeNull()
  })

  it('a recording that its recorder closed is taken over from a joiner with an expired lease, which then writes nothing', async () => {
    const { scope, within, id } = await recorded()
    await within(tx => closeRecording(tx, scope, id, 1))
    const first = (await within(tx => takeJoin(tx, scope, id, LEASE_MS)))!
    await test.owner.query("update parley.run_recordings set join_until = now() - interval '1 s' where run_id = $1", [
      id,
    ])
    expect(await due(scope)).toHaveLength(1)
    const second = (await within(tx => takeJoin(tx, scope, id, LEASE_MS)))!
    expect(await within(tx => renewJoin(tx, scope, id, first.fence, LEASE_MS))).toBe(false)
    expect(await within(tx => keepJoined(tx, scope, id, first.fence, 'ready', { sha256: '1' }))).toBe(false)
    expect(await within(tx => endJoin(tx, scope, id, first))).toBe(false)
    expect(await within(tx => renewJoin(tx, scope, id, second.fence, LEASE_MS))).toBe(true)
    expect(await within(tx => keepJoined(tx, scope, id, second.fence, 'ready', { sha256: '2' }))).toBe(true)
    expect((await readRecording(test.database.within(scope), scope, id))!.content).toMatchObject({ sha256: '2' })
  })

  it('a recording that was closed before it began does not exist', async () => {
    const { scope, within } = await recorded()
    const other = await running(scope)
    expect(await within(tx => closeRecording(tx, scope, other.run_id, 1))).toBe('absent')
    expect(await within(tx => awaitRecording(tx, scope, other.run_id, 1000))).toBeNull()
    expect(await within(tx => takeJoin(tx, scope, other.run_id, LEASE_MS))).toBeNull()
  })
})

describe('a recording whose recorder died', () => {
  it('a recording whose recorder died is joined some time after its run ended, unless more segments are announced', async () => {
    const { scope, run, within, id } = await recorded()
    const read = async () => (await readRecording(test.database.within(scope), scope, id))!.state
    expect(await read()).toBe('recording')
    expect(await due(scope, 0)).toEqual([])
    await end(scope, run)
    expect(await read()).toBe('processing')
    expect(await due(scope)).toEqual([])
    expect(await due(scope, 0)).toHaveLength(1)
    await endedLongAgo(id, 21)
    expect(await due(scope)).toHaveLength(1)
    expect(await within(tx => awaitRecording(tx, scope, id, 30_000))).toBe('recording')
    expect(await due(scope)).toEqual([])
    await within(tx => awaitRecording(tx, scope, id, 0))
    expect(await due(scope)).toHaveLength(1)
  })

  it('a recording whose recorder died has an owner until the run is taken over, even after the lease expired', async () => {
    const { scope, run } = await recorded()
    const isWithOwner = () => isOwnershipCurrent(test.database.within(scope), scope, run)
    await letLeaseEnd(test, run)
    expect(await isWithOwner()).toBe(true)
    await test.database.runs.reap(REAPER, 100, 60_000)
    expect(await isWithOwner()).toBe(false)
  })
})

describe('retention', () => {
  it('retention expires recordings by the current setting, and returns their blobs until they are deleted', async () => {
    const { scope, run, within, id } = await recorded()
    const db = test.database.within(scope)
    await within(tx => closeRecording(tx, scope, id, 1))
    const join = (await within(tx => takeJoin(tx, scope, id, LEASE_MS)))!
    await within(tx => keepJoined(tx, scope, id, join.fence, 'ready', { sha256: 'x', expires_at: null }))
    await end(scope, run)
    const begun = (seconds: number) =>
      test.owner.query("update parley.run_recordings set begun_at = now() - $2 * interval '1 s' where run_id = $1", [
        id,
        seconds,
      ])
    const day = 86_400
    await endedLongAgo(id, 10 * day)
    await begun(10 * day + 60)
    const expire = async () =>
      (await test.database.contents.expireRecordings(100)).filter(one => one.scope.tenant_id === scope.tenant_id)
    expect(await expire()).toEqual([])
    const days = (content: { expires_at?: unknown }) =>
      Math.round((Date.parse(String(content.expires_at)) - Date.now()) / 1000 / day)
    expect(days((await readRecording(db, scope, id))!.content!)).toBe(80)
    await test.owner.query('update parley.tenants set recording_days = 9 where tenant_id = $1', [scope.tenant_id])
    expect(days((await readRecording(db, scope, id))!.content!)).toBe(-1)
    expect(await expire()).toEqual([{ run_id: id, scope }])
    expect(await readRecording(db, scope, id)).toMatchObject({ state: 'expired', content: null, segments: [] })
    // The worker that was to delete the blobs died: they are returned again.
    expect(await expire()).toEqual([{ run_id: id, scope }])
    expect(await within(tx => keepJoined(tx, scope, id, join.fence, 'ready', { sha256: 'x' }))).toBe(false)
    await within(tx => forgetBlobs(tx, scope, id))
    expect(await expire()).toEqual([])
    // Segments that counted as lost arrive after the expiry.
    await within(tx => closeRecording(tx, scope, id, null))
    expect(await expire()).toHaveLength(1)
    expect(await within(tx => moveRecording(tx, scope, id, 'ready'))).toBe(false)
  })
})
