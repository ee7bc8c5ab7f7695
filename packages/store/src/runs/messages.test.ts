import { randomUUID } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { cancelRun } from './finish.ts'
import { answerMessage, nextMessage, postMessage, readMessage, takeMessage } from './messages.ts'
import type { RunOwnership } from './protocol.ts'
import { admitted, CHAT, CHAT_OVER, letLeaseEnd, OUTBOUND, talesOn, workspace } from './runs.fixture.ts'
import { writeCheckpoint } from './transcripts.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test)
})
afterAll(() => test?.close())

const { running, end } = talesOn(() => test)
const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)
const say = (run_id: string, text: string, message_id: string = randomUUID()) =>
  within(tx => postMessage(tx, scope, run_id, { message_id, text }))
const read = (id: string) => readMessage(test.database.within(scope), scope, id)
const next = (run: RunOwnership) => nextMessage(test.database.within(scope), scope, run)
const take = (run: RunOwnership, id: string) => within(tx => takeMessage(tx, scope, run, id))
const ANSWER = { state: 'running', utterances: [{ index: 1, role: 'agent', text: 'Good morning.' }] } as const
const answer = (run: RunOwnership, id: string) => within(tx => answerMessage(tx, scope, run, id, ANSWER))

async function posted(run_id: string, text: string): Promise<string> {
  const message = await say(run_id, text)
  if (typeof message === 'string') throw new Error(message)
  return message.message_id
}

describe('a message in a chat', () => {
  it('a message in a chat waits for the owner of the run, which takes and answers it', async () => {
    const run = await running(scope, CHAT)
    expect(await next(run)).toBeNull()
    const id = await posted(run.run_id, 'Hello?')
    expect(await next(run)).toMatchObject({ message_id: id, text: 'Hello?', state: 'waiting', answer: null })
    expect(await take(run, id)).toBe('done')
    expect(await next(run)).toBeNull()
    expect(await take(run, id)).toBe('gone')
    expect(await answer(run, id)).toBe('done')
    expect(await read(id)).toMatchObject({ state: 'answered', answer: ANSWER })
    expect(await answer(run, id)).toBe('gone')
  })

  it('messages in a chat are accepted one at a time, also with concurrent posts', async () => {
    const run = await running(scope, CHAT)
    const said = await Promise.all(Array.from({ length: 12 }, (_, n) => say(run.run_id, `I am ${n}`)))
    expect(said.filter(message => message === 'turn_in_progress')).toHaveLength(11)
    const first = await next(run)
    await take(run, first!.message_id)
    expect(await say(run.run_id, 'and another thing')).toBe('turn_in_progress')
    await answer(run, first!.message_id)
    expect(await say(run.run_id, 'and another thing')).toMatchObject({ state: 'waiting' })
  })

  it('a message in a chat is returned as stored when it is posted again under its id, in any state', async () => {
    const run = await running(scope, CHAT)
    const id = randomUUID()
    const twice = await Promise.all([say(run.run_id, 'Hello?', id), say(run.run_id, 'Hello?', id)])
    expect(twice).toMatchObject([{ message_id: id }, { message_id: id }])
    await take(run, id)
    await answer(run, id)
    await end(scope, run, { outcome: CHAT_OVER.outcome })
    expect(await say(run.run_id, 'Hello?', id)).toMatchObject({ state: 'answered', answer: ANSWER })
  })

  it('a message in a chat is accepted before the run has an owner', async () => {
    const run_id = await admitted(test, scope, CHAT)
    expect(await say(run_id, 'Hello?')).toMatchObject({ state: 'waiting' })
  })

  it('a message in a chat is refused for a run that is not a chat, is ending or has ended', async () => {
    const phone = await running(scope, OUTBOUND)
    expect(await say(phone.run_id, 'Hello?')).toBe('run_ended')
    const cancelled = await running(scope, CHAT)
    await within(tx => cancelRun(tx, scope, cancelled.run_id))
    expect(await say(cancelled.run_id, 'Hello?')).toBe('run_ended')
    const over = await running(scope, CHAT)
    await end(scope, over, { outcome: CHAT_OVER.outcome })
    expect(await say(over.run_id, 'Hello?')).toBe('run_ended')
    expect(await say(randomUUID(), 'Hello?')).toBe('run_ended')
  })

  it('a message in a chat is not given to a process that lost the run', async () => {
    const run = await running(scope, CHAT)
    const id = await posted(run.run_id, 'Hello?')
    await letLeaseEnd(test, run)
    expect(await next(run)).toBeNull()
    expect(await take(run, id)).toBe('lost')
    expect(await answer(run, id)).toBe('lost')
    expect(await read(id)).toMatchObject({ state: 'waiting' })
  })
})

describe('an unanswered message', () => {
  it('an unanswered message is refused at the end of the run, by owner or reaper', async () => {
    const run = await running(scope, CHAT)
    const id = await posted(run.run_id, 'Hello?')
    await take(run, id)
    await end(scope, run, { outcome: CHAT_OVER.outcome })
    expect(await read(id)).toMatchObject({ state: 'refused', reason: 'run_ended', answer: null })

    const unowned = await admitted(test, scope, CHAT)
    const early = await posted(unowned, 'Hello?')
    expect(await within(tx => cancelRun(tx, scope, unowned))).toBe('finished')
    expect(await read(early)).toMatchObject({ state: 'refused', reason: 'run_ended' })

    const late = await admitted(test, scope, CHAT)
    const unheard = await posted(late, 'Hello?')
    await test.owner.query('update parley.run_ownership set start_before = now() where run_id = $1', [late])
    expect(await test.database.runs.expire(100)).toContainEqual({ run_id: late, tenant_id: scope.tenant_id })
    expect(await read(unheard)).toMatchObject({ state: 'refused', reason: 'run_ended' })
  })

  it('an unanswered message does not delay the end of its run, and a message posted during the end is refused', async () => {
    for (let n = 0; n < 5; n++) {
      const run = await running(scope, CHAT)
      const id = randomUUID()
      const [said] = await Promise.all([say(run.run_id, 'Hello?', id), end(scope, run, { outcome: CHAT_OVER.outcome })])
      if (said !== 'run_ended') expect(await read(id)).toMatchObject({ state: 'refused' })
    }
  })
})

it('messages are deleted when the transcript expires', async () => {
  const run = await running(scope, CHAT)
  const id = await posted(run.run_id, 'Hello?')
  await within(tx => writeCheckpoint(tx, scope, run, [], { segments: 0 }))
  expect(await read(id)).not.toBeNull()
  await test.owner.query("update parley.run_transcripts set state = 'expired' where run_id = $1", [run.run_id])
  expect(await read(id)).toBeNull()
})
