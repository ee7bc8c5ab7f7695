import { KNOWN_WORDS } from '@parley/contract'
import type { DraftContent } from './flow-graph.ts'

type Settings = DraftContent['settings']
type SettingName = keyof Settings

/** How a value is edited. `choice` and `checks`: one, or any number, of these words. `lines`: a list of texts, each in a line of its own. */
export type ValueKind =
  | { readonly type: 'flag' }
  | { readonly type: 'number' | 'text' | 'json' }
  | { readonly type: 'choice'; readonly words: readonly string[] }
  | { readonly type: 'checks'; readonly words: readonly string[] }
  /** `single`: a list of one text is the text itself. */
  | { readonly type: 'lines'; readonly single?: true }
  | { readonly type: 'parts'; readonly parts: Readonly<Record<string, ValueKind>> }

/** Settings that have a form of their own on the page. */
const OWN_FORM = { releaseGate: true } as const satisfies { readonly [name in SettingName]?: true }

export type EditedSetting = Exclude<SettingName, keyof typeof OWN_FORM>

const FLAG = { type: 'flag' } as const
const NUMBER = { type: 'number' } as const
const TEXT = { type: 'text' } as const
const LINES = { type: 'lines' } as const
const choice = <Word extends string>(...words: readonly Word[]) => ({ type: 'choice', words }) as const
const checks = <Word extends string>(...words: readonly Word[]) => ({ type: 'checks', words }) as const
const parts = <Parts extends Record<string, ValueKind>>(of: Parts) => ({ type: 'parts', parts: of }) as const

/** In the order in which they are shown: voice, turn-taking, keys, times, calls, the rest. */
export const SETTING_KINDS: Readonly<Record<EditedSetting, ValueKind>> = {
  voiceId: TEXT,
  voiceModel: TEXT,
  voiceSpeed: NUMBER,
  voiceTemperature: NUMBER,
  volume: NUMBER,
  language: { type: 'lines', single: true },
  responsiveness: NUMBER,
  interruptionSensitivity: NUMBER,
  backchannelFrequency: NUMBER,
  enableBackchannel: FLAG,
  backchannelWords: LINES,
  normalizeForSpeech: FLAG,
  openerWaitsForCallee: FLAG,
  allowUserDtmf: FLAG,
  allowDtmfInterruption: FLAG,
  boostedKeywords: LINES,
  reminderTriggerMs: NUMBER,
  reminderMaxCount: NUMBER,
  maxCallDurationMs: NUMBER,
  endCallAfterSilenceMs: NUMBER,
  ringDurationMs: NUMBER,
  beginMessageDelayMs: NUMBER,
  voicemail: parts({
    enabled: FLAG,
    detectionTimeoutMs: NUMBER,
    action: choice('hangup', 'leave_message'),
    message: parts({ type: choice('prompt', 'static_text'), text: TEXT }),
  }),
  ambientSound: choice(...KNOWN_WORDS.ambientSound),
  ambientSoundVolume: NUMBER,
  pronunciationDictionary: { type: 'json' },
  denoisingMode: choice(...KNOWN_WORDS.denoisingMode),
  sttMode: choice(...KNOWN_WORDS.sttMode),
  userDtmfOptions: parts({ digitLimit: NUMBER, terminationKey: TEXT, timeoutMs: NUMBER }),
  channels: checks('phone', 'cloud'),
  timezone: TEXT,
  modelTemperature: NUMBER,
  toolCallStrictMode: FLAG,
  ivr: parts({ enabled: FLAG, action: choice('hangup', 'navigate') }),
  callScreening: parts({ enabled: FLAG, identity: TEXT, purpose: TEXT }),
  fallbackVoiceIds: LINES,
  vocabSpecialization: choice('general', 'medical'),
  silenceContractMs: NUMBER,
  holdingLines: LINES,
  callMemory: parts({ enabled: FLAG, maxAgeDays: NUMBER }),
  sms: parts({
    provider: choice('twilio', 'telnyx', 'generic'),
    from: TEXT,
    account: TEXT,
    url: TEXT,
    secret: parts({ id: TEXT, version: TEXT }),
  }),
  redaction: parts({ kinds: checks('names', 'card_numbers', 'phone_numbers', 'emails'), hideFromModel: FLAG }),
}

/** What a form says, by the names of its fields; several for `checks`. */
type Field = (name: string) => readonly string[]

/** The value that a form says; undefined: none. Parts have the names `name.part`. Throws `SyntaxError` for what is no JSON. */
export function valueIn(kind: ValueKind, name: string, field: Field): unknown {
  if (kind.type === 'parts') {
    const values = Object.entries(kind.parts).flatMap(([part, of]) => {
      const value = valueIn(of, `${name}.${part}`, field)
      return value === undefined ? [] : [[part, value] as const]
    })
    return values.length === 0 ? undefined : Object.fromEntries(values)
  }
  const all = field(name)
  if (kind.type === 'checks') return all.length === 0 ? undefined : [...all]
  const [text = ''] = all
  if (kind.type === 'lines') {
    const lines = text
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
    return kind.single === true && lines.length < 2 ? lines[0] : lines
  }
  if (text === '') return undefined
  if (kind.type === 'flag') return text === 'true'
  if (kind.type === 'number') return Number(text)
  return kind.type === 'json' ? JSON.parse(text) : text
}

/** A value as its field begins with it; empty for none. */
export function fieldText(kind: ValueKind, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind.type === 'lines') return (Array.isArray(value) ? value : [value]).join('\n')
  if (kind.type === 'json') return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')
  return String(value)
}
