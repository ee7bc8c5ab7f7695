import type { Ms } from '@parley/kernel'
import { type JsonObject, objectOf, textIn } from '../json-object.ts'
import { encodingFor, SERVICE_FORMATS } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { numberIn, reasonOf, timeIn, wordsIn } from '../speech-to-text/service-message.ts'
import type { RecogniserService, ServiceEvent, ServiceProtocol } from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../text-to-speech/request.ts'

const MAX_SILENCE_MS: Ms = 10_000

/** The service's default is 0.4. */
const ACCURATE_CONFIDENCE = 0.7

/** When the service ends a turn. */
interface AssemblyAiTurns {
  /** 0 to 1; default the service's (0.4). */
  readonly confidenceThreshold?: number
  /** Silence after which a turn may end when it sounds complete, ms; default the service's. */
  readonly minSilenceMs?: number
}

const MULTILINGUAL = ['en', 'es', 'fr', 'de', 'it', 'pt']

/**
 * AssemblyAI's streaming models: words with times, and turn detection of their own; each turn is reported once.
 * `endpointingMs` is the longest silence within a turn.
 */
export function assemblyAiStreaming(
  model = 'universal-streaming-english',
  turns: AssemblyAiTurns = {},
): RecogniserService {
  return {
    id: `assemblyai/${model}`,
    languages: model.endsWith('-english') ? ['en'] : MULTILINGUAL,
    formats: SERVICE_FORMATS,
    protocol: streamingV3,
    baseUrl: 'wss://streaming.assemblyai.com',
    path: stream => `/v3/ws?${streamingV3Query(model, stream, turns)}`,
    headers: apiKey => ({ authorization: apiKey }),
    failure: assemblyAiFailure,
  }
}

/** AssemblyAI's streaming API `/v3/ws`: its messages and requests. */
export const streamingV3: ServiceProtocol = {
  name: 'AssemblyAI',
  minMessageMs: 50,
  padsLastMessage: true,
  maxMessageMs: 500,
  reportsReady: true,
  keepAlive: { afterMs: 5000, message: JSON.stringify({ type: 'KeepAlive' }) },
  noMessageTimeoutMs: null,
  // The service sends nothing while a speaker pauses.
  stall: { afterMs: MAX_SILENCE_MS + 5000, byVoice: false },
  finalizeMessage: JSON.stringify({ type: 'ForceEndpoint' }),
  closeMessage: JSON.stringify({ type: 'Terminate' }),
  openReader: () => {
    const reader = new TurnReader()
    return message => reader.read(message)
  },
}

/**
 * Query of a connection; `endpointingMs` becomes the longest silence in a turn. Formatted turns are not requested,
 * because they arrive later than unformatted ones.
 */
export function streamingV3Query(
  model: string,
  options: SpeechStreamOptions,
  turns: AssemblyAiTurns = {},
): URLSearchParams {
  const { kind, format } = encodingFor(options.format)
  const query = new URLSearchParams({
    speech_model: model,
    sample_rate: String(format.sampleRateHz),
    encoding: kind === 'mu-law' ? 'pcm_mulaw' : 'pcm_s16le',
  })
  const { minSilenceMs } = turns
  const confidenceThreshold =
    turns.confidenceThreshold ?? (options.mode === 'accurate' ? ACCURATE_CONFIDENCE : undefined)
  if (confidenceThreshold !== undefined) query.set('end_of_turn_confidence_threshold', String(confidenceThreshold))
  if (minSilenceMs !== undefined) query.set('min_turn_silence', String(Math.round(minSilenceMs)))
  if (options.endpointingMs !== undefined)
    query.set('max_turn_silence', String(Math.min(MAX_SILENCE_MS, Math.round(options.endpointingMs))))
  if ((options.otherLanguages ?? []).length > 0 && !model.endsWith('-english')) query.set('language_detection', 'true')
  const terms = expectedWords(options.keywords)
  if (terms.length > 0) query.set('keyterms_prompt', JSON.stringify(terms))
  return query
}

/** Parses one connection: a turn that ended may be repeated with formatting, which is ignored. */
class TurnReader {
  #ended = -1

  read(message: string): readonly ServiceEvent[] {
    const parsed = objectOf(message)
    if (parsed === null) return []
    switch (textIn(parsed, 'type')) {
      case 'Begin':
        return [{ type: 'ready' }]
      case 'SpeechStarted':
        return [{ type: 'speech-started', atMs: timeIn(parsed, 'timestamp', 1000) }]
      case 'Turn':
        return this.#readTurn(parsed)
      case 'Error':
        return [failure(parsed)]
      default:
        return []
    }
  }

  #readTurn(message: JsonObject): readonly ServiceEvent[] {
    const order = numberIn(message, 'turn_order')
    if (order === null || order <= this.#ended) return []
    const isOver = message.end_of_turn === true
    if (isOver) this.#ended = order
    // Words that may still change are in the list alone, not in the transcript.
    const words = wordsIn(message, ['text'], 1000)
    const language = textIn(message, 'language_code')
    const turn: ServiceEvent = {
      type: 'words',
      passage: order,
      words,
      fromMs: words[0]?.startMs ?? 0,
      untilMs: null,
      final: isOver,
      forced: null,
      stopped: isOver,
      ...(language !== '' && { language: primaryTag(language) }),
    }
    if (!isOver) return [turn]
    return [turn, { type: 'end-of-turn', confidence: numberIn(message, 'end_of_turn_confidence') ?? 0, eager: false }]
  }
}

/** Classifies a close code and its reason as a refusal, as too many sessions, or as a failure that a retry may mend. */
export function assemblyAiFailure(code: number | null, reason: string): 'refused' | 'busy' | 'failed' {
  if (/too many concurrent/i.test(reason) || code === 3009) return 'busy'
  if (code === 1008 || /unauthori[sz]ed|authorization|balance/i.test(reason)) return 'refused'
  return 'failed'
}

function failure(message: JsonObject): ServiceEvent {
  const reason = reasonOf(textIn(message, 'error'))
  return { type: 'failed', kind: assemblyAiFailure(numberIn(message, 'error_code'), reason), reason }
}
