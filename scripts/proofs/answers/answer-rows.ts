import type { Draft } from '@parley/flow'
import type { CallerStep } from '@parley/phone'
import { endNode, equationEdge, promptEdge, staticNode } from '../../../interop/conversation-flows.ts'

const GREETING = 'Hi, you have reached Anna. I cannot take your call right now. Please leave a message after the tone.'
const MENU = 'Welcome to the clinic. For sales press one. For support press two.'
const MESSAGE = 'This is Parley. Please call us back tomorrow.'
const OPENING = 'Hello, this is Parley.'
const BEEP = { hz: 1000, ms: 500 }
/** The answer tone of a fax machine (ITU-T T.30, CED). */
const FAX_TONE = { hz: 2100, ms: 3000 }

type Flow = NonNullable<Draft['flow']>

/** A far end that answers a call, the agent that called it, and what must become of the call. */
export interface AnswerRow {
  readonly name: string
  readonly settings: Draft['settings']
  /** Default: says `OPENING` and listens. */
  readonly flow?: Flow
  readonly steps: readonly CallerStep[]
  readonly expected: {
    /** The last classes of the timeline items `contact`, in order. On a busy machine words come late, and a first verdict is revised. */
    readonly classes: readonly (string | null)[]
    readonly contact: string
    readonly answered_by: string | null
    readonly kind: string
    readonly detail: string | null
    readonly ended_by: 'agent' | 'callee'
    readonly disposition: string
    /** Text that the far end must have heard, and text that it must not have. */
    readonly hears?: RegExp
    readonly neverHears?: RegExp
    /** Keys that the far end must have received. */
    readonly digits?: string
    /** The message begins after the beep in the recording, within 300 ms. */
    readonly leavesMessage?: true
  }
}

const HANGS_UP: Draft['settings'] = {
  voicemail: { enabled: true, action: 'hangup' },
  ivr: { enabled: true, action: 'hangup' },
  callScreening: { enabled: true, identity: 'Parley', purpose: 'your order' },
}
const LEAVES: Draft['settings'] = {
  ...HANGS_UP,
  voicemail: { enabled: true, action: 'leave_message', message: { type: 'static_text', text: MESSAGE } },
}
const BY_CALLEE = {
  kind: 'caller_hung_up',
  detail: 'callee_hung_up',
  ended_by: 'callee',
  disposition: 'caller_hung_up',
} as const
const PERSON = { contact: 'human', answered_by: 'human', ...BY_CALLEE } as const
const MAILBOX = { contact: 'voicemail', answered_by: 'voicemail', kind: 'voicemail', ended_by: 'agent' } as const

const pickup: CallerStep = { type: 'wait', ms: 400 }
const hungUp: CallerStep = { type: 'hung-up', withinMs: 40_000 }

export const TALKS: Flow = {
  start_node_id: 'hello',
  nodes: [staticNode('hello', OPENING), { id: 'end', type: 'end', global_node_setting: { condition: 'wants to end' } }],
}

const IS_MENU = equationEdge('menu', 'press', '{{current_answered_by}}', '==', 'ivr')

/** Presses 1 when a menu was heard, in its first turn or in a later one; what answers then gets the opening. */
const NAVIGATES: Flow = {
  start_node_id: 'answered',
  start_speaker: 'user',
  nodes: [
    { id: 'answered', type: 'branch', edges: [IS_MENU], else_edge: promptEdge('unclear', 'wait') },
    staticNode('wait', 'Yes?', { edges: [IS_MENU], else_edge: promptEdge('talk', 'hello') }),
    {
      id: 'press',
      type: 'press_digit',
      instruction: { type: 'static_text', text: '1' },
      else_edge: promptEdge('on', 'hello'),
    },
    endNode('hello', OPENING),
  ],
}

export const ANSWER_ROWS: readonly AnswerRow[] = [
  {
    name: 'person',
    settings: HANGS_UP,
    steps: [
      pickup,
      { type: 'say', text: 'Hello?' },
      { type: 'hear', pattern: /Parley/ },
      { type: 'quiet' },
      { type: 'say', text: 'Yes, this is Anna.' },
      { type: 'wait', ms: 1500 },
      { type: 'hang-up' },
    ],
    expected: { classes: ['human'], ...PERSON, hears: /this is Parley/ },
  },
  {
    name: 'mailbox, hang up',
    settings: HANGS_UP,
    steps: [pickup, { type: 'say', text: GREETING, tone: BEEP }, hungUp],
    expected: { classes: ['voicemail'], ...MAILBOX, detail: 'hung_up', disposition: 'voicemail' },
  },
  {
    name: 'mailbox, message',
    settings: LEAVES,
    steps: [pickup, { type: 'say', text: GREETING, tone: BEEP }, hungUp],
    expected: {
      classes: ['voicemail'],
      ...MAILBOX,
      detail: 'message_left',
      disposition: 'voicemail',
      hears: /Please call us back tomorrow/,
      leavesMessage: true,
    },
  },
  {
    name: 'mailbox, full',
    settings: LEAVES,
    steps: [pickup, { type: 'say', text: 'The mailbox is full and cannot accept any messages. Goodbye.' }, hungUp],
    expected: {
      classes: ['mailbox_unavailable'],
      ...MAILBOX,
      answered_by: 'mailbox_unavailable',
      detail: 'mailbox_unavailable',
      disposition: 'mailbox_unavailable',
      neverHears: /call us back/,
    },
  },
  {
    name: 'menu, hang up',
    settings: HANGS_UP,
    steps: [pickup, { type: 'say', text: MENU }, hungUp],
    expected: {
      classes: ['ivr'],
      contact: 'ivr',
      answered_by: 'ivr',
      kind: 'agent_hung_up',
      detail: 'ivr',
      ended_by: 'agent',
      disposition: 'ivr',
    },
  },
  {
    name: 'menu, a key is pressed',
    settings: { ...HANGS_UP, ivr: { enabled: true, action: 'navigate' } },
    flow: NAVIGATES,
    steps: [
      pickup,
      { type: 'say', text: MENU },
      { type: 'keys', digits: '1' },
      { type: 'wait', ms: 1000 },
      { type: 'say', text: 'Sales, Anna speaking.' },
      { type: 'hear', pattern: /this is Parley/ },
      hungUp,
    ],
    expected: {
      classes: ['ivr'],
      contact: 'ivr',
      answered_by: 'ivr',
      kind: 'completed',
      detail: null,
      ended_by: 'agent',
      disposition: 'completed',
      digits: '1',
    },
  },
  {
    name: 'screener, then a person',
    settings: HANGS_UP,
    steps: [
      pickup,
      {
        type: 'say',
        text: 'Hi, if you record your name and reason for calling, I will see if this person is available.',
      },
      { type: 'hear', pattern: /your order/ },
      { type: 'wait', ms: 3000 },
      { type: 'say', text: 'Hello?' },
      { type: 'hear', pattern: /this is Parley/ },
      { type: 'quiet' },
      { type: 'hang-up' },
    ],
    expected: { classes: ['screener', 'human'], ...PERSON, hears: /calling about your order/ },
  },
  {
    name: 'announcement',
    settings: {},
    steps: [
      pickup,
      { type: 'say', text: 'The number you have dialed is not in service. Please check the number.' },
      hungUp,
    ],
    expected: {
      classes: ['announcement'],
      contact: 'unknown',
      answered_by: 'announcement',
      kind: 'no_answer',
      detail: 'announcement',
      ended_by: 'agent',
      disposition: 'announcement',
    },
  },
  {
    name: 'fax machine',
    settings: {},
    steps: [pickup, { type: 'say', text: '', tone: FAX_TONE }, hungUp],
    expected: {
      classes: ['fax'],
      contact: 'unknown',
      answered_by: 'fax',
      kind: 'no_answer',
      detail: 'fax',
      ended_by: 'agent',
      disposition: 'fax',
    },
  },
  {
    name: 'silence',
    settings: { voicemail: { enabled: true, action: 'hangup', detectionTimeoutMs: 5000 } },
    steps: [{ type: 'wait', ms: 9000 }, { type: 'hang-up' }],
    expected: { classes: ['silence'], contact: 'unknown', answered_by: 'silence', ...BY_CALLEE },
  },
]
