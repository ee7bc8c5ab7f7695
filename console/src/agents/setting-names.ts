import type { DraftContent } from './flow-graph.ts'

type SettingName = keyof DraftContent['settings']

/** Settings whose form is not a JSON value. */
const OWN_FORM = { releaseGate: true } as const satisfies { readonly [name in SettingName]?: true }

type JsonSetting = Exclude<SettingName, keyof typeof OWN_FORM>

/** The settings in the order in which they are shown: voice, turn-taking, keys, times, calls, the rest. */
export const SETTING_NAMES: readonly JsonSetting[] = Object.keys({
  voiceId: true,
  voiceModel: true,
  voiceSpeed: true,
  voiceTemperature: true,
  volume: true,
  language: true,
  responsiveness: true,
  interruptionSensitivity: true,
  backchannelFrequency: true,
  enableBackchannel: true,
  backchannelWords: true,
  normalizeForSpeech: true,
  openerWaitsForCallee: true,
  allowUserDtmf: true,
  allowDtmfInterruption: true,
  boostedKeywords: true,
  reminderTriggerMs: true,
  reminderMaxCount: true,
  maxCallDurationMs: true,
  endCallAfterSilenceMs: true,
  ringDurationMs: true,
  beginMessageDelayMs: true,
  voicemail: true,
  ambientSound: true,
  ambientSoundVolume: true,
  pronunciationDictionary: true,
  denoisingMode: true,
  sttMode: true,
  userDtmfOptions: true,
  channels: true,
  timezone: true,
  modelTemperature: true,
  toolCallStrictMode: true,
  ivr: true,
  callScreening: true,
  fallbackVoiceIds: true,
  vocabSpecialization: true,
  silenceContractMs: true,
  holdingLines: true,
  callMemory: true,
  sms: true,
  redaction: true,
} satisfies Readonly<Record<JsonSetting, true>>) as JsonSetting[]
