import { AgentActions, type AgentActionsOptions, CodeThreads, InMemoryEffectLedger } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import { languageOf, type VoiceAgent, type VoiceChoice, warmVoice } from '@parley/engine'
import { type Instruction, judgeDestination, languagesOf, type ModelRef, type Plan, type Providers } from '@parley/flow'
import { systemRandom, systemTime } from '@parley/kernel'
import {
  type CatalogueEntry,
  type CatalogueVoice,
  type LanguageModel,
  type RealtimeModel,
  type SpeechToText,
  speechBandOf,
  type TextEmbedder,
  type TextToSpeech,
  type VendorAccess,
  type VendorCatalogue,
  vendorCatalogue,
} from '@parley/providers'
import type { Settings } from './environment.ts'
import { CliError } from './errors.ts'

type ServicesSettings = Pick<Settings, 'vendors' | 'egressAllow'>

interface ServicesOptions {
  /** Countries that calls may be transferred to, ISO 3166-1 alpha-2; default none. */
  readonly allowedCountries?: readonly string[]
  /** Private addresses that actions may reach besides those of the settings. */
  readonly egressAllow?: Settings['egressAllow']
}

type Kind = Exclude<keyof VendorCatalogue, 'embed'>

/** The services that those of an environment with keys of its own are based on. */
interface SharedServices {
  readonly services: Services
  /** Vendors for which the environment has a key. */
  readonly ownVendors: ReadonlySet<string>
}

/** The recognisers, voices and models of this process. Each is opened on first use and shared by all calls. */
export class Services {
  readonly #options: ServicesOptions
  readonly #catalogue: VendorCatalogue
  readonly #opened = new Map<string, Service>()
  readonly #embedders = new Map<string, TextEmbedder>()
  readonly #settings: ServicesSettings
  readonly #shared: SharedServices | null
  readonly #egress: OutboundHttp
  readonly #code: CodeThreads

  constructor(settings: ServicesSettings, options: ServicesOptions = {}, shared: SharedServices | null = null) {
    this.#settings = settings
    this.#options = options
    this.#shared = shared
    this.#catalogue = vendorCatalogue(settings.vendors, systemTime)
    this.#code = shared === null ? new CodeThreads() : shared.services.#code
    this.#egress =
      shared !== null
        ? shared.services.#egress
        : new OutboundHttp({ allow: [...settings.egressAllow, ...(options.egressAllow ?? [])], time: systemTime })
  }

  /** The services with an environment's access to some vendors. Those of all other vendors are these. Close it before these. */
  withOwnAccess(own: Readonly<Record<string, VendorAccess>>): Services {
    const settings = { ...this.#settings, vendors: { ...this.#settings.vendors, ...own } }
    return new Services(settings, this.#options, { services: this, ownVendors: new Set(Object.keys(own)) })
  }

  /** The voice `vendor/model`. Throws "voice_not_found", "voice_not_ready" (its API key is missing). */
  voice(id: string): TextToSpeech {
    return this.#open('tts', id, 'voice')
  }

  /** The recogniser `vendor/model`. Throws "recogniser_not_found", "recogniser_not_ready". */
  recogniser(id: string): SpeechToText {
    return this.#open('stt', id, 'recogniser')
  }

  /** The model `vendor/model`. Throws "model_not_found", "model_not_ready". */
  model(id: string): LanguageModel {
    return this.#open('llm', id, 'model')
  }

  /** The speech-to-speech model `vendor/model`. Throws "model_not_found", "model_not_ready". */
  realtime(id: string): RealtimeModel {
    return this.#open('realtime', id, 'model')
  }

  /** Whether the model of a plan is a speech-to-speech model. */
  isRealtime({ provider, model_id }: ModelRef['model']): boolean {
    return this.#catalogue.realtime.some(({ vendor, models }) => vendor.name === provider && models.includes(model_id))
  }

  /** The embedding model `vendor/model`; null: there is none, or its API key is missing. */
  embedder(id: string): TextEmbedder | null {
    const opened = this.#embedders.get(id)
    if (opened !== undefined) return opened
    const { provider, model } = serviceNamed(id)
    if (this.#shared !== null && !this.#shared.ownVendors.has(provider)) return this.#shared.services.embedder(id)
    const ofVendor = this.#catalogue.embed.filter(({ vendor }) => vendor.name === provider)
    const entry = ofVendor.find(({ models }) => models.includes(model)) ?? ofVendor.find(one => one.acceptsOtherModels)
    if (entry?.open == null) return null
    const embedder = entry.open(model)
    this.#embedders.set(id, embedder)
    return embedder
  }

  /** All embedding models that the platform lists, with the length of their vectors; `embedder` null: the key is missing. */
  embedders(): OfferedEmbedder[] {
    return this.#catalogue.embed.flatMap(({ vendor, models, dimensions }) =>
      models.map(model => ({
        vendor: vendor.name,
        model,
        needsKey: vendor.settings !== null,
        dimension: dimensions[model] ?? null,
        embedder: this.embedder(`${vendor.name}/${model}`),
      })),
    )
  }

  /** Ids of the services that are ready for `language` (BCP 47), those with an API key first. A new agent gets the first. */
  async ready(kind: Kind, language: string): Promise<string[]> {
    const ids: string[] = []
    for (const { vendor, models, open } of this.#catalogue[kind]) {
      for (const model of open === null ? [] : models) {
        const id = `${vendor.name}/${model}`
        if (
          await isReady(
            this.#service(kind, id, () => open!(model)),
            language,
          )
        )
          ids.push(id)
      }
    }
    return ids
  }

  /** All services of a kind, the preferred one first. `service` is null if the vendor's API key is missing. */
  offers<Of extends Kind>(kind: Of): OfferedService<Of>[] {
    const entries: readonly CatalogueEntry<Service>[] = this.#catalogue[kind]
    return entries.flatMap(({ vendor, models, open, voices, title }) =>
      models.map(model => ({
        vendor: vendor.name,
        model,
        needsKey: vendor.settings !== null,
        voices,
        title,
        service:
          open === null ? null : (this.#service(kind, `${vendor.name}/${model}`, () => open(model)) as ServiceOf<Of>),
      })),
    )
  }

  /** The voice of a plan, whose settings may name another model of the same provider, and which of its voices; null: its first. Throws as {@link voice}. */
  voiceOf({ providers: { tts }, settings }: Plan): { readonly voice: TextToSpeech; readonly voiceId: string | null } {
    const voice = this.voice(idOf({ ...tts, model: settings.voiceModel ?? tts.model }))
    return { voice, voiceId: settings.voiceId ?? tts.voiceId ?? null }
  }

  /** Prepares a plan's recogniser, voice and model for the first call of the process. Resolves when all have been reached; never fails. */
  async warm(plan: Plan): Promise<void> {
    const { stt, llm } = plan.providers
    const parts = [
      async () => this.recogniser(idOf(stt)).warm?.(),
      async () => this.isRealtime(llm.model) && this.realtime(modelIdOf(llm.model)).warm?.(),
      async () => (await this.#textModel(plan)).warm?.(),
      async () => warmVoice({ plan, ...this.voiceOf(plan) }, {}),
    ]
    // The first call says what is missing.
    await Promise.allSettled(parts.map(part => part()))
  }

  /** Whether the voice `vendor/model` runs on this machine, so that speaking costs nothing. */
  isOnThisMachine(voiceId: string): boolean {
    return this.#catalogue.tts.some(
      ({ vendor, models }) => vendor.settings === null && models.some(model => `${vendor.name}/${model}` === voiceId),
    )
  }

  #open<Of extends Kind>(kind: Of, id: string, name: 'voice' | 'recogniser' | 'model'): ServiceOf<Of> {
    const { provider, model } = serviceNamed(id)
    const entries: readonly CatalogueEntry<Service>[] = this.#catalogue[kind]
    const ofVendor = entries.filter(({ vendor }) => vendor.name === provider)
    const entry = ofVendor.find(({ models }) => models.includes(model)) ?? ofVendor.find(one => one.acceptsOtherModels)
    if (entry === undefined) {
      const known = entries.flatMap(({ vendor, models }) => models.map(one => `${vendor.name}/${one}`))
      throw new CliError(`${name}_not_found`, `there is no ${name} "${id}"; known are ${known.join(', ')}`)
    }
    const { vendor, open } = entry
    if (open === null)
      throw new CliError(`${name}_not_ready`, `the ${name} "${id}" needs an API key: set ${vendor.settings?.apiKey}`)
    return this.#service(kind, id, () => open(model)) as ServiceOf<Of>
  }

  #service(kind: Kind, id: string, open: () => Service): Service {
    if (this.#shared !== null && !this.#shared.ownVendors.has(serviceNamed(id).provider))
      return this.#shared.services.#service(kind, id, open)
    const key = `${kind} ${id}`
    const opened = this.#opened.get(key)
    if (opened !== undefined) return opened
    const service = open()
    this.#opened.set(key, service)
    return service
  }

  /**
   * The agent of a plan with its services. Throws if one is unknown or not ready, with a message that names it:
   * "voice_not_found", "voice_not_ready", "recogniser_not_found", "recogniser_not_ready", "model_not_found",
   * "model_not_ready", "stt_not_ready", "tts_not_ready", "llm_not_ready".
   */
  async agent(
    plan: Plan,
    identity: { readonly id: string | null; readonly version: number | null },
  ): Promise<VoiceAgent> {
    const { stt, llm } = plan.providers
    const { voice, voiceId } = this.voiceOf(plan)
    const recogniser = this.recogniser(idOf(stt))
    const realtime = this.isRealtime(llm.model) ? this.realtime(modelIdOf(llm.model)) : null
    const own = await this.#textModel(plan)
    const parts = [['tts', voice] as const, ['stt', recogniser] as const, ['llm', realtime ?? own] as const]
    for (const [field, service] of parts) {
      const why = await service.readiness()
      if (why !== null) throw new CliError(`${field}_not_ready`, `providers.${field} is not ready: ${why}`)
    }
    void own.warm?.()
    warmVoice({ plan, voice, voiceId }, { texts: fixedTexts(plan) })
    return {
      plan,
      agentId: identity.id,
      agentVersion: identity.version,
      voice,
      recogniser,
      ...(realtime !== null && { realtime }),
      speechBand: speechBandOf(recogniser.id),
      voiceId,
      otherVoiceIds: this.#otherVoiceIds(plan, voice.id, voiceId),
      fallbackVoices: await this.#fallbackVoices(plan),
      fallbackRecognisers: await this.#readyOf((stt.fallbacks ?? []).map(idOf), id => this.recogniser(id)),
      fallbackModels: await this.#readyOf((llm.fallbacks ?? []).map(modelIdOf), id => this.model(id)),
      ...(await this.#lastResort(languageOf({ plan, voice }))),
      model: ref => (ref === null ? own : this.model(modelIdOf(ref.model))),
      warmModel: () => void own.warm?.(),
      ledger: () => new InMemoryEffectLedger({ random: systemRandom, wallClock: Date.now }),
      actions: ledger =>
        // An agent without an environment has no secrets: an action that needs one is denied with a reason.
        new AgentActions({ ...this.actionServices, ledger, secrets: { get: async () => null } }),
      transferPolicy: destination =>
        judgeDestination(destination, { allowedCountries: this.#options.allowedCountries ?? [], mayDial: true }),
    }
  }

  /** The dependencies of `AgentActions` that all agents share. */
  get actionServices(): Omit<AgentActionsOptions, 'ledger' | 'secrets'> {
    return { egress: this.#egress, code: this.#code, time: systemTime, wallClock: Date.now }
  }

  /** The HTTP client of actions and webhooks. */
  get egress(): OutboundHttp {
    return this.#egress
  }

  /** Throws as {@link model}. */
  modelOf(ref: ModelRef): LanguageModel {
    return this.model(modelIdOf(ref.model))
  }

  /**
   * The model that the plan names; for a speech-to-speech model, the language model that stands in for it: the first ready one of the
   * plan's fallbacks, else of the platform. Throws as {@link model}, and "llm_not_ready".
   */
  async readyModel(plan: Plan): Promise<LanguageModel> {
    const own = await this.#textModel(plan)
    const why = await own.readiness()
    if (why !== null) throw new CliError('llm_not_ready', `providers.llm is not ready: ${why}`)
    return own
  }

  async close(): Promise<void> {
    const parts = this.#shared === null ? [this.#egress, this.#code] : []
    const opened = [...this.#opened.values(), ...this.#embedders.values()]
    await Promise.all([...opened, ...parts].map(service => service.close()))
  }

  /** Throws as {@link model}. */
  async #textModel({ providers: { llm }, settings }: Plan): Promise<LanguageModel> {
    if (!this.isRealtime(llm.model)) return this.modelOf(llm)
    const [first] = await this.#readyOf((llm.fallbacks ?? []).map(modelIdOf), id => this.model(id))
    if (first !== undefined) return first
    const [tag = 'en'] = [settings.language].flat()
    const [id] = await this.ready('llm', tag)
    if (id === undefined)
      throw new CliError('llm_not_ready', 'no language model is ready to stand in for the speech-to-speech model')
    return this.model(id)
  }

  /** The voices of `fallbackVoiceIds`, each `provider/model` or `provider/model:voice`. Those that are not ready are left out. */
  async #fallbackVoices(plan: Plan): Promise<VoiceChoice[]> {
    const choices: VoiceChoice[] = []
    for (const id of plan.settings.fallbackVoiceIds) {
      const [service, voiceId] = id.split(':', 2)
      const voice = this.#voiceWithKey(service!)
      if (voice === null) continue
      const language = languageOf({ plan, voice })
      if ((await voice.readiness(language)) === null) choices.push({ voice, language, voiceId: voiceId ?? null })
    }
    return choices
  }

  /** Voices of one language alone are replaced by the service's first for the agent's other languages. */
  #otherVoiceIds(plan: Plan, id: string, voiceId: string | null): NonNullable<VoiceAgent['otherVoiceIds']> {
    const { provider } = serviceNamed(id)
    const offered = this.#catalogue.tts.filter(({ vendor }) => vendor.name === provider).flatMap(({ voices }) => voices)
    const known = offered.find(voice => voice.id === voiceId)?.languages
    if (known === undefined) return {}
    const unspoken = languagesOf(plan.settings.language).filter(language => !known.includes(language))
    return Object.fromEntries(unspoken.map(language => [language, null]))
  }

  /** Those of the services that exist and are ready: a fallback that is not is skipped. */
  async #readyOf<Of extends Service>(ids: readonly string[], open: (id: string) => Of): Promise<Of[]> {
    const ready: Of[] = []
    for (const id of ids) {
      try {
        const service = open(id)
        if ((await service.readiness()) === null) ready.push(service)
      } catch (error) {
        if (!(error instanceof CliError)) throw error
      }
    }
    return ready
  }

  /** Null if its API key is missing. Throws "voice_not_found". */
  #voiceWithKey(id: string): TextToSpeech | null {
    try {
      return this.voice(id)
    } catch (error) {
      if (CliError.is(error, 'voice_not_ready')) return null
      throw error
    }
  }

  /** A voice on this machine that speaks the apology when all other voices have failed. */
  async #lastResort(language: string): Promise<Pick<VoiceAgent, 'lastResort'>> {
    for (const id of ['local/flite', 'local/espeak-ng']) {
      const voice = this.voice(id)
      if (!voice.languages.includes(language.split('-')[0]!)) continue
      if ((await voice.readiness(language)) === null) return { lastResort: { voice, language, voiceId: null } }
    }
    return {}
  }
}

interface OfferedService<Of extends Kind> {
  readonly vendor: string
  readonly model: string
  /** Whether the service needs an API key; false: it runs on this machine. */
  readonly needsKey: boolean
  readonly voices: readonly CatalogueVoice[]
  /** Shown instead of the model's id; null: the id is shown. */
  readonly title: string | null
  readonly service: ServiceOf<Of> | null
}

interface OfferedEmbedder {
  readonly vendor: string
  readonly model: string
  readonly needsKey: boolean
  readonly dimension: number | null
  readonly embedder: TextEmbedder | null
}

type Service = SpeechToText | TextToSpeech | LanguageModel | RealtimeModel

interface ServicesByKind {
  stt: SpeechToText
  tts: TextToSpeech
  llm: LanguageModel
  realtime: RealtimeModel
}

type ServiceOf<Of extends Kind> = ServicesByKind[Of]

async function isReady(service: Service, language: string): Promise<boolean> {
  const speaks = !('languages' in service) || service.languages.includes(language.split('-')[0]!.toLowerCase())
  return speaks && (await service.readiness(language)) === null
}

function modelIdOf({ provider, model_id: id }: ModelRef['model']): string {
  return `${provider}/${id}`
}

/** The texts that the agent speaks word for word and that contain no variables; the opening first, since it is needed first. */
function fixedTexts({ flow }: Plan): string[] {
  const opening = openingOf({ flow })
  const nodes = [...flow.nodes, ...flow.components.flatMap(component => component.nodes)]
  const texts = nodes.flatMap(node => fixedTextOf(node) ?? [])
  return opening === null ? texts : [opening, ...texts]
}

/** What the agent says first, word for word; null: a model writes it, or it contains variables. */
export function openingOf({ flow }: Pick<Plan, 'flow'>): string | null {
  const start = flow.nodes.find(({ id }) => id === flow.start_node_id)
  return start === undefined ? null : fixedTextOf(start)
}

function fixedTextOf(node: object): string | null {
  const instruction = 'instruction' in node ? (node.instruction as Instruction | null) : null
  return instruction?.type === 'static_text' && !instruction.text.includes('{{') ? instruction.text : null
}

/** Splits `vendor/model`. The name of a model may contain slashes. */
export function serviceNamed(id: string): { readonly provider: string; readonly model: string } {
  const [provider = '', ...model] = id.split('/')
  return { provider, model: model.join('/') }
}

function idOf({ provider, model }: Pick<Providers['stt'], 'provider' | 'model'>): string {
  return `${provider}/${model}`
}
