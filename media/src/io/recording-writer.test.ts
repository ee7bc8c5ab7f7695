import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { allocateRecordingRing, RecordingRing } from '../recorder/recording-ring.ts'
import { readWav } from '../recorder/wav-reader.ts'
import { RecordingFile } from './recording-file.ts'
import { type RecordingFailure, RecordingWriter } from './recording-writer.ts'

const directory = mkdtempSync(join(tmpdir(), 'recording-'))
afterAll(() => rmSync(directory, { recursive: true }))

const read = (path: string) => readWav(readFileSync(path))

function tone(count: number, amplitude: number): Int16Array {
  return Int16Array.from({ length: count }, (_, i) => amplitude * Math.sin((2 * Math.PI * 400 * i) / 8000))
}

function fill(buffer: SharedArrayBuffer, left: Int16Array, right: Int16Array): RecordingRing {
  const ring = new RecordingRing(buffer)
  ring.writeLeft(0, left, 0, left.length)
  ring.writeRight(0, right, 0, right.length)
  return ring
}

describe('recording file', () => {
  it('a recording file is a valid WAV after every flush, even if it is never finished', () => {
    const path = join(directory, 'cut.wav')
    const buffer = allocateRecordingRing()
    const ring = new RecordingRing(buffer)
    const file = new RecordingFile(buffer, path, false, false)
    expect(read(path).channels[0]).toHaveLength(0)
    for (let position = 0; position < 24_000; position += 8000) {
      ring.writeLeft(position, tone(8000, 8000), 0, 8000)
      ring.writeRight(position, tone(8000, 100), 0, 8000)
      file.flush(false)
      expect(read(path).channels.map(channel => channel.length)).toEqual([position + 8000, position + 8000])
    }
    file.close()
  })

  it('a recording continues at the ring’s position after its writer died between writing and reporting', () => {
    const path = join(directory, 'resumed.wav')
    const buffer = allocateRecordingRing()
    const ring = fill(buffer, tone(4000, 8000), tone(4000, 4000))
    const first = new RecordingFile(buffer, path, false, false)
    first.flush(false)
    first.close()
    // Bytes on disk that neither header nor ring know of.
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(500, 1)]))
    ring.writeLeft(4000, tone(4000, 8000), 0, 4000)
    ring.end(8000)
    const second = new RecordingFile(buffer, path, false, true)
    second.flush(true)
    second.close()
    const { channels } = read(path)
    expect(channels[0]).toHaveLength(8000)
    expect(channels[0]!.slice(4000)).toEqual(channels[0]!.slice(0, 4000))
    expect(new Set(channels[1]!.slice(4000))).toEqual(new Set([0]))
  })

  it('a full disk is reported as a full disk', ({ skip }) => {
    if (!existsSync('/dev/full')) skip('/dev/full is not there')
    const buffer = allocateRecordingRing()
    expect(() => new RecordingFile(buffer, '/dev/full', false, false)).toThrow(
      expect.objectContaining({ code: 'recording_disk_full' }),
    )
  })
})

describe('recording writer', () => {
  let writer: RecordingWriter
  let failures: RecordingFailure[]
  let writerThread: Worker

  beforeEach(async () => {
    writer = new RecordingWriter()
    failures = []
    writer.onFailure(failure => failures.push(failure))
    process.once('worker', worker => {
      writerThread = worker
    })
    await writer.start()
  })
  afterEach(() => writer.close())

  it('the writer records both sides of many calls at once, each to its own file', async () => {
    const paths = [0, 1, 2, 3].map(i => join(directory, 'deep', 'er', `many-${i}.wav`))
    const ids = paths.map((path, i) => {
      const buffer = allocateRecordingRing()
      const id = writer.add(buffer, path, { swapChannels: i === 3 })
      fill(buffer, tone(1600, 8000), tone(1200, 500)).end(2000)
      return id
    })
    expect(await Promise.all(ids.map(id => writer.finish(id)))).toEqual(
      ids.map(() => ({ durationMs: 250, sampleRateHz: 8000, segments: 0 })),
    )
    for (const [i, path] of paths.entries()) {
      const [left, right] = read(path).channels
      const [loud, soft] = i === 3 ? [right!, left!] : [left!, right!]
      expect([loud.length, soft.length]).toEqual([2000, 2000])
      expect(Math.max(...loud)).toBeGreaterThan(7000)
      expect(Math.max(...soft)).toBeLessThan(600)
      expect(new Set(loud.slice(1600))).toEqual(new Set([0]))
    }
    expect(failures).toEqual([])
  })

  it('a recording that cannot be written is reported, and others continue', async () => {
    const blocked = join(directory, 'file-not-directory')
    writeFileSync(blocked, '')
    const bad = writer.add(allocateRecordingRing(), join(blocked, 'x.wav'))
    const buffer = allocateRecordingRing()
    const good = writer.add(buffer, join(directory, 'good.wav'))
    fill(buffer, tone(800, 100), tone(800, 100))
    expect(await writer.finish(good)).toEqual({ durationMs: 100, sampleRateHz: 8000, segments: 0 })
    await expect(writer.finish(bad)).rejects.toMatchObject({ code: 'recording_path_not_writable' })
    expect(failures.map(({ id, error }) => [id, error.code])).toEqual([[bad, 'recording_path_not_writable']])
    await expect(writer.finish(99)).rejects.toMatchObject({ code: 'unknown_recording' })
  })

  it('a recording continues after its writer thread died once, and ends with an error after the second time', async () => {
    const path = join(directory, 'thread-lost.wav')
    const buffer = allocateRecordingRing()
    const id = writer.add(buffer, path)
    const ring = fill(buffer, tone(8000, 1000), tone(8000, 1000))
    await expect.poll(() => read(path).channels[0]!.length).toBe(8000)
    const nextThread = () => new Promise<Worker>(resolve => process.once('worker', resolve))
    const replacement = nextThread()
    await writerThread.terminate()
    ring.writeLeft(8000, tone(4000, 1000), 0, 4000)
    const second = await replacement
    const other = writer.add(allocateRecordingRing(), join(directory, 'second.wav'))
    expect(await writer.finish(other)).toEqual({ durationMs: 0, sampleRateHz: 8000, segments: 0 })
    expect(failures).toEqual([])
    await second.terminate()
    await expect(writer.finish(id)).rejects.toMatchObject({ code: 'recording_writer_lost' })
    expect(failures.map(failure => failure.id)).toEqual([id])
    expect(read(path).channels[0]!.length).toBeGreaterThanOrEqual(8000)
  })

  it('a recording that is split ends with the audio of both channels, and another one begins there', async () => {
    const paths = ['first', 'second'].map(name => join(directory, `split-${name}.wav`))
    const buffer = allocateRecordingRing()
    const id = writer.add(buffer, paths[0]!, { segments: 'also' })
    const ring = fill(buffer, tone(1600, 8000), tone(1200, 500))
    const split = writer.split(id, paths[1]!, 'also')
    const next = await split.next
    expect(next.from).toBe(1200)
    expect(await split.ended).toEqual({ durationMs: 150, sampleRateHz: 8000, segments: 1 })
    ring.writeLeft(1600, tone(1600, 100), 0, 1600)
    ring.writeRight(1200, tone(2000, 500), 0, 2000)
    ring.end(3200)
    expect(await writer.finish(next.id)).toEqual({ durationMs: 250, sampleRateHz: 8000, segments: 1 })
    const [first, second] = paths.map(path => read(path).channels)
    expect(first!.map(channel => channel.length)).toEqual([1200, 1200])
    expect(second!.map(channel => channel.length)).toEqual([2000, 2000])
    expect(Math.max(...second![0]!.slice(0, 400))).toBeGreaterThan(7000)
    expect(Math.max(...second![0]!.slice(400))).toBeLessThan(200)
    expect(failures).toEqual([])
    expect(() => writer.split(99, paths[1]!, 'also')).toThrow(expect.objectContaining({ code: 'unknown_recording' }))
  })

  it('a second recording goes on after the writer thread died, and one that cannot be written fails alone', async () => {
    const paths = ['begun', 'lost', 'blocked'].map(name => join(directory, `resplit-${name}.wav`))
    const buffer = allocateRecordingRing()
    const id = writer.add(buffer, paths[0]!)
    const ring = fill(buffer, tone(800, 1000), tone(800, 1000))
    const next = await writer.split(id, paths[1]!, undefined).next
    const replacement = new Promise<Worker>(resolve => process.once('worker', resolve))
    await writerThread.terminate()
    await replacement
    ring.writeLeft(800, tone(800, 1000), 0, 800)
    ring.writeRight(800, tone(800, 1000), 0, 800)
    await expect.poll(() => read(paths[1]!).channels[0]!.length).toBe(800)
    writeFileSync(paths[2]!, '')
    const lost = writer.split(next.id, join(paths[2]!, 'x.wav'), undefined)
    await expect(lost.next).rejects.toMatchObject({ code: 'recording_path_not_writable' })
    expect(await lost.ended).toEqual({ durationMs: 100, sampleRateHz: 8000, segments: 0 })
  })

  it('closing the writer completes open recordings', async () => {
    const path = join(directory, 'closed.wav')
    const buffer = allocateRecordingRing()
    writer.add(buffer, path)
    fill(buffer, tone(800, 1000), tone(400, 1000))
    await writer.close()
    expect(read(path).channels[0]).toHaveLength(800)
    expect(() => writer.add(buffer, path)).toThrow(expect.objectContaining({ code: 'recording_writer_closed' }))
  })

  it('sox reads a recording as mu-law WAV of two channels', async ({ skip }) => {
    if (spawnSync('sox', ['--version']).status !== 0) skip('sox is not installed')
    const path = join(directory, 'sox.wav')
    const buffer = allocateRecordingRing()
    const id = writer.add(buffer, path)
    fill(buffer, tone(8000, 8000), tone(8000, 8000))
    await writer.finish(id)
    const info = spawnSync('sox', ['--i', path], { encoding: 'utf8' })
    expect(info.stdout).toMatch(/Channels\s+: 2/)
    expect(info.stdout).toMatch(/Sample Rate\s+: 8000/)
    expect(info.stdout).toMatch(/8000 samples/)
    expect(info.stdout).toMatch(/u-law/)
    const decoded = spawnSync('sox', ['-V1', path, '-t', 's16', '-'], { maxBuffer: 1 << 20 }).stdout
    const left = read(path).channels[0]!
    expect(decoded.length).toBe(8000 * 4)
    for (let i = 0; i < 8000; i++) expect(decoded.readInt16LE(4 * i)).toBe(left[i])
  })
})

describe('a recording whose process is killed', () => {
  it('a recording of a killed process has lost at most the last second', () => {
    const path = join(directory, 'killed.wav')
    const module = fileURLToPath(new URL('./recording-writer.ts', import.meta.url))
    const ring = fileURLToPath(new URL('../recorder/recording-ring.ts', import.meta.url))
    // Records in real time for 2.2 s, then dies without a word.
    const program = `
      import { RecordingWriter } from ${JSON.stringify(module)}
      import { allocateRecordingRing, RecordingRing } from ${JSON.stringify(ring)}
      const writer = new RecordingWriter()
      await writer.start()
      const buffer = allocateRecordingRing()
      writer.add(buffer, ${JSON.stringify(path)})
      const ring = new RecordingRing(buffer)
      const audio = new Int16Array(16000).fill(1000)
      const began = performance.now()
      let position = 0
      setInterval(() => {
        const due = Math.floor((performance.now() - began) * 8)
        ring.writeLeft(position, audio, 0, due - position)
        ring.writeRight(position, audio, 0, due - position)
        position = due
        if (due > 17600) process.kill(process.pid, 'SIGKILL')
      }, 20)`
    const script = join(directory, 'killed.mjs')
    writeFileSync(script, program)
    const run = spawnSync(process.execPath, [script], { encoding: 'utf8' })
    expect(run.signal).toBe('SIGKILL')
    const { channels } = read(path)
    expect(channels).toHaveLength(2)
    expect(channels[0]!.length).toBeGreaterThan(17_600 - 8000)
    expect(channels[0]!.every(sample => Math.abs(sample - 1000) < 40)).toBe(true)
  })
})
