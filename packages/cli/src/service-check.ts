import { type Ms, systemTime } from '@parley/kernel'
import { PhoneVoice } from '@parley/phone'
import {
  type CatalogueEntry,
  type LanguageModel,
  LOCAL_SERVERS,
  ProviderError,
  type SpeechToText,
  type TextToSpeech,
  TonesVoice,
  type Vendor,
  type VendorSettings,
  vendorCatalogue,
} from '@parley/providers'
import type { Settings } from './environment.ts'
import { CliError } from './errors.ts'

export const CHECK_TIMEOUT_MS: Ms = 20_000
/** Time for the error that a broken stream reports after its empty final result. */
const LATE_ERROR_MS: Ms = 1000
export const CHECK_SENTENCE = 'The garden is behind the house.'
/** 20 ms at 8 kHz. */
const PACKET_SAMPLES = 160

interface ServiceCheck {
  readonly id: string
  readonly what: 'speech to text' | 'text to speech' | 'model'
  readonly ok: boolean
  /** The answer and its delay, or the fault and what to do about it. */
  readonly detail: string
}

/** Sends one real request to each service that has an API key, and to each local server, one after the other. */
export async function* checkServices(settings: Settings): AsyncGenerator<ServiceCheck> {
  const { stt, tts, llm } = vendorCatalogue(settings.vendors, systemTime)
  const chosen = <Service>({ vendor }: CatalogueEntry<Service>) => vendor.name in settings.vendors
  yield* checkAll(stt.filter(chosen), 'speech to text', checkRecogniser)
  yield* checkAll(tts.filter(chosen), 'text to speech', checkVoice)
  yield* checkAll(llm.filter(chosen), 'model', checkModel)
}

async function* checkAll<Service extends { close(): Promise<void> }>(
  entries: readonly CatalogueEntry<Service>[],
  what: ServiceCheck['what'],
  request: (service: Service, signal: AbortSignal) => Promise<string>,
): AsyncGenerator<ServiceCheck> {
  for (const { vendor, models, open } of entries) {
    if (open === null) continue
    for (const model of models) {
      const id = `${vendor.name}/${model}`
      let service: Service | null = null
      try {
        service = open(model)
        yield { id, what, ok: true, detail: await request(service, AbortSignal.timeout(CHECK_TIMEOUT_MS)) }
      } catch (error) {
        yield { id, what, ok: false, detail: describeFailure(error, vendor) }
      } finally {
        await service?.close()
      }
    }
  }
}

async function checkRecogniser(recogniser: SpeechToText, signal: AbortSignal): Promise<string> {
  const { text, ms } = await transcribe(recogniser, await renderSentence(), signal)
  if (text === '')
    throw new CliError('nothing_heard', `the recogniser returned no words for the sentence "${CHECK_SENTENCE}".`)
  return `heard "${text}" in ${Math.round(ms)} ms`
}

/** The words of some English speech at 8 kHz, sent all at once, and the time to the last of them. */
export async function transcribe(
  recogniser: SpeechToText,
  audio: Int16Array,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly ms: Ms }> {
  const stream = recogniser.open({ language: 'en' })
  const began = performance.now()
  try {
    const text = await new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(noAnswer()), { once: true })
      let heard = ''
      stream.onEvent(event => {
        if (event.type === 'error') reject(event.error)
        if (event.type !== 'final') return
        heard = `${heard} ${event.text}`.trim()
        // A broken stream sends an empty final result first and its error afterwards.
        if (event.fromFinalize) setTimeout(() => resolve(heard), heard === '' ? LATE_ERROR_MS : 0)
      })
      for (let at = 0; at < audio.length; at += PACKET_SAMPLES)
        stream.write(audio.subarray(at, at + PACKET_SAMPLES), at)
      stream.finalize()
    })
    return { text, ms: performance.now() - began }
  } finally {
    stream.close()
  }
}

async function checkVoice(voice: TextToSpeech, signal: AbortSignal): Promise<string> {
  const began = performance.now()
  let first = ''
  let samples = 0
  for await (const chunk of voice.synthesize({ text: CHECK_SENTENCE, language: 'en' }, signal)) {
    if (first === '') first = since(began)
    samples += chunk.samples.length
  }
  if (samples === 0) throw noAnswer()
  return `first audio after ${first}, ${(samples / 8000).toFixed(1)} s of speech`
}

async function checkModel(model: LanguageModel, signal: AbortSignal): Promise<string> {
  const began = performance.now()
  let first = ''
  let text = ''
  const messages = [{ role: 'user' as const, content: 'Answer with the one word OK.' }]
  for await (const event of model.generate({ messages, maxOutputTokens: 64 }, signal)) {
    if (event.type !== 'text') continue
    if (first === '') first = since(began)
    text += event.delta
  }
  if (text === '') throw noAnswer()
  return `answered "${text.trim().slice(0, 40)}", first text after ${first}`
}

/** The test sentence in the built-in voice, which real recognisers and the local stand-ins understand. */
async function renderSentence(): Promise<Int16Array> {
  const voice = new TonesVoice()
  try {
    return await new PhoneVoice(voice, 'en').render(CHECK_SENTENCE)
  } finally {
    await voice.close()
  }
}

function since(began: Ms): string {
  return `${Math.round(performance.now() - began)} ms`
}

function noAnswer(): Error {
  return new CliError('no_answer', `the service did not answer within ${CHECK_TIMEOUT_MS / 1000} s`)
}

/** The text of an error, followed by advice for known codes. */
function describeFailure(error: unknown, { name, settings }: Vendor): string {
  const message = error instanceof Error ? error.message : String(error)
  const server = LOCAL_SERVERS.find(({ vendor }) => vendor === name)
  const advice =
    settings === null
      ? `Check that the server of ${server?.variable ?? name} runs, and its model.`
      : adviceFor(error, settings)
  return `${message} ${advice}`.trim()
}

function adviceFor(error: unknown, { apiKey, baseUrl }: VendorSettings): string {
  if (ProviderError.is(error, 'model_refused', 'recogniser_refused', 'voice_refused'))
    return `The service refused the key or the model: check ${apiKey} and the balance of the account.`
  if (ProviderError.is(error, 'model_busy', 'recogniser_busy', 'voice_busy'))
    return 'The service is busy or a quota is used up: try again later.'
  if (ProviderError.is(error, 'model_unreachable', 'recogniser_unreachable', 'voice_unreachable'))
    return `There is no connection: check the network, proxy and firewall, and ${baseUrl.name} if it is set.`
  return ''
}
