import { describe, expect, it } from 'vitest'
import { asks, ends, httpAction, planOf, says, staticText, when } from './testing/plans.ts'
import { conversationFixture, settle, TextConversationHarness } from './testing/text-conversation-harness.ts'
import { TextSession } from './text-session.ts'

const chat = planOf([says('chat', 'Hello.', { edges: [when('bye', 'end')] }), ends()])

function session(plan = chat) {
  const set = conversationFixture(plan)
  return { ...set, session: new TextSession(set.options) }
}

describe('a conversation in text', () => {
  it('a text turn resolves with its new utterances when the agent has finished', async () => {
    const { session: chat, model, time } = session()
    expect((await chat.start()).map(({ role, text }) => [role, text])).toEqual([['agent', 'Hello.']])
    model.answers([{ say: 'Half ' }, { wait: 3000 }, { say: 'and half.' }])
    const turn = chat.say('Well?')
    await settle()
    time.advance(3000)
    expect(await turn).toEqual([
      {
        index: 1,
        role: 'user',
        text: 'Well?',
        segment_id: 'user-2',
        observed_offset_ms: null,
        interrupted: false,
        start_ms: null,
        end_ms: null,
        node_id: 'chat',
      },
      {
        index: 2,
        role: 'agent',
        text: 'Half and half.',
        segment_id: 'agent-3',
        observed_offset_ms: null,
        interrupted: false,
        start_ms: null,
        end_ms: null,
        node_id: 'chat',
      },
    ])
  })

  it('a text turn during another is refused with turn_in_progress', async () => {
    const { session: chat, model, time } = session()
    await chat.start()
    model.answers([{ wait: 100 }, { say: 'One.' }])
    const first = chat.say('One')
    await expect(chat.say('Two')).rejects.toMatchObject({ code: 'turn_in_progress', retryable: true })
    await settle()
    time.advance(100)
    expect((await first).map(({ text }) => text)).toEqual(['One', 'One.'])
  })

  it('agent speeches enter the transcript in order, even when a later one completes first', async () => {
    const talk = new TextConversationHarness(
      planOf(
        [
          {
            id: 'f',
            type: 'subagent',
            instruction: staticText('Hello.'),
            tool_ids: ['ping'],
            edges: [when('on', 'next')],
          },
          says('next', 'Next.'),
        ],
        { actions: [httpAction('ping')] },
      ),
    )
    await talk.start()
    talk.model.answers([{ say: 'First' }, { take: 'on' }, { say: ' of all.' }])
    expect(await talk.say('Go')).toEqual(['user: Go', 'agent: First of all.', '-> next (edge)', 'agent: Next.'])
  })

  it('a text turn resolves when the conversation ends or the session is stopped', async () => {
    const { session: chat, model } = session()
    await chat.start()
    model.answers([{ stall: true }])
    const turn = chat.say('Well?')
    await settle()
    chat.stop()
    expect((await turn).map(({ text }) => text)).toEqual(['Well?'])
    const over = session()
    await over.session.start()
    over.model.answers([{ take: 'bye' }])
    await over.session.say('Bye')
    expect(over.session.ended).toMatchObject({ outcome: 'completed' })
    expect(await over.session.say('Hello?')).toEqual([])
  })

  it('a text turn waits for a running action without a time limit of its own', async () => {
    const talk = new TextConversationHarness(
      planOf(
        [
          { id: 'f', type: 'function', tool_id: 'ping', edges: [], else_edge: when('Else', 'next') },
          asks('next', 'Go on.'),
        ],
        { actions: [httpAction('ping')] },
      ),
    )
    talk.model.answers([{ say: 'Pong.' }])
    const started = talk.start()
    await settle()
    talk.fixture.time.advance(100_000)
    talk.actions.resolve({ body: 'pong' })
    expect(await started).toEqual(['-> f (start)', 'ping started', 'ping succeeded', '-> next (else)', 'agent: Pong.'])
  })
})

describe('a task without a caller', () => {
  it('a task speaks once in its node and moves on to its end by itself', async () => {
    const talk = new TextConversationHarness(
      planOf([asks('work', 'Write a summary.', { edges: [when('it is written', 'end')] }), ends()]),
      { mode: { channel: 'cloud', hasCaller: false } },
    )
    talk.model.answers([{ say: 'All is well.' }], [{ take: 'it is written' }])
    expect(await talk.start()).toEqual([
      '-> work (start)',
      'agent: All is well.',
      '-> end (edge)',
      'ended: completed by agent',
    ])
    expect(talk.model.requests[1]).toMatchObject({ toolChoice: 'auto', brief: { purpose: 'decide' } })
  })

  it('a task whose model fails ends with provider_failed and speaks no apology', async () => {
    const talk = new TextConversationHarness(planOf([asks('work', 'Write.')]), {
      mode: { channel: 'cloud', hasCaller: false },
    })
    talk.model.answers([{ fail: new Error('down') }])
    expect(await talk.start()).toEqual([
      '-> work (start)',
      'error model_failed',
      'ended: error by system provider_failed',
    ])
  })
})
