import { describe, expect, it } from 'vitest'
import { asks, type DraftNode, draftOf, ends, FlowHarness, if_, says, when } from '../testing/flow-harness.ts'

const back = { id: 'back', transition_condition: { type: 'prompt', prompt: 'they want to go on' } } as const
const faq = (setting = {}) =>
  asks('faq', 'Answer.', {
    global_node_setting: { condition: 'they ask about hours', go_back_conditions: [back], ...setting },
  })
const order = asks('order', 'Take the order.', { edges: [when('done', 'end')] })

describe('a global node', () => {
  it('a global node can be entered from any node after a caller turn, without an edge', () => {
    const talk = new FlowHarness(draftOf([order, faq(), ends()]))
    talk.start()
    expect(talk.user('When do you close?')).toEqual(['prompt user_turn: Take the order. [edge:done] [global:faq]'])
    expect(talk.choose('global:faq')).toEqual(['-> faq (global)', 'prompt enter: Answer.'])
  })

  it('a global node returns to the interrupted node, which does not repeat its first words', () => {
    const talk = new FlowHarness(draftOf([says('hi', 'Hello.', { edges: [when('done', 'end')] }), faq(), ends()]))
    talk.start()
    talk.user('When do you close?')
    talk.choose('global:faq')
    expect(talk.user('Thanks, go on')).toEqual(['prompt user_turn: Answer. [go_back:back]'])
    expect(talk.choose('go_back:back')).toEqual(['-> hi (return back)', 'prompt return: Hello.'])
    expect(talk.value('previous_agent_state')).toBe('faq')
  })

  it('a go-back equation returns from a global node without the model', () => {
    const condition = {
      id: 'known',
      transition_condition: { type: 'equation', equations: [{ left: 'current_digits', operator: '==', right: '9' }] },
    } as const
    const talk = new FlowHarness(draftOf([order, faq({ go_back_conditions: [condition] }), ends()]))
    talk.start()
    talk.user('When do you close?')
    talk.choose('global:faq')
    expect(talk.digits('9')).toEqual(['-> order (return known)', 'prompt return: Take the order.'])
  })

  it('a global node is offered to the model before an always edge is taken', () => {
    const talk = new FlowHarness(
      draftOf([asks('name', 'Ask.', { always_edge: when('go', 'end', 'Always') }), faq(), ends()]),
    )
    talk.start()
    expect(talk.user('When do you close?')).toEqual(['decide: [global:faq]'])
    expect(talk.choose(null)).toEqual(['-> end (edge go)', 'end: completed by agent'])
  })

  it('a global node is not offered again for cool_down turns', () => {
    const talk = new FlowHarness(draftOf([order, faq({ cool_down: 2 }), ends()]))
    talk.start()
    talk.user('When do you close?')
    talk.choose('global:faq')
    talk.user('Thanks')
    talk.choose('go_back:back')
    expect(talk.user('And on Sundays?')).toEqual(['prompt user_turn: Take the order. [edge:done]'])
    expect(talk.user('On Sundays?')).toEqual(['prompt user_turn: Take the order. [edge:done] [global:faq]'])
  })

  it('nested global nodes each return to the node that they interrupted', () => {
    const rude = asks('rude', 'Calm them.', {
      global_node_setting: { condition: 'they shout', go_back_conditions: [back] },
    })
    const talk = new FlowHarness(draftOf([order, faq(), rude, ends()]))
    talk.start()
    talk.user('When do you close?')
    talk.choose('global:faq')
    talk.user('WHAT?')
    expect(talk.choose('global:rude')).toEqual(['-> rude (global)', 'prompt enter: Calm them.'])
    talk.user('Fine')
    expect(talk.choose('go_back:back')).toEqual(['-> faq (return back)', 'prompt return: Answer.'])
    talk.user('Thanks')
    expect(talk.choose('go_back:back')).toEqual(['-> order (return back)', 'prompt return: Take the order.'])
  })

  it('a global node that is entered again from a nested one returns to the node that it first interrupted', () => {
    const rude = asks('rude', 'Calm them.', { global_node_setting: { condition: 'they shout' } })
    const talk = new FlowHarness(draftOf([order, faq(), rude, ends()]))
    talk.start()
    for (const choice of ['global:faq', 'global:rude', 'global:faq', 'global:rude', 'global:faq']) {
      talk.user('Hm')
      talk.choose(choice)
    }
    expect(talk.flow.state().detours.length).toBe(1)
    talk.user('Thanks')
    expect(talk.choose('go_back:back')).toEqual(['-> order (return back)', 'prompt return: Take the order.'])
  })

  it('a global node offers no return after the conversation has left or entered it by an edge', () => {
    const global = { ...faq(), edges: [when('other', 'order')] }
    const talk = new FlowHarness(
      draftOf([
        asks('hi', 'Greet.', { edges: [when('hours', 'faq')] }),
        { ...order, edges: [when('hours', 'faq')] },
        global,
        ends(),
      ]),
    )
    talk.start()
    talk.user('Hours?')
    talk.choose('edge:hours')
    expect(talk.user('ok')).toEqual(['prompt user_turn: Answer. [edge:other]'])
    talk.choose('edge:other')
    talk.user('Hours?')
    talk.choose('global:faq')
    talk.user('An order')
    talk.choose('edge:other')
    talk.user('Hours')
    talk.choose('edge:hours')
    expect(talk.user('ok')).toEqual(['prompt user_turn: Answer. [edge:other]'])
  })

  it('a function node that a global node interrupted does not run its action a second time', () => {
    const action = {
      action_id: 'ping',
      kind: 'http',
      name: 'ping',
      method: 'POST',
      url: 'https://example.test/',
    } as const
    const node: DraftNode = { id: 'f', type: 'function', tool_id: 'ping', edges: [when('paid', 'end')] }
    const talk = new FlowHarness(draftOf([node, faq(), ends()], {}, { actions: [action] }))
    talk.start()
    talk.result({})
    talk.choose(null)
    expect(talk.user('When do you close?')).toEqual(['decide: [edge:paid] [global:faq]'])
    talk.choose('global:faq')
    talk.user('Thanks')
    expect(talk.choose('go_back:back')).toEqual(['-> f (return back)', 'decide: [edge:paid]'])
  })
})

describe('a component', () => {
  const call = (rest = {}) => ({ id: 'id', type: 'component', component_id: 'identify', ...rest }) as DraftNode
  const identify = {
    component_id: 'identify',
    start_node_id: 'ask',
    nodes: [asks('ask', 'Ask for the PIN.', { edges: [if_('pin', 'end', 'current_digits exists')] }), ends()],
  }

  it('a component runs its nodes under ids like component/node and returns to the calling node', () => {
    const talk = new FlowHarness(
      draftOf(
        [
          call({ edges: [if_('ok', 'hi', 'current_digits == 1234')], else_edge: when('else', 'end', 'Else') }),
          says('hi', 'Welcome.', { always_edge: when('bye', 'end', 'Always') }),
          ends(),
        ],
        { components: [identify] },
      ),
    )
    expect(talk.start()).toEqual(['-> id (start)', '-> identify/ask (start)', 'prompt enter: Ask for the PIN.'])
    expect(talk.digits('1234')).toEqual([
      '-> identify/end (edge pin)',
      '-> id (return)',
      '-> hi (edge ok)',
      'say: Welcome.',
    ])
    expect(talk.user('Bye')).toEqual(['-> end (edge bye)', 'end: completed by agent'])
  })

  it('nested components return one level at a time', () => {
    const outer = {
      component_id: 'outer',
      start_node_id: 'inner',
      nodes: [call({ id: 'inner', else_edge: when('else', 'end', 'Else') }), ends()],
    }
    const talk = new FlowHarness(
      draftOf(
        [call({ component_id: 'outer', else_edge: when('else', 'hi', 'Else') }), says('hi', 'Welcome.'), ends()],
        { components: [identify, outer] },
      ),
    )
    expect(talk.start()).toEqual([
      '-> id (start)',
      '-> outer/inner (start)',
      '-> identify/ask (start)',
      'prompt enter: Ask for the PIN.',
    ])
    expect(talk.digits('1')).toEqual([
      '-> identify/end (edge pin)',
      '-> outer/inner (return)',
      '-> outer/end (else else)',
      '-> id (return)',
      '-> hi (else else)',
      'say: Welcome.',
    ])
  })

  it('a component without an edge to leave by ends the conversation', () => {
    const talk = new FlowHarness(draftOf([call()], { components: [identify] }))
    talk.start()
    expect(talk.digits('1')).toEqual(['-> identify/end (edge pin)', '-> id (return)', 'end: completed by agent'])
  })

  it('a global node of the main flow can interrupt a component and returns into it', () => {
    const talk = new FlowHarness(
      draftOf([call({ else_edge: when('else', 'hi', 'Else') }), says('hi', 'Welcome.'), faq(), ends()], {
        components: [identify],
      }),
    )
    talk.start()
    talk.user('When do you close?')
    expect(talk.choose('global:faq')).toEqual(['-> faq (global)', 'prompt enter: Answer.'])
    talk.user('Thanks')
    expect(talk.choose('go_back:back')).toEqual(['-> identify/ask (return back)', 'prompt return: Ask for the PIN.'])
    expect(talk.digits('1')).toEqual([
      '-> identify/end (edge pin)',
      '-> id (return)',
      '-> hi (else else)',
      'say: Welcome.',
    ])
  })

  it('a global node that calls a component can still return to the node that it interrupted', () => {
    const help = {
      ...call({ else_edge: null }),
      global_node_setting: { condition: 'they need help', go_back_conditions: [back] },
    } as DraftNode
    const talk = new FlowHarness(
      draftOf(
        [order, { ...help, else_edge: when('else', 'after', 'Else') } as typeof help, says('after', 'Done.'), ends()],
        {
          components: [
            {
              ...identify,
              nodes: [asks('ask', 'Ask for the PIN.', { edges: [if_('pin', 'end', 'current_digits exists')] }), ends()],
            },
          ],
        },
      ),
    )
    talk.start()
    talk.user('Help')
    expect(talk.choose('global:id')).toEqual([
      '-> id (global)',
      '-> identify/ask (start)',
      'prompt enter: Ask for the PIN.',
    ])
    expect(talk.flow.state().detours.map(detour => detour.from.node)).toEqual(['order'])
  })

  it('a global node of a component is offered only inside that component', () => {
    const inside = {
      ...identify,
      nodes: [...identify.nodes, asks('lost', 'Help.', { global_node_setting: { condition: 'they lost it' } })],
    }
    const talk = new FlowHarness(
      draftOf([call({ else_edge: when('else', 'hi', 'Else') }), asks('hi', 'Talk.'), ends()], { components: [inside] }),
    )
    talk.start()
    expect(talk.user('Lost it')).toEqual(['prompt user_turn: Ask for the PIN. [global:identify/lost]'])
    talk.digits('1')
    expect(talk.user('Lost it')).toEqual(['prompt user_turn: Talk.'])
  })
})
