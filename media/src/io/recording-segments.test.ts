import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allocateRecordingRing, RecordingRing } from '../recorder/recording-ring.ts'
import { planJoin, SEGMENT_FRAMES, segmentPath } from '../recorder/segments.ts'
import { readWav } from '../recorder/wav-reader.ts'
import { RecordingFile } from './recording-file.ts'
import { joinSegments } from './recording-segments.ts'

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

/** Records `seconds` and three samples more, in pieces that fall across the ends of segments; `at` sees each flush. */
function record(
  path: string,
  seconds: number,
  mode: 'also' | 'only',
  at: (file: RecordingFile, position: number) => RecordingFile,
) {
  const buffer = allocateRecordingRing()
  const ring = new RecordingRing(buffer)
  let file = new RecordingFile(buffer, path, false, false, mode)
  const end = seconds * 8000 + 3
  for (let position = 0; position < end; position += 7001) {
    const count = Math.min(7001, end - position)
    ring.writeLeftBytes(position, frames(position, count), 0, count)
    ring.writeRightBytes(position, frames(position + 1, count), 0, count)
    file.flush(false)
    file = at(file, position + count) === file ? file : new RecordingFile(buffer, path, false, true, mode)
  }
  file.flush(true)
  file.close()
  return { end, segments: file.segments }
}

function expectWhole(path: string, end: number): void {
  const bytes = readFileSync(path).subarray(58)
  expect(bytes.length).toBe(2 * end)
  let wrong = 0
  for (let i = 0; i < end; i++) if (bytes[2 * i] !== byteAt(i) || bytes[2 * i + 1] !== byteAt(i + 1)) wrong++
  expect(wrong).toBe(0)
}

describe('a recording in segments', () => {
  it.each(['also', 'only'] as const)(
    'with segments "%s", the recording writes complete files of 10 s, whose join has exactly the recorded samples',
    mode => {
      const path = join(directory, `${mode}.wav`)
      const seen: number[] = []
      const { end, segments } = record(path, 25, mode, (file, position) => {
        seen.push(
          segmentsOf(`${mode}.wav`).filter(name => name.endsWith('.wav')).length -
            Math.floor((position - 1) / SEGMENT_FRAMES),
        )
        return file
      })
      // A segment has its name as soon as the next one has begun, and never before it is full.
      expect(new Set(seen)).toEqual(new Set([0]))
      expect(segments).toBe(3)
      expect(segmentsOf(`${mode}.wav`)).toEqual([1, 2, 3].map(n => `${mode}.wav.00000${n}.wav`))
      expect([1, 2, 3].map(n => read(segmentPath(path, n)).channels[0]!.length)).toEqual([80_000, 80_000, 40_003])
      expect(existsSync(path)).toBe(mode === 'also')
      if (mode === 'also') expectWhole(path, end)
      const joined = join(directory, `${mode}-joined.wav`)
      expect(joinSegments(path, joined).frames).toBe(end)
      expectWhole(joined, end)
      expect(read(joined).channels[0]!.length).toBe(end)
    },
  )

  it('segments continue after the writer died at any place, also right after a rename', () => {
    for (const [i, dies] of [8000, 77_011, 84_012, 161_023].entries()) {
      const name = `resumed-${i}.wav`
      const path = join(directory, name)
      let left = dies
      const { end } = record(path, 22, 'only', (file, position) => {
        if (position < left) return file
        left = Number.POSITIVE_INFINITY
        file.close()
        if (i === 0) renameSync(`${segmentPath(path, 1)}.part`, segmentPath(path, 1))
        return undefined as never
      })
      expect(segmentsOf(name)).toHaveLength(3)
      joinSegments(path)
      expectWhole(path, end)
    }
  })

  it('a missing segment prevents the join, and no partial file remains', () => {
    const path = join(directory, 'holes.wav')
    record(path, 25, 'only', file => file)
    unlinkSync(segmentPath(path, 2))
    expect(() => joinSegments(path)).toThrow(expect.objectContaining({ code: 'segment_missing' }))
    expect(readdirSync(directory).filter(file => file === 'holes.wav' || file === 'holes.wav.part')).toEqual([])
    expect(() => joinSegments(join(directory, 'never.wav'))).toThrow(
      expect.objectContaining({ code: 'segment_missing' }),
    )
  })

  it('a recording in segments of a killed process has lost at most the last second', () => {
    const path = join(directory, 'killed.wav')
    const program = fileURLToPath(new URL('./fixtures/record-and-die.ts', import.meta.url))
    const run = spawnSync(process.execPath, [program, path], { encoding: 'utf8' })
    expect(run.signal).toBe('SIGKILL')
    expect(segmentsOf('killed.wav')).toEqual(['killed.wav.000001.wav', 'killed.wav.000002.wav.part'])
    expect(read(segmentPath(path, 1)).channels[0]!.length).toBe(80_000)
    // As it lies there: a WAV of its own.
    const last = read(`${segmentPath(path, 2)}.part`).channels[0]!.length
    const written = Number(run.stdout)
    expect(80_000 + last).toBeGreaterThan(written - 8000)
    const plan = joinSegments(path)
    expect(plan.frames).toBeGreaterThanOrEqual(80_000 + last)
    expect(read(path).channels[0]!.every(sample => Math.abs(sample - 1000) < 40)).toBe(true)
  })
})

describe('the plan of a join', () => {
  it('a join places each segment at its own position, in any order of files', () => {
    const full = (number: number) => ({ number, frames: SEGMENT_FRAMES })
    const plan = planJoin([full(2), { number: 3, frames: 5 }, full(1)])
    expect(plan).toEqual({
      frames: 160_005,
      pieces: [
        { ...full(1), at: 0 },
        { ...full(2), at: 80_000 },
        { number: 3, frames: 5, at: 160_000 },
      ],
    })
  })

  it.each([
    ['a gap', [1, 3], [80_000, 80_000], 'segment_missing'],
    ['a late start', [2], [80_000], 'segment_missing'],
    ['none', [], [], 'segment_missing'],
    ['one too short inside', [1, 2], [79_999, 80_000], 'segment_short'],
    ['one too long', [1], [80_001], 'segment_short'],
    ['one twice', [1, 1], [80_000, 80_000], 'segment_missing'],
  ])('a join is refused with %s', (_name, numbers, lengths, code) => {
    const found = numbers.map((number, i) => ({ number, frames: lengths[i]! }))
    expect(() => planJoin(found)).toThrow(expect.objectContaining({ code }))
  })
})
