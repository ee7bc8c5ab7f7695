import type { ModelIdentity } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import type { SettingValues } from '../plan/settings.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** A setting that a speech-to-speech model does not follow. */
interface UnfollowedSetting {
  readonly name: keyof SettingValues
  /** Whether the value asks for anything. */
  readonly isAsked: (settings: SettingValues) => boolean
  /** What happens instead. */
  readonly instead: string
}

const STATIC_TEXT = 'only static texts and holding lines, which the voice of "providers.tts" speaks, follow it'
const RECOGNISER = 'the model hears the caller itself, and the recogniser of "providers.stt" is its fallback'

const UNFOLLOWED: readonly UnfollowedSetting[] = [
  {
    name: 'modelTemperature',
    isAsked: ({ modelTemperature }) => modelTemperature !== undefined,
    instead: 'it generates with its own value',
  },
  {
    name: 'toolCallStrictMode',
    isAsked: ({ toolCallStrictMode }) => toolCallStrictMode === true,
    instead: 'it is not held to the JSON schema of its tools',
  },
  { name: 'voiceModel', isAsked: ({ voiceModel }) => voiceModel !== undefined, instead: STATIC_TEXT },
  {
    name: 'voiceTemperature',
    isAsked: ({ voiceTemperature = 1 }) => voiceTemperature !== 1,
    instead: STATIC_TEXT,
  },
  {
    name: 'normalizeForSpeech',
    isAsked: ({ normalizeForSpeech }) => normalizeForSpeech === true,
    instead: STATIC_TEXT,
  },
  {
    name: 'pronunciationDictionary',
    isAsked: ({ pronunciationDictionary = [] }) => pronunciationDictionary.length > 0,
    instead: STATIC_TEXT,
  },
  {
    name: 'sttMode',
    isAsked: ({ sttMode }) => sttMode === 'accurate' || sttMode === 'custom',
    instead: RECOGNISER,
  },
  {
    name: 'vocabSpecialization',
    isAsked: ({ vocabSpecialization }) => vocabSpecialization === 'medical',
    instead: RECOGNISER,
  },
]

/** Warns of settings that the speech-to-speech model of an agent does not follow, unless another check has. */
export function checkRealtime(
  { providers: { llm }, settings }: DraftContent,
  { models }: Pick<DraftEnvironment, 'models'>,
  findings: Findings,
): void {
  if (!models.some(({ kind, identity }) => kind === 'realtime' && isSame(identity, llm.model))) return
  for (const { name, isAsked, instead } of UNFOLLOWED) {
    if (!isAsked(settings) || findings.has('not_executed', ['settings', name])) continue
    const model = `speech-to-speech model "${llm.model.provider}/${llm.model.model_id}"`
    findings.warning('not_executed', ['settings', name], `"${name}" has no effect on the ${model}: ${instead}`, {
      label: `Leave "${name}" out`,
      edits: [{ type: 'agent.settings', values: {}, clear: [name] }],
    })
  }
}

function isSame(a: ModelIdentity, b: ModelIdentity): boolean {
  return a.provider === b.provider && a.model_id === b.model_id && a.tier === b.tier
}
