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

/** A draft of these nodes with the built-in voice, recogniser and model; the first node is the start. */
export function draftOf(nodes: DraftNode[], flow: Partial<Flow> = {}, rest: Partial<Draft> = {}): Draft {
  return { name: 'Under test', providers, flow: { start_node_id: nodes[0]!.id, nodes, ...flow }, ...rest }
}

export const staticText = (text: string) => ({ type: 'static_text', text }) as const

/** A prompt edge, which the model decides; also used for else, always and skip-response edges, whose prompt is ignored. */
export function promptEdge(id: string, to: string, prompt = 'Else') {
  return { id, transition_condition: { type: 'prompt', prompt }, destination_node_id: to } as const
}

/** An edge with one equation. */
export function equationEdge(id: string, to: string, left: string, operator: Operator, right: string) {
  const equations = [{ left, operator, right }]
  return { id, transition_condition: { type: 'equation' as const, equations }, destination_node_id: to }
}

export function staticNode(id: string, text: string, rest: Partial<Conversing> = {}): DraftNode {
  return { id, type: 'conversation', instruction: staticText(text), ...rest }
}

export function promptNode(id: string, prompt: string, rest: Partial<Conversing> = {}): DraftNode {
  return { id, type: 'conversation', instruction: { type: 'prompt', text: prompt }, ...rest }
}

/** An end node that speaks `text` first. */
export function endNode(id: string, text: string): DraftNode {
  return { id, type: 'end', speak_during_execution: true, instruction: staticText(text) }
}

/** Agents that together have every executable node type, every kind of edge and every rule of global nodes. */
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
    staticNode('hello', 'Flower shop, good morning. What can I do for you?', {
      edges: [promptEdge('flowers', 'count', 'The caller wants flowers or roses')],
      else_edge: promptEdge('other', 'sorry'),
    }),
    promptNode('count', 'Ask how many roses they want.', { always_edge: promptEdge('go', 'read', 'Always') }),
    {
      id: 'read',
      type: 'extract_dynamic_variables',
      variables: [{ type: 'number', name: 'roses', description: 'How many roses the caller wants', required: true }],
      else_edge: promptEdge('on', 'size'),
    },
    {
      id: 'size',
      type: 'branch',
      edges: [equationEdge('many', 'large', 'roses', '>=', '10')],
      else_edge: promptEdge('few', 'small'),
    },
    endNode('large', '{{roses}} roses are a large order. We will call you back.'),
    endNode('small', '{{roses}} roses, very well. Goodbye.'),
    endNode('sorry', 'We only sell flowers. Goodbye.'),
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
          equationEdge('ready', 'collect', 'prescription_state', '==', 'ready'),
          promptEdge('done', 'done', 'The caller says goodbye'),
        ],
      },
      endNode('collect', 'It is ready. You can collect it today.'),
      endNode('done', 'Goodbye.'),
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
      staticNode('hello', 'Hello, what can I bring you?', { always_edge: promptEdge('go', 'read', 'Always') }),
      {
        id: 'read',
        type: 'extract_dynamic_variables',
        variables: [{ type: 'enum', name: 'dish', description: 'The dish', choices: ['soup', 'fish'], required: true }],
        else_edge: promptEdge('on', 'order'),
      },
      {
        id: 'order',
        type: 'function',
        tool_id: 'order',
        wait_for_result: true,
        speak_during_execution: true,
        instruction: staticText('One moment, I ask the kitchen.'),
        edges: [equationEdge('taken', 'ordered', 'current_action_outcome', '==', 'succeeded')],
        else_edge: promptEdge('failed', 'closed'),
      },
      endNode('ordered', 'Your order has number {{order_number}}.'),
      endNode('closed', 'The kitchen does not answer. Goodbye.'),
    ],
    { default_dynamic_variables: { dish: '' } },
    { actions: [order] },
  )
}

/** Calls a phone menu and navigates it by keys. */
function menus(): Draft {
  return draftOf(
    [
      {
        id: 'find',
        type: 'press_digit',
        instruction: { type: 'prompt', text: 'Reach the support.' },
        delay_ms: 200,
        edges: [promptEdge('support', 'code', 'The caller says that this is the support')],
      },
      {
        id: 'code',
        type: 'press_digit',
        instruction: staticText('4w2#'),
        delay_ms: 0,
        edges: [],
        else_edge: promptEdge('in', 'thanks'),
      },
      endNode('thanks', 'Thank you, that was all.'),
    ],
    { start_speaker: 'user' },
    { settings: { openerWaitsForCallee: true } },
  )
}

function switchboard(): Draft {
  return draftOf([
    staticNode('hello', 'I put you through to the shop.', {
      skip_response_edge: promptEdge('on', 'shop', 'Skip response'),
    }),
    {
      id: 'shop',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number: '+12025550123' },
      custom_sip_headers: { 'X-Reason': 'roses' },
      edge: promptEdge('failed', 'nobody', 'Transfer failed'),
    },
    endNode('nobody', 'Nobody is there. Goodbye.'),
  ])
}

function restaurant(): Draft {
  return draftOf([
    promptNode('order', 'Ask what they would like to eat.', {
      edges: [promptEdge('dish', 'taken', 'The caller orders soup or fish')],
    }),
    staticNode('hours', 'We are open from noon to midnight.', {
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
    endNode('taken', 'It is on its way. Goodbye.'),
  ])
}

function club(): Draft {
  return draftOf(
    [
      {
        id: 'identify',
        type: 'component',
        component_id: 'member',
        edges: [equationEdge('known', 'welcome', 'current_digits', '==', '1234')],
        else_edge: promptEdge('unknown', 'stranger'),
      },
      staticNode('welcome', 'Welcome to the club.', { skip_response_edge: promptEdge('on', 'enjoy', 'Skip response') }),
      endNode('enjoy', 'Enjoy your stay.'),
      endNode('stranger', 'I do not know that code. Goodbye.'),
    ],
    {
      components: [
        {
          component_id: 'member',
          start_node_id: 'code',
          nodes: [
            staticNode('code', 'Please key in your code and the hash key.', {
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
