import type { Ms } from '@parley/kernel'
import { isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import { regionalTag } from '../regional-tag.ts'
import { encodingFor, SERVICE_FORMATS, type ServiceEncoding } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { plainWords, reasonOf, timeIn } from '../speech-to-text/service-message.ts'
import type {
  RecogniserService,
  ServiceEvent,
  ServiceProtocol,
  ServiceWire,
  ServiceWord,
  WireConnection,
} from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { azureKey } from './azure-api.ts'
import { audioMessage, parseSpeechMessage, textMessage } from './speech-message.ts'

/** Silence that ends a phrase; the service takes 100 to 5000. */
const SILENCE_MS = { fast: 300, accurate: 800 } as const
/** Times are in units of 100 ns. */
const TICKS_PER_SECOND = 10_000_000
const MAX_WORDS = 2000

const LANGUAGES =
  'en es fr de it pt nl ar bg ca cs da el et fi gl he hi hr hu id is ja ko lt lv ms mt nb pl ro ru sk sl sv ta te th tr uk vi zh'

/** Azure Speech: words with times once a phrase is final, no turn detection. `endpointingMs`: silence that ends a phrase, default 300. */
export function azureConversation(baseUrl: string): RecogniserService {
  return {
    id: 'azure/conversation',
    languages: LANGUAGES.split(' '),
    formats: SERVICE_FORMATS,
    protocol: conversationV1,
    baseUrl,
    path: ({ language }) =>
      `/speech/recognition/conversation/cognitiveservices/v1?${new URLSearchParams({
        language: regionalTag(language),
        format: 'detailed',
      })}`,
    headers: azureKey,
    wire: conversationWire,
    failure: (code, reason) => (code === 1008 || /quota|4429/i.test(reason) ? 'busy' : 'failed'),
  }
}

const END_OF_AUDIO = 'end of audio'

/** Azure's `/speech/recognition/conversation/cognitiveservices/v1`: its messages and requests. */
export const conversationV1: ServiceProtocol = {
  name: 'Azure Speech',
  minMessageMs: 40,
  padsLastMessage: false,
  maxMessageMs: 250,
  reportsReady: false,
  // There is no keep-alive message, and a phrase ends only when its silence was sent.
  keepAlive: { afterMs: 800, message: null },
  noMessageTimeoutMs: null,
  stall: { afterMs: 5000, byVoice: false },
  finalizeMessage: null,
  closeMessage: END_OF_AUDIO,
  openReader: () => {
    const reader = new PhraseReader()
    return message => reader.read(message)
  },
}

function conversationWire(options: SpeechStreamOptions, { id, openedAt }: WireConnection): ServiceWire {
  const headers = { id, sentAt: openedAt }
  const audio = { ...headers, path: 'audio' }
  const json = { ...headers, contentType: 'application/json' }
  return {
    opening: [
      textMessage({ ...json, path: 'speech.config' }, { context: { system: { name: 'Parley', version: '1' } } }),
      textMessage({ ...json, path: 'speech.context' }, speechContext(options)),
      audioMessage({ ...audio, contentType: 'audio/x-wav' }, waveHeader(encodingFor(options.format))),
    ],
    encode: message => audioMessage(audio, typeof message === 'string' ? new Uint8Array(0) : message),
  }
}

/** How phrases end, what a result contains, and which words to expect. */
export function speechContext({ keywords, mode = 'fast', endpointingMs }: SpeechStreamOptions): JsonObject {
  const terms = expectedWords(keywords)
  const silence = Math.min(5000, Math.max(100, Math.round(endpointingMs ?? SILENCE_MS[mode])))
  return {
    phraseDetection: {
      mode: 'Conversation',
      conversation: { segmentation: { mode: 'Custom', segmentationSilenceTimeoutMs: silence } },
    },
    phraseOutput: { format: 'Detailed', detailed: { options: ['WordTimings'] } },
    ...(terms.length > 0 && { dgi: { groups: [{ type: 'Generic', items: terms.map(text => ({ text })) }] } }),
  }
}

/** The header of a WAV file without an end, which describes the audio (RIFF, `fmt ` of 16 bytes, `data`). */
function waveHeader({ kind, format, bytesPerSample }: ServiceEncoding): Uint8Array {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(kind === 'mu-law' ? 7 : 1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(format.sampleRateHz, 24)
  header.writeUInt32LE(format.sampleRateHz * bytesPerSample, 28)
  header.writeUInt16LE(bytesPerSample, 32)
  header.writeUInt16LE(8 * bytesPerSample, 34)
  header.write('data', 36)
  return header
}

/** Parses one connection: hypotheses of a phrase, and the phrase. */
class PhraseReader {
  #phrase = 0

  read(message: string): readonly ServiceEvent[] {
    const parsed = parseSpeechMessage(message)
    const body = parsed === null ? null : (objectOf(parsed.body) ?? {})
    if (parsed === null || body === null) return []
    switch (parsed.path) {
      case 'speech.startdetected':
        return [{ type: 'speech-started', atMs: timeIn(body, 'Offset', TICKS_PER_SECOND) }]
      case 'speech.hypothesis':
      case 'speech.fragment':
        return this.#words(body, plainWords(textIn(body, 'Text')), false)
      case 'speech.phrase':
        return this.#readPhrase(body)
      // A turn ends with its audio; the service may end it earlier, and begins another on a new connection.
      case 'turn.end':
        return [{ type: 'failed', kind: 'failed', reason: 'the service ended the stream' }]
      default:
        return []
    }
  }

  #readPhrase(body: JsonObject): readonly ServiceEvent[] {
    const status = textIn(body, 'RecognitionStatus')
    if (status === 'Error') return [{ type: 'failed', kind: 'failed', reason: reasonOf('the recognition failed') }]
    if (status === 'InitialSilenceTimeout') {
      const { untilMs } = placeOf(body)
      return untilMs === null ? [] : [{ type: 'silence', untilMs }]
    }
    const best: unknown = Array.isArray(body.NBest) ? body.NBest[0] : null
    const events = this.#words(body, status === 'Success' && isObject(best) ? wordsOf(best) : [], true)
    if (events.length > 0) this.#phrase++
    return events
  }

  #words(body: JsonObject, words: readonly ServiceWord[], final: boolean): readonly ServiceEvent[] {
    const { fromMs, untilMs } = placeOf(body)
    if (fromMs === null) return []
    return [{ type: 'words', passage: this.#phrase, words, fromMs, untilMs, final, forced: null, stopped: final }]
  }
}

function placeOf(body: JsonObject): { readonly fromMs: Ms | null; readonly untilMs: Ms | null } {
  const fromMs = timeIn(body, 'Offset', TICKS_PER_SECOND)
  const durationMs = timeIn(body, 'Duration', TICKS_PER_SECOND)
  return { fromMs, untilMs: fromMs === null || durationMs === null ? null : fromMs + durationMs }
}

/** The words as they are written, with the times of the words as they were spoken where these are as many. */
function wordsOf(phrase: JsonObject): readonly ServiceWord[] {
  const written = plainWords(textIn(phrase, 'Display') || textIn(phrase, 'Lexical'))
  const spoken = (Array.isArray(phrase.Words) ? phrase.Words.slice(0, MAX_WORDS) : []).filter(isObject)
  const first = spoken[0]
  const last = spoken.at(-1)
  if (first === undefined || last === undefined) return written
  if (spoken.length === written.length)
    return written.map((word, i) => {
      const { fromMs, untilMs } = placeOf(spoken[i]!)
      return { ...word, startMs: fromMs, endMs: untilMs }
    })
  const fromMs = placeOf(first).fromMs
  const untilMs = placeOf(last).untilMs
  if (fromMs === null || untilMs === null) return written
  const share = (untilMs - fromMs) / Math.max(1, written.length)
  return written.map((word, i) => ({ ...word, startMs: fromMs + i * share, endMs: fromMs + (i + 1) * share }))
}
