import { type Ms, NARROWBAND } from '@parley/kernel'
import { isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import { SERVICE_FORMATS } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { reasonOf, timeIn, wordsIn } from '../speech-to-text/service-message.ts'
import type { RecogniserService, ServiceEvent, ServiceProtocol } from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import { DEEPGRAM_URL, deepgramAudio, deepgramToken, firstLanguage } from './deepgram-api.ts'

/** Recommended for conversations; the service's default of 10 ms splits sentences at every breath. */
const ENDPOINTING_MS: Ms = 300
/** The same where words may come later and be right more often. */
const ACCURATE_ENDPOINTING_MS: Ms = 800
/** Models with a medical version, for English alone. */
const HAS_MEDICAL = /^nova-[23](-general)?$/

/** Deepgram's streaming API `/v1/listen` (Nova): its messages and requests. */
export const listenV1: ServiceProtocol = {
  name: 'Deepgram',
  minMessageMs: 40,
  padsLastMessage: false,
  maxMessageMs: 250,
  reportsReady: false,
  keepAlive: { afterMs: 4000, message: JSON.stringify({ type: 'KeepAlive' }) },
  // The service sends results for silence as well.
  noMessageTimeoutMs: 10_000,
  stall: { afterMs: 5000, byVoice: true },
  finalizeMessage: JSON.stringify({ type: 'Finalize' }),
  closeMessage: JSON.stringify({ type: 'CloseStream' }),
  openReader: () => readListenV1,
}

/** Regional tags that the service accepts besides primary language tags. */
const REGIONS = new Set(
  'en-US en-AU en-GB en-IN en-NZ en-CA es-419 fr-CA pt-BR pt-PT de-CH nl-BE sv-SE da-DK ko-KR th-TH zh-CN zh-TW zh-HK'.split(
    ' ',
  ),
)

/** Query of a connection. */
export function listenV1Query(model: string, options: SpeechStreamOptions): URLSearchParams {
  const tag = options.language
  const query = new URLSearchParams({
    model: medicalModel(model, options),
    language: isMultilingual(model, options) ? 'multi' : REGIONS.has(tag) ? tag : primaryTag(tag),
    ...deepgramAudio(options),
    channels: '1',
    interim_results: 'true',
    vad_events: 'true',
    punctuate: 'true',
    smart_format: 'true',
    endpointing: String(
      Math.round(options.endpointingMs ?? (options.mode === 'accurate' ? ACCURATE_ENDPOINTING_MS : ENDPOINTING_MS)),
    ),
  })
  const name = model.startsWith('nova-3') ? 'keyterm' : 'keywords'
  for (const term of expectedWords(options.keywords)) query.append(name, term)
  return query
}

/** Whether the model listens for all languages of the stream at once. */
function isMultilingual(model: string, { language, otherLanguages = [] }: SpeechStreamOptions): boolean {
  const known = model.startsWith('nova-3') ? MULTILINGUAL_NOVA_3 : model.startsWith('nova-2') ? MULTILINGUAL_NOVA_2 : []
  return otherLanguages.length > 0 && [language, ...otherLanguages].every(tag => known.includes(primaryTag(tag)))
}

function medicalModel(model: string, { vocabulary, language }: SpeechStreamOptions): string {
  const isMedical = vocabulary === 'medical' && primaryTag(language) === 'en' && HAS_MEDICAL.test(model)
  return isMedical ? `${model.replace('-general', '')}-medical` : model
}

function readListenV1(message: string): readonly ServiceEvent[] {
  const parsed = objectOf(message)
  if (parsed === null) return []
  switch (textIn(parsed, 'type')) {
    case 'Results':
      return readResults(parsed)
    case 'SpeechStarted':
      return [{ type: 'speech-started', atMs: timeIn(parsed, 'timestamp', 1) }]
    case 'Error':
      return [
        { type: 'failed', kind: 'failed', reason: reasonOf(textIn(parsed, 'variant'), textIn(parsed, 'description')) },
      ]
    default:
      // Metadata and UtteranceEnd contain nothing that the results do not.
      return []
  }
}

function readResults(message: JsonObject): readonly ServiceEvent[] {
  const startMs = timeIn(message, 'start', 1)
  const durationMs = timeIn(message, 'duration', 1)
  const channel = isObject(message.channel) ? message.channel : {}
  const alternatives = Array.isArray(channel.alternatives) ? channel.alternatives : []
  const best: unknown = alternatives[0]
  if (startMs === null || durationMs === null || !isObject(best)) return []
  const fromFinalize = message.from_finalize === true
  const language = firstLanguage(best)
  return [
    {
      type: 'words',
      passage: startMs,
      words: wordsIn(best, ['punctuated_word', 'word'], 1),
      fromMs: startMs,
      untilMs: startMs + durationMs,
      final: message.is_final === true,
      forced: fromFinalize ? true : null,
      stopped: message.speech_final === true || fromFinalize,
      ...(language !== null && { language }),
    },
  ]
}

/** Languages that `language=multi` tells apart. */
const MULTILINGUAL_NOVA_3 = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl']
const MULTILINGUAL_NOVA_2 = ['en', 'es']

/** Languages of Nova-3's monolingual models. */
const NOVA_3 =
  'en es fr pt de nl sv da it tr no id bg cs fi hi hu ja ko pl ru uk vi ca et el lv lt ms ro sk be bn bs hr kn mk mr sr sl ta tl te zh th'
const NOVA_2 = 'en es fr pt de nl sv da it tr no id bg cs fi hi hu ja ko pl ru uk vi ca et el lv lt ms ro sk zh th'

/** Deepgram's Nova models: words with times and punctuation, no turn detection. `endpointingMs`: default 300. */
export function deepgramNova(model = 'nova-3'): RecogniserService {
  return {
    id: `deepgram/${model}`,
    languages: (model.startsWith('nova-3') ? NOVA_3 : NOVA_2).split(' '),
    // The models for telephone calls are trained on 8 kHz audio.
    formats: model.endsWith('-phonecall') ? [NARROWBAND] : SERVICE_FORMATS,
    protocol: listenV1,
    baseUrl: DEEPGRAM_URL,
    path: stream => `/v1/listen?${listenV1Query(model, stream)}`,
    headers: deepgramToken,
  }
}
