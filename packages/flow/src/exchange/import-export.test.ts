import { describe, expect, it } from 'vitest'
import { changed, exportFile, imported, importFile, importOf, modelOf, providers, secrets } from './fixtures/exports.ts'
import { type ImportResult, importExport } from './import-export.ts'
import type { JsonObject } from './json.ts'

const full = exportFile('full-export')
const body = importOf(full)
const { draft, warnings } = importFile('full-export')
const unplaced = draft.source!.unplaced
const nodeOf = (id: string) => draft.flow.nodes.find(node => node.id === id)
const actionOf = (id: string) => draft.actions.find(action => action.action_id === id)
const warned = (path: string) => warnings.filter(warning => warning.path === path).map(({ code }) => code)
const refusal = (result: ImportResult) => (result.ok ? null : result.refusal)
/** The minimal export with one node more, and nothing that leads to it. */
const withNode = (node: JsonObject) => {
  const { agent, flow } = exportFile('minimal-export')
  return importExport(importOf({ agent, flow: { ...flow, nodes: [...(flow.nodes as JsonObject[]), node] } }), secrets)
}

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

describe('an imported flow', () => {
  it('has each node of a type that drafts have', () =>
    expect(draft.flow.nodes.map(node => `${node.id}: ${node.type}`)).toEqual([
      'start_1: conversation',
      'sub: subagent',
      'slots: function',
      'code: code',
      'mcp: mcp',
      'branch: branch',
      'branch-2: branch',
      'extract: extract_dynamic_variables',
      'transfer: transfer_call',
      'keys: press_digit',
      'swap: agent_swap',
      'sms: sms',
      'component: component',
      'end: end',
      'bridge: bridge_transfer',
      'cancel: cancel_transfer',
    ]))

  it('begins where the export begins, with variables as text', () => {
    expect(draft.flow).toMatchObject({
      start_node_id: 'start_1',
      start_speaker: 'agent',
      begin_after_user_silence_ms: 1500,
    })
    expect(draft.flow.default_dynamic_variables).toEqual({ clinic_hours: '9 to 5', floor: '2' })
    expect(unplaced['/flow/default_dynamic_variables/9lives']).toBe('no name')
  })

  it('converses as its nodes say', () => {
    expect(nodeOf('start_1')).toMatchObject({
      name: 'Greeting',
      display_position: { x: 10.5, y: -20 },
      instruction: { type: 'static_text', text: 'Harbour Clinic, good morning.' },
      model_choice: modelOf('own-large'),
      interruption_sensitivity: 0.4,
      responsiveness: null,
      voice_speed: 1.05,
      reminder_trigger_ms: 8000,
      reminder_max_count: 3,
      allow_dtmf_interruption: false,
      skip_response_edge: { destination_node_id: 'slots' },
      global_node_setting: { condition: 'They want to start over', cool_down: 2, go_back_conditions: [{ id: 'back' }] },
    })
    expect(unplaced['/flow/nodes/start_1/responsiveness']).toBe(5)
    expect(warned('/flow/nodes/0/responsiveness')).toEqual(['field_ignored'])
  })

  it('goes on as its edges say, however they are written', () => {
    const start = nodeOf('start_1')!
    const edges = start.type === 'conversation' ? start.edges : []
    expect(edges).toEqual([
      {
        id: 'to-slots',
        transition_condition: { type: 'prompt', prompt: 'They want an appointment' },
        destination_node_id: 'slots',
      },
      // The legacy condition alone.
      {
        id: 'to-branch',
        transition_condition: { type: 'prompt', prompt: 'They ask about a bill' },
        destination_node_id: 'branch',
      },
      {
        id: 'no-destination',
        transition_condition: { type: 'prompt', prompt: 'They say nothing' },
        destination_node_id: null,
      },
      // One equation without an operator between equations, whose right side is no text.
      {
        id: 'vip',
        transition_condition: {
          type: 'equation',
          operator: '&&',
          equations: [{ left: '{{vip}}', operator: '==', right: 'true' }],
        },
        destination_node_id: 'transfer',
      },
    ])
    expect(start).toMatchObject({ always_edge: { transition_condition: { prompt: 'Always' } } })
    expect(unplaced).toHaveProperty(['/flow/nodes/start_1/edges/unknown-operator'])
    expect(warned('/flow/nodes/0/edges/4')).toEqual(['field_ignored'])
  })

  it('reads both {{x}} and x on the left side', () =>
    expect(nodeOf('branch')).toMatchObject({
      edges: [{ transition_condition: { operator: '||', equations: [{ left: 'floor' }, { left: '{{day}}' }] } }],
    }))

  it('leaves a function by its always_edge, as by else', () => {
    expect(nodeOf('slots')).toMatchObject({
      tool_id: 'tool-slots',
      else_edge: { id: 'after', destination_node_id: 'extract' },
    })
    expect(warned('/flow/nodes/2/always_edge')).toEqual(['field_ignored'])
  })

  it('gives a branch without edges one that leads where else leads', () =>
    expect(nodeOf('branch-2')).toMatchObject({
      edges: [{ destination_node_id: 'end' }],
      else_edge: { destination_node_id: 'end' },
    }))

  it('keeps edges of an end and speakers of nodes aside', () => {
    expect(unplaced['/flow/nodes/end/edges']).toEqual([{ id: 'nowhere' }])
    expect(warned('/flow/nodes/13/edges')).toEqual(['field_ignored'])
    expect(unplaced['/flow/nodes/start_1/start_speaker']).toBe('agent')
    expect(warned('/flow/nodes/0/start_speaker')).toEqual(['field_ignored'])
  })

  it.each(['knowledge_base_ids', 'kb_config', 'knowledge_bases', 'mcps', 'notes'])(
    'keeps %s aside, and says so',
    name => {
      expect(unplaced[`/flow/${name}`]).toEqual(full.flow[name])
      expect(warned(`/flow/${name}`)).toHaveLength(1)
    },
  )

  it.each([
    [3, 'code'],
    [4, 'mcp'],
    [10, 'swap'],
    [11, 'sms'],
    [14, 'bridge'],
    [15, 'cancel'],
  ])('keeps node %i, which does not run, as it is: %s', (index, id) => {
    expect(warned(`/flow/nodes/${index}`)).toEqual(['unsupported_capability'])
    const source = (full.flow.nodes as JsonObject[])[index]!
    for (const name of Object.keys(source).filter(key => !key.includes('edge')))
      expect(nodeOf(id)).toHaveProperty(name, source[name])
  })

  it('keeps warm transfers, and says that they do not run', () => {
    expect(nodeOf('transfer')).toMatchObject({
      transfer_option: { type: 'warm_transfer', on_hold_music: 'ringtone' },
      edge: { destination_node_id: 'end' },
    })
    expect(warned('/flow/nodes/8/transfer_option')).toEqual(['unsupported_capability'])
  })

  it('leaves out what is no node that drafts have, whole', () => {
    expect(unplaced['/flow/nodes/pad']).toMatchObject({ type: 'sticky_note' })
    expect(warned('/flow/nodes/16')).toEqual(['unsupported_capability'])
    expect(unplaced['/flow/nodes/lost']).toMatchObject({ name: 'No tool yet' })
    expect(warned('/flow/nodes/17')).toEqual(['field_ignored'])
  })

  it('renames ids that drafts do not take, and every reference follows', () => {
    expect(warned('/flow/nodes/0/id')).toEqual(['id_renamed'])
    expect(warned('/flow/nodes/6/id')).toEqual(['id_renamed'])
    expect(draft.flow.components[0]!.component_id).toBe('verify_caller')
    expect(nodeOf('component')).toMatchObject({ component_id: 'verify_caller' })
    expect(nodeOf('sub')).toMatchObject({ tool_ids: ['tool-slots', 'tool_form', 'book'] })
    // The component's own tool of that id, not the flow's.
    expect(draft.flow.components[0]!.nodes[1]).toMatchObject({ tool_id: 'tool-slots-2' })
  })

  it('leads to a renamed node from wherever an edge led to it', () => {
    const edge = { id: 'e', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'far/away' }
    const { agent, flow } = exportFile('minimal-export')
    const nodes = [
      { id: 'far/away', type: 'conversation', edges: [edge], always_edge: edge },
      { id: 'move', type: 'transfer_call', transfer_destination: { type: 'inferred', prompt: 'Whom' }, edge },
    ]
    const moved = importExport(importOf({ agent, flow: { ...flow, nodes, start_node_id: 'far/away' } }), secrets)
    expect(imported(moved).flow).toMatchObject({
      start_node_id: 'far_away',
      nodes: [
        { edges: [{ destination_node_id: 'far_away' }], always_edge: { id: 'e-2', destination_node_id: 'far_away' } },
        { edge: { destination_node_id: 'far_away' } },
      ],
    })
  })

  it('cuts an id that is too long, at a character', () => {
    const result = withNode({ id: '😀'.repeat(70), type: 'end' })
    expect(imported(result).flow.nodes[2]!.id).toBe('😀'.repeat(63))
  })
})

describe('imported tools', () => {
  it('are actions of their kinds', () =>
    expect(draft.actions.map(action => `${action.action_id}: ${action.kind} ${action.name}`)).toEqual([
      'tool-slots: http find_slots',
      'tool_form: http send_form',
      'tool-bye: end_call end_call',
      'tool-desk: transfer_call to_desk',
      'tool-swap: agent_swap to_billing',
      'tool-keys: press_digit press_keys',
      'tool-sms: send_sms text_them',
      'tool-read: extract_dynamic_variables read_out',
      'book: http book',
      'tool-slots-2: http find_slots-2',
    ]))

  it('ask over HTTP as they asked before', () =>
    expect(actionOf('tool-slots')).toMatchObject({
      description: 'Finds free appointments',
      method: 'GET',
      url: 'https://api.example.com/slots?day={{day}}',
      headers: { 'X-Clinic': 'harbour' },
      query: { limit: '3' },
      parameters: { type: 'object', required: ['day'] },
      body_format: 'json',
      args_at_root: true,
      response_variables: { slot: '$.slots[0].time' },
      timeout_ms: 9000,
      speak_during_execution: true,
      speak_after_execution: false,
      auth: null,
      idempotency: 'none',
    }))

  it('transfer to the same number, with the headers that may be sent', () => {
    expect(actionOf('tool-desk')).toMatchObject({
      transfer_destination: { type: 'predefined', number: '+34910000001', extension: '12' },
      transfer_option: { show_transferee_as_caller: true, transfer_ring_duration_ms: 20_000 },
      custom_sip_headers: { 'X-Desk': 'front' },
    })
    expect(unplaced['/flow/tools/tool-desk/custom_sip_headers/Subject']).toBe('no')
  })

  it('are left out where there is no such action, or none that could be called', () => {
    expect(warned('/flow/tools/9')).toContain('unsupported_capability')
    expect(warned('/flow/tools/10')).toEqual(['unsupported_capability'])
    expect(unplaced['/flow/tools/tool-nowhere']).toMatchObject({ url: 'https://{{host}}/x' })
    expect(warned('/flow/tools/2')).toEqual(['field_ignored'])
  })

  it('bring no secret with them', () => {
    expect(unplaced['/flow/tools/tool-cal']).toEqual({
      type: 'check_availability_cal',
      tool_id: 'tool-cal',
      name: 'check_cal',
      event_type_id: 5,
    })
    expect(JSON.stringify(draft)).not.toContain('made-up')
    expect(warned('/flow/tools/9/cal_api_key')).toEqual(['field_ignored'])
  })
})

describe('an import is refused', () => {
  const choice = '/flow/nodes/0/model_choice'
  const { [choice]: bound, ...others } = body.model_bindings

  it.each([
    [
      'the export is of another kind of agent',
      changed(body, ['agent', 'response_engine', 'type'], 'single-prompt'),
      'unsupported_capability',
      '/agent/response_engine/type',
    ],
    ['the version is not the one of the export', { ...body, agent_version: 8 }, undefined, '/agent_version'],
    ['it names nobody', changed(body, ['agent', 'agent_name'], ''), undefined, '/agent/agent_name'],
    [
      'the agent need not be recorded',
      changed(body, ['config', 'recording', 'required'], false),
      undefined,
      '/config/recording/required',
    ],
    [
      'it is recorded in one channel',
      changed(body, ['config', 'recording', 'channels'], 'mono'),
      undefined,
      '/config/recording/channels',
    ],
    [
      'nobody pins the webhook',
      changed(body, ['config', 'webhook'], undefined),
      'webhook_mismatch',
      '/agent/webhook_url',
    ],
    [
      'another webhook is pinned',
      changed(body, ['config', 'webhook', 'url'], 'https://else.example.com'),
      'webhook_mismatch',
      '/agent/webhook_url',
    ],
    [
      'the webhook is no http one',
      changed(body, ['config', 'webhook', 'url'], 'wss://else.example.com'),
      undefined,
      '/config/webhook/url',
    ],
    [
      'there is no such secret',
      changed(body, ['config', 'webhook', 'secretRef'], 'other@1'),
      'secret_not_found',
      '/config/webhook/secretRef',
    ],
    [
      'a model is bound where none is named',
      { ...body, model_bindings: { ...body.model_bindings, '/flow/nodes/1/model_choice': bound! } },
      undefined,
      '/model_bindings/~1flow~1nodes~11~1model_choice',
    ],
    [
      'there are more nodes than a flow has',
      changed(
        body,
        ['flow', 'nodes'],
        Array.from({ length: 501 }, () => ({ id: 'a', type: 'end' })),
      ),
      undefined,
      '/flow/nodes',
    ],
  ])('where %s', (_, sent, reason, path) => {
    const found = refusal(importExport(sent, secrets))
    expect(found).toMatchObject({ reason, details: { issues: [{ path }] } })
    expect(found!.code).toBe(reason === 'unsupported_capability' ? 'capability_unavailable' : 'invalid_request')
  })

  it('where a model is not bound', () =>
    expect(refusal(importExport({ ...body, model_bindings: others }, secrets))).toMatchObject({
      code: 'publication_invalid',
      reason: 'model_binding_required',
      details: { diagnostics: [{ code: 'model_binding_required', path: choice, severity: 'error' }] },
    }))

  it('where it is deeper than bodies are', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as never
    expect(refusal(importExport(changed(body, ['flow', 'x'], deep), secrets))!.code).toBe('invalid_request')
  })

  it('where one node has more edges than anybody reads', () => {
    const edges = Array.from({ length: 300_000 }, () => ({ id: 'e' }))
    expect(refusal(importExport(changed(body, ['flow', 'nodes', 0, 'edges'], edges), secrets))).toMatchObject({
      details: { issues: [{ path: '/flow/nodes/0/edges' }] },
    })
  })
})

describe('an import', () => {
  it('takes the version of the engine where the agent says none', () => {
    const { agent, flow } = exportFile('minimal-export')
    const minimal = importOf({ agent, flow })
    expect(imported(importExport(minimal, secrets)).source).toMatchObject({ agent_version: 0 })
    expect(refusal(importExport({ ...minimal, agent_version: 1 }, secrets))).toMatchObject({ code: 'invalid_request' })
  })

  it('pins the version that its reference names', () => {
    const pinned = importExport(changed(body, ['config', 'webhook', 'secretRef'], 'hook@2'), secrets)
    expect(imported(pinned).notification!.secret).toEqual({ id: 'hook', version: '2' })
  })

  it('thinks with the model that is bound for the flow, and says when it is another than config says', () => {
    const other = importExport(
      { ...body, model_bindings: { ...body.model_bindings, '/flow/model_choice': modelOf('own-small') } },
      secrets,
    )
    expect(imported(other).providers.llm.model.model_id).toBe('own-small')
    expect(other.ok && other.warnings.map(({ path }) => path)).toContain('/config/providers/llm/model')
  })

  it('does not change what it is given', () => {
    const before = structuredClone(body)
    importExport(body, secrets)
    expect(body).toEqual(before)
  })
})
