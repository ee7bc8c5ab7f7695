import { describe, expect, it } from 'vitest'
import { Memory } from './memory.ts'
import { linesOf } from './testing/scripted-model.ts'

describe('the memory of a conversation', () => {
  it('an agent line without words is placed after the caller turns that precede its first word', () => {
    const memory = new Memory()
    memory.user('Are you there?')
    const line = memory.agent()
    memory.user('Hello?')
    line.text = 'Yes, I am here.'
    memory.heard(line, line.text, false)
    expect(linesOf(memory.messages())).toEqual(['user: Are you there?', 'user: Hello?', 'agent: Yes, I am here.'])
  })

  it('an agent line that is being played is placed before a caller turn that comes meanwhile', () => {
    const memory = new Memory()
    const line = memory.agent()
    line.text = 'Good bye!'
    memory.user('Bye')
    memory.heard(line, 'Good', true)
    expect(linesOf(memory.messages())).toEqual(['agent: Good —', 'user: Bye'])
  })

  it('pending agent lines are visible only to the next model request, and withdrawn ones to none', () => {
    const memory = new Memory()
    const coming = memory.agent()
    coming.text = 'One moment.'
    const withdrawn = memory.agent()
    withdrawn.text = 'Never said.'
    withdrawn.state = 'withdrawn'
    expect(memory.messages()).toEqual([])
    expect(linesOf(memory.messagesAhead())).toEqual(['agent: One moment.'])
  })

  it('a tool call and its result stay together, whatever comes between them', () => {
    const memory = new Memory()
    const line = memory.agent()
    memory.heard(line, 'I will look.', false)
    const first = memory.called('find', { a: 1 }, 'r1')
    const second = memory.called('price', {}, 'r1')
    const other = memory.called('late', {}, 'r2')
    memory.user('And?')
    memory.result(second, { euros: 2 })
    memory.result(first, 'found')
    memory.result(first, 'found again')
    expect(memory.messages()).toEqual([
      {
        role: 'assistant',
        content: 'I will look.',
        toolCalls: [
          { id: first, name: 'find', argumentsText: '{"a":1}' },
          { id: second, name: 'price', argumentsText: '{}' },
        ],
      },
      { role: 'tool', toolCallId: first, content: 'found' },
      { role: 'tool', toolCallId: second, content: '{"euros":2}' },
      { role: 'assistant', content: '', toolCalls: [{ id: other, name: 'late', argumentsText: '{}' }] },
      { role: 'tool', toolCallId: other, content: '{"status":"in progress"}' },
      { role: 'user', content: 'And?' },
    ])
  })

  it('the model gets the newest turns that fit into 64 Ki characters, starting with a caller turn', () => {
    const memory = new Memory()
    for (let turn = 0; turn < 300; turn++) {
      memory.user(`turn ${turn}`)
      memory.result(memory.called('look', {}, `r${turn}`), 'x'.repeat(1000))
      memory.heard(memory.agent(), `answer ${turn}`, false)
    }
    const messages = memory.messages()
    expect(messages[0]!.role).toBe('user')
    expect(linesOf(messages).at(-1)).toBe('agent: answer 299')
    expect(messages.length % 4).toBe(0)
    const size = messages.reduce((sum, { content }) => sum + content.length, 0)
    expect(size).toBeLessThanOrEqual(65_536)
    expect(size).toBeGreaterThan(63_000)
  })

  it('a turn that does not fit is shortened, but never between a tool call and its result', () => {
    const memory = new Memory()
    memory.user('Look it all up')
    for (let use = 0; use < 10; use++) memory.result(memory.called('look', { use }, `r${use}`), 'x'.repeat(50_000))
    const messages = memory.messages()
    expect(messages[0]).toMatchObject({ role: 'assistant', toolCalls: [{ name: 'look' }] })
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool'])
    expect(messages[1]!.content).toHaveLength(16_384 + '… (cut)'.length)
  })

  it('the memory of a conversation is bounded', () => {
    const memory = new Memory()
    for (let turn = 0; turn < 20_000; turn++) memory.user('x'.repeat(1000))
    expect(memory.messages().length).toBe(65)
  })
})
