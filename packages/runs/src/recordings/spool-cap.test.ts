import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Blobs, readRecording, StoreError } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { diskSpace } from './io/disk-space.ts'
import { SpoolDirectory } from './io/spool-directory.ts'
import {
  callOf,
  engineOn,
  framesOf,
  machine,
  record,
  SECOND,
  spooledIn,
  storedRecording,
  wav,
} from './testing/recorded-calls.ts'

const FRAME_BYTES = 2
const HEADER_BYTES = 58

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

const unavailable = { code: 'recording_unavailable' }

/** Blobs that take nothing until they are back. */
function away(blobs: Blobs) {
  const store = { isAway: true }
  const put: Blobs['put'] = async (key, content) => {
    if (store.isAway) throw new StoreError('blobs_unavailable')
    await blobs.put(key, content)
  }
  return Object.assign(store, { ...home, blobs: { ...methodsOf(blobs), put } })
}

function methodsOf(blobs: Blobs): Blobs {
  return {
    put: (key, content) => blobs.put(key, content),
    get: (key, range) => blobs.get(key, range),
    size: key => blobs.size(key),
    delete: key => blobs.delete(key),
    list: prefix => blobs.list(prefix),
  }
}

it('while blobs are unavailable no recording starts beyond the spool’s limit; live recordings continue and are complete once blobs return', async () => {
  const store = away(home.blobs)
  const { spool, time, problems } = engineOn(test, store, { maxBytes: 20 * SECOND * FRAME_BYTES })
  const [first, second] = [await callOf(test), await callOf(test)]
  const { path } = await spool.open(first)
  await record(path, 0, 15 * SECOND)
  await spool.poll()
  expect(spool.bytes).toBe(15 * SECOND * FRAME_BYTES + 2 * HEADER_BYTES)
  await spool.open(await callOf(test))
  await record(path, 10 * SECOND, 25 * SECOND)
  time.advance(60_000)
  await spool.poll()
  await expect(spool.open(second)).rejects.toMatchObject(unavailable)
  expect(spool.refused).toEqual({ spool_full: 1, disk_full: 0, unwritable: 0 })
  expect(problems).toContain('no room to record, 1 not begun')
  // Nothing is left of the one that was not begun.
  expect(await readRecording(test.database.within(second.scope), second.scope, second.owned.run_id)).toBeNull()
  expect(await spooledIn(home.directory)).not.toContain(second.owned.run_id)

  await record(path, 20 * SECOND, 28 * SECOND, true)
  store.isAway = false
  time.advance(60_000)
  expect(await spool.close(first.owned.run_id, 3)).toBe('ready')
  expect(framesOf((await storedRecording(test, home.blobs, first)).bytes!)).toBe(28 * SECOND)
  expect(spool.bytes).toBe(0)
  await spool.open(second)
})

it('the spool counts the bytes of a segment whose upload never finishes', async () => {
  const stuck: Blobs = { ...methodsOf(home.blobs), put: () => new Promise(() => {}) }
  const { spool, time } = engineOn(test, { ...home, blobs: stuck }, { maxBytes: 20 * SECOND * FRAME_BYTES })
  const { path } = await spool.open(await callOf(test))
  await record(path, 0, 12 * SECOND)
  void spool.poll()
  await vi.waitFor(() => expect(spool.bytes).toBeGreaterThan(0))
  await record(path, 10 * SECOND, 22 * SECOND)
  time.advance(30_000)
  await vi.waitFor(() => expect(spool.bytes).toBeGreaterThan(20 * SECOND * FRAME_BYTES))
  await expect(spool.open(await callOf(test))).rejects.toMatchObject(unavailable)
})

it('segments of earlier processes count from the first call on, and the spool directory is read once', async () => {
  const left = await callOf(test)
  const dead = engineOn(test, away(home.blobs))
  await record((await dead.spool.open(left)).path, 0, 5 * SECOND)
  const stray = join(home.directory, '00000000-0000-4000-8000-000000000000')
  await mkdir(stray)
  await writeFile(join(stray, 'audio.wav.000001.wav'), wav(0, 5 * SECOND))
  const { spool } = engineOn(test, home, { maxBytes: 10 * SECOND * FRAME_BYTES })
  await expect(spool.open(await callOf(test))).rejects.toMatchObject(unavailable)
  expect(spool.bytes).toBe(2 * (5 * SECOND * FRAME_BYTES + HEADER_BYTES))
  const walks = (['segments', 'manifest'] as const).map(name => vi.spyOn(SpoolDirectory.prototype, name))
  await expect(spool.open(await callOf(test))).rejects.toMatchObject(unavailable)
  for (const walk of walks) {
    expect(walk).not.toHaveBeenCalled()
    walk.mockRestore()
  }
  // Somebody cleared it away.
  await rm(stray, { recursive: true })
  await spool.poll()
  await spool.open(await callOf(test))
})

it('a nearly full disk takes no recording, however small the spool is', async () => {
  const disk = { free: 100, total: 10_000 }
  const { spool } = engineOn(test, home, { disk: async () => disk })
  const call = await callOf(test)
  await expect(spool.open(call)).rejects.toMatchObject(unavailable)
  expect(spool.refused).toEqual({ spool_full: 0, disk_full: 1, unwritable: 0 })
  disk.free = 500
  await spool.open(call)
})

it('an unwritable spool directory is logged once, and its refusals are counted', async () => {
  await writeFile(`${home.home}/file`, '')
  const { spool, problems } = engineOn(test, { ...home, directory: `${home.home}/file/spool` })
  for (let i = 0; i < 3; i++) await expect(spool.open(await callOf(test))).rejects.toMatchObject(unavailable)
  expect(spool.refused.unwritable).toBe(3)
  expect(problems).toEqual(['no room to record, 1 not begun'])
})

it('the free space of a disk is known before the spool directory exists', async () => {
  const space = await diskSpace(join(home.directory, 'not', 'there'))
  expect(space!.total).toBeGreaterThan(0)
  expect(space!.free).toBeLessThanOrEqual(space!.total)
  await writeFile(`${home.home}/file`, '')
  expect(await diskSpace(`${home.home}/file/spool`)).toBeNull()
})
