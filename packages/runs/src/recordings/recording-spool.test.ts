import { readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Blobs, StoreError } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
  spooledIn,
  storedRecording,
  wav,
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

/** Blobs that can go away and come back. */
function unreliable(blobs: Blobs) {
  const state = { isAway: false }
  const away = () => {
    if (state.isAway) throw new StoreError('blobs_unavailable')
  }
  const wrapped: Blobs = {
    put: async (key, content) => {
      away()
      await blobs.put(key, content)
    },
    get: async (key, range) => {
      away()
      return blobs.get(key, range)
    },
    size: key => blobs.size(key),
    delete: key => blobs.delete(key),
    list: prefix => blobs.list(prefix),
  }
  return Object.assign(state, { blobs: wrapped })
}

describe('the recording of a call', () => {
  it('a recording is uploaded in segments during the call and joined into one file before the run ends', async () => {
    const { spool } = engineOn(test, home)
    const call = await callOf(test)
    const { path, segments } = await spool.open(call)
    expect(segments).toBe('only')
    expect(await storedRecording(test, home.blobs, call)).toMatchObject({ state: 'pending', names: [] })
    await record(path, 0, 3 * SECOND)
    await spool.poll()
    expect(await storedRecording(test, home.blobs, call)).toMatchObject({ state: 'recording', names: [] })
    await record(path, 0, 25 * SECOND)
    await spool.poll()
    expect(await storedRecording(test, home.blobs, call)).toMatchObject({
      state: 'recording',
      segments: 2,
      names: ['segment-000001.wav', 'segment-000002.wav'],
    })
    // What is among the blobs is no longer here.
    expect((await readdir(dirname(path))).sort()).toEqual(['audio.wav.000003.wav.part', 'run.json'])
    await record(path, 20 * SECOND, 27 * SECOND, true)
    expect(await spool.close(call.owned.run_id, 3)).toBe('ready')
    await endCall(test, call)
    const { state, content, names, bytes } = await storedRecording(test, home.blobs, call)
    expect(state).toBe('ready')
    expect(framesOf(bytes!)).toBe(27 * SECOND)
    expect(content).toMatchObject({ byte_size: bytes!.length, media_type: 'audio/wav' })
    expect(names).toEqual([`${content!.artifact_id}.wav`])
    expect(await spooledIn(home.directory)).toEqual([])
    expect(spool.size).toBe(0)
    expect(await spool.close(call.owned.run_id, 3)).toBeNull()
  })

  it('a recording that is closed early keeps what its writer still adds', async () => {
    let goesOn = true
    const late: Blobs = {
      ...unreliable(home.blobs).blobs,
      put: async (key, content) => {
        await home.blobs.put(key, content)
        if (goesOn) await record(path, 0, 12 * SECOND, true)
        goesOn = false
      },
    }
    const { spool, services } = engineOn(test, { ...home, blobs: late })
    const call = await callOf(test)
    const { path } = await spool.open(call)
    await record(path, 0, 9 * SECOND)
    await spool.close(call.owned.run_id, null)
    await spool.poll()
    await endCall(test, call)
    await joinsOf(services, call)
    expect(framesOf((await storedRecording(test, home.blobs, call)).bytes!)).toBe(12 * SECOND)
    expect(await spooledIn(home.directory)).toEqual([])
  })

  it('a recording is joined by the worker when blobs are not on this machine', async () => {
    const { spool, services } = engineOn(test, home, { joinsAtClose: false })
    const call = await callOf(test)
    const { path } = await spool.open(call)
    await record(path, 0, 12 * SECOND, true)
    expect(await spool.close(call.owned.run_id, 2)).toBe('processing')
    await endCall(test, call)
    expect(await joinsOf(services, call)).toEqual([{ scope: call.scope, run_id: call.owned.run_id }])
    const { state, bytes } = await storedRecording(test, home.blobs, call)
    expect([state, framesOf(bytes!)]).toEqual(['ready', 12 * SECOND])
    expect(await joinsOf(services, call)).toEqual([])
  })

  it('a recording is partial when its recorder failed, and not required when there was nothing to record', async () => {
    const { spool } = engineOn(test, home)
    const [failed, silent] = [await callOf(test), await callOf(test)]
    const places = [await spool.open(failed), await spool.open(silent)]
    await record(places[0]!.path, 0, 12 * SECOND)
    await record(places[1]!.path, 0, 0, true)
    expect(await spool.close(failed.owned.run_id, null)).toBe('partial')
    expect(framesOf((await storedRecording(test, home.blobs, failed)).bytes!)).toBe(12 * SECOND)
    expect(await spool.close(silent.owned.run_id, 1)).toBe('not_required')
    expect(await storedRecording(test, home.blobs, silent)).toMatchObject({ content: null, names: [] })
    expect(await spooledIn(home.directory)).toEqual([])
  })

  it.each([
    [null, 'not_required'],
    [5000, 'failed'],
  ])(
    'a recording without file or report takes its state from whether the call was answered (%s ms): %s',
    async (ms, state) => {
      const { spool, services } = engineOn(test, home)
      const call = await callOf(test)
      await spool.open(call)
      expect(await spool.close(call.owned.run_id, null)).toBe('pending')
      await endCall(test, call, ms === null ? {} : { connected_ms: ms })
      expect(await joinsOf(services, call, 0)).toHaveLength(1)
      expect(await storedRecording(test, home.blobs, call)).toMatchObject({ state, content: null })
      expect(await spooledIn(home.directory)).toEqual([])
    },
  )

  it('a recording loses nothing while blobs are unavailable, and is not joined before its waiting segments are uploaded', async () => {
    const store = unreliable(home.blobs)
    const { spool, time, problems, services } = engineOn(test, { ...home, blobs: store.blobs })
    const call = await callOf(test)
    const { path } = await spool.open(call)
    store.isAway = true
    await record(path, 0, 25 * SECOND)
    await spool.poll()
    await record(path, 20 * SECOND, 26 * SECOND, true)
    expect(await spool.close(call.owned.run_id, 3)).toBe('recording')
    expect(problems.length).toBeGreaterThan(0)
    await endCall(test, call)
    expect((await storedRecording(test, home.blobs, call)).state).toBe('processing')
    expect(await joinsOf(services, call, 0)).toEqual([])
    store.isAway = false
    // It waits before it tries again.
    await spool.poll()
    expect(spool.size).toBe(1)
    time.advance(60_000)
    await spool.poll()
    expect(spool.size).toBe(0)
    expect(await joinsOf(services, call)).toHaveLength(1)
    const { state, bytes } = await storedRecording(test, home.blobs, call)
    expect([state, framesOf(bytes!)]).toEqual(['ready', 26 * SECOND])
  })

  it('a recording is looked at again only when a segment of ten seconds can be complete', async () => {
    const { spool, time } = engineOn(test, home)
    const call = await callOf(test)
    const { path } = await spool.open(call)
    const stateAfter = async (ms: number) => {
      time.advance(ms)
      const { state, names } = await storedRecording(test, home.blobs, call)
      return { state, names }
    }
    await record(path, 0, SECOND / 2)
    await expect.poll(() => stateAfter(1000)).toEqual({ state: 'recording', names: [] })
    // Audio that no call has: its segment is complete ten seconds early.
    await record(path, 0, 11 * SECOND)
    for (let passed = 0; passed < 5000; passed += 1000)
      expect(await stateAfter(1000)).toEqual({ state: 'recording', names: [] })
    await expect.poll(() => stateAfter(1000)).toEqual({ state: 'recording', names: ['segment-000001.wav'] })
    await spool.stop()
  })

  it('a recording is uploaded although another one cannot be stored', async () => {
    const [stuck, call] = [await callOf(test), await callOf(test)]
    const blobs: Blobs = {
      ...unreliable(home.blobs).blobs,
      put: (key, content) => (key.includes(stuck.owned.run_id) ? new Promise(() => {}) : home.blobs.put(key, content)),
    }
    const { spool, time } = engineOn(test, { ...home, blobs })
    const places = [await spool.open(stuck), await spool.open(call)]
    await record(places[0]!.path, 0, 10.5 * SECOND)
    time.advance(1000)
    await record(places[1]!.path, 0, 10.5 * SECOND)
    const names = async () => {
      time.advance(1000)
      return (await storedRecording(test, home.blobs, call)).names
    }
    await expect.poll(names).toEqual(['segment-000001.wav'])
    const stopping = spool.stop()
    time.advance(5000)
    await stopping
  })

  it('a recording delays the end of a call no longer than its limit', async () => {
    const stuck: Blobs = { ...unreliable(home.blobs).blobs, put: () => new Promise(() => {}) }
    const { spool, time } = engineOn(test, { ...home, blobs: stuck })
    const call = await callOf(test)
    await record((await spool.open(call)).path, 0, SECOND, true)
    const closing = spool.close(call.owned.run_id, 1, 5000)
    time.advance(5000)
    expect(await closing).toBe('recording')
  })

  it('a recording cannot begin without a writable spool, or for a run that another process owns', async () => {
    await writeFile(`${home.home}/file`, '')
    const nowhere = engineOn(test, { ...home, directory: `${home.home}/file/spool` })
    const call = await callOf(test)
    await expect(nowhere.spool.open(call)).rejects.toMatchObject({ code: 'recording_unavailable' })
    const stale = { ...call, owned: { ...call.owned, fence: '99' } }
    await expect(engineOn(test, home).spool.open(stale)).rejects.toMatchObject({ code: 'run_lost' })
    expect(await spooledIn(home.directory)).toEqual([])
  })
})

describe('segments that a killed process left', () => {
  it('segments of a killed process stay while its run may be live, and are uploaded with the last segment afterwards', async () => {
    const call = await callOf(test)
    const { path } = await engineOn(test, home).spool.open(call)
    await record(path, 0, 15 * SECOND)
    // Half a second that the header does not tell of, and half a sample.
    await writeFile(
      `${path}.000002.wav.part`,
      Buffer.concat([wav(SEGMENT, 15.5 * SECOND, 5 * SECOND), Buffer.alloc(1)]),
    )
    const { spool, time, services } = engineOn(test, home)
    await spool.poll()
    expect((await storedRecording(test, home.blobs, call)).names).toEqual([])
    await reapCall(test, call)
    time.advance(2000)
    await spool.poll()
    expect((await storedRecording(test, home.blobs, call)).names).toEqual(['segment-000001.wav', 'segment-000002.wav'])
    expect(await spooledIn(home.directory)).toEqual([])
    expect(await joinsOf(services, call)).toHaveLength(1)
    const { state, bytes } = await storedRecording(test, home.blobs, call)
    expect([state, framesOf(bytes!)]).toEqual(['partial', 15.5 * SECOND])
  })

  it('segments are not taken from a process that still writes them', async () => {
    const call = await callOf(test)
    const { path } = await engineOn(test, home).spool.open(call)
    await record(path, 0, SECOND)
    await reapCall(test, call)
    let now = Date.now()
    const { spool, time } = engineOn(test, home, { wallClock: () => now })
    await spool.poll()
    expect(await readdir(dirname(path))).toContain('audio.wav.000001.wav.part')
    now += 10_000
    time.advance(2000)
    await spool.poll()
    expect(await spooledIn(home.directory)).toEqual([])
  })

  it('every unfinished segment of a failed writer is recovered', async () => {
    const call = await callOf(test)
    const { path } = await engineOn(test, home).spool.open(call)
    await writeFile(`${path}.000001.wav.part`, wav(0, SEGMENT))
    await writeFile(`${path}.000002.wav.part`, wav(SEGMENT, 14 * SECOND))
    await writeFile(`${path}.000003.wav.part`, '')
    await reapCall(test, call)
    const { spool, services } = engineOn(test, home)
    await spool.poll()
    expect(await spooledIn(home.directory)).toEqual([])
    await joinsOf(services, call)
    expect(framesOf((await storedRecording(test, home.blobs, call)).bytes!)).toBe(14 * SECOND)
  })

  it('a recording that was closed before its process was killed is complete', async () => {
    const store = unreliable(home.blobs)
    const dead = engineOn(test, { ...home, blobs: store.blobs })
    const call = await callOf(test)
    await record((await dead.spool.open(call)).path, 0, 12 * SECOND, true)
    store.isAway = true
    await dead.spool.close(call.owned.run_id, 2)
    await endCall(test, call)
    const { spool, services } = engineOn(test, home)
    await spool.poll()
    expect(await joinsOf(services, call)).toHaveLength(1)
    const { state, bytes } = await storedRecording(test, home.blobs, call)
    expect([state, framesOf(bytes!)]).toEqual(['ready', 12 * SECOND])
  })

  it('a recording that was joined without a recovered segment is joined again with it', async () => {
    const call = await callOf(test)
    const dead = engineOn(test, home)
    const { path } = await dead.spool.open(call)
    await record(path, 0, 12 * SECOND)
    await dead.spool.poll()
    await record(path, SEGMENT, 24 * SECOND)
    await reapCall(test, call)
    const { spool, services } = engineOn(test, home)
    expect(await joinsOf(services, call, 0)).toHaveLength(1)
    const first = await storedRecording(test, home.blobs, call)
    expect([first.state, framesOf(first.bytes!)]).toEqual(['partial', SEGMENT])
    await spool.poll()
    expect(await joinsOf(services, call)).toHaveLength(1)
    const { state, bytes, names, content } = await storedRecording(test, home.blobs, call)
    expect([state, framesOf(bytes!)]).toEqual(['partial', 24 * SECOND])
    expect(names).toEqual([`${content!.artifact_id}.wav`])
  })

  it('segments of an unknown recording are kept and logged', async () => {
    const call = await callOf(test)
    await record((await engineOn(test, home).spool.open(call)).path, 0, SECOND)
    await test.owner.query('delete from parley.run_recordings where run_id = $1', [call.owned.run_id])
    await reapCall(test, call)
    const { spool, problems } = engineOn(test, home)
    await spool.poll()
    expect(problems).toHaveLength(1)
    expect(await spooledIn(home.directory)).toEqual([call.owned.run_id])
  })
})
