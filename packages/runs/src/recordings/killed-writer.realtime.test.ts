import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RecordedRun } from './recording-spool.ts'
import {
  callOf,
  engineOn,
  framesOf,
  joinsOf,
  machine,
  reapCall,
  SECOND,
  spooledIn,
  storedRecording,
} from './testing/recorded-calls.ts'

const PROGRAM = fileURLToPath(new URL('../../../../media/src/io/fixtures/record-until-killed.ts', import.meta.url))

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

interface Recorder {
  readonly child: ChildProcess
  /** How many samples it had to record, as far as it output. */
  position(): number
  reached(position: number): Promise<void>
}

/** A process with the media plane's writer thread, which records `atOnce` samples at once and then as time goes. */
function recorder(path: string, atOnce: number): Recorder {
  const child = spawn(process.execPath, [PROGRAM, path, String(atOnce)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let position = 0
  let output = ''
  const waiting = new Set<() => void>()
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (output + text).split('\n')
    output = lines.pop() ?? ''
    position = Number(lines.at(-1) ?? position)
    for (const look of waiting) look()
  })
  return {
    child,
    position: () => position,
    reached: wanted =>
      new Promise(resolve => {
        const look = () => {
          if (position < wanted) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

async function kill({ child }: Recorder): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'close')
}

describe('the recording of a process that is killed', () => {
  // Within a segment, around its end, after it.
  it.each([
    [1.3, 0],
    [9.8, 8.5],
    [10.1, 8.5],
    [12.4, 11],
  ])('a recording whose process is killed at %s s lacks less than its last second', async (seconds, atOnce) => {
    const home = await machine()
    const dead = engineOn(test, home)
    let recording: Recorder | undefined
    try {
      const call: RecordedRun = await callOf(test)
      const { path } = await dead.spool.open(call)
      recording = recorder(path, atOnce * SECOND)
      await recording.reached(atOnce * SECOND + 100)
      await dead.spool.poll()
      await recording.reached(seconds * SECOND)
      await dead.spool.poll()
      await kill(recording)
      await reapCall(test, call)
      const { spool, services } = engineOn(test, home)
      await spool.poll()
      expect(await spooledIn(home.directory)).toEqual([])
      expect(await joinsOf(services, call)).toHaveLength(1)
      const { state, bytes } = await storedRecording(test, home.blobs, call)
      expect(state).toBe('partial')
      const frames = framesOf(bytes!)
      expect(frames).toBeGreaterThan(recording.position() - SECOND)
      expect(frames).toBeLessThan(recording.position() + SECOND)
    } finally {
      recording?.child.kill('SIGKILL')
      await home.remove()
    }
  })
})
