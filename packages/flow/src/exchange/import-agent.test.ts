import { describe, expect, it } from 'vitest'
import { exportFile, imported, importOf, modelOf, providers, secrets } from './fixtures/exports.ts'
import { importExport } from './import-export.ts'
import { body, draft, full, unplaced, warned } from './testing/full-import.ts'

describe('an imported agent', () => {
  it('an imported agent takes its name from the export and its providers from the import request', () => {
    expect(draft.name).toBe('Harbour Clinic')
    expect(draft.providers).toEqual(providers)
    expect(draft.recording).toEqual({ required: true, channels: 'dual', signed_urls: true })
  })

  it('an imported agent takes its call settings from the fields of the export', () =>
    expect(draft.settings).toEqual({
      voiceSpeed: 1.1,
      voiceTemperature: 0.8,
      volume: 1.2,
      language: ['en-US', 'es-419'],
      responsiveness: 0.9,
      interruptionSensitivity: 0.7,
      enableBackchannel: true,
      backchannelFrequency: 0.5,
      backchannelWords: ['mm-hm', 'I see'],
      reminderTriggerMs: 12_000,
      reminderMaxCount: 2,
      beginMessageDelayMs: 600,
      maxCallDurationMs: 1_800_000,
      endCallAfterSilenceMs: 45_000,
      ringDurationMs: 25_000,
      ambientSound: 'call-center',
      ambientSoundVolume: 0.4,
      denoisingMode: 'noise-and-background-speech-cancellation',
      sttMode: 'accurate',
      vocabSpecialization: 'medical',
      boostedKeywords: ['Harbour', 'Dr Ibarra'],
      pronunciationDictionary: [{ word: 'Ibarra', alphabet: 'ipa', phoneme: 'iˈβara' }],
      normalizeForSpeech: true,
      allowUserDtmf: true,
      allowDtmfInterruption: true,
      userDtmfOptions: { digitLimit: 4, terminationKey: '#', timeoutMs: 4000 },
      voicemail: {
        enabled: true,
        action: 'leave_message',
        message: { type: 'static_text', text: 'This is Harbour Clinic. Please call us back.' },
        detectionTimeoutMs: 20_000,
      },
      ivr: { enabled: true, action: 'hangup' },
      callScreening: { enabled: true, identity: 'Harbour Clinic', purpose: 'Your appointment' },
      timezone: 'Europe/Madrid',
      modelTemperature: 0.3,
      toolCallStrictMode: true,
    }))

  it('an imported agent has the pinned webhook, the current version of its secret and the supported events', () => {
    expect(draft.notification).toEqual({
      url: 'https://hooks.example.com/calls',
      secret: { id: 'hook', version: '4' },
      events: ['run.started', 'run.ended', 'run.analyzed'],
    })
    expect(warned('/agent/webhook_events')).toEqual(['field_ignored'])
  })

  it('an imported agent has the analysis items of the export', () => {
    expect(draft.analysis!.items.map(item => item.name)).toEqual([
      ...['reason', 'disposition', 'is_new', 'age', 'call_summary', 'call_successful', 'user_sentiment'],
    ])
    expect(draft.analysis!.model).toEqual(modelOf('own-large'))
    expect(unplaced['/agent/post_call_analysis_data/shade']).toMatchObject({ type: 'selector' })
  })

  it('an import drops the voice of the export with a warning', () => {
    expect(draft.settings.voiceId).toBeUndefined()
    for (const name of ['voice_id', 'voice_model', 'fallback_voice_ids', 'voice_emotion'])
      expect(warned(`/agent/${name}`)).toEqual(['voice_replaced'])
    expect(unplaced['/agent/voice_id']).toBe('vendor-Marina')
  })

  it('a locale with an underscore (en_US) is imported as its language tag', () => {
    const american = importExport({ ...body, agent: { ...full.agent, language: 'en_US' } }, secrets)
    expect(imported(american).settings.language).toBe('en-US')
    expect(american.ok && american.warnings.filter(({ path }) => path === '/agent/language')).toEqual([])
  })

  it('an unsupported language is dropped with a warning that offers the supported ones', () => {
    expect(warned('/agent/language')).toEqual(['language_unsupported'])
    const german = importExport({ ...body, agent: { ...full.agent, language: 'de-DE' } }, secrets)
    expect(imported(german).settings.language).toBeUndefined()
    const [found] = german.ok ? german.warnings.filter(({ path }) => path === '/agent/language') : []
    expect(found!.fixes!.map(fix => fix.edits)).toEqual([
      [{ type: 'agent.settings', values: { language: 'en' }, clear: [] }],
      [{ type: 'agent.settings', values: { language: 'es' }, clear: [] }],
    ])
  })

  it.each([
    [{ voicemail_option: { action: { type: 'hangup' } } }, { enabled: true, action: 'hangup' }],
    [{ voicemail_option: { action: { type: 'bridge_transfer' } } }, undefined],
    [
      { voicemail_option: null, voicemail_message: 'Call us', voicemail_detection_timeout_ms: 9000 },
      {
        enabled: true,
        action: 'leave_message',
        message: { type: 'static_text', text: 'Call us' },
        detectionTimeoutMs: 9000,
      },
    ],
  ])('the voicemail fields %j are imported as the voicemail setting', (fields, voicemail) => {
    const { agent, flow } = exportFile('minimal-export')
    const { settings } = imported(importExport(importOf({ agent: { ...agent, ...fields }, flow }), secrets))
    expect(settings.voicemail).toEqual(voicemail)
  })

  it('pii_config becomes the redaction of what is stored, with a warning for categories that stay', () => {
    const { agent, flow } = exportFile('minimal-export')
    const pii_config = { mode: 'post_call', categories: ['person_name', 'email', 'passport'] }
    const result = importExport(importOf({ agent: { ...agent, pii_config }, flow }), secrets)
    expect(imported(result).settings.redaction).toEqual({ kinds: ['names', 'emails'] })
    expect(JSON.stringify(result)).toContain('passport')
  })

  it.each(['data_storage_setting', 'handbook_config', 'webhook_timeout_ms'])(
    'the import stores %s as unplaced, with a warning',
    name => {
      expect(unplaced[`/agent/${name}`]).toEqual(full.agent[name])
      expect(warned(`/agent/${name}`)).toEqual(['field_ignored'])
    },
  )

  it('an imported draft records the flow and version it came from', () =>
    expect(draft.source).toMatchObject({
      kind: 'agent_import',
      agent_version: 7,
      flow_id: 'conversation_flow_harbour',
      flow_version: 7,
    }))
})
