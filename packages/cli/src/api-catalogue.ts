import type { Catalogue, CatalogueModel, CatalogueVoice } from '@parley/control-plane'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { Services } from './services.ts'

const REFRESH_MS = 60_000

/** The models and voices that the API offers. Refreshed every minute, because services and local programs come and go. */
export class ApiCatalogue {
  readonly #services: Services
  readonly #time: Time
  readonly #own = new WeakMap<Services, { readonly catalogue: Promise<Catalogue>; readonly until: Ms }>()
  #current: Catalogue
  #timer: Timer

  static async open(services: Services, time: Time): Promise<ApiCatalogue> {
    return new ApiCatalogue(services, time, await catalogueOfServices(services))
  }

  private constructor(services: Services, time: Time, first: Catalogue) {
    this.#services = services
    this.#time = time
    this.#current = first
    this.#timer = this.#scheduleRefresh()
  }

  get current(): Catalogue {
    return this.#current
  }

  /** The catalogue of these services: the platform's, or those of an environment with keys of its own. */
  of(services: Services): Promise<Catalogue> | Catalogue {
    if (services === this.#services) return this.#current
    const now = this.#time.now()
    const known = this.#own.get(services)
    if (known !== undefined && now < known.until) return known.catalogue
    const catalogue = catalogueOfServices(services)
    this.#own.set(services, { catalogue, until: now + REFRESH_MS })
    catalogue.catch(() => this.#own.delete(services))
    return catalogue
  }

  close(): void {
    this.#timer.cancel()
  }

  #scheduleRefresh(): Timer {
    return this.#time.at(this.#time.now() + REFRESH_MS, () => {
      this.#timer = this.#scheduleRefresh()
      // If the refresh fails, the last catalogue stays.
      catalogueOfServices(this.#services).then(
        found => {
          this.#current = found
        },
        () => {},
      )
    })
  }
}

/** Models, recognisers and voices; a new agent gets the first one of each that is ready. */
export async function catalogueOfServices(services: Services): Promise<Catalogue> {
  return {
    models: [
      ...(await Promise.all(services.offers('llm').map(offer => modelOf(offer, 'chat')))),
      ...(await Promise.all(services.offers('realtime').map(offer => modelOf(offer, 'realtime')))),
      ...(await Promise.all(services.embedders().map(offer => embeddingModelOf(offer)))),
    ],
    voices: [
      ...(await Promise.all(services.offers('stt').map(offer => recogniserOf(offer)))),
      ...(await Promise.all(services.offers('tts').map(offer => voicesOf(offer)))).flat(),
    ],
  }
}

interface Readiness {
  readonly ready: boolean
  readonly reason: CatalogueVoice['reason']
}

async function readinessOf(why: Promise<string | null> | null): Promise<Readiness> {
  if (why === null) return { ready: false, reason: 'no_key' }
  return (await why) === null ? { ready: true, reason: null } : { ready: false, reason: 'unreachable' }
}

type Offered<Kind extends 'stt' | 'tts' | 'llm' | 'realtime'> = ReturnType<
  typeof Services.prototype.offers<Kind>
>[number]

async function modelOf(
  { vendor, model, needsKey, title, service }: Offered<'llm'> | Offered<'realtime'>,
  kind: 'chat' | 'realtime',
): Promise<CatalogueModel> {
  return {
    model: { model_id: model, provider: vendor, tier: needsKey ? 'frontier' : 'platform-served' },
    name: title ?? model,
    kind,
    provider: needsKey ? 'hosted' : 'simulated_hosted',
    ...(await readinessOf(service?.readiness() ?? null)),
    context_tokens: null,
    dimension: null,
    tools: true,
  }
}

async function embeddingModelOf({
  vendor,
  model,
  needsKey,
  dimension,
  embedder,
}: ReturnType<typeof Services.prototype.embedders>[number]): Promise<CatalogueModel> {
  return {
    model: { model_id: model, provider: vendor, tier: needsKey ? 'frontier' : 'platform-served' },
    name: model,
    kind: 'embedding',
    provider: needsKey ? 'hosted' : 'simulated_hosted',
    ...(await readinessOf(embedder?.readiness() ?? null)),
    context_tokens: null,
    dimension,
    tools: false,
  }
}

async function recogniserOf({ vendor, model, service }: Offered<'stt'>): Promise<CatalogueVoice> {
  return {
    role: 'stt',
    provider: vendor,
    model,
    voice_id: null,
    name: `${vendor} ${model}`,
    languages: [...(service?.languages ?? [])],
    gender: null,
    ...(await readinessOf(service?.readiness() ?? null)),
  }
}

function voicesOf({ vendor, model, voices, service }: Offered<'tts'>): Promise<CatalogueVoice[]> {
  // Checking a voice may render speech, so each language is checked once.
  const byLanguage = new Map<string | undefined, Promise<Readiness>>()
  const readiness = (language: string | undefined) => {
    const known = byLanguage.get(language) ?? readinessOf(service?.readiness(language) ?? null)
    byLanguage.set(language, known)
    return known
  }
  return Promise.all(
    voices.map(async voice => {
      const languages = voice.languages ?? service?.languages ?? []
      return {
        role: 'tts' as const,
        provider: vendor,
        model,
        voice_id: voice.id,
        name: voice.name,
        languages: [...languages],
        gender: voice.gender,
        ...(await readiness(languages[0])),
      }
    }),
  )
}
