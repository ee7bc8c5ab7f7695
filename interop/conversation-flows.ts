import type { Draft } from '@parley/flow'

type Flow = NonNullable<Draft['flow']>
type DraftNode = NonNullable<Flow['nodes']>[number]
type DraftAction = NonNullable<Draft['actions']>[number]
type Conversing = Extract<DraftNode, { type: 'conversation' }>
type Operator = '==' | '>='

const providers = {
  stt: { provider: 'simulated', model: 'tones-1' },
  llm: { provider: 'simulated_hosted', model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } },
  tts: { provider: 'simulated', model: 'tones-1' },
} as const satisfies Draft['providers']

/** A draft of these nodes, for the built-in voice, recogniser and model; the first is the start. */
export function draftOf(nodes: DraftNode[], flow: Partial<Flow> = {}, rest: Partial<Draft> = {}): Draft {
  return { name: 'Under test', providers, flow: { start_node_id: nodes[0]!.id, nodes, ...flow }, ...rest }
}

export const staticText = (text: string) => ({ type: 'static_text', text }) as const

/** An edge that the model decides; also the fixed ones, whose words mean nothing. */
export function when(id: string, to: string, prompt = 'Else') {
  return { id, transition_condition: { type: 'prompt', prompt }, destination_node_id: to } as const
}

/** An edge by one equation. */
export function equals(id: string, to: string, left: string, operator: Operator, right: string) {
  const equations = [{ left, operator, right }]
  return { id, transition_condition: { type: 'equation' as const, equations }, destination_node_id: to }
}

export function says(id: string, text: string, rest: Partial<Conversing> = {}): DraftNode {
  return { id, type: 'conversation', instruction: staticText(text), ...rest }
}

export function asks(id: string, prompt: string, rest: Partial<Conversing> = {}): DraftNode {
  return { id, type: 'conversation', instruction: { type: 'prompt', text: prompt }, ...rest }
}

/** The end, with last words. */
export function bye(id: string, text: string): DraftNode {
  return { id, type: 'end', speak_during_execution: true, instruction: staticText(text) }
}

/** One agent for each part of the format; together they have every node type, kind of edge and rule of global nodes. */
export function formatAgents(origin: string): Readonly<Record<string, Draft>> {
  return {
    florist: florist(),
    pharmacy: pharmacy(origin),
    kitchen: kitchen(origin),
    menus: menus(),
    switchboard: switchboard(),
    restaurant: restaurant(),
    club: club(),
  }
}

function florist(): Draft {
  return draftOf([
    says('hello', 'Flower shop, good morning. What can I do for you?', {
      edges: [when('flowers', 'count', 'The caller wants flowers or roses')],
      else_edge: when('other', 'sorry'),
    }),
    asks('count', 'Ask how many roses they want.', { always_edge: when('go', 'read', 'Always') }),
    {
      id: 'read',
      type: 'extract_dynamic_variables',
      variables: [{ type: 'number', name: 'roses', description: 'How many roses the caller wants', required: true }],
      else_edge: when('on', 'size'),
    },
    {
      id: 'size',
      type: 'branch',
      edges: [equals('many', 'large', 'roses', '>=', '10')],
      else_edge: when('few', 'small'),
    },
    bye('large', '{{roses}} roses are a large order. We will call you back.'),
    bye('small', '{{roses}} roses, very well. Goodbye.'),
    bye('sorry', 'We only sell flowers. Goodbye.'),
  ])
}

function pharmacy(origin: string): Draft {
  const find: DraftAction = {
    action_id: 'find',
    kind: 'http',
    name: 'find_prescription',
    description: 'Use it when the caller asks about a prescription',
    method: 'GET',
    url: `${origin}/prescriptions`,
    timeout_ms: 5000,
    parameters: {
      type: 'object',
      properties: { number: { type: 'string', description: 'The number of the prescription' } },
      required: ['number'],
    },
    response_variables: { prescription_state: '$.state' },
  }
  return draftOf(
    [
      {
        id: 'desk',
        type: 'subagent',
        instruction: { type: 'prompt', text: 'Ask which prescription they are calling about.' },
        tool_ids: ['find'],
        edges: [
          equals('ready', 'collect', 'prescription_state', '==', 'ready'),
          when('done', 'done', 'The caller says goodbye'),
        ],
      },
      bye('collect', 'It is ready. You can collect it today.'),
      bye('done', 'Goodbye.'),
    ],
    {},
    { actions: [find] },
  )
}

function kitchen(origin: string): Draft {
  const order: DraftAction = {
    action_id: 'order',
    kind: 'http',
    name: 'place_order',
    method: 'POST',
    url: `${origin}/orders`,
    timeout_ms: 8000,
    parameters: {
      type: 'object',
      properties: { dish: { type: 'string', const: '{{dish}}' } },
      required: ['dish'],
    },
    response_variables: { order_number: '$.number' },
  }
  return draftOf(
    [
      says('hello', 'Hello, what can I bring you?', { always_edge: when('go', 'read', 'Always') }),
      {
        id: 'read',
        type: 'extract_dynamic_variables',
        variables: [{ type: 'enum', name: 'dish', description: 'The dish', choices: ['soup', 'fish'], required: true }],
        else_edge: when('on', 'order'),
      },
      {
        id: 'order',
        type: 'function',
        tool_id: 'order',
        wait_for_result: true,
        speak_during_execution: true,
        instruction: staticText('One moment, I ask the kitchen.'),
        edges: [equals('taken', 'ordered', 'current_action_outcome', '==', 'succeeded')],
        else_edge: when('failed', 'closed'),
      },
      bye('ordered', 'Your order has number {{order_number}}.'),
      bye('closed', 'The kitchen does not answer. Goodbye.'),
    ],
    { default_dynamic_variables: { dish: '' } },
    { actions: [order] },
  )
}

/** Calls a machine that offers menus, and finds its way by keys. */
function menus(): Draft {
  return draftOf(
    [
      {
        id: 'find',
        type: 'press_digit',
        instruction: { type: 'prompt', text: 'Reach the support.' },
        delay_ms: 200,
        edges: [when('support', 'code', 'The caller says that this is the support')],
      },
      {
        id: 'code',
        type: 'press_digit',
        instruction: staticText('4w2#'),
        delay_ms: 0,
        edges: [],
        else_edge: when('in', 'thanks'),
      },
      bye('thanks', 'Thank you, that was all.'),
    ],
    { start_speaker: 'user' },
    { settings: { openerWaitsForCallee: true } },
  )
}

function switchboard(): Draft {
  return draftOf([
    says('hello', 'I put you through to the shop.', { skip_response_edge: when('on', 'shop', 'Skip response') }),
    {
      id: 'shop',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number: '+12025550123' },
      custom_sip_headers: { 'X-Reason': 'roses' },
      edge: when('failed', 'nobody', 'Transfer failed'),
    },
    bye('nobody', 'Nobody is there. Goodbye.'),
  ])
}

function restaurant(): Draft {
  return draftOf([
    asks('order', 'Ask what they would like to eat.', {
      edges: [when('dish', 'taken', 'The caller orders soup or fish')],
    }),
    says('hours', 'We are open from noon to midnight.', {
      global_node_setting: {
        condition: 'The caller asks about opening hours',
        cool_down: 2,
        go_back_conditions: [
          { id: 'talk', transition_condition: { type: 'prompt', prompt: 'The caller wants to go on with the order' } },
          {
            id: 'key',
            transition_condition: {
              type: 'equation',
              equations: [{ left: 'current_digits', operator: '==', right: '9' }],
            },
          },
        ],
      },
    }),
    bye('taken', 'It is on its way. Goodbye.'),
  ])
}

function club(): Draft {
  return draftOf(
    [
      {
        id: 'identify',
        type: 'component',
        component_id: 'member',
        edges: [equals('known', 'welcome', 'current_digits', '==', '1234')],
        else_edge: when('unknown', 'stranger'),
      },
      says('welcome', 'Welcome to the club.', { skip_response_edge: when('on', 'enjoy', 'Skip response') }),
      bye('enjoy', 'Enjoy your stay.'),
      bye('stranger', 'I do not know that code. Goodbye.'),
    ],
    {
      components: [
        {
          component_id: 'member',
          start_node_id: 'code',
          nodes: [
            says('code', 'Please key in your code and the hash key.', {
              edges: [
                {
                  id: 'keyed',
                  transition_condition: {
                    type: 'equation',
                    equations: [{ left: 'current_digits', operator: 'exists' }],
                  },
                  destination_node_id: 'done',
                },
              ],
            }),
            { id: 'done', type: 'end' },
          ],
        },
      ],
    },
    { settings: { userDtmfOptions: { terminationKey: '#' } } },
  )
}
