import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ms, msToSamples, NARROWBAND } from '@parley/kernel'
import type { AtTestEnd } from './recipe.ts'

/** baresip ends the call when its microphone runs out. */
const LENGTH_MS: Ms = 150_000

/** Path of a WAV file for baresip's microphone: silence, with `speech` (8 kHz) `afterMs` after the answer. Removed at `atEnd`. */
export function microphone(atEnd: AtTestEnd, speech: Int16Array = new Int16Array(0), afterMs: Ms = 0): string {
  const directory = mkdtempSync(join(tmpdir(), 'parley-microphone.'))
  atEnd(() => rmSync(directory, { recursive: true, force: true }))
  const audio = new Int16Array(msToSamples(LENGTH_MS, NARROWBAND))
  audio.set(speech, msToSamples(afterMs, NARROWBAND))
  const path = join(directory, 'mic.wav')
  writeMonoWav(path, audio)
  return path
}

/** 8 kHz mono 16-bit PCM. */
function writeMonoWav(path: string, samples: Int16Array): void {
  const header = Buffer.alloc(44)
  const dataBytes = 2 * samples.length
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8000, 24)
  header.writeUInt32LE(16_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  const data = Buffer.alloc(dataBytes)
  for (const [index, sample] of samples.entries()) data.writeInt16LE(sample, 2 * index)
  writeFileSync(path, Buffer.concat([header, data]))
}
