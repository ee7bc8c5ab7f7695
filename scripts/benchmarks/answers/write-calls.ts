import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monoWav } from '../../../interop/wav-file.ts'
import { calleeAudio } from './callee-audio.ts'
import type { CallSpec } from './manifest.ts'

const LABELS = 'labels.csv'
const MANIFEST = 'manifest.jsonl'

const RATE = 8000
const MS = RATE / 1000

/** One line of the manifest. Times are ms since the answer, at which the audio begins. */
interface WrittenCall extends Omit<CallSpec, 'voice' | 'early' | 'parts'> {
  readonly file: string
  /** Name of the synthetic voice. */
  readonly voice: string
  /** Null: the line stays silent. */
  readonly firstSoundMs: number | null
  /** Null: there is no beep. */
  readonly beepEndMs: number | null
  readonly words: readonly { readonly text: string; readonly startMs: number; readonly endMs: number }[]
}

/**
 * Writes what the far end of each call sends after the answer: a WAV file (8 kHz, mono, 16 bits) for each, `labels.csv` (file, class)
 * and `manifest.jsonl`. The same calls give the same files, byte by byte, with the same versions of the speech engines.
 */
export async function writeCalls(
  directory: string,
  specs: readonly CallSpec[],
  onWritten: (count: number) => void = () => {},
): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const lines: WrittenCall[] = []
  for (const spec of specs) {
    const { early: _early, parts: _parts, voice, ...facts } = spec
    const { samples, answeredMs, firstSoundMs, beepEndMs, words } = await calleeAudio(spec)
    const file = `${spec.id}.wav`
    writeFileSync(join(directory, file), monoWav(samples.subarray(Math.round(answeredMs * MS)), RATE))
    const since = (ms: number) => Math.round(ms - answeredMs)
    lines.push({
      ...facts,
      file,
      voice: voice.id,
      firstSoundMs: firstSoundMs === null ? null : since(firstSoundMs),
      beepEndMs: beepEndMs === null ? null : since(beepEndMs),
      words: words.map(({ text, startMs, endMs }) => ({ text, startMs: since(startMs), endMs: since(endMs) })),
    })
    onWritten(lines.length)
  }
  writeFileSync(
    join(directory, LABELS),
    ['file,class', ...lines.map(line => `${line.file},${line.class}`), ''].join('\n'),
  )
  writeFileSync(join(directory, MANIFEST), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
}
