import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AudioFormat, NARROWBAND, WIDEBAND } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allocateRecordingRing, RecordingRing } from '../recorder/recording-ring.ts'
import { segmentFrames, segmentPath } from '../recorder/segments.ts'
import { WAV_HEADER_BYTES } from '../recorder/wav.ts'
import { readWav } from '../recorder/wav-reader.ts'
import { RecordingFile } from './recording-file.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'segments-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const read = (path: string) => readWav(new Uint8Array(readFileSync(path)))
/** Every frame tells where it stands. */
const byteAt = (position: number) => (Math.imul(position, 0x9e3779b1) >>> 24) % 254
const frames = (from: number, count: number) => Uint8Array.from({ length: count }, (_, i) => byteAt(from + i))
const segmentsOf = (name: string) =>
  readdirSync(directory)
    .filter(file => file.startsWith(`${name}.0`))
    .sort()

/**
 * Records `seconds` and three samples more, in pieces that fall across the ends of segments. After each flush the writer
 * dies if `diesAt` returns true, and another one continues.
 */
function record(
  path: string,
  { seconds, mode, format = NARROWBAND }: { seconds: number; mode: 'also' | 'only'; format?: AudioFormat },
  diesAt: (position: number, file: RecordingFile) => boolean,
) {
  const buffer = allocateRecordingRing(format)
  const ring = new RecordingRing(buffer)
  let file = new RecordingFile(buffer, path, false, false, mode)
  const end = seconds * format.sampleRateHz + 3
  for (let position = 0; position < end; position += 7001) {
    const count = Math.min(7001, end - position)
    ring.writeLeftBytes(position, frames(position, count), 0, count)
    ring.writeRightBytes(position, frames(position + 1, count), 0, count)
    file.flush(false)
    if (diesAt(position + count, file)) file = new RecordingFile(buffer, path, false, true, mode)
  }
  file.flush(true)
  file.close()
  return { end, segments: file.segments }
}

/** Byte pairs of a WAV file. */
const audioBytes = (path: string) => readFileSync(path).subarray(WAV_HEADER_BYTES)

/** Byte pairs of all segments of the recording `name`, in order. */
const joinedBytes = (name: string) =>
  Buffer.concat(segmentsOf(name).map(segment => audioBytes(join(directory, segment))))

function expectWhole(bytes: Uint8Array, end: number): void {
  expect(bytes.length).toBe(2 * end)
  let wrong = 0
  for (let i = 0; i < end; i++) if (bytes[2 * i] !== byteAt(i) || bytes[2 * i + 1] !== byteAt(i + 1)) wrong++
  expect(wrong).toBe(0)
}

describe('a recording in segments', () => {
  it.each(['also', 'only'] as const)(
    'with segments "%s", the recording writes complete files of 10 s, which together hold exactly the recorded samples',
    mode => {
      const path = join(directory, `${mode}.wav`)
      const seen: number[] = []
      const { end, segments } = record(path, { seconds: 25, mode }, position => {
        seen.push(
          segmentsOf(`${mode}.wav`).filter(name => name.endsWith('.wav')).length -
            Math.floor((position - 1) / segmentFrames(8000)),
        )
        return false
      })
      // A segment has its name as soon as the next one has begun, and never before it is full.
      expect(new Set(seen)).toEqual(new Set([0]))
      expect(segments).toBe(3)
      expect(segmentsOf(`${mode}.wav`)).toEqual([1, 2, 3].map(n => `${mode}.wav.00000${n}.wav`))
      expect([1, 2, 3].map(n => read(segmentPath(path, n)).channels[0]!.length)).toEqual([80_000, 80_000, 40_003])
      expect(existsSync(path)).toBe(mode === 'also')
      if (mode === 'also') expectWhole(audioBytes(path), end)
      expectWhole(joinedBytes(`${mode}.wav`), end)
    },
  )

  it('segments of a recording at 16 kHz are 10 s long, also after the writer died', () => {
    const path = join(directory, 'wide.wav')
    let hasDied = false
    const { end, segments } = record(path, { seconds: 15, mode: 'also', format: WIDEBAND }, (position, file) => {
      if (hasDied || position < 165_000) return false
      hasDied = true
      file.close()
      return true
    })
    expect(segments).toBe(2)
    expect(read(path)).toMatchObject({ encoding: 'PCMU', sampleRate: 16_000 })
    expect([1, 2].map(n => read(segmentPath(path, n)).channels[0]!.length)).toEqual([160_000, 80_003])
    expectWhole(joinedBytes('wide.wav'), end)
    expectWhole(audioBytes(path), end)
  })

  it('segments continue after the writer died at any place, also right after a rename', () => {
    for (const [i, dies] of [8000, 77_011, 84_012, 161_023].entries()) {
      const name = `resumed-${i}.wav`
      const path = join(directory, name)
      let hasDied = false
      const { end } = record(path, { seconds: 22, mode: 'only' }, (position, file) => {
        if (hasDied || position < dies) return false
        hasDied = true
        file.close()
        if (i === 0) renameSync(`${segmentPath(path, 1)}.part`, segmentPath(path, 1))
        return true
      })
      expect(segmentsOf(name)).toHaveLength(3)
      expectWhole(joinedBytes(name), end)
    }
  })

  it('a recording in segments of a killed process has lost at most the last second', () => {
    const path = join(directory, 'killed.wav')
    const program = fileURLToPath(new URL('./fixtures/record-and-die.ts', import.meta.url))
    const run = spawnSync(process.execPath, [program, path], { encoding: 'utf8' })
    expect(run.signal).toBe('SIGKILL')
    expect(segmentsOf('killed.wav')).toEqual(['killed.wav.000001.wav', 'killed.wav.000002.wav.part'])
    expect(read(segmentPath(path, 1)).channels[0]!.length).toBe(80_000)
    // As it lies there: a WAV of its own.
    const last = read(`${segmentPath(path, 2)}.part`)
    const written = Number(run.stdout)
    expect(80_000 + last.channels[0]!.length).toBeGreaterThan(written - 8000)
    for (const segment of [read(segmentPath(path, 1)), last])
      expect(segment.channels[0]!.every(sample => Math.abs(sample - 1000) < 40)).toBe(true)
  })
})
