import { HttpActions, judgeDestination, MemoryLedger } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import { languageOf, type VoiceAgent, type VoiceChoice } from '@parley/engine'
import type { Instruction, ModelRef, Plan, Providers } from '@parley/flow'
import { ParleyError, systemRandom, systemTime } from '@parley/kernel'
import {
  type LanguageModel,
  LocalEspeak,
  LocalFlite,
  OpenAiChat,
  RulesModel,
  type SpeechToText,
  type TextToSpeech,
  TonesRecogniser,
  TonesVoice,
} from '@parley/providers'
import type { Settings } from './environment.ts'

export interface ServicesOptions {
  /** Countries that calls may be transferred to, ISO 3166-1 alpha-2; default none. */
  readonly allowedCountries?: readonly string[]
  /** Private addresses that actions may reach besides those of the settings. */
  readonly egressAllow?: Settings['egressAllow']
}

/** The services that agents of this process talk with: one of each, shared by all calls. */
export class Services {
  readonly #settings: Settings
  readonly #options: ServicesOptions
  readonly #voices: readonly TextToSpeech[] = [new TonesVoice(), new LocalFlite(), new LocalEspeak()]
  readonly #recognisers: readonly SpeechToText[] = [new TonesRecogniser()]
  readonly #rules = new RulesModel()
  readonly #chats = new Map<string, OpenAiChat>()
  readonly #egress: OutboundHttp

  constructor(settings: Settings, options: ServicesOptions = {}) {
    this.#settings = settings
    this.#options = options
    this.#egress = new OutboundHttp({
      allow: [...settings.egressAllow, ...(options.egressAllow ?? [])],
      time: systemTime,
    })
  }

  /** The voice of that id. Throws `ParleyError` "voice_not_found". */
  voice(id: string): TextToSpeech {
    return found(this.#voices, id, 'voice_not_found', 'providers.tts')
  }

  /** The recogniser of that id. Throws `ParleyError` "recogniser_not_found". */
  recogniser(id: string): SpeechToText {
    return found(this.#recognisers, id, 'recogniser_not_found', 'providers.stt')
  }

  /**
   * Everything a plan needs to talk. Throws `ParleyError` that names the provider which is unknown or not ready:
   * "voice_not_found", "recogniser_not_found", "model_not_ready", "voice_not_ready".
   */
  async agent(
    plan: Plan,
    identity: { readonly id: string | null; readonly version: number | null },
  ): Promise<VoiceAgent> {
    const { stt, tts, llm } = plan.providers
    const { voiceId } = plan.settings
    const voice = this.voice(idOf(tts))
    const recogniser = this.recogniser(idOf(stt))
    const own = this.#model(llm.model)
    for (const [field, service] of [['tts', voice] as const, ['stt', recogniser] as const, ['llm', own] as const]) {
      const why = await service.readiness()
      if (why !== null) throw new ParleyError(`${field}_not_ready`, `providers.${field} is not ready: ${why}`)
    }
    voice.warm?.({
      language: languageOf({ plan, voice }),
      ...(voiceId !== undefined && { voice: voiceId }),
      texts: fixedTexts(plan),
    })
    return {
      plan,
      agentId: identity.id,
      agentVersion: identity.version,
      voice,
      recogniser,
      voiceId: voiceId ?? tts.voiceId ?? null,
      fallbackVoices: await this.#fallbackVoices(plan),
      ...(await this.#lastResort(languageOf({ plan, voice }))),
      model: ref => (ref === null ? own : this.#model(ref.model)),
      ledger: () => new MemoryLedger({ random: systemRandom, wallClock: Date.now }),
      actions: ledger =>
        new HttpActions({
          egress: this.#egress,
          ledger,
          // No secrets are kept yet: an action that needs one is denied, and says so.
          secrets: { get: async () => null },
          time: systemTime,
          wallClock: Date.now,
        }),
      transferPolicy: destination =>
        judgeDestination(destination, { allowedCountries: this.#options.allowedCountries ?? [], mayDial: true }),
    }
  }

  async close(): Promise<void> {
    const all = [...this.#voices, ...this.#recognisers, this.#rules, ...this.#chats.values(), this.#egress]
    await Promise.all(all.map(service => service.close()))
  }

  /** `provider/model`, or `provider/model:voice`; one that is not ready is left out: it could not take over. */
  async #fallbackVoices(plan: Plan): Promise<VoiceChoice[]> {
    const choices: VoiceChoice[] = []
    for (const id of plan.settings.fallbackVoiceIds) {
      const [service, voiceId] = id.split(':', 2)
      const voice = this.voice(service!)
      const language = languageOf({ plan, voice })
      if ((await voice.readiness(language)) === null) choices.push({ voice, language, voiceId: voiceId ?? null })
    }
    return choices
  }

  /** A voice on this machine says sorry when all others are gone. */
  async #lastResort(language: string): Promise<Pick<VoiceAgent, 'lastResort'>> {
    for (const id of ['local/flite', 'local/espeak-ng']) {
      const voice = this.voice(id)
      if (!voice.languages.includes(language.split('-')[0]!)) continue
      if ((await voice.readiness(language)) === null) return { lastResort: { voice, language, voiceId: null } }
    }
    return {}
  }

  #model({ provider, model_id: id }: ModelRef['model']): LanguageModel {
    if (provider === 'parley' && id === this.#rules.identity.model) return this.#rules
    const { openAi } = this.#settings
    if (provider !== 'openai' || openAi === null || !openAi.models.includes(id))
      throw new ParleyError(
        'model_not_ready',
        `the model ${provider}/${id} is not available: built in is parley/rules-1; OPENAI_API_KEY and OPENAI_MODELS add openai/…`,
      )
    const known = this.#chats.get(id)
    if (known !== undefined) return known
    const chat = new OpenAiChat({ baseUrl: openAi.baseUrl, apiKey: openAi.key, model: id, time: systemTime })
    this.#chats.set(id, chat)
    return chat
  }
}

/** What the agent says word for word, as far as it is known beforehand. */
function fixedTexts({ flow }: Plan): string[] {
  const nodes = [...flow.nodes, ...flow.components.flatMap(component => component.nodes)]
  return nodes.flatMap(node => {
    const instruction = 'instruction' in node ? (node.instruction as Instruction | null) : null
    return instruction?.type === 'static_text' && !instruction.text.includes('{{') ? [instruction.text] : []
  })
}

function idOf({ provider, model }: Providers['stt']): string {
  return `${provider}/${model}`
}

function found<Service extends { readonly id: string }>(
  services: readonly Service[],
  id: string,
  code: string,
  field: string,
): Service {
  const service = services.find(one => one.id === id)
  if (service !== undefined) return service
  throw new ParleyError(code, `${field}: "${id}" is not known; there are ${services.map(one => one.id).join(', ')}`)
}
