import { describe, expect, it } from 'vitest'
import { asks, draftOf, ends, FlowHarness, if_, says, when } from '../testing/flow-harness.ts'

describe('a conversation node', () => {
  it('a conversation node says its static text once with variables filled in, and the model answers later turns', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello {{name}}, it is {{current_agent_state}}.'), ends()]), {
      variables: { run: { name: 'Ada' } },
    })
    expect(talk.start()).toEqual(['-> hi (start)', 'say: Hello Ada, it is hi.'])
    expect(talk.spoken()).toEqual([])
    expect(talk.user('Hello?')).toEqual(['prompt user_turn: Hello Ada, it is hi.'])
  })

  it('a conversation node offers its edges to the model after a caller turn and follows the one that it chooses', () => {
    const talk = new FlowHarness(
      draftOf([asks('ask', 'Ask for the order.', { edges: [when('pizza', 'end'), when('no', 'end')] }), ends()]),
    )
    expect(talk.start()).toEqual(['-> ask (start)', 'prompt enter: Ask for the order.'])
    talk.spoken()
    expect(talk.user('Hmm')).toEqual(['prompt user_turn: Ask for the order. [edge:pizza] [edge:no]'])
    expect(talk.choose(null)).toEqual([])
    talk.user('Pizza please')
    expect(talk.choose('edge:pizza')).toEqual(['-> end (edge pizza)', 'end: completed by agent'])
  })

  it('a choice for an earlier turn is ignored after the caller has spoken again', () => {
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.', { edges: [when('yes', 'end')] }), ends()]))
    talk.start()
    talk.user('Yes')
    const stale = talk.request
    talk.user('No, wait')
    expect(talk.send({ type: 'chosen', request_id: stale, choice_id: 'edge:yes' })).toEqual([])
    expect(talk.choose('edge:yes')).toContain('end: completed by agent')
  })

  it('equation edges are evaluated in order before the model is asked', () => {
    const edges = [when('talk', 'a'), if_('first', 'b', 'n > 1'), if_('second', 'c', 'n > 0')]
    const talk = new FlowHarness(
      draftOf([says('hi', 'Hi', { edges }), says('a', 'A'), says('b', 'B'), says('c', 'C'), ends()], {
        default_dynamic_variables: { n: '1' },
      }),
    )
    talk.start()
    expect(talk.user('anything')).toEqual(['-> c (edge second)', 'say: C'])
  })

  it('the always edge is taken after any caller turn', () => {
    const talk = new FlowHarness(
      draftOf([says('name', 'Your name?', { always_edge: when('go', 'end', 'Always') }), ends()]),
    )
    talk.start()
    expect(talk.spoken()).toEqual([])
    expect(talk.user('Ada')).toEqual(['-> end (edge go)', 'end: completed by agent'])
  })

  it('the skip-response edge is taken once the node has spoken, or after the turn of a caller who interrupts', () => {
    const draft = draftOf([
      says('note', 'Calls are recorded.', { skip_response_edge: when('skip', 'end', 'Skip response') }),
      ends(),
    ])
    const talk = new FlowHarness(draft)
    talk.start()
    expect(talk.spoken()).toEqual(['-> end (edge skip)', 'end: completed by agent'])
    const interrupted = new FlowHarness(draft)
    interrupted.start()
    expect(interrupted.spoken(true)).toEqual([])
    expect(interrupted.user('Recorded?')).toEqual(['-> end (edge skip)', 'end: completed by agent'])
  })

  it('a true equation wins over the skip-response edge', () => {
    const note = says('note', 'Hi.', {
      edges: [if_('vip', 'lounge', 'tier == gold')],
      skip_response_edge: when('skip', 'end'),
    })
    const talk = new FlowHarness(draftOf([note, says('lounge', 'Welcome'), ends()]), {
      variables: { run: { tier: 'gold' } },
    })
    talk.start()
    expect(talk.spoken()).toEqual(['-> lounge (edge vip)', 'say: Welcome'])
  })

  it('the else edge is taken when the model chooses no other edge', () => {
    const draft = draftOf([
      asks('ask', 'Ask.', { edges: [when('yes', 'end')], else_edge: when('other', 'sorry', 'Else') }),
      says('sorry', 'Sorry.'),
      ends(),
    ])
    const talk = new FlowHarness(draft)
    talk.start()
    expect(talk.user('Blue')).toEqual(['decide: [edge:yes]'])
    expect(talk.choose(null)).toEqual(['-> sorry (else other)', 'say: Sorry.'])
    const plain = new FlowHarness(draftOf([asks('ask', 'Ask.', { else_edge: when('other', 'end', 'Else') }), ends()]))
    plain.start()
    expect(plain.user('Blue')).toEqual(['-> end (else other)', 'end: completed by agent'])
  })
})

describe('speech without words', () => {
  it('unintelligible speech raises current_not_understood, so that a flow can switch to keypad input', () => {
    const edges = [if_('deaf', 'keys', 'current_not_understood >= 2')]
    const keys = says('keys', 'Press 1 for yes.', { edges: [if_('one', 'end', '{{current_digits}} == 1')] })
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.', { edges }), keys, ends()]))
    talk.start()
    expect(talk.user(' ')).toEqual(['prompt user_turn: Ask.'])
    expect(talk.user('')).toEqual(['-> keys (edge deaf)', 'say: Press 1 for yes.'])
    expect(talk.digits('2')).toEqual(['prompt user_turn: Press 1 for yes.'])
    expect(talk.digits('1')).toEqual(['-> end (edge one)', 'end: completed by agent'])
  })

  it('current_digits is set only in the turn in which the digits were entered', () => {
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.'), ends()]))
    talk.start()
    talk.digits('12#x')
    expect(talk.value('current_digits')).toBe('12#')
    talk.user('hello')
    expect(talk.value('current_digits')).toBeUndefined()
  })

  it('current_not_understood counts consecutive turns only', () => {
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.'), ends()]))
    talk.start()
    talk.user('')
    talk.user('hello')
    talk.user('')
    expect(talk.value('current_not_understood')).toBe('1')
  })
})

describe('the start of a flow', () => {
  const flow = { start_speaker: 'user', begin_after_user_silence_ms: 2000 } as const

  it('a flow with start_speaker "user" says its first words after the first caller turn', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()], flow))
    expect(talk.start()).toEqual(['-> hi (start)', 'await opening 2000'])
    expect(talk.user('Hi there')).toEqual(['say: Hello.'])
  })

  it('a flow with start_speaker "user" starts by itself after the configured silence', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()], flow))
    talk.start()
    expect(talk.send({ type: 'silence', kind: 'opening' })).toEqual(['say: Hello.'])
    expect(talk.send({ type: 'silence', kind: 'opening' })).toEqual([])
  })

  it('a node outputs its digit collection and turn-taking settings when it is entered', () => {
    const draft = draftOf(
      [says('hi', 'Hello.', { interruption_sensitivity: 0, reminder_trigger_ms: 500 }), ends()],
      {},
      {
        settings: { channels: ['cloud'], userDtmfOptions: { digitLimit: 4, terminationKey: '#' }, responsiveness: 0.5 },
      },
    )
    const talk = new FlowHarness(draft)
    talk.start()
    expect(talk.outputs).toContainEqual({
      type: 'collect_digits',
      question: 1,
      answers: null,
      node_id: 'hi',
      digit_limit: 4,
      termination_key: '#',
      timeout_ms: 3000,
    })
    expect(talk.outputs[0]).toMatchObject({
      settings: { interruption_sensitivity: 0, reminder_trigger_ms: 500, reminder_max_count: 1, responsiveness: 0.5 },
    })
  })
})

describe('silence and limits', () => {
  it('a silent caller is reminded, but not while the agent is speaking', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()]))
    talk.start()
    expect(talk.send({ type: 'silence', kind: 'reminder' })).toEqual([])
    talk.spoken()
    expect(talk.send({ type: 'silence', kind: 'reminder' })).toEqual(['prompt reminder: Hello.'])
  })

  it('the silence limit and the maximum duration end the conversation, and later inputs have no output', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()]))
    talk.start()
    expect(talk.send({ type: 'silence', kind: 'limit' })).toEqual(['end: silence by system'])
    expect(talk.user('Hello?')).toEqual([])
    const long = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()]))
    long.start()
    expect(long.send({ type: 'max_duration' })).toEqual(['end: max_duration by system'])
  })

  it('a flow that loops without a caller turn ends with transition_limit', () => {
    const circle = draftOf([
      says('a', 'A', { always_edge: when('go', 'b') }),
      { id: 'b', type: 'branch', edges: [if_('x', 'c', 'x exists')], else_edge: when('e', 'c', 'Else') },
      { id: 'c', type: 'branch', edges: [if_('x', 'b', 'x exists')], else_edge: when('e', 'b', 'Else') },
    ])
    const talk = new FlowHarness(circle)
    talk.start()
    expect(talk.user('go').at(-1)).toBe('end: error by system transition_limit')
  })
})

describe('a task without a caller', () => {
  it('a task speaks once in each node, moves on, and completes at a node without an edge to take', () => {
    const talk = new FlowHarness(
      draftOf([asks('work', 'Write.', { edges: [when('more', 'again')] }), asks('again', 'More.')]),
      {
        channel: 'cloud',
        hasCaller: false,
      },
    )
    expect(talk.start()).toEqual(['-> work (start)', 'prompt enter: Write.'])
    expect(talk.spoken()).toEqual(['decide: [edge:more]'])
    expect(talk.choose('edge:more')).toEqual(['-> again (edge more)', 'prompt enter: More.'])
    expect(talk.spoken()).toEqual(['end: completed by agent'])
  })
})

describe('digits', () => {
  const menu = () =>
    new FlowHarness(
      draftOf([
        says('day', 'Which day?', {
          edges: [
            if_('one', 'book', 'current_digits == 1'),
            if_('twelve', 'book', 'current_digits == 12'),
            when('day', 'book'),
          ],
        }),
        says('book', 'Shall I book it?', { edges: [if_('yes', 'end', 'current_digits == 1')] }),
        ends(),
      ]),
    )
  const questions = (talk: FlowHarness) =>
    talk.outputs.flatMap(output => (output.type === 'collect_digits' ? [[output.question, output.answers]] : []))

  it('each question says which digits its edges wait for', () => {
    const talk = menu()
    talk.start()
    talk.send({ type: 'digits', digits: '1' })
    expect(questions(talk)).toEqual([
      [1, ['1', '12']],
      [2, ['1']],
    ])
  })

  it('digits that were pressed for an earlier question change nothing', () => {
    const talk = menu()
    talk.start()
    talk.user('Tuesday')
    talk.choose('edge:day')
    expect(talk.send({ type: 'digits', digits: '1', question: 1 })).toEqual([])
    expect(talk.send({ type: 'digits', digits: '1', question: 2 })).toContain('end: completed by agent')
  })

  it.each([
    ['a condition about keys', [if_('one', 'end', 'current_digits == 1'), when('presses another key', 'end')]],
    ['an equation without a fixed value', [if_('any', 'end', 'current_digits exists')]],
    ['no equation about digits', [if_('n', 'end', 'n == 1')]],
  ])('a node with %s waits for any digits', (_, edges) => {
    const talk = new FlowHarness(draftOf([says('ask', 'Which?', { edges }), ends()]))
    talk.start()
    expect(questions(talk)).toEqual([[1, null]])
  })

  it('the digit options of a node replace those of the agent', () => {
    const talk = new FlowHarness(
      draftOf([says('ask', 'Which?', { user_dtmf_options: { digit_limit: 6, timeout_ms: 900 } }), ends()]),
    )
    talk.start()
    expect(talk.outputs).toContainEqual({
      type: 'collect_digits',
      question: 1,
      answers: null,
      node_id: 'ask',
      digit_limit: 6,
      termination_key: null,
      timeout_ms: 900,
    })
  })

  it('what a node waits for has the conditions of its edges and the values that the next nodes read', () => {
    const variables = [{ type: 'string' as const, name: 'phone', description: 'The phone number', required: true }]
    const talk = new FlowHarness(
      draftOf([
        says('ask', 'Your number?', { edges: [when('gave it', 'read')] }),
        { id: 'read', type: 'extract_dynamic_variables', variables, else_edge: when('done', 'end') },
        ends(),
      ]),
    )
    talk.start()
    expect(talk.flow.expectation(0)).toEqual({
      conditions: ['the caller wants gave it'],
      fields: [{ name: 'phone', description: 'The phone number', type: 'string' }],
    })
  })

  it('what a node waits for has the values and examples that are read behind a branch', () => {
    const variables = [
      { type: 'string' as const, name: 'order', description: 'The order', required: true, examples: ['101'] },
    ]
    const talk = new FlowHarness(
      draftOf([
        says('ask', 'Your number?', { edges: [when('gave it', 'which')] }),
        { id: 'which', type: 'branch', edges: [if_('old', 'end', 'old == 1')], else_edge: when('read', 'read') },
        { id: 'read', type: 'extract_dynamic_variables', variables, else_edge: when('done', 'end') },
        ends(),
      ]),
    )
    talk.start()
    expect(talk.flow.expectation(0).fields).toEqual([
      { name: 'order', description: 'The order', type: 'string', examples: ['101'] },
    ])
  })

  it('a conversation that is taken back is in its earlier node, and no request id is given twice', () => {
    const talk = menu()
    talk.start()
    const before = talk.flow.state()
    talk.user('Tuesday')
    const asked = talk.request
    talk.choose('edge:day')
    expect(talk.flow.restore(0, before)).toMatchObject([
      { type: 'node', node_id: 'day', from_node_id: 'book', cause: 'return' },
      { type: 'collect_digits', question: 3 },
    ])
    talk.user('Wednesday')
    expect(talk.request).not.toBe(asked)
  })
})
