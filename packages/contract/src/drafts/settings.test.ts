import {
  atLeast,
  boolean,
  type FieldCases,
  integer,
  list,
  mismatches,
  nullable,
  number,
  object,
  oneOf,
  optional,
  pattern,
  text,
  variations,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { settingName, settingValues } from './settings.ts'

const name = text(1, 256)
const unit = number(0, 1)
const zeroToTwo = number(0, 2)
const pronunciation = { word: 'Ada', alphabet: 'ipa', phoneme: 'ˈeɪdə' }

const SUITE = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const GATE = { suites: [SUITE], maximumFalsePass: 0.001, maximumFalseBlock: 0.001, minimumEffect: 0.01 }

const values: Record<string, FieldCases> = {
  voiceId: name,
  voiceModel: name,
  voiceSpeed: number(0.5, 2),
  voiceTemperature: zeroToTwo,
  volume: zeroToTwo,
  language: {
    valid: ['en', 'x'.repeat(256), ['en'], ['en', 'es', 'de-DE'], Array(500).fill('en')],
    invalid: ['', 'x'.repeat(257), [], ['en', ''], [5], 5, {}],
    optional: false,
  },
  responsiveness: unit,
  interruptionSensitivity: unit,
  backchannelFrequency: unit,
  enableBackchannel: boolean,
  normalizeForSpeech: boolean,
  openerWaitsForCallee: boolean,
  allowUserDtmf: boolean,
  allowDtmfInterruption: boolean,
  backchannelWords: list(0, 50, name),
  boostedKeywords: list(0, 500, name),
  reminderTriggerMs: integer(0, 3_600_000),
  reminderMaxCount: integer(0, 100),
  maxCallDurationMs: integer(1000, 86_400_000),
  endCallAfterSilenceMs: integer(1000, 3_600_000),
  ringDurationMs: integer(1000, 300_000),
  beginMessageDelayMs: integer(0, 60_000),
  voicemail: object(
    { enabled: true },
    {
      enabled: boolean,
      detectionTimeoutMs: optional(atLeast(1)),
      action: optional(oneOf('hangup', 'leave_message')),
      message: optional(
        object({ type: 'static_text', text: 'Bye' }, { type: oneOf('prompt', 'static_text'), text: text(0, 32_768) }),
      ),
    },
  ),
  ambientSound: text(0, 256),
  ambientSoundVolume: zeroToTwo,
  pronunciationDictionary: list(
    0,
    500,
    object(pronunciation, { word: name, alphabet: oneOf('ipa', 'cmu'), phoneme: name }),
  ),
  denoisingMode: text(0, 256),
  sttMode: text(0, 256),
  userDtmfOptions: object(
    {},
    {
      digitLimit: optional(nullable(atLeast(1))),
      terminationKey: optional(nullable(pattern(['0', '9', '*', '#'], ['', 'A', '10', '**', '#\n']))),
      timeoutMs: optional(atLeast(1)),
    },
  ),
  channels: {
    valid: [['cloud'], ['phone'], ['phone', 'cloud']],
    invalid: [[], ['web'], ['cloud', 'cloud'], ['cloud', 'phone', 'cloud'], 'cloud'],
    optional: false,
  },
  timezone: pattern(['UTC', 'Europe/Madrid', 'America/New_York'], ['', 'Europe/Nowhere', '+02:00', 'x'.repeat(65)]),
  modelTemperature: zeroToTwo,
  toolCallStrictMode: boolean,
  ivr: object({ enabled: false }, { enabled: boolean, action: optional(oneOf('hangup', 'navigate')) }),
  callScreening: object(
    { enabled: true },
    {
      enabled: boolean,
      identity: optional(text(0, 256)),
      purpose: optional(text(0, 512)),
    },
  ),
  fallbackVoiceIds: list(0, 5, name),
  vocabSpecialization: oneOf('general', 'medical'),
  silenceContractMs: integer(500, 10_000),
  holdingLines: list(0, 10, text(1, 200)),
  callMemory: object({ enabled: true }, { enabled: boolean, maxAgeDays: optional(integer(1, 365)) }),
  releaseGate: {
    valid: [
      null,
      GATE,
      { ...GATE, maximumTrials: 1, maximumUsd: '0.5' },
      { ...GATE, maximumFalsePass: 0.5, maximumFalseBlock: 0.5, minimumEffect: 0.5, maximumTrials: 100_000 },
      { ...GATE, suites: Array.from({ length: 10 }, (_, index) => SUITE.replace(/.$/, String(index))) },
    ],
    invalid: [
      {},
      { ...GATE, suites: [] },
      { ...GATE, suites: [SUITE, SUITE] },
      { ...GATE, suites: Array.from({ length: 11 }, (_, index) => SUITE.replace(/..$/, String(10 + index))) },
      { ...GATE, maximumFalsePass: 0.0009 },
      { ...GATE, maximumFalsePass: 0.51 },
      { ...GATE, maximumFalseBlock: 0 },
      { ...GATE, maximumFalseBlock: 0.51 },
      { ...GATE, minimumEffect: 0.009 },
      { ...GATE, minimumEffect: 0.51 },
      { ...GATE, maximumTrials: 0 },
      { ...GATE, maximumTrials: 100_001 },
      { ...GATE, maximumUsd: 1 },
      { ...GATE, unknown: 1 },
    ],
    optional: false,
  },
  redaction: {
    valid: [{ kinds: ['names'] }, { kinds: ['names', 'card_numbers', 'phone_numbers', 'emails'], hideFromModel: true }],
    invalid: [
      { kinds: ['names', 'names'] },
      { kinds: [] },
      { kinds: ['addresses'] },
      {},
      { kinds: ['names'], hideFromModel: 'yes' },
      { kinds: ['names'], other: 1 },
    ],
    optional: false,
  },
  sms: {
    valid: [
      { provider: 'twilio', from: '+15550100', account: 'AC1', secret: { id: 's', version: '1' } },
      { provider: 'telnyx', from: '+15550100', secret: { id: 's', version: '1' } },
      { provider: 'generic', from: '+15550100', url: 'https://sms.example/send' },
    ],
    invalid: [
      { provider: 'other', from: '+15550100' },
      { provider: 'telnyx', from: '5550100' },
      { provider: 'telnyx', from: '+15550100', unknown: 1 },
      { provider: 'twilio', from: '+15550100' },
      { provider: 'generic', from: '+15550100' },
      { provider: 'generic', from: '+15550100', url: 'ftp://sms.example' },
    ],
    optional: false,
  },
}

describe('the settings of an agent', () => {
  it('the settings are exactly those listed here', () =>
    expect([...settingName.options].sort()).toEqual(Object.keys(values).sort()))

  it.each(Object.entries(values))(
    'the setting %s accepts the values within its bounds and no others',
    (key, bounds) => {
      const all = variations({}, { [key]: optional(bounds) })
      expect(mismatches(all, value => settingValues.safeParse(value).success)).toEqual([])
    },
  )

  it('parsing settings adds no defaults', () => {
    const set = { voicemail: { enabled: true }, userDtmfOptions: {}, ivr: { enabled: true } }
    expect(settingValues.parse(set)).toEqual(set)
  })
})
