import { type ChildProcess, spawn } from 'node:child_process'
import { NARROWBAND, type Semaphore, WIDEBAND } from '@parley/kernel'
import { ProviderError } from '../../errors.ts'
import { speakBySentence } from '../../text-to-speech/by-sentence.ts'
import { checkSpeechRequest, primaryTag, reportSent } from '../../text-to-speech/request.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../text-to-speech/text-to-speech.ts'
import { voiceSemaphore } from '../../text-to-speech/voice-semaphore.ts'

const VOICES = ['en-us', 'en-gb', 'es', 'es-419'] as const
const WORDS_PER_MINUTE = 165
/** A sentence of 240 characters at half speed is half a minute: about 1.5 MB at 22 050 Hz. */
const MAX_WAV_BYTES = 8 * 1024 * 1024

interface LocalEspeakOptions {
  /** The program; default "espeak-ng", looked up on PATH. */
  readonly command?: string
  /** Most concurrent processes; default 2. */
  readonly processes?: number
  /** Sentences waiting for a process before further ones are refused with "voice_busy"; default 256. */
  readonly maxWaiting?: number
  /** Time limit of a sentence; default 10 000 ms. */
  readonly sentenceTimeoutMs?: number
}

/** English and Spanish through the program espeak-ng, one process per sentence, with the text on standard input. */
export class LocalEspeak implements TextToSpeech {
  readonly id = 'local/espeak-ng'
  readonly languages = ['en', 'es']
  readonly formats = [NARROWBAND, WIDEBAND]
  readonly voices: readonly string[] = VOICES
  readonly #command: string
  readonly #semaphore: Semaphore
  readonly #sentenceTimeoutMs: number
  readonly #running = new Set<ChildProcess>()
  #closed = false

  constructor(options: LocalEspeakOptions = {}) {
    this.#command = options.command ?? 'espeak-ng'
    this.#semaphore = voiceSemaphore(options.processes ?? 2, options.maxWaiting ?? 256)
    this.#sentenceTimeoutMs = options.sentenceTimeoutMs ?? 10_000
  }

  readiness(): Promise<string | null> {
    if (this.#closed) return Promise.resolve('espeak-ng does not run: closed')
    return readinessOf(this.#command)
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    checkSpeechRequest(request, this)
    if (!signal.aborted) reportSent(request)
    const voice = voiceFor(request)
    const speed = Math.round(WORDS_PER_MINUTE * (request.speed ?? 1))
    const args = ['-v', voice, '-s', String(speed), '-b', '1', '--stdin', '--stdout']
    yield* speakBySentence(request, signal, text => this.#inTurn(args, text, signal))
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const child of this.#running) child.kill('SIGKILL')
  }

  async #inTurn(args: readonly string[], text: string, signal: AbortSignal): Promise<Uint8Array | null> {
    if (!(await this.#semaphore.acquire(signal))) return null
    try {
      const ended = await this.#run(args, text, signal)
      if (signal.aborted) return null
      if (this.#closed) throw new ProviderError('voice_closed', 'This voice was closed.')
      if (ended.kind !== 'output')
        throw new ProviderError('voice_failed', `espeak-ng: ${ended.detail}`, { retryable: false })
      return ended.bytes
    } finally {
      this.#semaphore.release()
    }
  }

  /** One process from start to end; never rejects. */
  #run(args: readonly string[], input: string, signal: AbortSignal): Promise<Ended> {
    if (this.#closed) return Promise.resolve({ kind: 'failed', detail: 'closed' })
    const child = spawn(this.#command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#running.add(child)
    const kill = () => child.kill('SIGKILL')
    const timeout = setTimeout(kill, this.#sentenceTimeoutMs)
    signal.addEventListener('abort', kill, { once: true })
    return collect(child, input).finally(() => {
      clearTimeout(timeout)
      signal.removeEventListener('abort', kill)
      this.#running.delete(child)
    })
  }
}

interface Probe {
  readonly at: number
  readonly answer: Promise<string | null>
}

/** Readiness by command, cached: several voices check it at the same time, and starting a process from a large one is expensive. */
const probes = new Map<string, Probe>()
const PROBE_HOLDS_MS = 10_000
const PROBE_TIMEOUT_MS = 10_000

/** Why a command cannot be used, or null; checked at most every 10 s unless the last check failed. */
function readinessOf(command: string): Promise<string | null> {
  const now = performance.now()
  const known = probes.get(command)
  if (known !== undefined && now - known.at < PROBE_HOLDS_MS) return known.answer
  const answer = probe(command)
  probes.set(command, { at: now, answer })
  void answer.then(fault => {
    if (fault !== null && probes.get(command)?.answer === answer) probes.delete(command)
  })
  return answer
}

async function probe(command: string): Promise<string | null> {
  const child = spawn(command, ['--version'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const timeout = setTimeout(() => child.kill('SIGKILL'), PROBE_TIMEOUT_MS)
  const ended = await collect(child, '').finally(() => clearTimeout(timeout))
  if (ended.kind === 'missing') return 'espeak-ng is not installed (Debian: apt-get install espeak-ng)'
  return ended.kind === 'output' ? null : `espeak-ng does not run: ${ended.detail}`
}

type Ended =
  | { readonly kind: 'output'; readonly bytes: Uint8Array }
  | { readonly kind: 'missing'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }

function collect(child: ChildProcess, input: string): Promise<Ended> {
  return new Promise(resolve => {
    const parts: Buffer[] = []
    let length = 0
    let stderr = ''
    // With no file descriptors left there are no streams, only the event "error".
    child.stdout?.on('data', (part: Buffer) => {
      length += part.length
      if (length > MAX_WAV_BYTES) child.kill('SIGKILL')
      else parts.push(part)
    })
    child.stderr?.on('data', (part: Buffer) => {
      stderr = (stderr + part.toString()).slice(-500)
    })
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ kind: error.code === 'ENOENT' ? 'missing' : 'failed', detail: error.message }),
    )
    child.on('close', (code, signalName) => {
      if (code === 0) resolve({ kind: 'output', bytes: Buffer.concat(parts) })
      else resolve({ kind: 'failed', detail: `ended with ${signalName ?? code} ${stderr.trim()}`.trim() })
    })
    // The program may exit before it has read everything (EPIPE); "close" reports how it ended.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** The request's voice; else the nearest of its language: American English, Spanish of Spain or of Latin America. */
function voiceFor(request: SpeechRequest): string {
  if (request.voice !== undefined) return request.voice
  const tag = request.language.toLowerCase()
  if (primaryTag(tag) === 'en') return tag === 'en-gb' ? 'en-gb' : 'en-us'
  return tag === 'es' || tag === 'es-es' ? 'es' : 'es-419'
}
