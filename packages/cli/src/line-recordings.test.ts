import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Ms, type UnixMs, VirtualTime } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LineRecordings } from './line-recordings.ts'

const NOW: UnixMs = Date.UTC(2026, 0, 2)
const HOUR: Ms = 3_600_000

let directory: string
let problems: string[]
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'line-recordings-'))
  problems = []
})
afterEach(() => rm(directory, { recursive: true, force: true }))

function recordings(at = directory): LineRecordings {
  const onProblem = (what: string) => void problems.push(what)
  return new LineRecordings({ directory: at, time: new VirtualTime(), wallClock: () => NOW, onProblem, limit: 3 })
}

/** Writes a file whose last change was `ago` before now. */
async function written(name: string, ago: Ms): Promise<void> {
  await writeFile(join(directory, name), 'audio')
  await utimes(join(directory, name), (NOW - ago) / 1000, (NOW - ago) / 1000)
}

const filesLeft = async () => (await readdir(directory)).toSorted()

describe('recordings of the line test', () => {
  it('only the newest recordings are kept when the engine starts; other files stay', async () => {
    for (let hours = 1; hours <= 4; hours++) await written(`in-${hours}.wav`, hours * HOUR)
    await written('demo-1.wav', 1.5 * HOUR)
    await written('notes.txt', 99 * HOUR)
    await written('voice.wav', 99 * HOUR)
    await recordings().open()
    expect(await filesLeft()).toEqual(['demo-1.wav', 'in-1.wav', 'in-2.wav', 'notes.txt', 'voice.wav'])
    expect(problems).toEqual([])
  })

  it('only the newest recordings are kept after each call', async () => {
    const lineRecordings = recordings()
    await lineRecordings.open()
    for (let call = 1; call <= 6; call++) {
      const path = lineRecordings.path(`in-${call}`)
      await written(basename(path), (10 - call) * HOUR)
      lineRecordings.ended(path)
      await lineRecordings.trim()
    }
    expect(await filesLeft()).toEqual(['in-4.wav', 'in-5.wav', 'in-6.wav'])
  })

  it('recordings that any process is still writing are not deleted', async () => {
    const lineRecordings = recordings()
    await lineRecordings.open()
    const live = lineRecordings.path('in-live')
    await written('in-live.wav', 2 * HOUR)
    await written('out-others.wav', 30_000)
    for (const name of ['in-a', 'in-b', 'in-c']) await written(`${name}.wav`, 0)
    await written('in-over.wav', 61_000)
    lineRecordings.ended(null)
    await lineRecordings.trim()
    expect(await filesLeft()).toEqual(['in-a.wav', 'in-b.wav', 'in-c.wav', 'in-live.wav', 'out-others.wav'])
    lineRecordings.ended(live)
    await lineRecordings.trim()
    expect(await filesLeft()).toEqual(['in-a.wav', 'in-b.wav', 'in-c.wav', 'out-others.wav'])
  })

  it('an unreadable directory of recordings is reported once and disturbs no call', async () => {
    const lineRecordings = recordings(join(directory, 'gone'))
    lineRecordings.ended(null)
    await lineRecordings.trim()
    await lineRecordings.trim()
    expect(problems).toEqual(['deleting old recordings of the line test failed'])
  })
})
