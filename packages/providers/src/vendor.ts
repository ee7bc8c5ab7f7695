import type { Time } from '@parley/kernel'
import type { TextEmbedder } from './embedding/text-embedder.ts'
import type { HostLookup } from './io/host-lookup.ts'
import type { LanguageModel } from './language-model/language-model.ts'
import type { RealtimeModel } from './realtime/realtime-model.ts'
import type { SpeechToText } from './speech-to-text/speech-to-text.ts'
import type { TextToSpeech } from './text-to-speech/text-to-speech.ts'

/** One vendor: its settings and what it offers. Everything about it is in its folder; `vendors.ts` lists it. */
export interface Vendor {
  /** First part of the ids of its services: "deepgram" in "deepgram/nova-3". */
  readonly name: string
  /** Null: the vendor runs on this machine and needs no key. */
  readonly settings: VendorSettings | null
  readonly recognisers?: readonly RecogniserOffer[]
  readonly voices?: readonly VoiceOffer[]
  readonly models?: readonly ModelOffer[]
  /** Speech-to-speech models. */
  readonly realtime?: readonly RealtimeOffer[]
  readonly embedders?: readonly EmbedderOffer[]
  /** Shows whether the vendor accepts a key; absent: environments cannot bring a key of their own. */
  readonly keyCheck?: KeyCheck
}

/** A request that any key of a vendor may make, and that changes nothing. */
export interface KeyCheck {
  /** The vendor's server for HTTP requests; null: environments name it. */
  readonly baseUrl: string | null
  /** Appended to the base URL. */
  readonly path: string
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>
  /** Whether this 401 is about rights that the key lacks for the check itself: the key is valid. */
  readonly isAcceptedRefusal?: (body: string) => boolean
}

/** Names of the environment variables that configure a vendor. */
export interface VendorSettings {
  /** Its API key. Without it the vendor's services are listed and not ready. */
  readonly apiKey: string
  /** Base URL to use instead of the vendor's own. */
  readonly baseUrl: { readonly name: string; readonly protocol: 'https' | 'wss' }
  /** Language models that agents may name, comma separated; null: the vendor has none. */
  readonly models: { readonly name: string; readonly default: string } | null
}

/** The values of a vendor's settings. */
export interface VendorAccess {
  readonly apiKey: string
  /** Null: the vendor's own. */
  readonly baseUrl: string | null
  readonly models: readonly string[]
  /** Resolves the base URL's name, where an environment chose it. Default: the system's resolver. */
  readonly lookup?: HostLookup
  /** Of a server on this machine: BCP 47 primary tags, and the voice of requests that name none. Default those of the adapter. */
  readonly languages?: readonly string[]
  readonly voice?: string
}

/** What an adapter is opened with. `apiKey` is empty for vendors without settings. */
export interface AdapterOptions {
  readonly apiKey: string
  readonly baseUrl?: string
  readonly lookup?: HostLookup
  /** See {@link VendorAccess}. */
  readonly languages?: readonly string[]
  readonly voice?: string
  readonly time: Time
}

interface ServiceOffer<Service> {
  /** Models listed in the catalogue, the preferred one first. */
  readonly models: readonly string[]
  /** Agents may name models that are not listed: a vendor's newest ones. Default false. */
  readonly acceptsOtherModels?: boolean
  readonly open: (model: string, options: AdapterOptions) => Service
}

/** "from-settings": the models that the settings name; without settings none, or the vendor's defaults. */
type OfferedModels = readonly string[] | 'from-settings'

interface RecogniserOffer extends Omit<ServiceOffer<SpeechToText>, 'models'> {
  readonly models: OfferedModels
  /** Audio without speech costs as much as speech; the opened recogniser says the same. */
  readonly billsSilence: boolean
}

interface VoiceOffer extends Omit<ServiceOffer<TextToSpeech>, 'models'> {
  readonly models: OfferedModels
  /** Voices listed in the catalogue, the default one first; the vendor accepts others as well. "from-settings": the voice that the settings name. */
  readonly voices: readonly CatalogueVoice[] | 'from-settings'
}

interface ModelOffer extends Omit<ServiceOffer<LanguageModel>, 'models'> {
  readonly models: OfferedModels
  /** Shown instead of the model's id. */
  readonly title?: string
}

type RealtimeOffer = ServiceOffer<RealtimeModel>

interface EmbedderOffer extends ServiceOffer<TextEmbedder> {
  /** Length of the vectors of each listed model. */
  readonly dimensions: Readonly<Record<string, number>>
}

export interface CatalogueVoice {
  readonly id: string
  readonly name: string
  readonly gender: 'female' | 'male' | 'neutral'
  /** BCP 47 primary tags; default every language of the service. */
  readonly languages?: readonly string[]
}

/** A server on this machine that one environment variable names, without a key. */
export interface LocalServer {
  /** The vendor's name. */
  readonly vendor: string
  /** The environment variable with its base URL; the query of the URL may name `model`, `languages` and `voice`. */
  readonly variable: string
  readonly what: 'speech to text' | 'text to speech'
  /** Used when the URL names no model. */
  readonly model: string
}

/**
 * The usual names of a vendor's settings: `NAME_API_KEY`, `NAME_BASE_URL` and, for a vendor with language models,
 * `NAME_MODELS`. `defaultModels`: comma separated.
 */
export function vendorSettings({
  name,
  protocol,
  defaultModels,
}: {
  readonly name: string
  readonly protocol: 'https' | 'wss'
  readonly defaultModels?: string
}): VendorSettings {
  const prefix = name.toUpperCase()
  return {
    apiKey: `${prefix}_API_KEY`,
    baseUrl: { name: `${prefix}_BASE_URL`, protocol },
    models: defaultModels === undefined ? null : { name: `${prefix}_MODELS`, default: defaultModels },
  }
}

/** A voice of the catalogue; its name is its id with a capital letter unless another is given. */
export function catalogueVoice(
  id: string,
  gender: CatalogueVoice['gender'],
  languages?: readonly string[],
  name = id.replace(/^[a-z]/, letter => letter.toUpperCase()),
): CatalogueVoice {
  return { id, name, gender, ...(languages !== undefined && { languages }) }
}
