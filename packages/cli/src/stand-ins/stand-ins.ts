import { type FakeDelays, type OpenRecogniser, type Speak, STAND_INS, type StandInService } from '@parley/fakes'
import {
  type LanguageModel,
  RulesModel,
  type TextToSpeech,
  TonesRecogniser,
  TonesVoice,
  VENDORS,
  wordByWord,
} from '@parley/providers'
import { CliError } from '../errors.ts'
import { modelResponder } from './model-responder.ts'

/** The only key that the stand-ins accept. */
const KEY = 'stand-in'

export interface StandInsOptions {
  /** Delays of recognisers; default none. */
  readonly recogniserDelays?: FakeDelays
  /** Delays of voices; default none. */
  readonly voiceDelays?: FakeDelays
  /** Delays of models; default none. */
  readonly modelDelays?: FakeDelays
  /** Speed at which voices send their audio, as a multiple of real time; default all at once. */
  readonly pace?: number
  /** Renders the speech of all voices; not closed with the stand-ins. Default: a new one, so share one among many stand-ins. */
  readonly voice?: TextToSpeech
  /** Answers in place of all models; not closed with the stand-ins. Default: `parley/rules-1`. */
  readonly model?: LanguageModel
}

/**
 * Local servers that speak the protocols of all vendors. Behind them are the simulated recogniser and voice, and the model
 * `parley/rules-1`.
 */
export class StandIns {
  /** The environment variables with which a process uses the stand-ins. */
  readonly environment: Readonly<Record<string, string>>
  readonly #services: ReadonlyMap<string, StandInService>
  readonly #close: () => Promise<void>

  private constructor(
    environment: Readonly<Record<string, string>>,
    services: ReadonlyMap<string, StandInService>,
    close: () => Promise<void>,
  ) {
    this.environment = environment
    this.#services = services
    this.#close = close
  }

  static async open(options: StandInsOptions = {}): Promise<StandIns> {
    const recogniser = new TonesRecogniser()
    const ownVoice = options.voice === undefined ? new TonesVoice() : null
    const voice = options.voice ?? ownVoice!
    const openRecogniser: OpenRecogniser = language => wordByWord(recogniser, language)
    const speak: Speak = request => rendered(voice, request)
    const { recogniserDelays, voiceDelays, modelDelays, pace, model = new RulesModel() } = options
    const opened = await Promise.all(
      STAND_INS.map(async ({ name, open }) => {
        const standIn = await open({
          recogniser: { apiKey: KEY, openRecogniser, ...(recogniserDelays && { delays: recogniserDelays }) },
          voice: { apiKey: KEY, speak, ...(voiceDelays && { delays: voiceDelays }), ...(pace && { pace }) },
          model: { key: KEY, respond: modelResponder(model), ...(modelDelays && { delays: modelDelays }) },
        })
        return { name, standIn }
      }),
    )
    const services = opened.flatMap(({ name, standIn }) =>
      Object.entries(standIn.services).map(([id, service]) => [`${name}/${id}`, service] as const),
    )
    const environment = opened.map(({ name, standIn }) => environmentOf(name, standIn.baseUrl))
    return new StandIns(Object.assign({}, ...environment), new Map(services), async () => {
      await Promise.all([...opened.map(({ standIn }) => standIn.close()), recogniser.close(), ownVoice?.close()])
    })
  }

  /** The service `vendor/model`. Throws "stand_in_not_found". */
  service(id: string): StandInService {
    const service = this.#services.get(id)
    if (service === undefined)
      throw new CliError(
        'stand_in_not_found',
        `there is no stand-in for "${id}"; there are ${[...this.#services.keys()].join(', ')}`,
      )
    return service
  }

  close(): Promise<void> {
    return this.#close()
  }
}

function environmentOf(name: string, baseUrl: string): Record<string, string> {
  const settings = VENDORS.find(vendor => vendor.name === name)?.settings
  if (settings == null) throw new CliError('stand_in_not_found', `the vendor "${name}" has no settings`)
  return { [settings.apiKey]: KEY, [settings.baseUrl.name]: baseUrl }
}

async function rendered(voice: TextToSpeech, request: Parameters<Speak>[0]): ReturnType<Speak> {
  const chunks: Int16Array[] = []
  const words: { text: string; startMs: number }[] = []
  for await (const chunk of voice.synthesize(request, new AbortController().signal)) {
    chunks.push(chunk.samples)
    words.push(...chunk.words)
  }
  const samples = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    samples.set(chunk, at)
    at += chunk.length
  }
  return { samples, words }
}
