import { settingValues } from '@parley/contract'
import { expect, it } from 'vitest'
import { en } from '../i18n/en.ts'
import { type EditedSetting, fieldText, SETTING_KINDS, type ValueKind, valueIn } from './setting-kinds.ts'

const VALUES: Readonly<Record<EditedSetting, unknown>> = {
  voiceId: 'kal',
  voiceModel: 'turbo "2"',
  voiceSpeed: 1.25,
  voiceTemperature: 0,
  volume: 2,
  language: 'es',
  responsiveness: 0.5,
  interruptionSensitivity: 1,
  backchannelFrequency: 0,
  enableBackchannel: true,
  backchannelWords: ['mm-hm', 'I see'],
  normalizeForSpeech: false,
  openerWaitsForCallee: true,
  allowUserDtmf: false,
  allowDtmfInterruption: true,
  boostedKeywords: [],
  reminderTriggerMs: 8000,
  reminderMaxCount: 0,
  maxCallDurationMs: 60_000,
  endCallAfterSilenceMs: 30_000,
  ringDurationMs: 20_000,
  beginMessageDelayMs: 0,
  voicemail: {
    enabled: true,
    detectionTimeoutMs: 5000,
    action: 'leave_message',
    message: { type: 'static_text', text: 'Please call back.' },
  },
  ambientSound: 'coffee-shop',
  ambientSoundVolume: 0.3,
  pronunciationDictionary: [{ word: 'Ada', alphabet: 'ipa', phoneme: 'ˈeɪdə' }],
  denoisingMode: 'no-denoise',
  sttMode: 'accurate',
  userDtmfOptions: { digitLimit: 4, terminationKey: '#', timeoutMs: 2000 },
  channels: ['phone', 'cloud'],
  timezone: 'Europe/Berlin',
  modelTemperature: 0.7,
  toolCallStrictMode: true,
  ivr: { enabled: true, action: 'navigate' },
  callScreening: { enabled: false, identity: 'Ada of the clinic' },
  fallbackVoiceIds: ['awb', 'rms'],
  vocabSpecialization: 'medical',
  silenceContractMs: 2500,
  holdingLines: ['One moment.', 'Still looking.'],
  callMemory: { enabled: true, maxAgeDays: 30 },
  sms: { provider: 'telnyx', from: '+12025550123', secret: { id: 'sms', version: '1' } },
  redaction: { kinds: ['names', 'emails'], hideFromModel: true },
}

/** The fields of a form that begins with this value. */
function fieldsOf(kind: ValueKind, name: string, value: unknown): [string, readonly string[]][] {
  if (kind.type === 'checks') return [[name, (value as string[] | undefined) ?? []]]
  if (kind.type !== 'parts') return [[name, [fieldText(kind, value)]]]
  const values = value as Record<string, unknown> | undefined
  return Object.entries(kind.parts).flatMap(([part, of]) => fieldsOf(of, `${name}.${part}`, values?.[part]))
}

function savedUnchanged(kind: ValueKind, value: unknown): unknown {
  const fields = new Map(fieldsOf(kind, 'value', value))
  return valueIn(kind, 'value', name => fields.get(name) ?? [])
}

it.each(Object.entries(VALUES) as [EditedSetting, unknown][])(
  'the form of the setting %s gives its value back as it was',
  (name, value) => {
    expect(settingValues.parse({ [name]: value })).toEqual({ [name]: value })
    expect(savedUnchanged(SETTING_KINDS[name], value)).toEqual(value)
  },
)

it('a form without input is no value, and a list without lines is an empty list', () => {
  for (const kind of Object.values(SETTING_KINDS))
    expect(savedUnchanged(kind, undefined)).toEqual(kind.type === 'lines' && !kind.single ? [] : undefined)
})

it('several languages are one to a line', () => {
  expect(savedUnchanged(SETTING_KINDS.language, ['en', 'es'])).toEqual(['en', 'es'])
})

it('what is no JSON is refused', () => {
  expect(() => valueIn({ type: 'json' }, 'value', () => ['{'])).toThrow(SyntaxError)
})

it('every part and every word of a setting has a text', () => {
  const keys = (kind: ValueKind): string[] => {
    if (kind.type === 'parts')
      return Object.entries(kind.parts).flatMap(([part, of]) => [`settingPart.${part}`, ...keys(of)])
    return kind.type === 'choice' || kind.type === 'checks' ? kind.words.map(word => `settingWord.${word}`) : []
  }
  expect(
    Object.values(SETTING_KINDS)
      .flatMap(keys)
      .filter(key => !(key in en)),
  ).toEqual([])
})
