import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ms, msToSamples, NARROWBAND } from '@parley/kernel'
import type { AtTestEnd } from './clean-up.ts'
import { monoWav } from './wav-file.ts'

/** baresip ends the call when its microphone runs out. */
const LENGTH_MS: Ms = 150_000

/** Path of a WAV file for baresip's microphone: silence, with `speech` (8 kHz) `afterMs` after the answer. Removed at `atEnd`. */
export function microphone(atEnd: AtTestEnd, speech: Int16Array = new Int16Array(0), afterMs: Ms = 0): string {
  const directory = mkdtempSync(join(tmpdir(), 'parley-microphone.'))
  atEnd(() => rmSync(directory, { recursive: true, force: true }))
  const audio = new Int16Array(msToSamples(LENGTH_MS, NARROWBAND))
  audio.set(speech, msToSamples(afterMs, NARROWBAND))
  const path = join(directory, 'mic.wav')
  writeFileSync(path, monoWav(audio, NARROWBAND.sampleRateHz))
  return path
}
