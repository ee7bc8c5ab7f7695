import type { DraftContent } from '@parley/flow'
import type { Catalogue, CatalogueVoice } from '../catalogue.ts'
import { ApiError } from '../errors.ts'

type Providers = DraftContent['providers']

/**
 * The recogniser, model and voice of a new agent. Recogniser and voice must serve this language; models are not chosen
 * by language. Of each kind the first that is ready is taken, otherwise the first in the catalogue; validation then
 * reports that it is not ready. Throws `catalogue_empty`.
 */
export function firstProviders({ models, voices }: Catalogue, language: 'en' | 'es'): Providers {
  const firstFor = (role: CatalogueVoice['role']) =>
    firstReady(
      voices.filter(voice => voice.role === role && voice.languages.some(tag => isOf(tag, language))),
      role,
    )
  const llm = firstReady(
    models.filter(model => model.kind === 'chat'),
    'llm',
  )
  const stt = firstFor('stt')
  const tts = firstFor('tts')
  return {
    stt: { provider: stt.provider, model: stt.model },
    llm: { model: llm.model, provider: llm.provider },
    tts: { provider: tts.provider, model: tts.model, ...(tts.voice_id !== null && { voiceId: tts.voice_id }) },
  }
}

function firstReady<Service extends { readonly ready: boolean }>(services: readonly Service[], role: string): Service {
  const first = services.find(service => service.ready) ?? services[0]
  if (first === undefined)
    throw new ApiError(
      'catalogue_empty',
      `the catalogue has no service of the kind "${role}"${role === 'llm' ? '' : ' for this language'}`,
    )
  return first
}

function isOf(tag: string, language: string): boolean {
  const primary = tag.toLowerCase().split('-')[0]
  return primary === language || primary === 'multi'
}
