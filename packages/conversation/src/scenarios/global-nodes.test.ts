import { describe, expect, it } from 'vitest'
import { asks, type DraftNode, ends, httpAction, if_, planOf, says, when } from '../testing/plans.ts'
import { TextConversationHarness } from '../testing/text-conversation-harness.ts'

const back = (condition: string) => {
  const { id, transition_condition } = condition.includes(' == ') ? if_(condition, '') : when(condition, '')
  return { id, transition_condition }
}

const hours = (...goBack: string[]): DraftNode => ({
  ...asks('hours', 'Say the opening hours.'),
  global_node_setting: {
    condition: 'the caller asks for opening hours',
    cool_down: 2,
    go_back_conditions: goBack.map(back),
  },
})

const order = asks('order', 'Take the order.', { edges: [when('the order is complete', 'end')] })

async function ordering(plan: ReturnType<typeof planOf>): Promise<TextConversationHarness> {
  const talk = new TextConversationHarness(plan)
  talk.model.answers([{ say: 'Your order?' }])
  await talk.start()
  return talk
}

describe('a global node', () => {
  it('a global node is entered from any node by its condition and returns when the model chooses so', async () => {
    const talk = await ordering(planOf([order, hours('that is answered'), ends()]))
    talk.model.answers([{ take: 'the caller asks for opening hours' }], [{ say: 'From nine to six.' }])
    expect(await talk.say('When are you open?')).toEqual([
      'user: When are you open?',
      '-> hours (global)',
      'agent: From nine to six.',
    ])
    talk.model.answers([{ take: 'that is answered' }], [{ say: 'So, your order?' }])
    expect(await talk.say('Good.')).toEqual(['user: Good.', '-> order (return)', 'agent: So, your order?'])
    expect(talk.model.requests.at(-1)!.brief).toMatchObject({ reason: 'return', instruction: 'Take the order.' })
    talk.model.answers([{ take: 'the order is complete' }])
    expect((await talk.say('A pizza.')).at(-1)).toBe('ended: completed by agent')
  })

  it('a global node returns by an equation without a model request', async () => {
    const talk = await ordering(planOf([order, hours('current_digits == 1'), ends()]))
    talk.model.answers([{ take: 'the caller asks for opening hours' }], [{ say: 'From nine to six.' }])
    await talk.say('When are you open?')
    talk.model.answers([{ say: 'Your order?' }])
    expect(await talk.digits('1')).toEqual(['digits in: 1', '-> order (return)', 'agent: Your order?'])
    expect(talk.model.requests.at(-1)!.brief).toMatchObject({ reason: 'return' })
  })

  it('a global node is not offered again during its cool-down', async () => {
    const talk = await ordering(planOf([order, hours('that is answered'), ends()]))
    const isOffered = () =>
      talk.model.requests.at(-1)!.tools!.some(({ description }) => description === 'the caller asks for opening hours')
    talk.model.answers([{ take: 'the caller asks for opening hours' }], [{ say: 'From nine to six.' }])
    await talk.say('When are you open?')
    talk.model.answers([{ take: 'that is answered' }], [{ say: 'Your order?' }])
    await talk.say('Good.')
    await talk.say('Hm.')
    expect(isOffered(), 'two turns after the entry').toBe(false)
    await talk.say('Hm.')
    expect(isOffered(), 'three turns after the entry').toBe(true)
  })

  it('a global node keeps answering until a return condition holds', async () => {
    const talk = await ordering(planOf([order, hours('that is answered'), ends()]))
    talk.model.answers([{ take: 'the caller asks for opening hours' }], [{ say: 'From nine to six.' }])
    await talk.say('When are you open?')
    talk.model.answers([{ say: 'Also on Sundays.' }])
    expect(await talk.say('On Sundays?')).toEqual(['user: On Sundays?', 'agent: Also on Sundays.'])
  })

  it('a global node that interrupts a function returns without running its action again', async () => {
    const work: DraftNode = {
      id: 'work',
      type: 'function',
      tool_id: 'ping',
      edges: [when('it went well', 'next')],
      else_edge: when('Else', 'next'),
    }
    const talk = await ordering(
      planOf(
        [
          asks('order', 'Take the order.', { edges: [when('the order is complete', 'work')] }),
          work,
          says('next', 'Sent.', { edges: [when('bye', 'end')] }),
          hours('that is answered'),
          ends(),
        ],
        { actions: [httpAction('ping')] },
      ),
    )
    talk.actions.answers('ping', { body: null })
    talk.model.answers([{ take: 'the order is complete' }], [{ take: 'it went well' }])
    await talk.say('A pizza.')
    talk.model.answers([{ take: 'the caller asks for opening hours' }], [{ say: 'From nine to six.' }])
    await talk.say('When are you open?')
    talk.model.answers([{ take: 'that is answered' }], [{ say: 'It was sent.' }])
    expect((await talk.say('Good.')).slice(1)).toEqual(['-> next (return)', 'agent: It was sent.'])
    expect(talk.actions.sent).toHaveLength(1)
  })

  it('a global node loses its return once the conversation moves on by an edge', async () => {
    const node: DraftNode = {
      ...asks('hours', 'Say the opening hours.', { edges: [when('they want to visit', 'visit')] }),
      global_node_setting: {
        condition: 'the caller asks for opening hours',
        cool_down: null,
        go_back_conditions: [back('that is answered')],
      },
    }
    const talk = await ordering(planOf([order, node, asks('visit', 'Plan the visit.'), ends()]))
    talk.model.answers([{ take: 'the caller asks for opening hours' }], [{ say: 'From nine to six.' }])
    await talk.say('When are you open?')
    talk.model.answers([{ take: 'they want to visit' }], [{ say: 'When do you come?' }])
    expect((await talk.say('I will come by')).slice(1)).toEqual(['-> visit (edge)', 'agent: When do you come?'])
    await talk.say('Monday')
    expect(talk.model.requests.at(-1)!.tools!.map(({ description }) => description)).toEqual([
      'the caller asks for opening hours',
    ])
  })
})
