import { describe, expect, it } from 'vitest'
import { asks, ends, planOf, says, when } from '../testing/plans.ts'
import { TextTalk } from '../testing/text-talk.ts'

describe('a conversation node', () => {
  it('says its fixed text once, answers by the model, and is left by the condition that the model finds true', async () => {
    const talk = new TextTalk(
      planOf([
        says('greet', 'Hello, this is the clinic.', { edges: [when('the caller wants to book', 'book')] }),
        asks('book', 'Ask for a day.', { edges: [when('a day was said', 'end')] }),
        ends(),
      ]),
    )
    expect(await talk.start()).toEqual(['-> greet (start)', 'agent: Hello, this is the clinic.'])
    talk.model.answers([{ say: 'We are open ' }, { say: 'until six.' }])
    expect(await talk.say('When do you close?')).toEqual(['user: When do you close?', 'agent: We are open until six.'])
    talk.model.answers([{ take: 'the caller wants to book' }], [{ say: 'Which day?' }])
    expect(await talk.say('I want to book')).toEqual(['user: I want to book', '-> book (edge)', 'agent: Which day?'])
    talk.model.answers([{ take: 'a day was said' }])
    expect(await talk.say('Monday')).toEqual(['user: Monday', '-> end (edge)', 'ended: completed by agent'])
  })
})
