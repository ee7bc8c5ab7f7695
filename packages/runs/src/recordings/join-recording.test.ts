import { readWavLayout } from '@parley/media'
import { type Blobs, segmentKey } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expireContents } from './expire-contents.ts'
import { joinRecording, joinRecordings } from './join-recording.ts'
import {
  callOf,
  endCall,
  engineOn,
  framesOf,
  joinsOf,
  machine,
  reapCall,
  record,
  SECOND,
  SEGMENT,
  storedRecording,
} from './testing/recorded-calls.ts'

let test: TestDatabase
let home: Awaited<ReturnType<typeof machine>>
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  home = await machine()
})
afterEach(() => home.remove())

/** A call of this many seconds, over and not joined yet. */
async function recorded(seconds: number, rate = SECOND) {
  const { spool, services } = engineOn(test, home, { joinsAtClose: false })
  const call = await callOf(test)
  await record((await spool.open(call)).path, 0, seconds * rate, true, rate)
  await spool.close(call.owned.run_id, Math.ceil(seconds / 10))
  await endCall(test, call)
  return { call, services, join: () => joinRecording(services, call.scope, call.owned.run_id) }
}

describe('joining the segments of a recording', () => {
  it('a lost segment becomes silence in the joined recording, and the other segments stay in position', async () => {
    const { call, join } = await recorded(35)
    await home.blobs.delete(segmentKey(call.scope, call.owned.run_id, 2))
    expect(await join()).toBe('partial')
    const { state, bytes } = await storedRecording(test, home.blobs, call)
    expect(state).toBe('partial')
    expect(framesOf(bytes!, [[SEGMENT, 2 * SEGMENT]])).toBe(35 * SECOND)
  })

  it('a recording at 16 kHz is joined at 16 kHz, with silence of 10 s in place of a lost segment', async () => {
    const rate = 16_000
    const { call, join } = await recorded(25, rate)
    await home.blobs.delete(segmentKey(call.scope, call.owned.run_id, 2))
    expect(await join()).toBe('partial')
    const { bytes } = await storedRecording(test, home.blobs, call)
    expect(framesOf(bytes!, [[10 * rate, 20 * rate]])).toBe(25 * rate)
    expect(readWavLayout(bytes!)?.framesPerSecond).toBe(rate)
  })

  it.each([
    ['short', (whole: Buffer) => whole.subarray(0, whole.length - 2 * SECOND), 2 * SEGMENT - SECOND],
    ['no recording', () => Buffer.from('not a recording'), SEGMENT],
    ['empty', () => Buffer.alloc(0), SEGMENT],
  ] as const)('a recording is joined although one of its segments is %s', async (_what, spoil, silentFrom) => {
    const { call, join } = await recorded(25)
    const key = segmentKey(call.scope, call.owned.run_id, 2)
    const whole = Buffer.concat(await (await home.blobs.get(key))!.bytes.toArray())
    await home.blobs.put(key, spoil(whole))
    expect(await join()).toBe('partial')
    const { bytes } = await storedRecording(test, home.blobs, call)
    expect(framesOf(bytes!, [[silentFrom, 2 * SEGMENT]])).toBe(25 * SECOND)
  })

  it('two processes that join a recording at once produce one file', async () => {
    const { call, join } = await recorded(25)
    const states = await Promise.all([join(), join(), join()])
    expect(states.filter(state => state !== null)).toEqual(['ready'])
    expect(await join()).toBeNull()
    const { bytes, names } = await storedRecording(test, home.blobs, call)
    expect([framesOf(bytes!), names.length]).toEqual([25 * SECOND, 1])
  })

  it('a second process joins a recording when the first takes too long, and the result of the first is discarded', async () => {
    const { call, services, join } = await recorded(25)
    const begun = Promise.withResolvers<void>()
    const goesOn = Promise.withResolvers<void>()
    const slow: Blobs = {
      put: async (key, content) => {
        begun.resolve()
        await goesOn.promise
        await home.blobs.put(key, content)
      },
      get: (key, range) => home.blobs.get(key, range),
      size: key => home.blobs.size(key),
      delete: key => home.blobs.delete(key),
      list: prefix => home.blobs.list(prefix),
    }
    const first = joinRecording({ ...services, blobs: slow }, call.scope, call.owned.run_id)
    const failed = expect(first).rejects.toMatchObject({ code: 'segment_missing' })
    await begun.promise
    await test.owner.query("update parley.run_recordings set join_until = now() - interval '1 s' where run_id = $1", [
      call.owned.run_id,
    ])
    expect(await join()).toBe('ready')
    goesOn.resolve()
    await failed
    const { bytes, names, state } = await storedRecording(test, home.blobs, call)
    expect([state, framesOf(bytes!), names.length]).toEqual(['ready', 25 * SECOND, 1])
  })

  it('joining is retried later while blobs are unavailable, and a recording that cannot be joined delays no other', async () => {
    const { call, services } = await recorded(12)
    const list: Blobs['list'] = () => {
      throw new Error('away')
    }
    const away = { ...services, blobs: { ...services.blobs, list } }
    const problems: string[] = []
    await joinRecordings(away, 1000, { onProblem: what => problems.push(what) })
    expect(problems.filter(what => what.includes(call.owned.run_id))).toHaveLength(1)
    // Not again at once.
    expect(await joinsOf(services, call)).toEqual([])
    await test.owner.query("update parley.run_recordings set join_until = now() - interval '1 s' where run_id = $1", [
      call.owned.run_id,
    ])
    expect(await joinsOf(services, call)).toHaveLength(1)
    expect((await storedRecording(test, home.blobs, call)).state).toBe('ready')
  })

  it('a recording is never joined while its run is live, and has no file when all segments are lost', async () => {
    const { spool, services } = engineOn(test, home)
    const call = await callOf(test)
    const { path } = await spool.open(call)
    await record(path, 0, 12 * SECOND)
    await spool.poll()
    expect(await joinRecording(services, call.scope, call.owned.run_id)).toBeNull()
    await home.blobs.delete(segmentKey(call.scope, call.owned.run_id, 1))
    await reapCall(test, call)
    expect(await joinRecording(services, call.scope, call.owned.run_id)).toBe('failed')
    expect(await storedRecording(test, home.blobs, call)).toMatchObject({ state: 'failed', content: null })
  })
})

describe('a recording past its retention', () => {
  const outlive = async (runId: string) => {
    await test.owner.query("update parley.runs set ended_at = now() - interval '91 days' where run_id = $1", [runId])
    await test.owner.query("update parley.run_recordings set begun_at = now() - interval '91 days' where run_id = $1", [
      runId,
    ])
  }

  it('a recording past its retention is deleted with all its segments, and other recordings stay', async () => {
    const [old, unjoined, young] = [await recorded(12), await recorded(12), await recorded(12)]
    await old.join()
    await young.join()
    await outlive(old.call.owned.run_id)
    await outlive(unjoined.call.owned.run_id)
    expect(await expireContents(test.database, home.blobs)).toEqual({ recordings: 2, transcripts: 0 })
    for (const { call } of [old, unjoined])
      expect(await storedRecording(test, home.blobs, call)).toMatchObject({
        state: 'expired',
        content: null,
        names: [],
      })
    expect((await storedRecording(test, home.blobs, young.call)).state).toBe('ready')
    expect(await expireContents(test.database, home.blobs)).toEqual({ recordings: 0, transcripts: 0 })
    expect(await unjoined.join()).toBeNull()
  })

  it('a recording past its retention is deleted by the next sweep when this one fails', async () => {
    const { call, join } = await recorded(12)
    await join()
    await outlive(call.owned.run_id)
    const refusing: Blobs = {
      put: (key, content) => home.blobs.put(key, content),
      get: (key, range) => home.blobs.get(key, range),
      size: key => home.blobs.size(key),
      delete: () => Promise.reject(new Error('away')),
      list: prefix => home.blobs.list(prefix),
    }
    const problems: string[] = []
    expect(await expireContents(test.database, refusing, { onProblem: what => problems.push(what) })).toEqual({
      recordings: 0,
      transcripts: 0,
    })
    expect(problems).toHaveLength(1)
    // Nobody is shown what is to go.
    expect(await storedRecording(test, home.blobs, call)).toMatchObject({ state: 'expired', content: null })
    expect((await storedRecording(test, home.blobs, call)).names).toHaveLength(1)
    expect(await expireContents(test.database, home.blobs)).toEqual({ recordings: 1, transcripts: 0 })
    expect((await storedRecording(test, home.blobs, call)).names).toEqual([])
  })
})
