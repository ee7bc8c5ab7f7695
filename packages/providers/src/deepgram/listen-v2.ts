import type { Ms } from '@parley/kernel'
import { type JsonObject, objectOf, textIn } from '../json-object.ts'
import { SERVICE_FORMATS } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { numberIn, reasonOf, timeIn, wordsIn } from '../speech-to-text/service-message.ts'
import type { RecogniserService, ServiceEvent, ServiceProtocol } from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import { DEEPGRAM_URL, deepgramAudio, deepgramToken, firstLanguage } from './deepgram-api.ts'

/** Confidence at which Flux ends a turn. */
interface FluxThresholds {
  /** 0.5 to 0.9, or 1 for never; default the service's (0.7). */
  readonly endOfTurn?: number
  /** 0.3 to 0.9: confidence of early end-of-turn events. Default: there are none. */
  readonly eagerEndOfTurn?: number
}

/** The service's default is 0.7. */
const ACCURATE_END_OF_TURN = 0.85

/** Deepgram's turn-taking API `/v2/listen` (Flux): its messages and requests. */
export const listenV2: ServiceProtocol = {
  name: 'Deepgram Flux',
  minMessageMs: 80,
  padsLastMessage: false,
  maxMessageMs: 400,
  reportsReady: true,
  // The protocol has no keep-alive message, and a turn whose audio stops stays open.
  keepAlive: { afterMs: 500, message: null },
  noMessageTimeoutMs: null,
  stall: { afterMs: 5000, byVoice: true },
  finalizeMessage: JSON.stringify({ type: 'ForceEndTurn' }),
  closeMessage: JSON.stringify({ type: 'CloseStream' }),
  openReader: () => {
    const reader = new FluxReader()
    return message => reader.read(message)
  },
}

/** Query of a connection; `endpointingMs` becomes the longest silence in a turn. */
export function listenV2Query(
  model: string,
  options: SpeechStreamOptions,
  thresholds: FluxThresholds = {},
): URLSearchParams {
  const query = new URLSearchParams({ model, ...deepgramAudio(options) })
  const { eagerEndOfTurn } = thresholds
  const endOfTurn = thresholds.endOfTurn ?? (options.mode === 'accurate' ? ACCURATE_END_OF_TURN : undefined)
  if (endOfTurn !== undefined) query.set('eot_threshold', String(endOfTurn))
  if (eagerEndOfTurn !== undefined) query.set('eager_eot_threshold', String(eagerEndOfTurn))
  if (options.endpointingMs !== undefined) {
    const timeoutMs = Math.min(10_000, Math.max(500, Math.round(options.endpointingMs)))
    query.set('eot_timeout_ms', String(timeoutMs))
  }
  if (model.endsWith('-multi'))
    for (const tag of [options.language, ...(options.otherLanguages ?? [])])
      query.append('language_hint', primaryTag(tag))
  for (const term of expectedWords(options.keywords)) query.append('keyterm', term)
  return query
}

/** Reads one connection: a turn covers the audio from its first message on. */
class FluxReader {
  #turn: { readonly index: number; readonly fromMs: Ms } | null = null

  read(message: string): readonly ServiceEvent[] {
    const parsed = objectOf(message)
    if (parsed === null) return []
    switch (textIn(parsed, 'type')) {
      case 'Connected':
        return [{ type: 'ready' }]
      case 'TurnInfo':
        return this.#readTurn(parsed)
      case 'Error':
        return [failure(parsed)]
      default:
        return []
    }
  }

  #readTurn(message: JsonObject): readonly ServiceEvent[] {
    const event = textIn(message, 'event')
    const index = numberIn(message, 'turn_index')
    const startMs = timeIn(message, 'audio_window_start', 1)
    const untilMs = timeIn(message, 'audio_window_end', 1)
    if (index === null || startMs === null || untilMs === null) return []
    const words = wordsIn(message, ['word'], 1)
    const isOpen = this.#turn?.index === index
    if (event === 'Update' && !isOpen && words.length === 0) return [{ type: 'silence', untilMs }]
    const turn = isOpen ? this.#turn! : { index, fromMs: startMs }
    this.#turn = event === 'EndOfTurn' ? null : turn
    const language = firstLanguage(message)
    const trigger = textIn(message, 'trigger')
    const events: ServiceEvent[] = []
    if (event === 'StartOfTurn') events.push({ type: 'speech-started', atMs: words[0]?.startMs ?? startMs })
    if (event === 'TurnResumed') events.push({ type: 'turn-resumed' })
    events.push({
      type: 'words',
      passage: index,
      words,
      fromMs: turn.fromMs,
      untilMs,
      final: event === 'EndOfTurn',
      forced: trigger === 'manual' ? true : null,
      stopped: event === 'EndOfTurn',
      ...(language !== null && { language }),
    })
    if (event === 'EndOfTurn' || event === 'EagerEndOfTurn')
      events.push({
        type: 'end-of-turn',
        confidence: numberIn(message, 'end_of_turn_confidence') ?? 0,
        eager: event === 'EagerEndOfTurn',
      })
    return events
  }
}

function failure(message: JsonObject): ServiceEvent {
  const code = textIn(message, 'code')
  const reason = reasonOf(code, textIn(message, 'description'))
  if (/RATE|TOO_MANY|CONCURREN/i.test(code)) return { type: 'failed', kind: 'busy', reason }
  const isRefusal = /AUTH|INVALID|FORBIDDEN|PERMISSION|UNSUPPORTED|UNPROCESSABLE/i.test(code)
  return { type: 'failed', kind: isRefusal ? 'refused' : 'failed', reason }
}

const MULTILINGUAL = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl']

/**
 * Deepgram's Flux models: words with times, and turn detection of their own. `endpointingMs` is the longest silence within a
 * turn, 500 to 10 000. Without audio the service is sent silence, which it bills as audio.
 */
export function deepgramFlux(model = 'flux-general-en', thresholds: FluxThresholds = {}): RecogniserService {
  return {
    id: `deepgram/${model}`,
    languages: model.endsWith('-multi') ? MULTILINGUAL : ['en'],
    formats: SERVICE_FORMATS,
    protocol: listenV2,
    baseUrl: DEEPGRAM_URL,
    path: stream => `/v2/listen?${listenV2Query(model, stream, thresholds)}`,
    headers: deepgramToken,
  }
}
