import { InMemoryEffectLedger, TextSession } from '@parley/conversation'
import { systemRandom, VirtualTime } from '@parley/kernel'
import type { MessageAnswer, RunMessage } from '@parley/store'
import { describe, expect, it } from 'vitest'
import { Chat } from './chat.ts'
import { Signal } from './signal.ts'
import { CHATTER, planOf } from './testing/agents.ts'
import { ScriptedModel } from './testing/scripted-model.ts'

/** A chat whose messages are in memory. */
class Talk {
  readonly time = new VirtualTime()
  readonly mind = new ScriptedModel()
  readonly bell = new Signal(this.time)
  readonly answers: MessageAnswer[] = []
  /** How often it looked for a message. */
  looks = 0
  /** Somebody else has answered what waits. */
  isGone = false
  readonly session: TextSession
  readonly over: Promise<void>
  readonly #waiting: RunMessage[] = []

  constructor(silenceMs: number) {
    const { time, mind, bell } = this
    const over = new AbortController()
    this.session = new TextSession({
      plan: planOf(CHATTER),
      mode: { channel: 'cloud', hasCaller: true },
      call: { run_id: 'r', agent_id: 'a', agent_version: 1, channel: 'cloud', from_number: null, to_number: null },
      models: () => mind,
      actions: { run: () => Promise.reject(new Error('no actions here')) },
      ledger: new InMemoryEffectLedger({ random: systemRandom, wallClock: () => 0 }),
      transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
      time,
      wallClock: () => 0,
      onEvent: ({ type }) => {
        if (type === 'ended') over.abort()
      },
    })
    const messages = {
      next: async () => {
        this.looks++
        return this.#waiting[0] ?? null
      },
      take: async () => {
        this.#waiting.shift()
        return !this.isGone
      },
      answer: async (_: RunMessage, answer: MessageAnswer) => void this.answers.push(answer),
    }
    const chat = new Chat({
      session: this.session,
      messages,
      signal: bell,
      time,
      silenceMs,
      over: over.signal,
      onLastTurn: async () => ({ state: 'ending', utterances: [] }),
    })
    this.over = chat.talk(this.session.start())
  }

  say(text: string, { quietly = false } = {}): Promise<void> {
    const times = { created_at: '', answered_at: null }
    this.#waiting.push({ message_id: text, run_id: 'r', text, state: 'waiting', answer: null, reason: null, ...times })
    if (!quietly) this.bell.notify()
    return settle()
  }

  async pass(ms: number): Promise<void> {
    await settle()
    this.time.advance(ms)
    await settle()
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('a chat', () => {
  it('the silence of a chat counts from the end of its last turn', async () => {
    const talk = new Talk(60_000)
    await talk.pass(59_000)
    await talk.say('Hello?')
    await talk.pass(59_000)
    expect(talk.session.ended).toBeNull()
    await talk.pass(1000)
    await talk.over
    expect(talk.session.ended).toMatchObject({ outcome: 'silence', ended_by: 'system' })
    expect(talk.time.nextDeadline()).toBeUndefined()
  })

  it('a chat finds a message within 5 s when its notification was lost', async () => {
    const talk = new Talk(60_000)
    await talk.pass(0)
    await talk.say('Hello?', { quietly: true })
    expect(talk.answers).toEqual([])
    await talk.pass(5000)
    expect(talk.answers).toHaveLength(1)
  })

  it('a chat gives no reply to a message that it cannot load', async () => {
    const talk = new Talk(60_000)
    await talk.pass(0)
    talk.isGone = true
    await talk.say('Hello?')
    expect(talk.mind.requests).toEqual([])
    expect(talk.answers).toEqual([])
    talk.isGone = false
    await talk.say('Well?')
    expect(talk.answers).toMatchObject([{ state: 'running', utterances: [{ text: 'Well?' }, { text: 'Yes.' }] }])
  })

  it('a chat polls for messages at a bounded rate', async () => {
    const talk = new Talk(60_000)
    for (let second = 0; second < 50; second++) await talk.pass(1000)
    expect(talk.looks).toBe(11)
  })
})
