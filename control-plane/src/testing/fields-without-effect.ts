import type { Draft } from '@parley/flow'

type Node = NonNullable<NonNullable<Draft['flow']>['nodes']>[number]
type Action = NonNullable<Draft['actions']>[number]

/** Fields that no engine reads, a draft that sets them, and the path of the validation's warning. */
export interface FieldsWithoutEffect {
  readonly fields: string
  readonly draft: Pick<Draft, 'settings' | 'actions' | 'analysis' | 'knowledge'> & {
    readonly providers?: { readonly [Role in 'stt' | 'llm' | 'tts']?: object }
    readonly node?: Node
  }
  readonly path: string
  /** Default: not_executed. */
  readonly code?: string
}

const MODEL = { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } as const
const KEY = { id: 'key', version: '2' } as const
const MODEL_KEY = { ...KEY, provider: 'parley' } as const
const RINGING = { type: 'cold_transfer', transfer_ring_duration_ms: 20_000 } as const
const SOMEWHERE = { type: 'predefined', number: '+15550100' } as const
const END = { id: 'hi', type: 'end' } as const

const talks = (fields: object): Node => ({
  id: 'hi',
  type: 'conversation',
  instruction: { type: 'prompt', text: 'Greet.' },
  ...fields,
})
const action = (fields: object): Action => ({ action_id: 'a', name: 'a', ...fields }) as Action

const SETTINGS: readonly (readonly [members: string, settings: NonNullable<Draft['settings']>])[] = [
  ['', { denoisingMode: 'noise-cancellation' }],
]

const IN_SETTINGS: readonly FieldsWithoutEffect[] = SETTINGS.map(([members, settings]) => {
  const [name] = Object.keys(settings)
  const fields = [name!, ...members.split(' ').flatMap(member => (member === '' ? [] : [`${name}.${member}`]))]
  return { fields: fields.map(field => `Settings.${field}`).join(' '), draft: { settings }, path: `/settings/${name}` }
})

const IN_CONVERSATIONS: readonly FieldsWithoutEffect[] = [
  {
    fields: 'Node[conversation].enable_typing_sound Node[subagent].enable_typing_sound',
    draft: { node: talks({ enable_typing_sound: true }) },
    path: '/flow/nodes/0/enable_typing_sound',
  },
]

const IN_PROVIDERS: readonly FieldsWithoutEffect[] = [
  {
    fields: 'SpeechProvider.credential RecogniserProvider.credential',
    draft: { providers: { stt: { credential: KEY } } },
    path: '/providers/stt/credential',
  },
  {
    fields: 'SpeechProvider.endpoint RecogniserProvider.endpoint',
    draft: { providers: { tts: { endpoint: 'https://voice.example/' } } },
    path: '/providers/tts/endpoint',
  },
  {
    // That of the voice is read.
    fields: 'RecogniserProvider.voiceId',
    draft: { providers: { stt: { voiceId: 'low' } } },
    path: '/providers/stt/voiceId',
  },
  {
    fields: 'LanguageModelProvider.credential ModelCredential.id ModelCredential.version ModelCredential.provider',
    draft: { providers: { llm: { credential: MODEL_KEY } } },
    path: '/providers/llm/credential',
  },
  {
    fields: 'LanguageModelProvider.endpoint',
    draft: { providers: { llm: { endpoint: 'https://model.example/' } } },
    path: '/providers/llm/endpoint',
  },
  {
    fields: 'ModelRef.credential',
    draft: { analysis: { items: [], model: { model: MODEL, credential: MODEL_KEY } } },
    path: '/analysis/model/credential',
  },
  {
    fields: 'ModelRef.credential',
    draft: { node: talks({ model_choice: { model: MODEL, credential: MODEL_KEY } }) },
    path: '/flow/nodes/0/model_choice/credential',
  },
]

const TYPING: readonly (readonly [fields: string, draft: FieldsWithoutEffect['draft'], path: string])[] = [
  [
    'Node[code].enable_typing_sound',
    { node: { ...END, type: 'code', enable_typing_sound: true } },
    '/flow/nodes/0/enable_typing_sound',
  ],
  [
    'Node[mcp].enable_typing_sound',
    { node: { ...END, type: 'mcp', mcp_id: 'm', mcp_tool_name: 't', enable_typing_sound: true } },
    '/flow/nodes/0/enable_typing_sound',
  ],
  [
    'Action[code].enable_typing_sound',
    { actions: [action({ kind: 'code', enable_typing_sound: true })] },
    '/actions/0/enable_typing_sound',
  ],
  [
    'Action[mcp].enable_typing_sound',
    { actions: [action({ kind: 'mcp', mcp_id: 'm', enable_typing_sound: true })] },
    '/actions/0/enable_typing_sound',
  ],
]

const IN_NODES_AND_ACTIONS: readonly FieldsWithoutEffect[] = [
  ...TYPING.map(([fields, draft, path]) => ({ fields, draft, path })),
  ...['post_call_analysis_setting', 'webhook_setting'].flatMap(name => [
    {
      fields: `Node[agent_swap].${name}`,
      draft: { node: { ...END, type: 'agent_swap', agent_id: 'billing', [name]: 'both_agents' } as Node },
      path: `/flow/nodes/0/${name}`,
    },
    {
      fields: `Action[agent_swap].${name}`,
      draft: { actions: [action({ kind: 'agent_swap', agent_id: 'billing', [name]: 'both_agents' })] },
      path: `/actions/0/${name}`,
    },
  ]),
  {
    fields: 'Node[function].tool_type',
    draft: { node: { ...END, type: 'function', tool_id: 'a', tool_type: 'shared' } },
    path: '/flow/nodes/0/tool_type',
  },
  {
    fields: 'Node[function].enable_typing_sound',
    draft: { node: { ...END, type: 'function', tool_id: 'a', enable_typing_sound: true } },
    path: '/flow/nodes/0/enable_typing_sound',
  },
  {
    fields: 'Node[transfer_call].transfer_option[cold_transfer].transfer_ring_duration_ms',
    draft: { node: { ...END, type: 'transfer_call', transfer_destination: SOMEWHERE, transfer_option: RINGING } },
    path: '/flow/nodes/0/transfer_option/transfer_ring_duration_ms',
  },
  {
    fields: 'Action[transfer_call].transfer_option[cold_transfer].transfer_ring_duration_ms',
    draft: {
      actions: [action({ kind: 'transfer_call', transfer_destination: SOMEWHERE, transfer_option: RINGING })],
    },
    path: '/actions/0/transfer_option/transfer_ring_duration_ms',
  },
  {
    fields: 'Action[http].enable_typing_sound',
    draft: {
      actions: [action({ kind: 'http', method: 'GET', url: 'https://shop.example/', enable_typing_sound: true })],
    },
    path: '/actions/0/enable_typing_sound',
  },
  {
    fields: 'Node[extract_dynamic_variables].enable_typing_sound',
    draft: {
      node: {
        ...END,
        type: 'extract_dynamic_variables',
        variables: [{ type: 'string', name: 'who', description: 'Name' }],
        enable_typing_sound: true,
      },
    },
    path: '/flow/nodes/0/enable_typing_sound',
  },
  {
    fields: 'Action[press_digit].instruction',
    draft: { actions: [action({ kind: 'press_digit', instruction: { type: 'prompt', text: 'Press 1.' } })] },
    path: '/actions/0/instruction',
  },
]

export const FIELDS_WITHOUT_EFFECT = [...IN_SETTINGS, ...IN_PROVIDERS, ...IN_CONVERSATIONS, ...IN_NODES_AND_ACTIONS]

/** Fields outside drafts that change nothing about runs: their description in the API document says so. */
export const DESCRIBED_AS_WITHOUT_EFFECT = ['trunks.create.provider']
