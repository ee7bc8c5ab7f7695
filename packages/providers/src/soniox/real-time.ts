import type { Ms } from '@parley/kernel'
import { bearer } from '../bearer.ts'
import { isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import { encodingFor, SERVICE_FORMATS } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { numberIn, reasonOf, timeIn } from '../speech-to-text/service-message.ts'
import type {
  RecogniserService,
  ServiceEvent,
  ServiceProtocol,
  ServiceWord,
} from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { UtteranceWords } from '../speech-to-text/utterance-words.ts'
import { primaryTag } from '../text-to-speech/request.ts'

/** Limits that the service sets to the longest silence before an endpoint; its default is 2000. */
const MIN_ENDPOINT_MS: Ms = 500
const MAX_ENDPOINT_MS: Ms = 3000
/** -1 to 1: lower values end utterances later. */
const ACCURATE_SENSITIVITY = -0.5
/** Tokens read of one message. */
const MAX_TOKENS = 4000

/** Languages that are written with spaces: words are told apart by them. */
const LANGUAGES =
  'en es fr de it pt nl af sq ar az eu be bn bs bg ca hr cs da et fi gl el gu he hi hu id kn kk ko lv lt mk ms ml mr no fa pl pa ro ru sr sk sl sw sv tl ta te tr uk ur vi cy'

/** Soniox's real-time models: words with times and endpoints that follow sound and meaning. `endpointingMs`: the longest silence before one. */
export function sonioxRealTime(model = 'stt-rt-v5'): RecogniserService {
  return {
    id: `soniox/${model}`,
    languages: LANGUAGES.split(' '),
    formats: SERVICE_FORMATS,
    protocol: realTime,
    baseUrl: 'wss://stt-rt.soniox.com',
    path: () => '/transcribe-websocket',
    headers: bearer,
    wire: options => ({ opening: [JSON.stringify(startRequest(model, options))], encode: message => message }),
    failure: (code, reason) => (code === null ? 'failed' : sonioxFailure(code, reason)),
  }
}

/** Soniox's `/transcribe-websocket`: its messages and requests. */
export const realTime: ServiceProtocol = {
  name: 'Soniox',
  minMessageMs: 60,
  padsLastMessage: false,
  maxMessageMs: 250,
  reportsReady: false,
  // The service closes after 20 s without audio and without this.
  keepAlive: { afterMs: 5000, message: JSON.stringify({ type: 'keepalive' }) },
  noMessageTimeoutMs: null,
  stall: { afterMs: 5000, byVoice: false },
  finalizeMessage: JSON.stringify({ type: 'finalize' }),
  closeMessage: '',
  openReader: () => {
    const reader = new TokenReader()
    return message => reader.read(message)
  },
}

/** The first message of a connection. */
export function startRequest(model: string, options: SpeechStreamOptions): JsonObject {
  const { language, otherLanguages = [], keywords, mode, vocabulary, endpointingMs, format } = options
  const encoding = encodingFor(format)
  const terms = expectedWords(keywords)
  const isAccurate = mode === 'accurate'
  const context = {
    ...(vocabulary === 'medical' && { general: [{ key: 'domain', value: 'Healthcare' }] }),
    ...(terms.length > 0 && { terms }),
  }
  const longest = endpointingMs ?? (isAccurate ? MAX_ENDPOINT_MS : undefined)
  return {
    model,
    audio_format: encoding.kind === 'mu-law' ? 'mulaw' : 'pcm_s16le',
    sample_rate: encoding.format.sampleRateHz,
    num_channels: 1,
    language_hints: [language, ...otherLanguages].map(primaryTag),
    ...(otherLanguages.length > 0 && { enable_language_identification: true }),
    enable_endpoint_detection: true,
    ...(longest !== undefined && {
      max_endpoint_delay_ms: Math.round(Math.min(MAX_ENDPOINT_MS, Math.max(MIN_ENDPOINT_MS, longest))),
    }),
    // Models before the fifth refuse it.
    ...(isAccurate && /-v([5-9]|\d\d)/.test(model) && { endpoint_sensitivity: ACCURATE_SENSITIVITY }),
    ...(Object.keys(context).length > 0 && { context }),
  }
}

/** Parses one connection. A message has the new final tokens, each sent once, and then all tokens that may still change. */
class TokenReader {
  readonly #utterance = new UtteranceWords()
  /** The last final word, which the next token may continue. */
  #unfinished: ServiceWord | null = null

  read(message: string): readonly ServiceEvent[] {
    const parsed = objectOf(message)
    if (parsed === null) return []
    const code = numberIn(parsed, 'error_code')
    if (code !== null) {
      const reason = reasonOf(textIn(parsed, 'error_message')) || `error ${code}`
      return [{ type: 'failed', kind: sonioxFailure(code, reason), reason }]
    }
    if (!Array.isArray(parsed.tokens)) return []
    const events = this.#readTokens(parsed.tokens.slice(0, MAX_TOKENS).filter(isObject))
    const untilMs = timeIn(parsed, 'final_audio_proc_ms', 1000)
    const isQuiet = events.length === 0 && !this.#utterance.isOpen
    return isQuiet && untilMs !== null ? [{ type: 'silence', untilMs }] : events
  }

  #readTokens(tokens: readonly JsonObject[]): ServiceEvent[] {
    const events: ServiceEvent[] = []
    let final: ServiceWord[] = []
    const open: ServiceWord[] = []
    for (const token of tokens) {
      const text = textIn(token, 'text')
      if (text === '<end>' || text === '<fin>') {
        if (this.#unfinished !== null) final.push(this.#unfinished)
        this.#unfinished = null
        events.push(...this.#utterance.heard(final, []), this.#utterance.ended(text === '<fin>'))
        if (text === '<end>') events.push({ type: 'end-of-turn', confidence: 1, eager: false })
        final = []
      } else if (token.is_final === true) {
        if (text.trim() !== '') this.#utterance.inLanguage(textIn(token, 'language'))
        const [last, isNew] = joined(this.#unfinished, token)
        if (isNew && this.#unfinished !== null) final.push(this.#unfinished)
        this.#unfinished = last
      } else {
        const [last, isNew] = joined(open.at(-1) ?? this.#unfinished, token)
        if (!isNew && open.length > 0) open.pop()
        if (last !== null) open.push(last)
      }
    }
    // A word whose end is not certain stays open, unless the first open token continued it.
    const continues = open.length > 0 && this.#unfinished !== null && open[0]!.startMs === this.#unfinished.startMs
    const rest = this.#unfinished === null || continues ? open : [this.#unfinished, ...open]
    if (final.length > 0 || rest.length > 0 || this.#utterance.isOpen)
      events.push(...this.#utterance.heard(final, rest))
    return events
  }
}

/** `word` with the token, or the next word if the token begins one; null while there is only space. */
function joined(word: ServiceWord | null, token: JsonObject): [word: ServiceWord | null, isNew: boolean] {
  const text = textIn(token, 'text')
  const endMs = timeIn(token, 'end_ms', 1000)
  const confidence = numberIn(token, 'confidence')
  if (text.trim() === '') return [word, false]
  if (word !== null && !/^\s/u.test(text))
    return [{ ...word, text: `${word.text}${text.trim()}`, endMs: endMs ?? word.endMs }, false]
  const startMs = timeIn(token, 'start_ms', 1000)
  return [{ text: text.trim(), startMs, endMs, ...(confidence !== null && { confidence }) }, true]
}

/** Classifies an error code, or the close code of a connection, as a refusal, as too many requests, or as a failure that a retry may mend. */
export function sonioxFailure(code: number, reason: string): 'refused' | 'busy' | 'failed' {
  if (code === 429 || /rate limit|too many/i.test(reason)) return 'busy'
  return [400, 401, 402, 403, 404].includes(code) || code === 1008 ? 'refused' : 'failed'
}
