// One platform with a live call, a live chat and an edited agent is killed by SIGKILL and started again on its home.
import type { ParleyClient } from '@parley/client'
import { prepareHome } from '@parley/store/testing'
import { BrowserStandIn } from '@parley/webrtc/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { peerProcessOf } from './peer-process-of.ts'
import {
  clientOf,
  eventually,
  hasEnded,
  measureRecording,
  openChat,
  printedCall,
  publishTemplate,
  runPrintedCommand,
  waitForRun,
} from './placed-call.ts'
import { atLastTestEnd } from './recipe.ts'
import { type Serving, startServing, temporaryHome } from './serving.ts'
import { requires } from './skip.ts'

const SOON_MS = 60_000
const RUN_OVER_MS = 90_000
/** Until a call is heard, on a busy machine. */
const CALL_MS = 60_000
const NEW_NAME = 'Pizzería Nueva'

const sox = requires({ sox: 'sox', soxi: 'sox', curl: 'curl' })

async function versionsOf(client: ParleyClient, agent_id: string): Promise<number[]> {
  const { items } = await client.publications.list({ params: { agent_id } })
  return items.map(({ ref }) => ref.version)
}

/** Renames the draft of an agent; the new revision. */
async function rename(client: ParleyClient, agent_id: string, name: string): Promise<number> {
  const { draft } = await client.agents.get({ params: { agent_id } })
  const { draft_id, revision: expected_revision } = draft!
  const edits = [{ type: 'agent.name' as const, name }]
  return (await client.drafts.edit({ params: { agent_id }, body: { draft_id, expected_revision, edits } })).revision
}

describe('a platform that is killed by SIGKILL and started again', () => {
  const afterAllTests = atLastTestEnd()
  const home = temporaryHome(afterAllTests)
  let first: Serving
  let second: Serving
  let client: ParleyClient
  let chatAgent: string
  let chatId: string
  let revision: number
  /** Null without the programs that place the call. */
  let call: { readonly run_id: string; readonly spokenMs: number } | null = null

  beforeAll(async () => {
    await prepareHome(home)
    first = await startServing(afterAllTests, { home })
    const before = clientOf(first)
    revision = await rename(before, 'pizzeria', NEW_NAME)
    chatAgent = await publishTemplate(before, 'cloud_chat')
    if (!sox.missing) {
      const { run_id } = runPrintedCommand(printedCall(first))
      const utterances = async () => (await before.runs.transcript({ params: { run_id } })).utterances
      const spoken = await eventually(utterances, ({ length }) => length >= 2, 60_000)
      call = { run_id, spokenMs: spoken.at(-1)!.end_ms! }
    }
    chatId = await openChat(before, chatAgent, SOON_MS)
    await first.kill()
    second = await startServing(afterAllTests, { home })
    client = clientOf(second)
  })

  it.skipIf(sox.missing)(
    `a restarted platform fails the run of the lost call with engine_lost, has its recording up to the last second, and places the next call${sox.note}`,
    async ({ onTestFinished }) => {
      const params = { run_id: call!.run_id }
      const run = await waitForRun(client, call!.run_id, hasEnded, RUN_OVER_MS)
      expect(run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'engine_lost' } })
      const read = () => client.runs.recording({ params })
      const recording = await eventually(read, ({ media_url }) => media_url !== null, SOON_MS)
      expect(recording.state).toBe('partial')
      const { seconds, rms } = await measureRecording(recording.media_url!, onTestFinished)
      expect(seconds * 1000).toBeGreaterThan(call!.spokenMs - 1000)
      expect(rms).toHaveLength(2)
      expect((await client.runs.transcript({ params })).state).toBe('partial')

      const next = runPrintedCommand(printedCall(second))
      await waitForRun(client, next.run_id, ({ phone_state }) => phone_state === 'active', RUN_OVER_MS)
    },
  )

  it('a restarted platform fails the run of the lost chat with engine_lost, and answers in the next chat', async () => {
    const run = await waitForRun(client, chatId, hasEnded, RUN_OVER_MS)
    expect(run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'engine_lost' } })
    const { state, utterances } = await client.runs.transcript({ params: { run_id: chatId } })
    expect([state, utterances.length]).toEqual(['partial', 1])
    const run_id = await openChat(client, chatAgent, SOON_MS)
    const answer = await client.runs.message({ params: { run_id }, body: { text: 'Are you there?' } })
    expect(answer.state).toBe('running')
  })

  it('a restarted platform has the workspace of its first start: key, numbers, agents, and one publication of each example', async () => {
    expect(first.demo).toMatchObject({
      agent_id: 'clinic',
      number: '+12025550142',
      console: expect.stringMatching(/\/console#key=parley_live_/),
      phone: '+12025550143',
    })
    expect(second.demo).toMatchObject({ key: first.demo.key, number: first.demo.number })
    const { agents } = await client.agents.list()
    expect(agents.map(({ ref }) => ref.id).sort()).toEqual([chatAgent, 'clinic', 'pizzeria'].sort())
    expect([await versionsOf(client, 'clinic'), await versionsOf(client, 'pizzeria')]).toEqual([[0], [0]])
  })

  it('when the process of peer connections is killed, web calls end, phone calls go on, and the next web call is answered', async () => {
    const body = { agent_id: 'clinic', channel: 'phone', mode: 'outbound', to: second.demo.phone! } as const
    const webCall = async () => {
      const run = await client.runs.create({ body: { agent_id: 'clinic', channel: 'web', mode: 'inbound' } })
      return { run_id: run.run_id, ...run.web! }
    }
    const { run_id: web, url, token } = await webCall()
    const caller = new BrowserStandIn()
    expect(await caller.call(url, token)).toBe(201)
    const { run_id: phone } = await client.runs.create({ body })
    const itemsOf = async (run_id: string) => (await client.runs.timeline({ params: { run_id }, query: {} })).items
    const utterances = async (run_id: string) =>
      (await itemsOf(run_id)).filter(({ kind }) => kind === 'utterance').length
    for (const run_id of [web, phone])
      await eventually(
        () => utterances(run_id),
        count => count > 0,
        CALL_MS,
      )
    process.kill(peerProcessOf(second.pid), 'SIGKILL')
    const ended = await waitForRun(client, web, hasEnded, CALL_MS)
    expect(ended, JSON.stringify(ended)).toMatchObject({ outcome: { kind: 'error' } })
    caller.close()
    const before = await utterances(phone)
    // It says more, or has said all that it has to say.
    const goesOn = async () =>
      (await utterances(phone)) > before ||
      (await client.runs.get({ params: { run_id: phone } })).outcome?.kind === 'completed'
    await eventually(goesOn, isTrue => isTrue, CALL_MS)
    const next = await webCall()
    const other = new BrowserStandIn()
    expect(await other.call(next.url, next.token)).toBe(201)
    other.close()
    await client.runs.cancel({ params: { run_id: phone } })
    await waitForRun(client, phone, hasEnded, CALL_MS)
  })

  it('a platform that starts with a key for another model publishes again only the example that no user has edited', async ({
    onTestFinished,
  }) => {
    await second.kill()
    // No server listens on this port: the publication names the model, but nothing calls it.
    const env = { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }
    const third = await startServing(onTestFinished, { home, env })
    const again = clientOf(third)
    expect([await versionsOf(again, 'clinic'), await versionsOf(again, 'pizzeria')]).toEqual([[1, 0], [0]])
    const { plan } = await again.publications.get({ params: { agent_id: 'clinic', version: 1 } })
    expect(plan.providers.llm).toMatchObject({ provider: 'hosted', model: { provider: 'anthropic' } })
    const edited = await again.drafts.get({ params: { agent_id: 'pizzeria' } })
    expect(edited).toMatchObject({ name: NEW_NAME, revision })
    // The process ends cleanly although the pipe of its standard output is closed.
    third.stopReading()
    expect(await third.stop(), third.output()).toBe(0)
  })
})
