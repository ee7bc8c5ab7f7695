import { e164, instruction, secretRef, text, uri } from '@parley/nodes'
import { z } from 'zod'
import { releaseGate } from '../publications/release-gate.ts'
import { channel } from '../values/names.ts'

const unit = z.number().min(0).max(1)
const zeroToTwo = z.number().min(0).max(2)
const name = text(1, 256)
const word = text(0, 256)

const pronunciation = z.strictObject({ word: name, alphabet: z.enum(['ipa', 'cmu']), phoneme: name })

const voicemail = z.strictObject({
  enabled: z.boolean(),
  detectionTimeoutMs: z.int().min(1).optional(),
  action: z.enum(['hangup', 'leave_message']).optional(),
  message: instruction.optional(),
})

const ivr = z.strictObject({ enabled: z.boolean(), action: z.enum(['hangup', 'navigate']).optional() })

const callScreening = z.strictObject({
  enabled: z.boolean(),
  identity: text(0, 256).optional(),
  purpose: text(0, 512).optional(),
})

/** The service that sends text messages. `account`: the account SID at Twilio; `url`: where the generic service is posted to. */
const sms = z
  .strictObject({
    provider: z.enum(['twilio', 'telnyx', 'generic']),
    /** The number that messages come from. */
    from: e164,
    account: text(1, 256).optional(),
    url: uri(2048, ['https', 'http']).optional(),
    /** A secret of kind http_auth: `account:token` at Twilio, an API key elsewhere. */
    secret: secretRef.optional(),
  })
  .refine(service => service.provider !== 'twilio' || service.account !== undefined, {
    message: 'twilio needs the account SID as "account"',
    path: ['account'],
  })
  .refine(service => service.provider !== 'generic' || service.url !== undefined, {
    message: 'the generic service needs a "url"',
    path: ['url'],
  })

/** Personal data that is taken out before anything of a run is stored. */
const redaction = z.strictObject({
  kinds: z
    .array(z.enum(['names', 'card_numbers', 'phone_numbers', 'emails']))
    .min(1)
    .max(4)
    .refine(list => new Set(list).size === list.length, 'a kind is listed twice; remove one')
    .meta({ uniqueItems: true }),
  /** The model does not see it either; values can then not be extracted. Default false. */
  hideFromModel: z.boolean().optional(),
})

/** `{{last_call}}` holds what came of the last call with the same number. */
const callMemory = z.strictObject({
  enabled: z.boolean(),
  /** Older calls are not remembered. Default 90. */
  maxAgeDays: z.int().min(1).max(365).optional(),
})

const userDtmfOptions = z.strictObject({
  digitLimit: z.int().min(1).nullable().optional(),
  terminationKey: z
    .string()
    .regex(/^[0-9*#]$/, 'one of 0-9, *, #')
    .nullable()
    .optional(),
  timeoutMs: z.int().min(1).optional(),
})

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    // Intl also accepts offsets such as +02:00, which are not time zone names.
    return /^[A-Za-z]/.test(zone)
  } catch {
    return false
  }
}

/** Every setting with its bounds. Times are in ms. Publishing fills in the defaults, not this schema. */
const setting = {
  voiceId: name,
  voiceModel: name,
  voiceSpeed: z.number().min(0.5).max(2),
  voiceTemperature: zeroToTwo,
  volume: zeroToTwo,
  language: z.union([name, z.array(name).min(1)]),
  responsiveness: unit,
  interruptionSensitivity: unit,
  backchannelFrequency: unit,
  enableBackchannel: z.boolean(),
  normalizeForSpeech: z.boolean(),
  openerWaitsForCallee: z.boolean(),
  allowUserDtmf: z.boolean(),
  allowDtmfInterruption: z.boolean(),
  backchannelWords: z.array(name).max(50),
  boostedKeywords: z.array(name).max(500),
  reminderTriggerMs: z.int().min(0).max(3_600_000),
  reminderMaxCount: z.int().min(0).max(100),
  maxCallDurationMs: z.int().min(1000).max(86_400_000),
  endCallAfterSilenceMs: z.int().min(1000).max(3_600_000),
  ringDurationMs: z.int().min(1000).max(300_000),
  beginMessageDelayMs: z.int().min(0).max(60_000),
  voicemail,
  ambientSound: word,
  ambientSoundVolume: zeroToTwo,
  pronunciationDictionary: z.array(pronunciation).max(500),
  denoisingMode: word,
  sttMode: word,
  userDtmfOptions,
  channels: z
    .array(channel)
    .min(1)
    .max(2)
    .refine(list => new Set(list).size === list.length, 'a channel is listed twice; remove one')
    .meta({ uniqueItems: true }),
  timezone: text(1, 64).refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin'),
  modelTemperature: zeroToTwo,
  toolCallStrictMode: z.boolean(),
  ivr,
  callScreening,
  fallbackVoiceIds: z.array(name).max(5),
  vocabSpecialization: z.enum(['general', 'medical']),
  /** Longest silence that the caller hears while the agent owes an answer. */
  silenceContractMs: z.int().min(500).max(10_000),
  /** What the agent says while the caller waits; a node may have a line of its own. Empty: the language's own lines. */
  holdingLines: z.array(text(1, 200)).max(10),
  callMemory,
  sms,
  redaction,
  /** Null: none, as if it were absent. */
  releaseGate: releaseGate.nullable(),
}

const everySetting = z.strictObject(setting)

/** The settings of an agent; absent ones have their defaults. */
export const settingValues = everySetting.partial().meta({ id: 'Settings' })

/** The settings of a plan: all are present except those whose default comes from the voice or the model. */
export const plannedSettings = everySetting
  .extend({
    voicemail: voicemail.required({ detectionTimeoutMs: true, action: true }),
    userDtmfOptions: userDtmfOptions.required(),
    ivr: ivr.required(),
    callScreening: callScreening.required(),
  })
  .partial({
    voiceId: true,
    voiceModel: true,
    modelTemperature: true,
    sms: true,
    // Absent means the default, so that the digests of earlier plans stay the same.
    silenceContractMs: true,
    holdingLines: true,
    callMemory: true,
    redaction: true,
    releaseGate: true,
  })
  .meta({ id: 'PlannedSettings' })

export const settingName = everySetting.keyof()

/** Number of settings. */
export const SETTING_COUNT = Object.keys(setting).length
