import { type DraftEdit, type Json, notification, recording, settingValues } from '@parley/contract'
import { spokenTags } from '../plan/languages.ts'
import { type AgentField, type Note, readLoosely, sameField } from './agent-field.ts'
import { isObject, type JsonObject, objectOf, shown } from './json.ts'

type SettingName = keyof typeof settingValues.shape

/** Fields of the export's agent whose values are those of a setting. */
const SAME: Readonly<Record<string, SettingName>> = {
  voice_speed: 'voiceSpeed',
  voice_temperature: 'voiceTemperature',
  volume: 'volume',
  responsiveness: 'responsiveness',
  interruption_sensitivity: 'interruptionSensitivity',
  enable_backchannel: 'enableBackchannel',
  backchannel_frequency: 'backchannelFrequency',
  backchannel_words: 'backchannelWords',
  reminder_trigger_ms: 'reminderTriggerMs',
  reminder_max_count: 'reminderMaxCount',
  begin_message_delay_ms: 'beginMessageDelayMs',
  max_call_duration_ms: 'maxCallDurationMs',
  end_call_after_silence_ms: 'endCallAfterSilenceMs',
  ring_duration_ms: 'ringDurationMs',
  ambient_sound: 'ambientSound',
  ambient_sound_volume: 'ambientSoundVolume',
  denoising_mode: 'denoisingMode',
  stt_mode: 'sttMode',
  vocab_specialization: 'vocabSpecialization',
  boosted_keywords: 'boostedKeywords',
  pronunciation_dictionary: 'pronunciationDictionary',
  normalize_for_speech: 'normalizeForSpeech',
  allow_user_dtmf: 'allowUserDtmf',
  allow_dtmf_interruption: 'allowDtmfInterruption',
  timezone: 'timezone',
  // Not of the source platform: an export of a draft keeps them.
  silence_contract_ms: 'silenceContractMs',
  holding_lines: 'holdingLines',
  sms_service: 'sms',
}

function setting(
  name: SettingName,
  fields: readonly string[],
  ways: Pick<AgentField, 'read' | 'write' | 'isForeign'>,
): AgentField {
  return { group: 'settings', name, schema: settingValues.shape[name], home: 'agent', fields, ...ways }
}

/** The source's voices do not exist on this platform: their names are stored with a warning and exported unchanged. */
function voice(name: SettingName, source: string): AgentField {
  const message = `Voices of the source platform are not imported: the agent speaks with the voice in \`config.providers.tts\``
  return setting(name, [source], {
    isForeign: true,
    read: (_, notes) => {
      notes.push({ code: 'voice_replaced', field: source, message })
      return undefined
    },
    write: () => ({}),
  })
}

/** The supported language tags (RFC 5646) in the list; the `_` of a locale is read as `-`. */
function spokenOf(list: readonly Json[]): string[] {
  return spokenTags(list.flatMap(one => (typeof one === 'string' ? [one.replaceAll('_', '-')] : []))).spoken
}

const language = setting('language', ['language'], {
  read: ({ language: source }, notes) => {
    const list = Array.isArray(source) ? source : [source!]
    const spoken = spokenOf(list)
    if (spoken.length < list.length)
      notes.push({ code: 'language_unsupported', field: 'language', ...languageNote(list, spoken) })
    if (spoken.length === 0) return undefined
    return Array.isArray(source) ? spoken : spoken[0]
  },
  write: value => ({ language: value }),
})

function languageNote(list: readonly Json[], spoken: readonly Json[]): Pick<Note, 'message' | 'fixes'> {
  const others = shown(
    list.flatMap(one => (typeof one === 'string' && spokenOf([one]).length === 0 ? [one] : [])).join(', '),
  )
  if (spoken.length > 0) return { message: `Agents speak en and es: ${others} is left out` }
  const edit = (value: string): DraftEdit[] => [{ type: 'agent.settings', values: { language: value }, clear: [] }]
  return {
    message: `Agents speak en and es, not ${others}: the draft uses the default, en, until you set a language`,
    fixes: [
      { id: 'language-en', label: 'Speak English', edits: edit('en') },
      { id: 'language-es', label: 'Speak Spanish', edits: edit('es') },
    ],
  }
}

const voicemail = setting(
  'voicemail',
  ['voicemail_option', 'voicemail_message', 'voicemail_detection_timeout_ms', 'enable_voicemail_detection'],
  { read: readVoicemail, write: writeVoicemail },
)

function readVoicemail(fields: JsonObject, notes: Note[]): Json | undefined {
  const how = isObject(fields.voicemail_option)
    ? readVoicemailOption(fields.voicemail_option, notes)
    : olderVoicemail(fields)
  const timeout = fields.voicemail_detection_timeout_ms
  if (how === undefined || typeof timeout !== 'number') return how
  return { ...how, detectionTimeoutMs: timeout }
}

function readVoicemailOption(option: JsonObject, notes: Note[]): JsonObject | undefined {
  const { action, ...others } = option
  const note = (code: Note['code'], message: string) => notes.push({ code, field: 'voicemail_option', message })
  for (const [name, value] of Object.entries(others))
    if (value !== null && value !== '')
      note('field_ignored', `Drafts have no field for \`${shown(name)}\` of \`voicemail_option\``)
  const { type, text } = objectOf(action)
  if (type === 'hangup') return { enabled: true, action: 'hangup' }
  if (type === 'prompt' || type === 'static_text')
    return { enabled: true, action: 'leave_message', message: { type, text: text ?? '' } }
  const word = typeof type === 'string' ? type : ''
  if (word === 'bridge_transfer')
    note(
      'unsupported_capability',
      'On a voicemail agents hang up or leave a message, but do not transfer the call: voicemail detection is off',
    )
  else
    note(
      'setting_unknown',
      `On a voicemail agents hang up or leave a message, \`${shown(word)}\` is unknown: voicemail detection is off`,
    )
  return undefined
}

function olderVoicemail(fields: JsonObject): JsonObject | undefined {
  if (fields.enable_voicemail_detection === false) return undefined
  const text = fields.voicemail_message
  if (typeof text === 'string' && text !== '')
    return { enabled: true, action: 'leave_message', message: { type: 'static_text', text } }
  return fields.enable_voicemail_detection === true ? { enabled: true, action: 'hangup' } : undefined
}

function writeVoicemail(value: Json): JsonObject {
  const { enabled, action, message, detectionTimeoutMs } = objectOf(value)
  if (enabled !== true) return {}
  const leaves = action === 'leave_message' && isObject(message)
  return {
    voicemail_option: { action: leaves ? { ...message } : { type: 'hangup' } },
    ...(detectionTimeoutMs !== undefined && { voicemail_detection_timeout_ms: detectionTimeoutMs }),
  }
}

const ivr = setting('ivr', ['ivr_option'], {
  read: ({ ivr_option: option }, notes) => {
    const { type } = objectOf(objectOf(option).action)
    if (type === 'hangup' || type === 'navigate') return { enabled: true, action: type }
    notes.push({
      code: 'setting_unknown',
      field: 'ivr_option',
      message: 'In a phone menu agents hang up or go on, and this option says neither: menu detection is off',
    })
    return undefined
  },
  write: value => {
    const { enabled, action } = objectOf(value)
    return enabled === true ? { ivr_option: { action: { type: action ?? 'hangup' } } } : {}
  },
})

const screeningNames = { agent_identity: 'identity', call_purpose: 'purpose' }
const callScreening = setting('callScreening', ['call_screening_option'], {
  read: ({ call_screening_option: option }, notes) =>
    isObject(option)
      ? readRenamed('callScreening', 'call_screening_option', screeningNames, option, notes, { enabled: true })
      : undefined,
  write: value => {
    const { enabled, ...answers } = objectOf(value)
    return enabled === true ? { call_screening_option: renamedBack(screeningNames, answers) } : {}
  },
})

const digitNames = { digit_limit: 'digitLimit', termination_key: 'terminationKey', timeout_ms: 'timeoutMs' }
const userDtmfOptions = setting('userDtmfOptions', ['user_dtmf_options'], {
  read: ({ user_dtmf_options: options }, notes) =>
    isObject(options) ? readRenamed('userDtmfOptions', 'user_dtmf_options', digitNames, options, notes) : undefined,
  write: value => ({ user_dtmf_options: renamedBack(digitNames, objectOf(value)) }),
})

function readRenamed(
  name: SettingName,
  field: string,
  names: Readonly<Record<string, string>>,
  source: JsonObject,
  notes: Note[],
  also: JsonObject = {},
): Json | undefined {
  const entries = Object.entries(source).map(([key, value]) => [Object.hasOwn(names, key) ? names[key] : key, value])
  return readLoosely(settingValues.shape[name], { ...Object.fromEntries(entries), ...also }, field, notes)
}

function renamedBack(names: Readonly<Record<string, string>>, value: JsonObject): JsonObject {
  const back = Object.entries(names).map(([exported, own]) => [exported, value[own]] as const)
  return Object.fromEntries(back.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** Recording links stay signed unless a user of this platform turns signing off: the source's default is ignored. */
const signedUrls: AgentField = {
  group: 'recording',
  name: 'signed_urls',
  schema: recording.shape.signed_urls.unwrap(),
  home: 'agent',
  fields: ['opt_in_signed_url'],
  read: ({ opt_in_signed_url: signed }, notes) => {
    if (signed === true) return true
    const value = { required: true, channels: 'dual' as const, signed_urls: false }
    notes.push({
      code: 'field_ignored',
      field: 'opt_in_signed_url',
      message: 'Links to recordings stay signed: apply the fix to leave them unsigned',
      fixes: [{ id: 'unsigned-links', label: 'Leave links unsigned', edits: [{ type: 'agent.recording', value }] }],
    })
    return undefined
  },
  write: value => ({ opt_in_signed_url: value }),
}

const EVENTS: Readonly<Record<string, string>> = {
  call_started: 'run.started',
  call_ended: 'run.ended',
  call_analyzed: 'run.analyzed',
  transfer_ended: 'run.transfer',
}

/** Events of the webhook; read only when the agent has a webhook. */
export const webhookEvents: AgentField = {
  group: 'notification',
  name: 'events',
  schema: notification.shape.events.unwrap(),
  whenUnset: notification.shape.events.parse(undefined),
  home: 'agent',
  fields: ['webhook_events'],
  read: ({ webhook_events: source }, notes) => {
    if (!Array.isArray(source)) return undefined
    const events = source.flatMap(event => {
      const own = typeof event === 'string' ? ownEvent(event) : undefined
      if (own === undefined) {
        const message = `There is no webhook event \`${shown(String(event))}\`: it is left out`
        notes.push({ code: 'field_ignored', field: 'webhook_events', message })
      }
      return own === undefined ? [] : [own]
    })
    return events.length === 0 ? undefined : [...new Set(events)]
  },
  write: value => {
    const exported = new Map(Object.entries(EVENTS).map(([event, own]) => [own, event]))
    return { webhook_events: Array.isArray(value) ? value.map(own => exported.get(String(own))!) : [] }
  },
}

function ownEvent(event: string): string | undefined {
  if (event.startsWith('transfer_')) return 'run.transfer'
  return Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined
}

const PII_CATEGORIES: Readonly<Record<string, string>> = {
  person_name: 'names',
  credit_card: 'card_numbers',
  phone_number: 'phone_numbers',
  email: 'emails',
}

/** Personal data is taken out during the run, before anything is stored, whatever the exported mode says. */
const redaction = setting('redaction', ['pii_config'], {
  read: ({ pii_config: config }, notes) => {
    const categories = isObject(config) && Array.isArray(config.categories) ? config.categories.map(String) : []
    const kinds = [...new Set(categories.flatMap(category => PII_CATEGORIES[category] ?? []))]
    const others = categories.filter(category => !Object.hasOwn(PII_CATEGORIES, category))
    if (others.length > 0)
      notes.push({
        code: 'field_ignored',
        field: 'pii_config',
        message: `Personal data of the kinds ${others.map(shown).join(', ')} is not taken out: only names, card numbers, phone numbers and e-mail addresses are`,
      })
    return kinds.length === 0 ? undefined : { kinds }
  },
  write: value => {
    const { kinds, hideFromModel } = objectOf(value)
    if (hideFromModel !== undefined || !Array.isArray(kinds)) return {}
    const exported = new Map(Object.entries(PII_CATEGORIES).map(([category, kind]) => [kind, category]))
    return { pii_config: { mode: 'post_call', categories: kinds.map(kind => exported.get(String(kind))!) } }
  },
})

/** A setting that the format has no field for; an export writes it to `agent.parley.settings`. */
function parleyOnly(name: SettingName): AgentField {
  return setting(name, [], { read: () => undefined, write: () => ({}) })
}

/** The fields of agent and flow that express settings and recording. */
export const AGENT_FIELDS: readonly AgentField[] = [
  ...Object.entries(SAME).map(([source, name]) =>
    sameField('settings', name, settingValues.shape[name], 'agent', source),
  ),
  sameField('settings', 'modelTemperature', settingValues.shape.modelTemperature, 'flow', 'model_temperature'),
  sameField('settings', 'toolCallStrictMode', settingValues.shape.toolCallStrictMode, 'flow', 'tool_call_strict_mode'),
  voice('voiceId', 'voice_id'),
  voice('voiceModel', 'voice_model'),
  voice('fallbackVoiceIds', 'fallback_voice_ids'),
  language,
  voicemail,
  ivr,
  callScreening,
  userDtmfOptions,
  redaction,
  parleyOnly('openerWaitsForCallee'),
  parleyOnly('callMemory'),
  parleyOnly('channels'),
  parleyOnly('releaseGate'),
  signedUrls,
]
