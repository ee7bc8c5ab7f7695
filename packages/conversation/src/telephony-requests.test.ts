import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ConversationError } from './errors.ts'
import { InMemoryEffectLedger } from './in-memory-effect-ledger.ts'
import type { EffectLedger, EffectRecord, PolicyDecision } from './ledger.ts'
import {
  asks,
  type DraftAction,
  type DraftNode,
  ends,
  httpAction,
  if_,
  planOf,
  says,
  staticText,
  when,
} from './testing/plans.ts'
import { linesOf } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { type HarnessOptions, settle } from './testing/text-conversation-harness.ts'

const RECEIPT = { kind: 'sip_transfer', refer_status: 202, final_sip_status: 200, disconnect_reason: null } as const
const phone = { settings: { channels: ['phone' as const] } }

const connect: DraftNode = {
  id: 'connect',
  type: 'transfer_call',
  transfer_destination: { type: 'predefined', number: '+15550100' },
  custom_sip_headers: { 'X-Reason': 'asked for' },
  edge: when('Transfer failed', 'sorry'),
}
const transferring = planOf(
  [
    says('chat', 'I put you through.', { skip_response_edge: when('Skip response', 'connect') }),
    connect,
    says('sorry', 'Nobody is there.'),
    ends(),
  ],
  phone,
)

async function puttingThrough(rest: HarnessOptions = {}): Promise<SpokenConversationHarness> {
  const talk = new SpokenConversationHarness(transferring, rest)
  await talk.start()
  await talk.hear()
  return talk
}

const rowsOf = (talk: SpokenConversationHarness) =>
  talk.fixture.ledger.records
    .filter(row => row.effect_kind === 'sip_transfer')
    .map(({ action, node_id, ordinal, state, error_code }) => [action.id, node_id, ordinal, state, error_code])

describe('a transfer', () => {
  it('an accepted transfer ends the conversation and leaves its receipt in the ledger', async () => {
    const talk = await puttingThrough()
    expect(talk.events.filter(event => event.type === 'leg-request')).toEqual([
      {
        type: 'leg-request',
        request_id: 'r2',
        request: { type: 'transfer', destination: '+15550100', custom_sip_headers: { 'X-Reason': 'asked for' } },
        effect_id: talk.fixture.ledger.records.at(-1)!.effect_id,
      },
    ])
    expect(talk.events.at(-1)).toMatchObject({ type: 'leg-request' })
    await talk.say('Hello?')
    talk.conversation.legAnswered('r2', { type: 'transfer_result', outcome: 'taken' }, RECEIPT)
    await talk.conversation.settled()
    expect(talk.lines().slice(2)).toEqual([
      '-> connect (edge)',
      'call.transfer started',
      'user: Hello?',
      'call.transfer succeeded',
      'ended: transferred by agent',
    ])
    expect(rowsOf(talk)).toEqual([['call.transfer', 'connect', 0, 'succeeded', null]])
    expect(talk.fixture.ledger.records.at(-1)!.receipts).toEqual([RECEIPT])
  })

  it('a failed transfer takes the failure edge', async () => {
    const talk = await puttingThrough()
    talk.conversation.legAnswered(
      'r2',
      { type: 'transfer_result', outcome: 'failed' },
      { ...RECEIPT, final_sip_status: 486 },
    )
    talk.conversation.legAnswered('r2', { type: 'transfer_result', outcome: 'taken' }, RECEIPT)
    await talk.conversation.settled()
    expect(talk.saying).toEqual(['Nobody is there.'])
    expect(talk.lines().slice(3)).toEqual(['call.transfer started', 'call.transfer failed', '-> sorry (failure)'])
    expect(rowsOf(talk)).toEqual([['call.transfer', 'connect', 0, 'failed', 'transfer_failed']])
  })

  it.each<[string, () => PolicyDecision]>([
    ['denies it', () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' })],
    ['is unavailable', () => ({ decision: 'unavailable', reason: null, policy_version: '1' })],
    [
      'throws',
      () => {
        throw new Error('bug')
      },
    ],
  ])('a transfer is not made when the policy %s', async (_name, transferPolicy) => {
    const talk = await puttingThrough({ transferPolicy })
    expect([talk.count('leg-request'), talk.saying]).toEqual([0, ['Nobody is there.']])
    expect(talk.lines().slice(3)).toEqual([
      'call.transfer started',
      'error policy_denied',
      'call.transfer failed',
      '-> sorry (failure)',
    ])
    expect(rowsOf(talk)[0]!.slice(3, 4)).toEqual(['failed'])
    expect(talk.fixture.ledger.records.at(-1)!.send_attempts).toBe(0)
  })

  it.each(['intend', 'decide', 'sending'] as const)(
    'a transfer is not made when the ledger is unavailable at "%s"',
    async step => {
      const { ledger, records } = aLedger()
      const away = () => Promise.reject(new ConversationError('ledger_unavailable', 'The database is away.'))
      const talk = await puttingThrough({ ledger: { ...ledger, [step]: away } })
      expect([talk.count('leg-request'), talk.saying]).toEqual([0, ['Nobody is there.']])
      expect(talk.lines()).toContain('error ledger_unavailable')
      expect(records().map(row => [row.state, row.decision?.decision, row.send_attempts])).toEqual(
        { intend: [], decide: [['intended', undefined, 0]], sending: [['intended', 'allow', 0]] }[step],
      )
    },
  )

  it('a transfer is requested only after the preceding words were heard', async () => {
    const node: DraftNode = {
      id: 'desk',
      type: 'subagent',
      instruction: staticText('Hello.'),
      tool_ids: ['operator'],
      edges: [when('bye', 'end')],
    }
    const operator: DraftAction = {
      action_id: 'operator',
      kind: 'transfer_call',
      name: 'operator',
      description: 'Put the caller through to an operator',
      transfer_destination: { type: 'inferred', prompt: 'The number' },
    }
    const talk = new SpokenConversationHarness(planOf([node, ends()], { ...phone, actions: [operator] }))
    await talk.start()
    await talk.hear()
    talk.model.answers(
      [{ say: 'I put you through.' }, { call: 'operator', args: { destination: '+15550111' } }],
      [{ say: 'Nobody is there.' }],
    )
    await talk.say('A person, please')
    expect([talk.saying, talk.count('leg-request')]).toEqual([['I put you through.'], 0])
    // An allowed transfer counts against the call limits, so the policy decides only after the words were heard.
    expect(talk.fixture.ledger.records.at(-1)).toMatchObject({ effect_kind: 'sip_transfer', decision: null })
    await talk.hear()
    expect(talk.events.at(-1)).toMatchObject({ request: { type: 'transfer', destination: '+15550111' } })
    const { request_id } = talk.events.find(event => event.type === 'leg-request')!
    talk.conversation.legAnswered(request_id, { type: 'transfer_result', outcome: 'failed' }, null)
    await settle()
    expect(linesOf(talk.model.requests[1]!.messages).slice(-3)).toEqual([
      'agent: I put you through.',
      'call operator {"destination":"+15550111"}',
      'result {"outcome":"failed"}',
    ])
    expect(rowsOf(talk)).toEqual([['operator', 'desk', 0, 'failed', 'transfer_failed']])
    expect(talk.saying).toEqual(['Nobody is there.'])
  })

  it("a transfer that a node requests right after a tool call is carried out as the node's, not as the tool's", async () => {
    const chat: DraftNode = {
      id: 'chat',
      type: 'subagent',
      instruction: staticText('Hello.'),
      tool_ids: ['note'],
      edges: [if_('topic exists', 'connect')],
    }
    const note: DraftAction = {
      action_id: 'note',
      kind: 'extract_dynamic_variables',
      name: 'note_topic',
      description: 'Notes what the caller wants',
      variables: [{ name: 'topic', type: 'string', description: 'What the caller wants' }],
    }
    const talk = new SpokenConversationHarness(
      planOf([chat, connect, asks('sorry', 'Say that it failed.'), ends()], { ...phone, actions: [note] }),
    )
    await talk.start()
    await talk.hear()
    talk.model.answers([{ call: 'note_topic', args: { topic: 'a bill' } }], [{ say: 'Nobody is there.' }])
    await talk.say('It is about a bill')
    expect(talk.events.at(-1)).toMatchObject({ request: { type: 'transfer', destination: '+15550100' } })
    const { request_id } = talk.events.find(event => event.type === 'leg-request')!
    talk.conversation.legAnswered(request_id, { type: 'transfer_result', outcome: 'failed' })
    await talk.conversation.settled()
    expect(rowsOf(talk)).toEqual([['call.transfer', 'connect', 0, 'failed', 'transfer_failed']])
    expect(talk.memory.filter(line => line.startsWith('call ') || line.startsWith('result '))).toEqual([
      'call note_topic {"topic":"a bill"}',
      'result {"outcome":"done"}',
      'call transfer_call {"destination":"+15550100"}',
      'result {"outcome":"failed"}',
    ])
  })

  it('a caller who hangs up during a transfer leaves it uncertain, and the conversation settles at once', async () => {
    const talk = await puttingThrough()
    talk.conversation.stop()
    await talk.conversation.settled()
    talk.conversation.legAnswered('r2', { type: 'transfer_result', outcome: 'taken' }, RECEIPT)
    expect(rowsOf(talk)).toEqual([['call.transfer', 'connect', 0, 'uncertain', 'run_ended']])
    expect(talk.count('ended')).toBe(0)
  })

  it('a transfer that was not sent when the caller hung up is never sent', async () => {
    const { ledger, records } = aLedger()
    const { promise: isDecided, resolve: decide } = Promise.withResolvers<void>()
    const slow = {
      ...ledger,
      decide: (id: string, verdict: PolicyDecision) => isDecided.then(() => ledger.decide(id, verdict)),
    }
    const talk = await puttingThrough({ ledger: slow })
    talk.conversation.stop()
    decide()
    await talk.conversation.settled()
    expect(talk.count('leg-request')).toBe(0)
    expect(records().map(({ state, error_code }) => [state, error_code])).toEqual([['failed', 'run_not_active']])
  })
})

describe('a pending transfer after a hang-up', () => {
  it('a transfer that waits for words is not made after a hang-up, even when the speech output no longer reports', async () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'none',
      speak_during_execution: true,
      instruction: staticText('I put you through.'),
      edges: [],
      else_edge: when('Else', 'connect'),
    }
    const none = httpAction('none')
    const talk = new SpokenConversationHarness(
      planOf([node, connect, says('sorry', 'Sorry.')], { ...phone, actions: [none] }),
    )
    talk.actions.answers('none', { body: null })
    talk.heardWhenWithdrawn = null
    await talk.start()
    expect(talk.lines().at(-1)).toBe('call.transfer started')
    talk.conversation.stop()
    await talk.conversation.settled()
    expect(rowsOf(talk)).toEqual([['call.transfer', 'connect', 0, 'failed', 'run_not_active']])
  })
})

function aLedger(): { readonly ledger: EffectLedger; readonly records: () => readonly EffectRecord[] } {
  const memory = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => 0 })
  const ledger: EffectLedger = {
    intend: intent => memory.intend(intent),
    decide: (id, decision) => memory.decide(id, decision),
    sending: id => memory.sending(id),
    settle: (id, outcome) => memory.settle(id, outcome),
  }
  return { ledger, records: () => memory.records }
}

describe('keypad digits', () => {
  const menu: DraftNode = {
    id: 'menu',
    type: 'press_digit',
    instruction: { type: 'prompt', text: 'Press what leads to a person.' },
    delay_ms: 700,
    edges: [when('a person answered', 'talk')],
  }
  const plan = planOf(
    [says('wait', 'One moment.', { always_edge: when('Always', 'menu') }), menu, asks('talk', 'Talk.'), ends()],
    phone,
  )

  it('inferred digits are sent, and the far end has the next turn', async () => {
    const talk = new SpokenConversationHarness(plan)
    await talk.start()
    await talk.hear()
    talk.model.answers(
      [{ call: 'press_digits', args: { digits: 0 } }],
      [{ take: 'a person answered' }],
      [{ say: 'Hi.' }],
    )
    await talk.say('For a person press zero.')
    expect(talk.model.requests[0]).toMatchObject({
      toolChoice: { name: 'press_digits' },
      tools: [{ name: 'press_digits', parameters: { required: ['digits'] } }],
      brief: { purpose: 'digits', prompt: 'Press what leads to a person.', tool: 'press_digits' },
    })
    expect(talk.events).toContainEqual({
      type: 'leg-request',
      request_id: 'r3',
      request: { type: 'press_digits', digits: '0', delay_ms: 700 },
      effect_id: null,
    })
    talk.conversation.legAnswered('r3', { type: 'digits_pressed' })
    talk.conversation.legAnswered('r3', { type: 'digits_pressed' })
    await talk.say('This is Bob.')
    expect(talk.lines().slice(2)).toEqual([
      'user: For a person press zero.',
      '-> menu (edge)',
      'digits out: 0',
      'user: This is Bob.',
      '-> talk (edge)',
    ])
    expect(talk.saying).toEqual(['Hi.'])
  })

  it('digits are sent after the speech in progress', async () => {
    const talk = new SpokenConversationHarness(
      planOf(
        [
          says('wait', 'Hello.', { edges: [when('a menu is read', 'menu')] }),
          { ...menu, instruction: staticText('1w2') },
          asks('talk', 'Talk.'),
        ],
        phone,
      ),
    )
    await talk.start()
    await talk.hear()
    talk.model.answers([{ say: 'I see.' }, { take: 'a menu is read' }])
    await talk.say('Press one.')
    expect([talk.saying, talk.count('leg-request')]).toEqual([['I see.'], 0])
    await talk.hear()
    expect(talk.events.find(event => event.type === 'leg-request')).toMatchObject({ request: { digits: '1w2' } })
  })
})
