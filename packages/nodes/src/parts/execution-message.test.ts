import { describe, expect, it } from 'vitest'
import { wordsBesideCall } from './execution-message.ts'

const message = (text: string, type?: 'prompt' | 'static_text') => ({
  speak_during_execution: true,
  execution_message_description: text,
  ...(type !== undefined && { execution_message_type: type }),
})

describe('what the model says beside its call of an action', () => {
  it.each([
    [message('Say that you are looking.'), 'speak to the caller: Say that you are looking.'],
    [message('One moment.', 'static_text'), 'say exactly this to the caller: One moment.'],
    [{ speak_during_execution: true }, 'say one short sentence'],
  ])('of %j it is told in the description of the tool', (action, words) =>
    expect(wordsBesideCall(action)).toContain(words),
  )

  it('an action that does not speak says nothing', () =>
    expect(wordsBesideCall({ ...message('One moment.'), speak_during_execution: false })).toBe(''))
})
