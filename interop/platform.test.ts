// What one started platform does for its user. The tests share it and run side by side: most of each is waiting for a call.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ParleyClient } from '@parley/client'
import { beforeAll, describe, it } from 'vitest'
import { startBaresipCall } from './baresip.ts'
import { GENERATOR_PACKAGE, generateClient, generatorFolder, runGeneratedClient } from './generated-client.ts'
import { handingOver } from './handed-over-call.ts'
import { microphone } from './microphone.ts'
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
import { GatedAgent, verified } from './release-gate.ts'
import { CALL_METERS, metersOf, webhooksOf } from './run-records.ts'
import { DEMO, type SharedPlatform, sharedPlatform } from './shared-platform/shared-platform.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'

const PHONE = '+12025550143'
/** The conversation takes about 50 s. */
const CALL_MS = 120_000
/** The built-in model answers at once; the machine may be busy. */
const SOON_MS = 60_000
/** About 30 conversations in text, four at once. */
const GATE_MS = 120_000

const generator = generatorFolder()
const generatorNote =
  generator === undefined ? ` (skipped: ${GENERATOR_PACKAGE} is not installed: .ci/run installs it)` : ''
const sox = requires({ sox: 'sox', soxi: 'sox', curl: 'curl' })
const baresip = requires(BARESIP_PROGRAMS)

describe('a platform started by "npm start"', { timeout: 360_000, concurrent: true }, () => {
  const platform = sharedPlatform(DEMO)
  let serving: SharedPlatform
  let client: ParleyClient
  let home: string
  beforeAll(() => {
    serving = platform()
    home = serving.home
    client = clientOf(serving)
  })

  it.skipIf(generator === undefined)(
    `a client that is generated from the OpenAPI document creates, edits, publishes, calls and follows${generatorNote}`,
    async ({ expect, onTestFinished }) => {
      const { api, key, agent_id } = serving.demo
      const document = await (await fetch(`${api}/openapi.json`)).text()
      const { folder, said } = await generateClient(document, onTestFinished)
      expect(said).not.toMatch(/warning|unable|error/i)
      const result = await runGeneratedClient(folder, [api!, key!, agent_id!, PHONE])
      expect(result).toMatchObject({ name: 'Renamed by Python', errors: [], version: 0, talked_to: PHONE })
      expect(result).toMatchObject({ state: 'cancelled', kinds: expect.arrayContaining(['state']) })
    },
  )

  it('"npm start" opens with three lines: the address of the console, a SIP address, and a command that places a call', ({
    expect,
  }) => {
    const lines = serving.output().split('\n')
    const opening = lines.slice(lines.findIndex(line => line.startsWith('console ')))
    expect(opening.slice(0, 4)).toEqual([
      `console        ${serving.demo.console}`,
      `SIP            ${serving.demo.sip}`,
      printedCall(serving),
      '',
    ])
  })

  it.skipIf(sox.missing)(
    `"npm start" prints a command that calls the built-in phone; its run has a transcript, a recording, effects, usage and webhooks${sox.note}`,
    async ({ expect, onTestFinished }) => {
      expect(serving.demo).toMatchObject({ agent_id: 'clinic', number: '+12025550142', phone: PHONE })
      const placed = runPrintedCommand(printedCall(serving))
      expect(placed).toMatchObject({ agent_id: 'clinic', channel: 'phone', mode: 'outbound', to_number: PHONE })
      const params = { run_id: placed.run_id }

      const run = await waitForRun(client, placed.run_id, hasEnded, CALL_MS)
      expect(run, serving.output()).toMatchObject({ state: 'completed', outcome: { kind: 'completed' } })
      // What answered was detected: a person.
      expect(run).toMatchObject({ contact: 'human', answered_by: 'human' })
      const transcript = await client.runs.transcript({ params })
      expect(transcript.state).toBe('complete')
      const lines = (role: 'agent' | 'user') =>
        transcript.utterances.filter(line => line.role === role).map(({ text }) => text)
      expect(lines('user').join(' ')).toContain('I would like to book an appointment')
      expect(lines('agent').join(' ')).toMatch(/You are booked for .+\. Goodbye\./)

      const read = () => client.runs.recording({ params })
      const recording = await eventually(read, ({ state }) => state === 'ready', SOON_MS)
      const { seconds, rms } = await measureRecording(recording.media_url!, onTestFinished)
      // On one clock: the last words are at the end of the recording.
      expect(Math.abs(seconds * 1000 - transcript.utterances.at(-1)!.end_ms!)).toBeLessThan(3000)
      expect(rms).toHaveLength(2)
      for (const level of rms) expect(level).toBeGreaterThan(0.005)

      const { items } = await client.runs.effects({ params })
      const succeeded = items.filter(({ state }) => state === 'succeeded').map(({ effect_kind }) => effect_kind)
      expect(succeeded).toEqual(expect.arrayContaining(['sip_dial', 'http', 'sip_hangup']))

      const delivered = await webhooksOf(client, run, SOON_MS)
      expect(delivered.slice(0, 2)).toEqual(['run.started', 'run.ended'])
      expect(await metersOf(client, run)).toEqual(CALL_METERS)
    },
  )

  it.skipIf(baresip.missing)(
    `a baresip call to the printed SIP address reaches the number's agent and is a run of its own${baresip.note}`,
    async ({ expect, onTestFinished }) => {
      const wavIn = microphone(onTestFinished)
      const target = serving.demo.sip!
      const call = await startBaresipCall({ target, wavIn, callSeconds: 20, atTestEnd: onTestFinished })
      const { items } = await client.runs.list({ query: { agent_id: serving.demo.agent_id! } })
      const inbound = items.filter(({ mode }) => mode === 'inbound')
      expect(inbound).toMatchObject([{ channel: 'phone', to_number: serving.demo.number }])
      const { exitCode, output } = await call.finished
      expect(exitCode, output).toBe(0)
      const run = await waitForRun(client, inbound[0]!.run_id, hasEnded, SOON_MS)
      expect(run).toMatchObject({ state: 'completed', outcome: { kind: 'caller_hung_up' }, trigger: { kind: 'sip' } })
      const { utterances } = await client.runs.transcript({ params: { run_id: run.run_id } })
      expect(utterances[0]!.text).toContain('Hillside Clinic')
    },
  )

  it('a call that an agent hands to another one goes on in a run of its own, with a recording of its own', async ({
    expect,
  }) => {
    const { first, second, missing } = await handingOver(client)
    const call = (agent_id: string) =>
      client.runs.create({
        body: { agent_id, channel: 'phone', mode: 'outbound', to: PHONE, dynamic_variables: { topic: 'bills' } },
      })
    const [{ run_id }, refused] = await Promise.all([call(first), call(missing)])
    const source = await waitForRun(client, run_id, hasEnded, 2 * CALL_MS)
    expect(source, serving.output()).toMatchObject({
      state: 'completed',
      disposition: 'transferred',
      outcome: { kind: 'transferred', ended_by: 'agent', detail: expect.stringMatching(/^agent_swap:/) },
    })
    const { items: effects } = await client.runs.effects({ params: { run_id } })
    const admission = effects.find(({ effect_kind }) => effect_kind === 'run_admission')
    const next = source.outcome!.detail!.slice('agent_swap:'.length)
    expect(admission).toMatchObject({
      state: 'succeeded',
      action: { id: 'agent.swap', version: 1 },
      receipts: [{ kind: 'transaction', table: 'runs', row_id: next }],
    })
    const run = await waitForRun(client, next, hasEnded, 2 * CALL_MS)
    expect(run).toMatchObject({
      agent_id: second,
      mode: 'outbound',
      state: 'completed',
      outcome: { kind: 'completed', ended_by: 'agent' },
      trigger: { kind: 'callback', source_run_id: run_id, effect_id: admission!.effect_id },
      to_number: PHONE,
      dynamic_variables: expect.objectContaining({ topic: 'bills' }),
    })
    const lines = async (id: string) => {
      const { state, utterances } = await client.runs.transcript({ params: { run_id: id } })
      return [state, ...utterances.filter(({ role }) => role === 'agent').map(({ text }) => text)]
    }
    // The phone may interrupt either agent, and one that a busy machine keeps waiting begins to say "One moment, please." before its line.
    const [waits, helps] = [expect.stringMatching(/^One/), expect.stringMatching(/^Specialist/)]
    expect([[waits], [waits, waits]]).toContainEqual((await lines(run_id)).slice(1))
    expect([[helps], [waits, helps]]).toContainEqual((await lines(next)).slice(1))
    for (const id of [run_id, next]) expect((await lines(id))[0]).toBe('complete')
    for (const id of [run_id, next]) {
      const recording = () => client.runs.recording({ params: { run_id: id } })
      await eventually(recording, ({ state }) => state === 'ready', SOON_MS)
    }

    await waitForRun(client, refused.run_id, hasEnded, 2 * CALL_MS)
    const { items } = await client.runs.timeline({ params: { run_id: refused.run_id } })
    expect(items.flatMap(item => (item.kind === 'error' ? [item.code] : []))).toContain('agent_not_found')
    expect(items.flatMap(item => (item.kind === 'node' ? [item.node_id] : []))).toEqual(['hand-over', 'nobody'])
  })

  it('a chat is answered until it ends', async ({ expect }) => {
    const agent_id = await publishTemplate(client, 'cloud_chat')
    const run_id = await openChat(client, agent_id, SOON_MS)
    const params = { run_id }
    const first = await client.runs.message({ params, body: { text: 'Can you help me with my order?' } })
    expect(first).toMatchObject({ run_id, state: 'running', utterances: [{ role: 'user' }, { role: 'agent' }] })
    const last = await client.runs.message({ params, body: { text: 'No more questions, goodbye.' } })
    expect(last).toMatchObject({ state: 'ending', utterances: [{ role: 'user' }, { role: 'agent' }] })
    const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
    expect(run).toMatchObject({ state: 'completed', phone_state: null, outcome: { kind: 'completed' } })
    const { state, utterances } = await client.runs.transcript({ params })
    expect(state).toBe('complete')
    expect(utterances.slice(1)).toEqual([...first.utterances, ...last.utterances])
    const { items: effects } = await client.runs.effects({ params })
    expect(new Set(effects.map(({ effect_kind }) => effect_kind))).toEqual(new Set(['gateway_inference']))
  })

  it('a task and a background run complete', async ({ expect }) => {
    const agent_id = await publishTemplate(client, 'cloud_task')
    for (const mode of ['task', 'background'] as const) {
      const { run_id } = await client.runs.create({ body: { agent_id, channel: 'cloud', mode } })
      const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
      expect(run).toMatchObject({ mode, state: 'completed', outcome: { kind: 'completed', ended_by: 'agent' } })
    }
  })

  it('a release gate lets a good version go live, blocks a worse one, and signs what it let through', async ({
    expect,
  }) => {
    const agent = await GatedAgent.published(client, 'Hello, this is the desk.')
    const gateOn = await agent.suite()
    const good = await agent.publish('Good day, this is the desk.', { gateOn })
    expect(good.gate).toMatchObject({ state: 'running', candidate: 1, predecessor: 0 })
    const { gate, certificate } = await agent.decided(1, GATE_MS)
    expect(gate).toMatchObject({ state: 'passed', evidence: { method: 'sequential', reason: null } })
    expect(await agent.head()).toBe(1)

    const worse = await agent.publish('Hello.')
    expect((await agent.decided(2, GATE_MS)).gate).toMatchObject({ state: 'failed', evidence: { reason: 'worse' } })
    expect(await agent.head()).toBe(1)
    const body = { version: 2, expected_version: 1 }
    const params = { agent_id: agent.id }
    const { test_run_id } = worse.gate
    await expect(client.publications.setHead({ params, body })).rejects.toMatchObject({ reason: 'gate_failed' })
    await client.publications.setHead({ params, body: { ...body, override: { reason: 'The desk has moved' } } })
    expect(await agent.head()).toBe(2)
    const { items } = await client.audit.list({ query: { limit: 200 } })
    expect(items).toContainEqual(
      expect.objectContaining({
        action: 'publications.override_gate',
        resource: expect.objectContaining({ id: `${agent.id}/2` }),
      }),
    )
    expect((await client.testRuns.get({ params: { test_run_id: test_run_id! } })).verdict).toBe('failed')

    const file = join(home, 'certificate.json')
    writeFileSync(file, JSON.stringify(certificate))
    expect(await verified(file, home)).toMatchObject({ code: 0, text: expect.stringContaining('valid: version 1') })
    writeFileSync(file, JSON.stringify(certificate).replace('"version":1', '"version":2'))
    expect(await verified(file, home)).toMatchObject({ code: 1, text: expect.stringContaining('not valid') })
    const served = (await (await fetch(`${serving.demo.api}/.well-known/parley-keys.json`)).json()) as {
      keys: { kid: string }[]
    }
    expect(served.keys.map(({ kid }) => kid)).toContain(certificate!.key_id)
  })

  it('a chat that an operator cancels ends', async ({ expect }) => {
    const agent_id = await publishTemplate(client, 'cloud_chat')
    const run_id = await openChat(client, agent_id, SOON_MS)
    await client.runs.cancel({ params: { run_id } })
    const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
    expect(run).toMatchObject({ state: 'cancelled', outcome: { kind: 'cancelled', ended_by: 'operator' } })
  })
})
