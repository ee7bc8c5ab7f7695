import type { Settings, SettingValues } from './settings.ts'

/** Default settings of a call. Voice, voice model and temperature default to those of the service. */
const DEFAULT_SETTINGS: Settings = {
  channels: ['cloud', 'phone'],
  timezone: 'UTC',
  language: 'en',
  fallbackVoiceIds: [],
  voiceSpeed: 1,
  voiceTemperature: 1,
  volume: 1,
  responsiveness: 1,
  interruptionSensitivity: 1,
  enableBackchannel: false,
  backchannelFrequency: 0.8,
  backchannelWords: [],
  normalizeForSpeech: false,
  openerWaitsForCallee: false,
  reminderTriggerMs: 10_000,
  reminderMaxCount: 1,
  maxCallDurationMs: 3_600_000,
  endCallAfterSilenceMs: 600_000,
  ringDurationMs: 30_000,
  beginMessageDelayMs: 0,
  allowUserDtmf: true,
  allowDtmfInterruption: false,
  userDtmfOptions: { digitLimit: null, terminationKey: null, timeoutMs: 3000 },
  voicemail: { enabled: false, detectionTimeoutMs: 30_000, action: 'hangup' },
  ivr: { enabled: false, action: 'hangup' },
  callScreening: { enabled: false, identity: '', purpose: '' },
  ambientSound: 'none',
  ambientSoundVolume: 1,
  denoisingMode: 'noise-cancellation',
  sttMode: 'fast',
  vocabSpecialization: 'general',
  boostedKeywords: [],
  pronunciationDictionary: [],
  toolCallStrictMode: true,
}

/** The settings of a call: explicit settings over the defaults. */
export function withDefaults(set: SettingValues): Settings {
  const { userDtmfOptions, voicemail, ivr, callScreening } = DEFAULT_SETTINGS
  return over(DEFAULT_SETTINGS, {
    ...set,
    userDtmfOptions: over(userDtmfOptions, set.userDtmfOptions),
    voicemail: over(voicemail, set.voicemail),
    ivr: over(ivr, set.ivr),
    callScreening: over(callScreening, set.callScreening),
  })
}

/** Undefined members count as absent. */
function over<Whole extends object>(
  defaults: Whole,
  set: { readonly [Name in keyof Whole]?: Whole[Name] | undefined } = {},
): Whole {
  const defined = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined))
  return { ...defaults, ...defined }
}
