import { type AudioFormat, NARROWBAND, systemTime, type Time, VirtualTime, WIDEBAND } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { prepareAgents } from './prepare-agents.ts'

const FLOW = {
  start_node_id: 'hello',
  nodes: [
    { id: 'bye', instruction: { type: 'static_text', text: 'Goodbye.' } },
    { id: 'hello', instruction: { type: 'static_text', text: 'Welcome.' } },
  ],
  components: [],
}

let test: TestDatabase
let spoken: string[]
let problems: string[]
let warmed: unknown[]
let tenant: string
beforeAll(async () => {
  test = await testDatabase()
  const { tenant_id } = await workspace(test)
  tenant = tenant_id
  await test.owner.query('update parley.publications set plan = $2 where tenant_id = $1', [
    tenant_id,
    JSON.stringify({ settings: { language: 'en' }, flow: FLOW }),
  ])
  await test.owner.query("update parley.agents set head_version = 1 where tenant_id = $1 and agent_id = 'greeter'", [
    tenant_id,
  ])
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, inbound_token)
     values ($1, 'carrier', 'Carrier', 'generic_sip', 'sbc.example.com', true, 'token')`,
    [tenant_id],
  )
  for (const [number, agent] of [
    ['+12025550101', 'greeter'],
    ['+12025550102', 'greeter'],
    ['+12025550103', 'other'],
    ['+12025550104', null],
  ])
    await test.owner.query(
      "insert into parley.numbers (tenant_id, phone_number, trunk_id, agent_id) values ($1, $2, 'carrier', $3)",
      [tenant_id, number, agent],
    )
})
afterAll(() => test?.close())
beforeEach(() => {
  spoken = []
  problems = []
  warmed = []
})

function voiceWith(changes: Partial<TextToSpeech> = {}): TextToSpeech {
  return {
    id: 'local/flite',
    languages: ['en'],
    async *synthesize({ text, format = NARROWBAND }: { readonly text: string; readonly format?: AudioFormat }) {
      spoken.push(format === NARROWBAND ? text : `${text} (${format.sampleRateHz} Hz)`)
      yield { samples: new Int16Array(80), words: [] }
    },
    ...changes,
  } as unknown as TextToSpeech
}

const prepare = (voice: TextToSpeech, time: Time = systemTime) =>
  prepareAgents({
    database: test.database,
    environmentServices: {
      of: async () => ({
        isOnThisMachine: id => id === 'local/flite',
        voiceOf: () => ({ voice, voiceId: null }),
        warm: async plan => {
          warmed.push(plan.providers)
        },
      }),
    },
    time,
    onProblem: (what, error) => void problems.push(`${what}: ${error}`),
  })

it('each agent that answers a number speaks its opening once', async () => {
  await prepare(voiceWith())
  expect(spoken).toEqual(['Welcome.'])
  expect(warmed).toHaveLength(1)
  expect(problems).toEqual([])
})

it('an agent that called people in the last day is prepared as well, one that called before or chats is not', async () => {
  const { rows } = await test.owner.query(
    "select agent_id, version, plan from parley.publications where tenant_id = $1 and agent_id = 'greeter'",
    [tenant],
  )
  const [{ version, plan }] = rows as [{ version: number; plan: object }]
  const versions = [version + 1, version + 2, version + 3]
  for (const [i, text] of ['I call you.', 'I called long ago.', 'I chat.'].entries()) {
    const nodes = [{ id: 'hello', instruction: { type: 'static_text', text } }]
    await test.owner.query(
      `insert into parley.publications
       select (jsonb_populate_record(p, jsonb_build_object('version', $2::int, 'draft_revision', 1000 + $2::int, 'plan', $3::jsonb))).*
       from parley.publications p where p.tenant_id = $1 and p.agent_id = 'greeter' and p.version = $4`,
      [tenant, versions[i], JSON.stringify({ ...plan, flow: { ...FLOW, nodes } }), version],
    )
    await test.owner.query(
      `insert into parley.runs
         (tenant_id, agent_id, version, channel, mode, state, trigger, test, created_at, dynamic_variables, can_dial, notifies, trunk_id)
       values ($1, 'greeter', $2, $3, $4, 'completed', '{}', false, now() - $5::interval, '{}', true, false, $6)`,
      [
        tenant,
        versions[i],
        i === 2 ? 'cloud' : 'phone',
        i === 2 ? 'chat' : 'outbound',
        i === 1 ? '2 days' : '1 hour',
        i === 2 ? null : 'carrier',
      ],
    )
  }
  await prepare(voiceWith())
  expect(spoken).toEqual(['Welcome.', 'I call you.'])
  // Both have the same services.
  expect(warmed).toHaveLength(1)
  // Its environment need not take calls.
  spoken = []
  await test.owner.query('update parley.trunks set inbound = false where tenant_id = $1', [tenant])
  await prepare(voiceWith())
  expect(spoken).toEqual(['I call you.'])
  await test.owner.query('update parley.trunks set inbound = true where tenant_id = $1', [tenant])
  await test.owner.query('delete from parley.runs where tenant_id = $1', [tenant])
})

it('an agent on a trunk with G.722 speaks its opening at 8 and at 16 kHz, if its voice declares both', async () => {
  const setCodecs = (codecs: readonly string[]) =>
    test.owner.query("update parley.trunks set details = details || $1 where trunk_id = 'carrier'", [
      JSON.stringify({ codecs }),
    ])
  await setCodecs(['G722', 'PCMU'])
  await prepare(voiceWith({ formats: [NARROWBAND, WIDEBAND] }))
  expect(spoken).toEqual(['Welcome.', 'Welcome. (16000 Hz)'])
  spoken = []
  await prepare(voiceWith())
  expect(spoken).toEqual(['Welcome.'])
  await setCodecs(['PCMU'])
})

it('services that do not answer delay a start by 10 s at most', async () => {
  const time = new VirtualTime()
  let isAsked = false
  const hanging = {
    warm: () => new Promise<void>(() => {}),
    isOnThisMachine: () => false,
    voiceOf: () => ({}) as never,
  }
  const prepared = prepareAgents({
    database: test.database,
    environmentServices: {
      of: async () => {
        isAsked = true
        return hanging
      },
    },
    time,
    onProblem: () => {},
  })
  await expect.poll(() => isAsked).toBe(true)
  time.advance(10_000)
  await prepared
})

it('a voice that is billed speaks nothing before the first call', async () => {
  await prepare(voiceWith({ id: 'cartesia/sonic-2' }))
  expect(spoken).toEqual([])
})

it('a voice that does not answer delays a start by 10 s at most', async () => {
  const time = new VirtualTime()
  let isStarted = false
  const synthesize = async function* () {
    isStarted = true
    await new Promise(() => {})
  }
  const prepared = prepare(voiceWith({ synthesize } as unknown as Partial<TextToSpeech>), time)
  await expect.poll(() => isStarted).toBe(true)
  time.advance(10_000)
  await prepared
})
