import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'

/** The programs of the local speech servers, and the packages that they need. */
export const PROGRAMS_DIRECTORY = resolve(import.meta.dirname, '../../speech')
export const REQUIREMENTS_FILE = join(PROGRAMS_DIRECTORY, 'requirements.txt')

/** A recogniser or voice that `parley speech install` sets up. English only. */
export interface SpeechProgram {
  /** Name in the catalogue of services. */
  readonly vendor: 'local_stt' | 'local_tts'
  readonly script: string
  readonly model: string
  /** Null: a recogniser. */
  readonly voice: string | null
}

export const SPEECH_PROGRAMS: readonly SpeechProgram[] = [
  { vendor: 'local_stt', script: 'speech_to_text.py', model: 'moonshine-tiny-en', voice: null },
  { vendor: 'local_tts', script: 'text_to_speech.py', model: 'hibari', voice: 'heart' },
]

interface SpeechInstallation {
  /** The Python that finds the packages. */
  readonly python: string
  /** Whether its packages are those that this version of Parley pins. */
  readonly isCurrent: boolean
}

const record = z.object({ requirements: z.string() })

/** Where `parley speech install` puts everything. */
export function speechDirectory(home: string): string {
  return join(home, 'speech')
}

export function environmentDirectory(home: string): string {
  return join(speechDirectory(home), 'venv')
}

export function pythonOf(home: string): string {
  return join(environmentDirectory(home), 'bin', 'python')
}

/** Null: nothing is installed, or an installation did not finish. */
export async function findInstallation(home: string): Promise<SpeechInstallation | null> {
  const text = await readFile(recordFile(home), 'utf8').catch(() => null)
  if (text === null) return null
  const parsed = record.safeParse(jsonOf(text))
  return { python: pythonOf(home), isCurrent: parsed.data?.requirements === (await requirementsDigest()) }
}

/** Marks the installation of `home` as finished. */
export async function recordInstallation(home: string): Promise<void> {
  await writeFile(recordFile(home), `${JSON.stringify({ requirements: await requirementsDigest() })}\n`)
}

function recordFile(home: string): string {
  return join(speechDirectory(home), 'installed.json')
}

async function requirementsDigest(): Promise<string> {
  return createHash('sha256')
    .update(await readFile(REQUIREMENTS_FILE))
    .digest('hex')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
