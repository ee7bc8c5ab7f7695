import { describe, expect, it } from 'vitest'
import {
  asks,
  type DraftAction,
  type DraftNode,
  draftOf,
  ends,
  FlowHarness,
  if_,
  promptText,
  says,
  staticText,
  when,
} from '../testing/flow-harness.ts'

const lookUp: DraftAction = {
  action_id: 'look_up',
  kind: 'http',
  name: 'look_up',
  method: 'POST',
  url: 'https://example.test/slots',
  parameters: {
    type: 'object',
    properties: { day: { type: 'string' }, clinic: { const: '{{clinic}}' } },
    required: ['day', 'clinic'],
  },
  response_variables: { slot: '$.slots[0].time', count: 'count' },
}
const ping: DraftAction = { ...lookUp, action_id: 'ping', name: 'ping', parameters: {} }
const actions = [lookUp, ping]

describe('function', () => {
  const book: DraftNode = {
    id: 'book',
    type: 'function',
    tool_id: 'look_up',
    edges: [if_('ok', 'done', 'slot exists')],
    else_edge: when('else', 'sorry', 'Else'),
  }
  const rest = [says('done', 'At {{slot}}, one of {{count}}.'), says('sorry', 'Sorry.')]

  it('a function node runs on entry with inferred and constant arguments, stores its response variables and moves on them', () => {
    const talk = new FlowHarness(
      draftOf([book, ...rest], { default_dynamic_variables: { clinic: 'North' } }, { actions }),
    )
    expect(talk.start()).toEqual(['-> book (start)', 'infer arguments: '])
    expect(talk.infer({ day: 'Monday' })).toEqual(['run look_up #0 {"day":"Monday","clinic":"North"}'])
    expect(talk.user('Are you there?')).toEqual([])
    expect(talk.result({ slots: [{ time: '09:30' }], count: 3 }, 'succeeded', 'r2')).toEqual([
      'action set slot,count',
      '-> done (edge ok)',
      'say: At 09:30, one of 3.',
    ])
  })

  it.each(['failed', 'uncertain'] as const)(
    'an action with the outcome %s sets no variables and is not sent again',
    outcome => {
      const talk = new FlowHarness(draftOf([book, ...rest], { default_dynamic_variables: { clinic: '' } }, { actions }))
      talk.start()
      talk.infer({ day: 'Monday' })
      expect(talk.result({ slots: [{ time: '09:30' }] }, outcome)).toEqual(['-> sorry (else else)', 'say: Sorry.'])
      expect(talk.value('current_action_outcome')).toBe(outcome)
      expect(talk.result({ slots: [{ time: '09:30' }] }, 'succeeded', 'r2')).toEqual([])
    },
  )

  it('a function whose arguments the model cannot infer sends no action', () => {
    const talk = new FlowHarness(draftOf([book, ...rest], { default_dynamic_variables: { clinic: '' } }, { actions }))
    talk.start()
    expect(talk.infer(null)).toEqual(['-> sorry (else else)', 'say: Sorry.'])
  })

  it('a function with speak_during_execution speaks while its action runs and asks the model for its prompt edges afterwards', () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'ping',
      speak_during_execution: true,
      instruction: staticText('One moment.'),
      edges: [when('fine', 'end'), when('bad', 'end')],
    }
    const talk = new FlowHarness(draftOf([node, ends()], {}, { actions }))
    expect(talk.start()).toEqual(['-> f (start)', 'say: One moment.', 'run ping #0 {}'])
    expect(talk.result({})).toEqual(['action set  ignored slot,count', 'decide: [edge:fine] [edge:bad]'])
    expect(talk.choose('edge:bad')).toEqual(['-> end (edge bad)', 'end: completed by agent'])
  })

  it('a function with wait_for_result false moves on at once, and its late result still sets variables', () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'ping',
      wait_for_result: false,
      speak_during_execution: true,
      instruction: staticText('Noted.'),
      edges: [],
      else_edge: when('on', 'next', 'Else'),
    }
    const talk = new FlowHarness(draftOf([node, says('next', 'Anything else?'), ends()], {}, { actions }))
    talk.start()
    expect(talk.send({ type: 'spoken', request_id: 'r1', interrupted: false })).toEqual([
      '-> next (else on)',
      'say: Anything else?',
    ])
    expect(talk.result({ count: 7 }, 'succeeded', 'r2')).toEqual(['action set count ignored slot'])
    expect(talk.value('count')).toBe('7')
  })

  it('each use of an action in a node has its own ordinal', () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'ping',
      edges: [],
      else_edge: when('on', 'ask', 'Else'),
    }
    const talk = new FlowHarness(
      draftOf([asks('ask', 'Ask.', { always_edge: when('again', 'f') }), node], {}, { actions }),
    )
    talk.start()
    expect(talk.user('go')).toContain('run ping #0 {}')
    talk.result({})
    expect(talk.user('go')).toContain('run ping #1 {}')
  })

  it('a function without an edge to take prompts the model instead of staying silent', () => {
    const talk = new FlowHarness(
      draftOf(
        [{ id: 'f', type: 'function', tool_id: 'ping', edges: [if_('never', 'end', 'x exists')] }, ends()],
        {},
        { actions },
      ),
    )
    talk.start()
    expect(talk.result({}).at(-1)).toBe('prompt stuck: ')
    expect(talk.user('Hello?')).toEqual(['prompt stuck: '])
  })
})

describe('subagent', () => {
  const hang: DraftAction = { action_id: 'bye', kind: 'end_call', name: 'hang_up' }
  const note: DraftAction = {
    action_id: 'note',
    kind: 'extract_dynamic_variables',
    name: 'note',
    variables: [{ type: 'string', name: 'who', description: 'Name' }],
  }
  const move: DraftAction = {
    action_id: 'move',
    kind: 'transfer_call',
    name: 'to_desk',
    transfer_destination: { type: 'predefined', number: '+15550100' },
  }
  const agent = (edges: ReturnType<typeof if_>[] = []): DraftNode => ({
    id: 'a',
    type: 'subagent',
    instruction: promptText('Help.'),
    tool_ids: ['ping', 'bye', 'note', 'move'],
    edges,
  })
  const talkTo = (edges?: ReturnType<typeof if_>[]) => {
    const talk = new FlowHarness(draftOf([agent(edges), ends()], {}, { actions: [ping, hang, note, move] }))
    talk.start()
    return talk
  }

  it('a subagent offers its tools to the model and prompts it with the result', () => {
    const talk = talkTo()
    expect(talk.user('Any slots?')).toEqual(['prompt user_turn: Help. {ping} {hang_up} {note} {to_desk}'])
    expect(talk.call('ping')).toEqual(['run ping #0 {}'])
    expect(talk.result({ count: 2 })).toEqual([
      'action set count ignored slot',
      'prompt tool_result: Help. {ping} {hang_up} {note} {to_desk}',
    ])
  })

  it('a caller who interrupts a tool loses no result and causes no second run', () => {
    const talk = talkTo()
    talk.user('Any slots?')
    talk.call('ping')
    const call = talk.request
    expect(talk.user('And on Friday?').length).toBe(1)
    const answer = talk.request
    expect(talk.result({ count: 2 }, 'succeeded', call)).toEqual(['action set count ignored slot'])
    expect(talk.send({ type: 'spoken', request_id: answer, interrupted: false })[0]).toMatch(/^prompt tool_result/)
    expect(talk.spoken()).toEqual([])
    expect(talk.outputs.filter(output => output.type === 'run_action').length).toBe(1)
  })

  it('a subagent follows an equation edge as soon as a tool result makes it true', () => {
    const talk = talkTo([if_('any', 'end', 'count > 0')])
    talk.user('Any slots?')
    talk.call('ping')
    expect(talk.result({ count: 2 })).toContain('-> end (edge any)')
  })

  it('the end_call, extraction and transfer tools of a subagent take effect when the model calls them', () => {
    const hungUp = talkTo()
    hungUp.user('Bye')
    expect(hungUp.call('bye')).toEqual(['end: agent_hung_up by agent'])
    const noted = talkTo()
    noted.user('I am Ada')
    expect(noted.call('note', { who: 'Ada' })[0]).toBe('extract set who')
    const moved = talkTo()
    moved.user('The desk please')
    expect(moved.call('move')).toEqual(['transfer to +15550100'])
    expect(moved.transferred('failed')[0]).toMatch(/^prompt tool_result/)
  })

  it('a subagent ignores unknown tools, and offers none after the same call was repeated', () => {
    const talk = talkTo()
    talk.user('Go')
    expect(talk.call('look_up')).toEqual([])
    for (const use of ['run ping #0 {}', 'run ping #1 {}']) {
      expect(talk.call('ping')).toEqual([use])
      expect(talk.result({ count: 2 })).toContain('prompt tool_result: Help. {ping} {hang_up} {note} {to_desk}')
    }
    expect(talk.call('ping')).toEqual(['action_refused', 'prompt tool_result: Help.'])
    talk.user('Go on')
    expect(talk.call('ping')).toEqual(['run ping #2 {}'])
  })
})
