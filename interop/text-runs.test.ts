import type { ParleyClient } from '@parley/client'
import { describe, expect, it } from 'vitest'
import { clientOf, eventually, hasEnded, runOnce } from './placed-call.ts'
import { startServing, temporaryHome } from './serving.ts'

/** The built-in model answers at once; the machine may be busy. */
const SOON_MS = 20_000

async function published(client: ParleyClient, template: 'cloud_chat' | 'cloud_task'): Promise<string> {
  const { ref, draft } = await client.agents.create({ body: { template, name: template } })
  const body = { draft_id: draft!.draft_id, expected_revision: draft!.revision }
  await client.publications.publish({ params: { agent_id: ref.id }, body })
  return ref.id
}

/** A chat in which the agent has said its opening line. */
async function openedChat(client: ParleyClient, agent_id: string): Promise<string> {
  const { run_id } = await client.runs.create({ body: { agent_id, channel: 'cloud', mode: 'chat' } })
  const transcript = () => client.runs.transcript({ params: { run_id } })
  await eventually(transcript, ({ utterances }) => utterances.length > 0, SOON_MS)
  return run_id
}

describe('runs in text, of a platform that was just started', { timeout: 180_000 }, () => {
  it('talks in a chat, works off a task, ends what is cancelled', async ({ onTestFinished: atTestEnd }) => {
    const client = clientOf(await startServing(atTestEnd))
    const chatter = await published(client, 'cloud_chat')
    const run_id = await openedChat(client, chatter)
    const params = { run_id }
    const first = await client.runs.message({ params, body: { text: 'Can you help me with my order?' } })
    expect(first).toMatchObject({ run_id, state: 'running', utterances: [{ role: 'user' }, { role: 'agent' }] })
    const last = await client.runs.message({ params, body: { text: 'No more questions, goodbye.' } })
    expect(last).toMatchObject({ state: 'ending', utterances: [{ role: 'user' }, { role: 'agent' }] })
    const run = await runOnce(client, run_id, hasEnded, SOON_MS)
    expect(run).toMatchObject({ state: 'completed', phone_state: null, outcome: { kind: 'completed' } })
    const { state, utterances } = await client.runs.transcript({ params })
    expect(state).toBe('complete')
    expect(utterances.slice(1)).toEqual([...first.utterances, ...last.utterances])
    const { items: effects } = await client.runs.effects({ params })
    expect(new Set(effects.map(({ effect_kind }) => effect_kind))).toEqual(new Set(['gateway_inference']))

    const worker = await published(client, 'cloud_task')
    for (const mode of ['task', 'background'] as const) {
      const task = await client.runs.create({ body: { agent_id: worker, channel: 'cloud', mode } })
      const done = await runOnce(client, task.run_id, hasEnded, SOON_MS)
      expect(done).toMatchObject({ mode, state: 'completed', outcome: { kind: 'completed', ended_by: 'agent' } })
    }

    const unwanted = { run_id: await openedChat(client, chatter) }
    await client.runs.cancel({ params: unwanted })
    const cancelled = await runOnce(client, unwanted.run_id, hasEnded, SOON_MS)
    expect(cancelled).toMatchObject({ state: 'cancelled', outcome: { kind: 'cancelled', ended_by: 'operator' } })
  })

  it('after kill -9 in the middle of a chat ends it, and talks in the next', async ({ onTestFinished: atTestEnd }) => {
    const home = temporaryHome(atTestEnd)
    const first = await startServing(atTestEnd, { home })
    const agent_id = await published(clientOf(first), 'cloud_chat')
    const run_id = await openedChat(clientOf(first), agent_id)
    await first.kill()

    const client = clientOf(await startServing(atTestEnd, { home }))
    const run = await runOnce(client, run_id, hasEnded, 30_000)
    expect(run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'engine_lost' } })
    const { state, utterances } = await client.runs.transcript({ params: { run_id } })
    expect([state, utterances.length]).toEqual(['partial', 1])
    const next = { run_id: await openedChat(client, agent_id) }
    const answer = await client.runs.message({ params: next, body: { text: 'Are you there?' } })
    expect(answer.state).toBe('running')
  })
})
