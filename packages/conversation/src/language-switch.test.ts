import { ProviderError } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { asks, ends, if_, planOf, says } from './testing/plans.ts'
import { TextConversationHarness } from './testing/text-conversation-harness.ts'

const settings = { language: ['en', 'es'] }

describe('the language of a conversation', () => {
  it('the language of a conversation follows the words of the caller: model, apologies and {{current_language}}', async () => {
    const talk = new TextConversationHarness(
      planOf(
        [asks('hello', 'Greet.', { edges: [if_('{{current_language}} == es', 'hola')] }), says('hola', 'Bienvenido.')],
        {
          settings,
        },
      ),
    )
    talk.model.answers([{ say: 'Hello.' }])
    await talk.start()
    expect(await talk.say('Necesito cambiar mi cita, por favor')).toEqual([
      'en -> es (words)',
      'user: Necesito cambiar mi cita, por favor',
      '-> hola (edge)',
      'agent: Bienvenido.',
    ])
    const refused = new ProviderError('model_refused', 'The key is not valid.')
    talk.model.answers([{ fail: refused }])
    expect(await talk.say('¿Cómo?')).toContain('agent: Lo siento, tengo un problema técnico. ¿Me lo puede repetir?')
  })

  it('the language of a conversation stays where the caller only names somebody', async () => {
    const talk = new TextConversationHarness(planOf([asks('name', 'Ask.'), ends()], { settings }))
    talk.model.answers([{ say: 'Your name?' }], [{ say: 'Thank you.' }])
    await talk.start()
    expect(await talk.say('Juan de la Cruz')).toEqual(['user: Juan de la Cruz', 'agent: Thank you.'])
    expect(talk.model.requests.at(-1)!.messages[0]).toMatchObject({
      content: expect.stringContaining('Language: English'),
    })
  })

  it('the language of a conversation is part of what the model is told after a change, whatever the instructions are written in', async () => {
    const talk = new TextConversationHarness(planOf([asks('a', 'Ask.'), ends()], { settings }))
    talk.model.answers([{ say: 'Hello.' }], [{ say: 'Hola.' }])
    await talk.start()
    await talk.say('español por favor')
    expect(talk.model.requests.at(-1)!.messages[0]).toMatchObject({
      content: expect.stringMatching(/Language: Spanish, unless .*The caller has changed to it: say everything in it/),
    })
  })
})
