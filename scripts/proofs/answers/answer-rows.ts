import type { Draft } from '@parley/flow'
import type { CallerStep } from '@parley/phone'

const GREETING = 'Hi, you have reached Anna. I cannot take your call right now. Please leave a message after the tone.'
const MENU = 'Welcome to the clinic. For sales press one. For support press two.'
const MESSAGE = 'This is Parley. Please call us back tomorrow.'
export const OPENING = 'Hello, this is Parley.'

/** A far end that answers a call, the settings of the agent that called it, and what must become of the call. */
export interface AnswerRow {
  readonly name: string
  readonly settings: Draft['settings']
  readonly steps: readonly CallerStep[]
  readonly expected: {
    readonly classes: readonly string[]
    readonly contact: string
    readonly kind: string
    readonly detail: string | null
    /** Text that the far end must have heard, and text that it must not have. */
    readonly hears?: RegExp
    readonly neverHears?: RegExp
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
const pickup: CallerStep = { type: 'wait', ms: 400 }
const hungUp: CallerStep = { type: 'hung-up', withinMs: 40_000 }

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
    expected: {
      classes: ['human'],
      contact: 'human',
      kind: 'caller_hung_up',
      detail: 'callee_hung_up',
      hears: /this is Parley/,
    },
  },
  {
    name: 'mailbox, hang up',
    settings: HANGS_UP,
    steps: [pickup, { type: 'say', text: GREETING, beep: true }, hungUp],
    expected: { classes: ['voicemail'], contact: 'voicemail', kind: 'voicemail', detail: 'hung_up' },
  },
  {
    name: 'mailbox, message',
    settings: LEAVES,
    steps: [pickup, { type: 'say', text: GREETING, beep: true }, hungUp],
    expected: {
      classes: ['voicemail'],
      contact: 'voicemail',
      kind: 'voicemail',
      detail: 'message_left',
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
      contact: 'voicemail',
      kind: 'voicemail',
      detail: 'mailbox_unavailable',
      neverHears: /call us back/,
    },
  },
  {
    name: 'menu, hang up',
    settings: HANGS_UP,
    steps: [pickup, { type: 'say', text: MENU }, hungUp],
    expected: { classes: ['ivr'], contact: 'ivr', kind: 'agent_hung_up', detail: 'ivr' },
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
    expected: {
      classes: ['screener', 'human'],
      contact: 'human',
      kind: 'caller_hung_up',
      detail: 'callee_hung_up',
      hears: /calling about your order/,
    },
  },
  {
    name: 'announcement',
    settings: {},
    steps: [
      pickup,
      { type: 'say', text: 'The number you have dialed is not in service. Please check the number.' },
      hungUp,
    ],
    expected: { classes: ['announcement'], contact: 'unknown', kind: 'no_answer', detail: 'announcement' },
  },
]
