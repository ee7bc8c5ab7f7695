import { describe, expect, it } from 'vitest'
import { asks, draftOf, ends, FlowHarness, if_, says, when } from '../testing/flow-harness.ts'

describe('a conversation node', () => {
  it('says its static text once, word for word, with variables filled in; later turns are generated', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello {{name}}, it is {{current_agent_state}}.'), ends()]), {
      variables: { run: { name: 'Ada' } },
    })
    expect(talk.start()).toEqual(['-> hi (start)', 'say: Hello Ada, it is hi.'])
    expect(talk.spoken()).toEqual([])
    expect(talk.user('Hello?')).toEqual(['prompt user_turn: Hello Ada, it is hi.'])
  })

  it('offers the model its edges when the caller has finished, and moves when it takes one', () => {
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

  it('drops a choice that the caller overtook', () => {
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.', { edges: [when('yes', 'end')] }), ends()]))
    talk.start()
    talk.user('Yes')
    const stale = talk.request
    talk.user('No, wait')
    expect(talk.send({ type: 'chosen', request_id: stale, choice_id: 'edge:yes' })).toEqual([])
    expect(talk.choose('edge:yes')).toContain('end: completed by agent')
  })

  it('tries equations before it asks the model, top to bottom', () => {
    const edges = [when('talk', 'a'), if_('first', 'b', 'n > 1'), if_('second', 'c', 'n > 0')]
    const talk = new FlowHarness(
      draftOf([says('hi', 'Hi', { edges }), says('a', 'A'), says('b', 'B'), says('c', 'C'), ends()], {
        default_dynamic_variables: { n: '1' },
      }),
    )
    talk.start()
    expect(talk.user('anything')).toEqual(['-> c (edge second)', 'say: C'])
  })

  it('moves by its always edge after any turn', () => {
    const talk = new FlowHarness(
      draftOf([says('name', 'Your name?', { always_edge: when('go', 'end', 'Always') }), ends()]),
    )
    talk.start()
    expect(talk.spoken()).toEqual([])
    expect(talk.user('Ada')).toEqual(['-> end (edge go)', 'end: completed by agent'])
  })

  it('moves by its skip-response edge as soon as it has spoken, unless the caller interrupts', () => {
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

  it('lets equations go before the skip-response edge', () => {
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

  it('moves by its else edge where the model takes no other', () => {
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
  it('raises current_not_understood, on which a node by digits alone can be reached', () => {
    const edges = [if_('deaf', 'keys', 'current_not_understood >= 2')]
    const keys = says('keys', 'Press 1 for yes.', { edges: [if_('one', 'end', '{{current_digits}} == 1')] })
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.', { edges }), keys, ends()]))
    talk.start()
    expect(talk.user(' ')).toEqual(['prompt user_turn: Ask.'])
    expect(talk.user('')).toEqual(['-> keys (edge deaf)', 'say: Press 1 for yes.'])
    expect(talk.digits('2')).toEqual(['prompt user_turn: Press 1 for yes.'])
    expect(talk.digits('1')).toEqual(['-> end (edge one)', 'end: completed by agent'])
  })

  it('leaves current_digits to the turn they were entered in', () => {
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.'), ends()]))
    talk.start()
    talk.digits('12#x')
    expect(talk.value('current_digits')).toBe('12#')
    talk.user('hello')
    expect(talk.value('current_digits')).toBeUndefined()
  })

  it('counts turns in a row only', () => {
    const talk = new FlowHarness(draftOf([asks('ask', 'Ask.'), ends()]))
    talk.start()
    talk.user('')
    talk.user('hello')
    talk.user('')
    expect(talk.value('current_not_understood')).toBe('1')
  })
})

describe('the beginning', () => {
  const flow = { start_speaker: 'user', begin_after_user_silence_ms: 2000 } as const

  it('waits for a caller who speaks first, then says the first words', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()], flow))
    expect(talk.start()).toEqual(['-> hi (start)', 'await opening 2000'])
    expect(talk.user('Hi there')).toEqual(['say: Hello.'])
  })

  it('begins itself after the silence the flow allows', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()], flow))
    talk.start()
    expect(talk.send({ type: 'silence', kind: 'opening' })).toEqual(['say: Hello.'])
    expect(talk.send({ type: 'silence', kind: 'opening' })).toEqual([])
  })

  it('says how digits are collected and how turns are taken, per node', () => {
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
  it('reminds a silent caller, but not while the agent is still speaking', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()]))
    talk.start()
    expect(talk.send({ type: 'silence', kind: 'reminder' })).toEqual([])
    talk.spoken()
    expect(talk.send({ type: 'silence', kind: 'reminder' })).toEqual(['prompt reminder: Hello.'])
  })

  it('ends on silence and on the longest duration, and nothing comes after the end', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()]))
    talk.start()
    expect(talk.send({ type: 'silence', kind: 'limit' })).toEqual(['end: silence by system'])
    expect(talk.user('Hello?')).toEqual([])
    const long = new FlowHarness(draftOf([says('hi', 'Hello.'), ends()]))
    long.start()
    expect(long.send({ type: 'max_duration' })).toEqual(['end: max_duration by system'])
  })

  it('ends a flow that runs in a circle without the caller', () => {
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
  it('lets each node speak once and goes on; where nothing leads on it is done', () => {
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
