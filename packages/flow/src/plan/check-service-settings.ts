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
  /** What the setting is to the service. Default: it has no effect with it. */
  readonly relation?: string
  /** What happens instead. */
  readonly instead: string
}

/** Vendors whose adapters read the setting. */
const TEMPERATURE = ['elevenlabs']
const ACCURATE = ['deepgram', 'assemblyai', 'soniox', 'speechmatics', 'azure']
const STRICT_TOOLS = ['openai', 'anthropic', 'gemini']
/** Models with medical terms in English: versions of their own, or a setting of the request. */
const MEDICAL = /^(deepgram\/nova-[23](-general|-medical)?|soniox\/.*|speechmatics\/.*)$/

/** Models that refuse a temperature: Claude since 4.7, Gemini since 3.5. */
const NO_TEMPERATURE =
  /^(anthropic\/claude-[a-z]+-(4[-.]([7-9]|\d\d)|[5-9]|\d\d)(?!\d)|gemini\/gemini-(3\.[5-9]|[4-9]|\d\d))/
/** Slowest and fastest speed of vendors whose voices have a narrower range than the setting. */
const SPEEDS: Readonly<Record<string, readonly [slowest: number, fastest: number]>> = {
  elevenlabs: [0.7, 1.2],
  cartesia: [0.6, 1.5],
  deepgram: [0.7, 1.5],
}
/** What every recogniser's adapter passes on. */
const MAX_KEYWORDS = 100
const MAX_KEYWORD_LENGTH = 50

const modelOf = ({ providers: { llm } }: DraftContent) => `model "${llm.model.provider}/${llm.model.model_id}"`
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
    service: modelOf,
    isFollowed: ({ providers }) => STRICT_TOOLS.includes(providers.llm.model.provider),
    instead: 'it is not held to the JSON schema of its tools',
  },
  {
    name: 'modelTemperature',
    isAsked: ({ modelTemperature }) => modelTemperature !== undefined,
    service: modelOf,
    isFollowed: ({ providers: { llm } }) => !NO_TEMPERATURE.test(`${llm.model.provider}/${llm.model.model_id}`),
    instead: 'it generates with its own value',
  },
  {
    name: 'voiceSpeed',
    isAsked: ({ voiceSpeed = 1 }) => voiceSpeed !== 1,
    service: voiceOf,
    isFollowed: ({ providers: { tts }, settings: { voiceSpeed = 1 } }) => {
      const [slowest, fastest] = SPEEDS[tts.provider] ?? [0, Number.POSITIVE_INFINITY]
      return voiceSpeed >= slowest && voiceSpeed <= fastest
    },
    relation: 'is out of the range of',
    instead: 'it speaks at the nearest speed that it has',
  },
  {
    name: 'boostedKeywords',
    isAsked: ({ boostedKeywords = [] }) => boostedKeywords.length > 0,
    service: recogniserOf,
    isFollowed: ({ settings: { boostedKeywords = [] } }) =>
      boostedKeywords.length <= MAX_KEYWORDS && boostedKeywords.every(word => word.length <= MAX_KEYWORD_LENGTH),
    relation: 'is more than is sent to',
    instead: `it gets the first ${MAX_KEYWORDS} of at most ${MAX_KEYWORD_LENGTH} characters`,
  },
]

/** Warns of settings that the chosen services do not follow. */
export function checkServiceSettings(draft: DraftContent, findings: Findings): void {
  for (const { name, isAsked, service, isFollowed, relation = 'has no effect with', instead } of SERVICE_SETTINGS)
    if (isAsked(draft.settings) && !isFollowed(draft))
      findings.warning('not_executed', ['settings', name], `"${name}" ${relation} the ${service(draft)}: ${instead}`, {
        label: `Leave "${name}" out`,
        edits: [{ type: 'agent.settings', values: {}, clear: [name] }],
      })
}
