import { z } from 'zod'
import { instruction } from './instruction.ts'
import { text } from './names.ts'

const unit = z.number().min(0).max(1)
const zeroToTwo = z.number().min(0).max(2)
const name = text(1, 256)

const voicemail = z.strictObject({
  enabled: z.boolean(),
  detectionTimeoutMs: z.int().min(1).max(300_000).default(30_000),
  action: z.enum(['hangup', 'leave_message']).default('hangup'),
  message: instruction.optional(),
})

const userDtmfOptions = z.strictObject({
  digitLimit: z.int().min(1).max(100).nullable().default(null),
  terminationKey: z
    .string()
    .regex(/^[0-9*#]$/, 'one of 0-9, *, #')
    .nullable()
    .default(null),
  timeoutMs: z.int().min(1).max(60_000).default(3000),
})

const pronunciation = z.strictObject({ word: name, alphabet: z.enum(['ipa', 'cmu']), phoneme: name })

/** How the agent behaves on a call. Names in camel case, times in ms; what a draft leaves out is the default here. */
export const settings = z.strictObject({
  channels: z
    .array(z.enum(['cloud', 'phone']))
    .min(1)
    .max(2)
    .refine(list => new Set(list).size === list.length, 'a channel stands twice')
    .default(['cloud', 'phone']),
  timezone: z.string().min(1).max(64).refine(isTimeZone, 'not an IANA time zone').default('UTC'),
  language: z.union([name, z.array(name).min(1).max(20)]).default('en'),
  voiceId: name.optional(),
  voiceModel: name.optional(),
  fallbackVoiceIds: z.array(name).max(5).default([]),
  voiceSpeed: z.number().min(0.5).max(2).default(1),
  voiceTemperature: zeroToTwo.default(1),
  volume: zeroToTwo.default(1),
  responsiveness: unit.default(1),
  interruptionSensitivity: unit.default(1),
  enableBackchannel: z.boolean().default(false),
  backchannelFrequency: unit.default(0.8),
  backchannelWords: z.array(text(1, 256)).max(50).default([]),
  normalizeForSpeech: z.boolean().default(false),
  openerWaitsForCallee: z.boolean().default(false),
  reminderTriggerMs: z.int().min(0).max(3_600_000).default(10_000),
  reminderMaxCount: z.int().min(0).max(100).default(1),
  maxCallDurationMs: z.int().min(1000).max(86_400_000).default(3_600_000),
  endCallAfterSilenceMs: z.int().min(1000).max(3_600_000).default(600_000),
  ringDurationMs: z.int().min(1000).max(300_000).default(30_000),
  beginMessageDelayMs: z.int().min(0).max(60_000).default(0),
  allowUserDtmf: z.boolean().default(true),
  allowDtmfInterruption: z.boolean().default(false),
  userDtmfOptions: userDtmfOptions.prefault({}),
  voicemail: voicemail.prefault({ enabled: false }),
  ivr: z
    .strictObject({ enabled: z.boolean(), action: z.literal('hangup').default('hangup') })
    .prefault({ enabled: false }),
  callScreening: z
    .strictObject({
      enabled: z.boolean(),
      identity: text(0, 256).default(''),
      purpose: text(0, 512).default(''),
    })
    .prefault({ enabled: false }),
  /** A word this engine does not know is a warning, and `none` is used. */
  ambientSound: z.string().max(256).default('none'),
  ambientSoundVolume: zeroToTwo.default(1),
  denoisingMode: z.string().max(256).default('noise-cancellation'),
  sttMode: z.string().max(256).default('fast'),
  vocabSpecialization: z.enum(['general', 'medical']).default('general'),
  boostedKeywords: z.array(text(1, 256)).max(500).default([]),
  pronunciationDictionary: z.array(pronunciation).max(500).default([]),
  modelTemperature: zeroToTwo.optional(),
  toolCallStrictMode: z.boolean().default(true),
})

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** Words of the string settings that this engine knows. */
export const KNOWN_WORDS = {
  ambientSound: [
    'none',
    'coffee-shop',
    'convention-hall',
    'summer-outdoor',
    'mountain-outdoor',
    'static-noise',
    'call-center',
  ],
  denoisingMode: ['no-denoise', 'noise-cancellation', 'noise-and-background-speech-cancellation'],
  sttMode: ['fast', 'accurate', 'custom'],
} as const

export type Settings = z.output<typeof settings>
