import { describe, expect, it } from 'vitest'
import { exportFile, imported, importOf, modelOf, providers, secrets } from './fixtures/exports.ts'
import { importExport } from './import-export.ts'
import { body, draft, full, unplaced, warned } from './testing/full-import.ts'

describe('an imported agent', () => {
  it('is called as the export says, and speaks, hears and thinks as the import says', () => {
    expect(draft.name).toBe('Harbour Clinic')
    expect(draft.providers).toEqual(providers)
    expect(draft.recording).toEqual({ required: true, channels: 'dual', signed_urls: true })
  })

  it('behaves on calls as the fields of the export say', () =>
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

  it('has the webhook that the import pins, at the current version of its secret, for the events that there are', () => {
    expect(draft.notification).toEqual({
      url: 'https://hooks.example.com/calls',
      secret: { id: 'hook', version: '4' },
      events: ['run.started', 'run.ended', 'run.analyzed'],
    })
    expect(warned('/agent/webhook_events')).toEqual(['field_ignored'])
  })

  it('reads out of calls what the export reads out of them', () => {
    expect(draft.analysis!.items.map(item => item.name)).toEqual([
      ...['reason', 'disposition', 'is_new', 'age', 'call_summary', 'call_successful', 'user_sentiment'],
    ])
    expect(draft.analysis!.model).toEqual(modelOf('own-large'))
    expect(unplaced['/agent/post_call_analysis_data/shade']).toMatchObject({ type: 'selector' })
  })

  it('keeps no voice of the source, and says so', () => {
    expect(draft.settings.voiceId).toBeUndefined()
    for (const name of ['voice_id', 'voice_model', 'fallback_voice_ids', 'voice_emotion'])
      expect(warned(`/agent/${name}`)).toEqual(['voice_replaced'])
    expect(unplaced['/agent/voice_id']).toBe('vendor-Marina')
  })

  it('speaks the language of a locale that is written with an underscore', () => {
    const american = importExport({ ...body, agent: { ...full.agent, language: 'en_US' } }, secrets)
    expect(imported(american).settings.language).toBe('en-US')
    expect(american.ok && american.warnings.filter(({ path }) => path === '/agent/language')).toEqual([])
  })

  it('does not speak a language that there is none of, and offers those that there are', () => {
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
  ])('handles voicemail as %j says', (fields, voicemail) => {
    const { agent, flow } = exportFile('minimal-export')
    const { settings } = imported(importExport(importOf({ agent: { ...agent, ...fields }, flow }), secrets))
    expect(settings.voicemail).toEqual(voicemail)
  })

  it.each(['data_storage_setting', 'handbook_config', 'webhook_timeout_ms'])('keeps %s aside, and says so', name => {
    expect(unplaced[`/agent/${name}`]).toEqual(full.agent[name])
    expect(warned(`/agent/${name}`)).toEqual(['field_ignored'])
  })

  it('remembers which flow it was', () =>
    expect(draft.source).toMatchObject({
      kind: 'agent_import',
      agent_version: 7,
      flow_id: 'conversation_flow_harbour',
      flow_version: 7,
    }))
})
