import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { languagesOf } from './languages.ts'
import type { SettingValues } from './settings.ts'

/** A setting that some services cannot follow. */
interface ServiceSetting {
  readonly name: keyof SettingValues
  /** Whether the value asks for more than any service does. */
  readonly isAsked: (settings: SettingValues) => boolean
  readonly service: (draft: DraftContent) => string
  readonly isFollowed: (draft: DraftContent) => boolean
  /** What happens instead. */
  readonly instead: string
}

/** Vendors whose adapters read the setting. */
const TEMPERATURE = ['elevenlabs']
const ACCURATE = ['deepgram', 'assemblyai', 'soniox', 'speechmatics', 'azure']
const STRICT_TOOLS = ['openai', 'anthropic', 'gemini']
/** Models with medical terms in English: versions of their own, or a setting of the request. */
const MEDICAL = /^(deepgram\/nova-[23](-general|-medical)?|soniox\/.*|speechmatics\/.*)$/

const voiceOf = ({ providers: { tts } }: DraftContent) => `voice "${tts.provider}/${tts.model}"`
const recogniserOf = ({ providers: { stt } }: DraftContent) => `recogniser "${stt.provider}/${stt.model}"`

const SERVICE_SETTINGS: readonly ServiceSetting[] = [
  {
    name: 'voiceTemperature',
    isAsked: ({ voiceTemperature = 1 }) => voiceTemperature !== 1,
    service: voiceOf,
    isFollowed: ({ providers }) => TEMPERATURE.includes(providers.tts.provider),
    instead: "it speaks with the service's own value",
  },
  {
    name: 'sttMode',
    isAsked: ({ sttMode }) => sttMode === 'accurate' || sttMode === 'custom',
    service: recogniserOf,
    isFollowed: ({ providers, settings }) =>
      settings.sttMode === 'accurate' && ACCURATE.includes(providers.stt.provider),
    instead: 'it runs in its usual mode',
  },
  {
    name: 'vocabSpecialization',
    isAsked: ({ vocabSpecialization }) => vocabSpecialization === 'medical',
    service: recogniserOf,
    isFollowed: ({ providers: { stt }, settings: { language = 'en' } }) =>
      MEDICAL.test(`${stt.provider}/${stt.model}`) && languagesOf(language)[0] === 'en',
    instead: 'it uses its general vocabulary',
  },
  {
    name: 'toolCallStrictMode',
    isAsked: ({ toolCallStrictMode }) => toolCallStrictMode === true,
    service: ({ providers: { llm } }) => `model "${llm.model.provider}/${llm.model.model_id}"`,
    isFollowed: ({ providers }) => STRICT_TOOLS.includes(providers.llm.model.provider),
    instead: 'it is not held to the JSON schema of its tools',
  },
]

/** Warns of settings that the chosen services do not follow. */
export function checkServiceSettings(draft: DraftContent, findings: Findings): void {
  for (const { name, isAsked, service, isFollowed, instead } of SERVICE_SETTINGS)
    if (isAsked(draft.settings) && !isFollowed(draft))
      findings.warning(
        'not_executed',
        ['settings', name],
        `"${name}" has no effect with the ${service(draft)}: ${instead}`,
        { label: `Leave "${name}" out`, edits: [{ type: 'agent.settings', values: {}, clear: [name] }] },
      )
}
