import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { resample } from '@parley/media'
import { closeServer, listenLocally } from '../local-server.ts'
import { answerWith } from '../models/model-serving.ts'
import type { FakeWord, OpenRecogniser, ServiceFault } from '../protocol.ts'
import { openAiError } from './openai-refusal.ts'

const MAX_BODY_BYTES = 4 * 1024 * 1024
const ANALYSIS_HZ = 8000
const WAV_HEADER_BYTES = 44
/** Silence after the audio, in which a recogniser reports its last words. */
const TAIL = new Int16Array(ANALYSIS_HZ)
const BLOCK = 160

interface FakeTranscriptionOptions {
  /** Recognises the words of a recording. */
  readonly openRecogniser: OpenRecogniser
  /** What the server reports: times of words, of segments with their words, or text alone. Default "words". */
  readonly reports?: 'words' | 'segments' | 'text'
  /** Faults of the first requests, one each; null for none. */
  readonly faults?: readonly (ServiceFault | null)[]
}

/** `/v1/audio/transcriptions` of local Whisper servers. It asks for no key. */
export class FakeTranscriptionService {
  /** The base URL: "http://127.0.0.1:PORT/v1". */
  readonly url: string
  /** The fields of each request but the file, in order. */
  readonly requests: Readonly<Record<string, string>>[]
  readonly #server: Server
  readonly #faults: (ServiceFault | null)[]

  private constructor(
    server: Server,
    url: string,
    requests: Record<string, string>[],
    faults: (ServiceFault | null)[],
  ) {
    this.#server = server
    this.url = url
    this.requests = requests
    this.#faults = faults
  }

  static async open(options: FakeTranscriptionOptions): Promise<FakeTranscriptionService> {
    const faults = [...(options.faults ?? [])]
    const requests: Record<string, string>[] = []
    const server = createServer((request, response) => {
      answer(request, response, { options, requests, faults }).catch(() => response.destroy())
    })
    const url = `http://127.0.0.1:${await listenLocally(server)}/v1`
    return new FakeTranscriptionService(server, url, requests, faults)
  }

  /** Faults of the next requests, after those that were injected before; null for none. */
  injectFaults(...faults: readonly (ServiceFault | null)[]): void {
    this.#faults.push(...faults)
  }

  close(): Promise<void> {
    return closeServer(this.#server)
  }
}

interface Serving {
  readonly options: FakeTranscriptionOptions
  readonly requests: Record<string, string>[]
  readonly faults: (ServiceFault | null)[]
}

async function answer(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const parts = partsOf(await bytesOf(request), request.headers['content-type'] ?? '')
  const fault = serving.faults.shift() ?? null
  if (fault?.type === 'refuse')
    return answerWith(response, openAiError(fault.status, 'invalid_request_error', null, 'Refused.'))
  if (fault?.type === 'error') return answerWith(response, openAiError(500, 'server_error', null, 'Failed.'))
  if (fault?.type === 'break-off') return void response.destroy()
  if (fault?.type === 'mute') return
  if (fault?.type === 'garble') return void response.writeHead(200).end('<html>Sign in</html>')
  if (fault?.type === 'stall') return void response.writeHead(200, { 'content-type': 'application/json' }).write('{"te')
  if (request.method !== 'POST' || request.url !== '/v1/audio/transcriptions')
    return answerWith(response, openAiError(404, 'invalid_request_error', null, 'Unknown request URL'))
  const file = parts.get('file')
  const language = parts.get('language')?.toString('utf8') ?? 'en'
  if (file === undefined || !parts.has('model'))
    return answerWith(response, openAiError(400, 'invalid_request_error', null, 'Field required.'))
  serving.requests.push(
    Object.fromEntries(
      [...parts].flatMap(([name, value]) => (name === 'file' ? [] : [[name, value.toString('utf8')]])),
    ),
  )
  const words = recognised(file, serving.options.openRecogniser, language)
  answerWith(response, { status: 200, body: documentOf(words, serving.options.reports ?? 'words') })
}

function documentOf(heard: readonly FakeWord[], reports: 'words' | 'segments' | 'text'): object {
  const text = heard.map(word => word.text).join(' ')
  const words = heard.map(word => ({
    word: word.text,
    start: word.startSample / ANALYSIS_HZ,
    end: word.endSample / ANALYSIS_HZ,
  }))
  if (reports === 'text') return { text }
  const span = { id: 0, start: words[0]?.start ?? 0, end: words.at(-1)?.end ?? 0, text }
  if (reports === 'segments') {
    const spaced = words.map(one => ({ ...one, word: ` ${one.word}` }))
    return { text: ` ${text}`, segments: [{ ...span, words: spaced }] }
  }
  return { task: 'transcribe', text, words, segments: [span] }
}

function recognised(file: Buffer, openRecogniser: OpenRecogniser, language: string): FakeWord[] {
  if (file.toString('latin1', 0, 4) !== 'RIFF') throw new Error('the file is no WAV file')
  const data = file.subarray(WAV_HEADER_BYTES)
  const samples = Int16Array.from({ length: data.length >> 1 }, (_, at) => data.readInt16LE(2 * at))
  const audio = resample(samples, file.readUInt32LE(24), ANALYSIS_HZ)
  const words: FakeWord[] = []
  const recogniser = openRecogniser(language)
  recogniser.onWord(word => words.push(word))
  for (const part of [audio, TAIL])
    for (let at = 0; at < part.length; at += BLOCK) recogniser.write(part.subarray(at, at + BLOCK))
  recogniser.close()
  return words
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY_BYTES) throw new Error(`the request has more than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The parts of a `multipart/form-data` body by name; of parts with one name, the last. */
function partsOf(body: Buffer, contentType: string): Map<string, Buffer> {
  const boundary = /boundary=([^;\s]+)/.exec(contentType)?.[1]
  const parts = new Map<string, Buffer>()
  if (boundary === undefined) return parts
  const delimiter = `--${boundary}`
  for (let at = body.indexOf(delimiter); at >= 0; ) {
    const next = body.indexOf(delimiter, at + delimiter.length)
    if (next < 0) break
    const part = body.subarray(at + delimiter.length + 2, next - 2)
    const blank = part.indexOf('\r\n\r\n')
    const name = /name="([^"]+)"/.exec(part.toString('latin1', 0, blank))?.[1]
    if (name !== undefined) parts.set(name, part.subarray(blank + 4))
    at = next
  }
  return parts
}
