import { expect, it } from 'vitest'
import type { ChatMessage } from '../../language-model/language-model.ts'
import { ConversationItems } from './conversation-items.ts'

const user = (content: string): ChatMessage => ({ role: 'user', content })
const agent = (content: string): ChatMessage => ({ role: 'assistant', content })

/** A conversation in which the caller said `turns`, each of them one item. */
function heard(...turns: readonly string[]): ConversationItems {
  const items = new ConversationItems()
  for (const [index, turn] of turns.entries()) {
    items.heardAudio(`audio_${index}`)
    items.transcribed(`audio_${index}`, turn)
  }
  return items
}

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type.split('.').at(-1))

it("the caller's audio and the model's speech stay where the request has their words", () => {
  const items = heard('Hello there')
  items.speaks('answer')
  items.spoke('answer', 'Good morning!')
  expect(items.reconcile([user('hello, there.'), agent('Good morning!')])).toEqual([])
})

it('a turn that was heard in two pieces stays as audio', () => {
  expect(heard('My name is', 'John Smith').reconcile([user('my name is John Smith')])).toEqual([])
})

it('what was said by another voice is written in its place', () => {
  const items = heard('Hello')
  expect(items.reconcile([agent('Welcome.'), user('Hello')])).toEqual([
    {
      type: 'conversation.item.create',
      previous_item_id: 'root',
      item: {
        id: 'parley_1',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Welcome.' }],
      },
    },
  ])
  expect(items.reconcile([agent('Welcome.'), user('Hello')])).toEqual([])
})

it('audio that is no part of the conversation is deleted', () => {
  expect(heard('uh huh', 'Tuesday').reconcile([user('Tuesday')])).toEqual([
    { type: 'conversation.item.delete', item_id: 'audio_0' },
  ])
})

it('a turn without a transcript stays as audio, which the model may understand', () => {
  expect(heard('').reconcile([user('[unintelligible]')])).toEqual([])
})

it('a message that was interrupted is truncated where playback stopped, and stays with the words that were heard', () => {
  const items = heard('Hello')
  items.speaks('answer')
  items.spoke('answer', 'We have Monday, Tuesday and Friday.')
  expect(items.truncation('answer', 3000, 1234.5, 'We have Monday,')).toEqual({
    type: 'conversation.item.truncate',
    item_id: 'answer',
    content_index: 0,
    audio_end_ms: 1234,
  })
  expect(items.reconcile([user('Hello'), agent('We have Monday, —'), user('Monday')])).toMatchObject([
    { type: 'conversation.item.create', previous_item_id: 'answer' },
  ])
})

it('a message of which nothing was heard is deleted, because the service refuses a truncation to nothing', () => {
  const items = heard('Hello')
  items.speaks('answer')
  items.spoke('answer', 'Good morning!')
  expect(items.truncation('answer', 900, 0, '')).toEqual({ type: 'conversation.item.delete', item_id: 'answer' })
  expect(items.reconcile([user('Hello')])).toEqual([])
})

it('a message that was played to its end is not truncated', () => {
  const items = heard('Hello')
  items.speaks('answer')
  expect(items.truncation('answer', 900, 890, 'Good morning!')).toBe(null)
})

it("a tool call keeps the service's id, and its result refers to it", () => {
  const items = heard('Book it')
  items.called('item_call', 'call_of_service', 'book', '{ "day": "Monday" }')
  const toolCalls = [{ id: 'call_1', name: 'book', argumentsText: '{"day":"Monday"}' }]
  const done = [user('Book it'), { role: 'assistant', content: '', toolCalls } as const]
  const running: ChatMessage[] = [...done, { role: 'tool', toolCallId: 'call_1', content: '{"status":"in progress"}' }]
  expect(items.reconcile(running)).toMatchObject([
    {
      type: 'conversation.item.create',
      previous_item_id: 'item_call',
      item: { type: 'function_call_output', call_id: 'call_of_service' },
    },
  ])
  const finished: ChatMessage[] = [...done, { role: 'tool', toolCallId: 'call_1', content: '{"booked":true}' }]
  const events = items.reconcile(finished)
  expect(types(events).sort()).toEqual(['create', 'delete'])
  expect(events).toContainEqual(
    expect.objectContaining({
      item: expect.objectContaining({ call_id: 'call_of_service', output: '{"booked":true}' }),
    }),
  )
})

it('a call that moved the flow on is deleted, because it gets no result', () => {
  const items = heard('Yes')
  items.called('item_call', 'call_9', 'go_1', '{}')
  expect(items.reconcile([user('Yes')])).toEqual([{ type: 'conversation.item.delete', item_id: 'item_call' }])
})

it('a new session gets the whole conversation as text', () => {
  const events = new ConversationItems().reconcile([
    { role: 'system', content: 'Be brief.' },
    agent('Welcome.'),
    user('Hello'),
    agent('Good morning!'),
  ])
  expect(events.map(event => (event.item as { role: string }).role)).toEqual(['assistant', 'user', 'assistant'])
  expect(events.map(event => event.previous_item_id)).toEqual(['root', 'parley_1', 'parley_2'])
})
