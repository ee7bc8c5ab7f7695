import { withDefaults } from '../plan/defaults.ts'
import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import type { Fix } from '../plan/fixes.ts'
import { languagesOf } from '../plan/languages.ts'
import type { DraftEnvironment } from './draft-environment.ts'

type Voice = DraftEnvironment['voices'][number]
type Tts = DraftContent['providers']['tts']

/** Reports a voice, a recogniser or fallback voices that do not exist, or that are not ready. */
export function checkVoices(
  draft: DraftContent,
  { voices }: Pick<DraftEnvironment, 'voices'>,
  findings: Findings,
): void {
  checkVoice(draft, voices, findings)
  checkRecogniser(draft, voices, findings)
  checkFallbacks(draft, voices, findings)
  checkFallbackRecognisers(draft, voices, findings)
}

/** Whether the voice that `tts` and the settings name is ready. Without a voice id any voice of the model will do. */
function isReady(voices: readonly Voice[], { provider, model, voiceId }: Tts): boolean {
  return voices.some(
    voice =>
      voice.role === 'tts' &&
      voice.ready &&
      voice.provider === provider &&
      voice.model === model &&
      (voiceId === undefined || voice.voice_id === voiceId),
  )
}

/** `voiceId` and `voiceModel` of the settings win over those of the provider. */
function checkVoice(
  { settings, providers: { tts } }: DraftContent,
  voices: readonly Voice[],
  findings: Findings,
): void {
  const { voiceId, voiceModel } = settings
  const chosen: Tts = { ...tts, model: voiceModel ?? tts.model }
  if (voiceId !== undefined) chosen.voiceId = voiceId
  if (isReady(voices, chosen)) return
  const path =
    voiceId !== undefined
      ? ['settings', 'voiceId']
      : voiceModel !== undefined
        ? ['settings', 'voiceModel']
        : ['providers', 'tts']
  const isSet = voiceId !== undefined || voiceModel !== undefined
  const clear: Fix['edits'] = isSet ? [{ type: 'agent.settings', values: {}, clear: ['voiceId', 'voiceModel'] }] : []
  const other = firstReady(voices, 'tts', settings)
  findings.error(
    'voice_not_found',
    path,
    `The voice ${nameOf(chosen)} is not ready in this environment: choose one that GET /voices lists as ready`,
    isSet && isReady(voices, tts) ? { label: `Use ${nameOf(tts)}`, edits: clear } : undefined,
    other && {
      label: `Use ${nameOf(serviceOf(other))}`,
      edits: [...clear, { type: 'agent.provider', role: 'tts', changes: changesTo(other) }],
    },
  )
}

function checkRecogniser(draft: DraftContent, voices: readonly Voice[], findings: Findings): void {
  const { stt } = draft.providers
  const hasRecogniser = voices.some(
    voice => voice.role === 'stt' && voice.ready && voice.provider === stt.provider && voice.model === stt.model,
  )
  if (hasRecogniser) return
  const other = firstReady(voices, 'stt', draft.settings)
  findings.error(
    'voice_not_found',
    ['providers', 'stt'],
    `The recogniser ${nameOf({ provider: stt.provider, model: stt.model })} is not ready in this environment: choose one that GET /voices lists as ready`,
    other && {
      label: `Use ${nameOf(serviceOf(other))}`,
      edits: [{ type: 'agent.provider', role: 'stt', changes: changesTo(other) }],
    },
  )
}

/** Fallback voices are `provider/model` or `provider/model:voice`. One that is not ready is no error: the call skips it. */
function checkFallbacks({ settings }: DraftContent, voices: readonly Voice[], findings: Findings): void {
  const ids = settings.fallbackVoiceIds ?? []
  for (const [index, id] of ids.entries()) {
    const exists = voices.some(voice => {
      const service = `${voice.provider}/${voice.model}`
      return voice.role === 'tts' && (id === service || id === `${service}:${voice.voice_id}`)
    })
    if (exists) continue
    const fallbackVoiceIds = ids.filter(other => other !== id)
    findings.error(
      'voice_not_found',
      ['settings', 'fallbackVoiceIds', index],
      `The fallback voice "${id}" does not exist: choose one that GET /voices lists, or leave it out`,
      {
        label: `Leave "${id}" out`,
        edits: [{ type: 'agent.settings', values: { fallbackVoiceIds }, clear: [] }],
      },
    )
  }
}

/** A fallback recogniser that exists and is not ready is no error: the call skips it. */
function checkFallbackRecognisers({ providers }: DraftContent, voices: readonly Voice[], findings: Findings): void {
  const fallbacks = providers.stt.fallbacks ?? []
  for (const [index, { provider, model }] of fallbacks.entries()) {
    if (voices.some(voice => voice.role === 'stt' && voice.provider === provider && voice.model === model)) continue
    const others = fallbacks.filter((_, other) => other !== index)
    findings.error(
      'voice_not_found',
      ['providers', 'stt', 'fallbacks', index],
      `The fallback recogniser ${nameOf({ provider, model })} does not exist: choose one that GET /voices lists, or leave it out`,
      {
        label: `Leave ${nameOf({ provider, model })} out`,
        edits: [{ type: 'agent.provider', role: 'stt', changes: { fallbacks: others } }],
      },
    )
  }
}

/** A ready service that supports all languages of the agent, else one that supports the first of them. */
export function firstReady(
  voices: readonly Voice[],
  role: Voice['role'],
  settings: DraftContent['settings'],
): Voice | undefined {
  const ready = voices.filter(voice => voice.role === role && voice.ready)
  const languages = languagesOf(withDefaults(settings).language)
  const supports = (voice: Voice, tags: readonly string[]) => tags.every(tag => voice.languages.includes(tag))
  return ready.find(voice => supports(voice, languages)) ?? ready.find(voice => supports(voice, languages.slice(0, 1)))
}

/** Credential and endpoint belong to the other service and are removed. */
export function changesTo(voice: Voice) {
  const { provider, model, voice_id: voiceId } = voice
  return { provider, model, voiceId, credential: null, endpoint: null }
}

function serviceOf({ provider, model, voice_id }: Voice) {
  return { provider, model, ...(voice_id !== null && { voiceId: voice_id }) }
}

function nameOf({ provider, model, voiceId }: Pick<Tts, 'provider' | 'model' | 'voiceId'>): string {
  return `"${provider}/${model}${voiceId === undefined ? '' : `:${voiceId}`}"`
}
