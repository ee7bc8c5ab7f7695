import type { Time } from '@parley/kernel'
import { anthropic } from './anthropic/vendor.ts'
import { assemblyAi } from './assemblyai/vendor.ts'
import { azure } from './azure/vendor.ts'
import { cartesia } from './cartesia/vendor.ts'
import { deepgram } from './deepgram/vendor.ts'
import { elevenLabs } from './elevenlabs/vendor.ts'
import type { TextEmbedder } from './embedding/text-embedder.ts'
import { gemini } from './gemini/vendor.ts'
import { google } from './google/vendor.ts'
import type { LanguageModel } from './language-model/language-model.ts'
import { local } from './local/vendor.ts'
import { openAiCompatible } from './openai/compatible.ts'
import { localStt, localTts } from './openai/local-servers.ts'
import { openAi } from './openai/vendor.ts'
import { parley } from './parley/vendor.ts'
import type { RealtimeModel } from './realtime/realtime-model.ts'
import { simulated } from './simulated/vendor.ts'
import { soniox } from './soniox/vendor.ts'
import type { SpeechToText } from './speech-to-text/speech-to-text.ts'
import { speechmatics } from './speechmatics/vendor.ts'
import type { TextToSpeech } from './text-to-speech/text-to-speech.ts'
import { type AdapterOptions, type CatalogueVoice, catalogueVoice, type Vendor, type VendorAccess } from './vendor.ts'

/** All vendors, in the order of preference: an agent that names no service gets the first one that is ready. */
export const VENDORS: readonly Vendor[] = [
  localStt,
  localTts,
  elevenLabs,
  cartesia,
  deepgram,
  assemblyAi,
  soniox,
  speechmatics,
  azure,
  google,
  openAi,
  anthropic,
  gemini,
  openAiCompatible,
  simulated,
  local,
  parley,
]

/** The services of one kind of one vendor, with what this process knows of the vendor. */
export interface CatalogueEntry<Service> {
  readonly vendor: Vendor
  /** The preferred one first. */
  readonly models: readonly string[]
  readonly acceptsOtherModels: boolean
  /** Null: the vendor's key is missing. */
  readonly open: ((model: string) => Service) | null
  /** Of voices; empty for other services. */
  readonly voices: readonly CatalogueVoice[]
  /** Shown instead of the model's id; null: the id is shown. */
  readonly title: string | null
  /** Of recognisers: audio without speech costs as much as speech; null for other services. */
  readonly billsSilence: boolean | null
  /** Of embedding models: the length of the vectors of each listed model; empty for other services. */
  readonly dimensions: Readonly<Record<string, number>>
}

/** Speech to text, text to speech, language models, speech-to-speech models and embedding models, each in the order of preference. */
export interface VendorCatalogue {
  readonly stt: readonly CatalogueEntry<SpeechToText>[]
  readonly tts: readonly CatalogueEntry<TextToSpeech>[]
  readonly llm: readonly CatalogueEntry<LanguageModel>[]
  readonly realtime: readonly CatalogueEntry<RealtimeModel>[]
  readonly embed: readonly CatalogueEntry<TextEmbedder>[]
}

/** The services of all vendors. `access`: by vendor name, for the vendors whose key or local server is set. */
export function vendorCatalogue(access: Readonly<Record<string, VendorAccess>>, time: Time): VendorCatalogue {
  const entries = <Service>(offersOf: (vendor: Vendor) => readonly AnyOffer<Service>[] | undefined) =>
    VENDORS.flatMap(vendor => (offersOf(vendor) ?? []).map(offer => entryOf(vendor, offer, access[vendor.name], time)))
  return {
    stt: entries(vendor => vendor.recognisers),
    tts: entries(vendor => vendor.voices),
    llm: entries(vendor => vendor.models),
    realtime: entries(vendor => vendor.realtime),
    embed: entries(vendor => vendor.embedders),
  }
}

/** Language models that a vendor without a key is listed with. */
function defaultModels({ settings }: Vendor): readonly string[] {
  return (settings?.models?.default ?? '').split(',').filter(model => model !== '')
}

interface AnyOffer<Service> {
  readonly models: readonly string[] | 'from-settings'
  readonly acceptsOtherModels?: boolean
  readonly open: (model: string, options: AdapterOptions) => Service
  readonly voices?: readonly CatalogueVoice[] | 'from-settings'
  readonly title?: string
  readonly billsSilence?: boolean
  readonly dimensions?: Readonly<Record<string, number>>
}

function entryOf<Service>(
  vendor: Vendor,
  offer: AnyOffer<Service>,
  access: VendorAccess | undefined,
  time: Time,
): CatalogueEntry<Service> {
  const baseUrl = access?.baseUrl ?? null
  const options: AdapterOptions = {
    apiKey: access?.apiKey ?? '',
    time,
    ...(baseUrl !== null && { baseUrl }),
    ...(access?.lookup !== undefined && { lookup: access.lookup }),
    ...(access?.languages !== undefined && { languages: access.languages }),
    ...(access?.voice !== undefined && { voice: access.voice }),
  }
  return {
    vendor,
    models: offer.models === 'from-settings' ? (access?.models ?? defaultModels(vendor)) : offer.models,
    acceptsOtherModels: offer.acceptsOtherModels ?? false,
    open: vendor.settings !== null && access === undefined ? null : model => offer.open(model, options),
    voices: offer.voices === 'from-settings' ? voicesFromSettings(access) : (offer.voices ?? []),
    title: offer.title ?? null,
    billsSilence: offer.billsSilence ?? null,
    dimensions: offer.dimensions ?? {},
  }
}

function voicesFromSettings(access: VendorAccess | undefined): readonly CatalogueVoice[] {
  return access?.voice === undefined ? [] : [catalogueVoice(access.voice, 'neutral')]
}
