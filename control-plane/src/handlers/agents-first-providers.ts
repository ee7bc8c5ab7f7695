import type { DraftContent } from '@parley/flow'
import type { Catalogue, CatalogueVoice } from '../catalogue.ts'
import { ApiError } from '../errors.ts'

type Providers = DraftContent['providers']

/**
 * What a new agent of that language hears, thinks and speaks with: the first of each kind that is ready, else the first
 * there is, of which validation then says that it is not ready.
 */
export function firstProviders({ models, voices }: Catalogue, language: 'en' | 'es'): Providers {
  const speaks = (role: CatalogueVoice['role']) =>
    firstReady(
      voices.filter(voice => voice.role === role && voice.languages.some(tag => isOf(tag, language))),
      role,
    )
  const llm = firstReady(
    models.filter(model => model.kind === 'chat'),
    'llm',
  )
  const stt = speaks('stt')
  const tts = speaks('tts')
  return {
    stt: { provider: stt.provider, model: stt.model },
    llm: { model: llm.model, provider: llm.provider },
    tts: { provider: tts.provider, model: tts.model, ...(tts.voice_id !== null && { voiceId: tts.voice_id }) },
  }
}

function firstReady<Offer extends { readonly ready: boolean }>(offers: readonly Offer[], role: string): Offer {
  const first = offers.find(offer => offer.ready) ?? offers[0]
  if (first === undefined) throw new ApiError('catalogue_empty', `the platform offers nothing for "${role}"`)
  return first
}

function isOf(tag: string, language: string): boolean {
  const primary = tag.toLowerCase().split('-')[0]
  return primary === language || primary === 'multi'
}
