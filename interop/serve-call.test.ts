import { describe, expect, it } from 'vitest'
import { startBaresipCall } from './baresip.ts'
import { microphone } from './microphone.ts'
import { clientOf, eventually, hasEnded, printedCall, runOnce, soxOf, typed } from './placed-call.ts'
import { startServing, temporaryHome } from './serving.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'

const PHONE = '+12025550143'
/** The conversation takes about 50 s. */
const CALL_MS = 120_000

const sox = requires({ sox: 'sox', soxi: 'sox', curl: 'curl' })
const peer = requires(BARESIP_PROGRAMS)

describe('npm start', { timeout: 360_000 }, () => {
  it.skipIf(sox.missing)(
    `prints a command that places a call to the built-in phone, of which everything can be read${sox.note}`,
    async ({ onTestFinished: atTestEnd }) => {
      const serving = await startServing(atTestEnd)
      expect(serving.demo).toMatchObject({ agent_id: 'clinic', number: '+12025550142', phone: PHONE })
      const client = clientOf(serving)
      const placed = typed(printedCall(serving))
      expect(placed).toMatchObject({ agent_id: 'clinic', channel: 'phone', mode: 'outbound', to_number: PHONE })
      const params = { run_id: placed.run_id }

      const run = await runOnce(client, placed.run_id, hasEnded, CALL_MS)
      expect(run, serving.output()).toMatchObject({ state: 'completed', outcome: { kind: 'completed' } })
      const transcript = await client.runs.transcript({ params })
      expect(transcript.state).toBe('complete')
      const lines = (role: 'agent' | 'user') =>
        transcript.utterances.filter(line => line.role === role).map(({ text }) => text)
      expect(lines('user').join(' ')).toContain('I would like to book an appointment')
      expect(lines('agent').join(' ')).toMatch(/You are booked for .+\. Goodbye\./)

      const read = () => client.runs.recording({ params })
      const recording = await eventually(read, ({ state }) => state === 'ready', 20_000)
      const { seconds, rms } = await soxOf(recording.media_url!, atTestEnd)
      // On one clock: the last words are at the end of the recording.
      expect(Math.abs(seconds * 1000 - transcript.utterances.at(-1)!.end_ms!)).toBeLessThan(3000)
      expect(rms).toHaveLength(2)
      for (const level of rms) expect(level).toBeGreaterThan(0.005)

      const { items } = await client.runs.effects({ params })
      const succeeded = items.filter(({ state }) => state === 'succeeded').map(({ effect_kind }) => effect_kind)
      expect(succeeded).toEqual(expect.arrayContaining(['sip_dial', 'http', 'sip_hangup']))

      const { plan } = await client.publications.get({
        params: { agent_id: 'clinic', version: run.publication.version },
      })
      const webhooks = async () => {
        const response = await fetch(`${plan.notification!.url}?run_id=${run.run_id}`)
        return ((await response.json()) as { events: { event: string }[] }).events.map(({ event }) => event)
      }
      const told = await eventually(webhooks, events => events.includes('run.ended'), 20_000)
      expect(told.slice(0, 2)).toEqual(['run.started', 'run.ended'])
    },
  )

  it.skipIf(peer.missing)(
    `is called by baresip at the address it prints, and the agent of the number answers in a run of its own${peer.note}`,
    async ({ onTestFinished: atTestEnd }) => {
      const serving = await startServing(atTestEnd)
      const wavIn = microphone(atTestEnd)
      const call = await startBaresipCall({ target: serving.demo.sip!, wavIn, callSeconds: 20, atTestEnd })
      const client = clientOf(serving)
      const { items } = await client.runs.list({ query: { agent_id: serving.demo.agent_id! } })
      expect(items).toMatchObject([{ channel: 'phone', mode: 'inbound', to_number: serving.demo.number }])
      const { exitCode, output } = await call.finished
      expect(exitCode, output).toBe(0)
      const run = await runOnce(client, items[0]!.run_id, hasEnded, 20_000)
      expect(run).toMatchObject({ state: 'completed', outcome: { kind: 'caller_hung_up' }, trigger: { kind: 'sip' } })
      const { utterances } = await client.runs.transcript({ params: { run_id: run.run_id } })
      expect(utterances[0]!.text).toContain('Hillside Clinic')
    },
  )

  it.skipIf(sox.missing)(
    `after kill -9 in the middle of a call ends its run, keeps what was recorded, and places the next call${sox.note}`,
    async ({ onTestFinished: atTestEnd }) => {
      const home = temporaryHome(atTestEnd)
      const first = await startServing(atTestEnd, { home })
      const { run_id } = typed(printedCall(first))
      const params = { run_id }
      const spoken = async () => (await clientOf(first).runs.transcript({ params })).utterances
      const before = await eventually(spoken, utterances => utterances.length >= 2, 60_000)
      await first.kill()

      const second = await startServing(atTestEnd, { home })
      const client = clientOf(second)
      const run = await runOnce(client, run_id, hasEnded, 30_000)
      expect(run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'engine_lost' } })
      const read = () => client.runs.recording({ params })
      const recording = await eventually(read, ({ media_url }) => media_url !== null, 20_000)
      expect(recording.state).toBe('partial')
      const { seconds, rms } = await soxOf(recording.media_url!, atTestEnd)
      // At most a second of what had been said is lost.
      expect(seconds * 1000).toBeGreaterThan(before.at(-1)!.end_ms! - 1000)
      expect(rms).toHaveLength(2)
      expect((await client.runs.transcript({ params })).state).toBe('partial')

      const next = typed(printedCall(second))
      await runOnce(client, next.run_id, ({ phone_state }) => phone_state === 'active', 30_000)
    },
  )
})
