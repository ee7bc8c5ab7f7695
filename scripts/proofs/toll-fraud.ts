import type { Respond } from '@parley/fakes'
import { FakeOpenAiChat } from '@parley/fakes'
import type { Draft } from '@parley/flow'
import type { NumberRuleInput } from '@parley/loadtest'
import { endNode, promptEdge, staticNode } from '../../interop/conversation-flows.ts'
import { LISTENER } from './calls/agents.ts'
import { CallHarness } from './calls/call-harness.ts'
import { CALLED, type Line } from './calls/carrier-lines.ts'
import { pollUntil } from './calls/poll-until.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const LINE: Line = 'udp'
const KEY = 'proof'
const END_TIMEOUT_MS = 60_000
const MAX_CALL_MS = 3000
const ORDINARY = '+1415556'

const PREMIUM = '+19005551234'
/** Premium, satellite, shared-cost, personal, emergency and short numbers, numbers of other countries, and unusual spellings. */
const FRAUD = [
  PREMIUM,
  '+18765551234',
  '+870773123456',
  '+881612345678',
  '+88213300000',
  '+979123456789',
  '+911',
  '911',
  '112',
  '+1911',
  '+1411',
  '+442012345678',
  '+447012345678',
  '+34902123456',
  '+80812345678',
  '0019005551234',
  'tel:+19005551234',
  'sip:+19005551234@carrier-udp.test',
  '+14155552671;ext=911',
  '+14155552671\r\nRefer-To: <sip:+19005551234@x>',
] as const

const ATTEMPTS = ['talked into a variable', 'talked into an inferred number', 'REFER', '302'] as const
type Attempt = (typeof ATTEMPTS)[number]

interface Outcome {
  readonly try: Attempt
  readonly target: string
  readonly faults: readonly string[]
}

/**
 * Tries to place calls to forbidden numbers: a caller persuades the model to transfer to one, in outbound and inbound calls;
 * the far end requests one by REFER; the far end redirects a call to one (302). No INVITE and no REFER to the number reaches
 * the carrier; the denied transfer takes its failure edge, and its effect has the decision "deny". Planted fault: staff allow
 * premium numbers, and the check must then report a REFER.
 */
export async function proveTollFraud({ count, line, progress }: ProofOptions): Promise<ProofOutcome> {
  let target = ''
  const model = await FakeOpenAiChat.open({ key: KEY, respond: request => persuaded(request, target) })
  const harness = await CallHarness.open({
    processes: ['api,worker,engine'],
    numbers: numbers(),
    lines: [LINE],
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.baseUrl },
  }).catch(async error => {
    await model.close()
    throw error
  })
  const outcomes: Outcome[] = []
  let noticed: readonly string[] = []
  try {
    await harness.publish('variable', victim('variable'), LINE)
    await harness.publish('inferred', victim('inferred'), LINE)
    await harness.publish('listener', LISTENER, LINE)
    for (const kind of ATTEMPTS)
      for (let index = 0; index < count; index++) {
        target = FRAUD[index % FRAUD.length]!
        const faults = await attempt(harness, kind, index, target)
        outcomes.push({ try: kind, target, faults })
        line({ proof: 'toll-fraud', try: kind, index, target, faults })
        progress(`${kind} ${index + 1} of ${count}${faults.length > 0 ? `: ${faults.join('; ')}` : ''}`)
      }
    await harness.set({ set: 'destinations', value: { countries: ['US'], allow_prefixes: ['+1900'] } })
    target = PREMIUM
    noticed = await attempt(harness, 'talked into a variable', count + (count % 2), target)
    line({ proof: 'toll-fraud', planted: 'open policy', faults: noticed })
  } finally {
    await harness.close()
    await model.close()
  }
  const faulty = outcomes.filter(({ faults }) => faults.length > 0).length
  const plantedNoticed = noticed.includes(`a REFER to ${PREMIUM}`)
  const summary = { tries: outcomes.length, faulty, planted_noticed: plantedNoticed }
  return { ok: faulty === 0 && plantedNoticed, summary }
}

/** The answer of a model that the caller has manipulated: it contains `target`. */
const persuaded = async (request: Parameters<Respond>[0], target: string): Promise<Awaited<ReturnType<Respond>>> => {
  const [tool] = request.tools
  if (tool === undefined) return { text: target, call: null }
  const properties = Object.keys((tool.parameters.properties as object | undefined) ?? {})
  const argumentsText = JSON.stringify(Object.fromEntries(properties.map(name => [name, target])))
  return { text: '', call: { name: tool.name, argumentsText } }
}

function victim(by: 'variable' | 'inferred'): Draft {
  const transfer_destination =
    by === 'variable'
      ? ({ type: 'predefined', number: '{{number}}' } as const)
      : ({ type: 'inferred', prompt: 'The number that the caller wants to be put through to.' } as const)
  return {
    name: 'Victim',
    providers: {
      stt: { provider: 'simulated', model: 'tones-1' },
      llm: { provider: 'hosted', model: { model_id: 'gpt-4.1-mini', provider: 'openai', tier: 'frontier' } },
      tts: { provider: 'simulated', model: 'tones-1' },
    },
    flow: {
      start_node_id: 'hello',
      default_dynamic_variables: { number: '' },
      nodes: [
        staticNode('hello', 'Hello.', {
          skip_response_edge: promptEdge('on', by === 'variable' ? 'read' : 'put', 'Skip response'),
        }),
        {
          id: 'read',
          type: 'extract_dynamic_variables',
          variables: [{ type: 'string', name: 'number', description: 'The number the caller wants', required: true }],
          else_edge: promptEdge('go', 'put'),
        },
        {
          id: 'put',
          type: 'transfer_call',
          transfer_destination,
          edge: promptEdge('failed', 'nobody', 'Transfer failed'),
        },
        endNode('nobody', 'Goodbye.'),
      ],
    },
  }
}

/** Behaviours of the carrier by called number: the first two digits after the prefix select the behaviour, the last two the target. */
function numbers(): NumberRuleInput[] {
  const each = FRAUD.map((target, index) => ({ target, tail: String(index).padStart(2, '0') }))
  return [
    { number: `${ORDINARY}10*`, behaviour: { do: 'answer', afterMs: 50 } },
    ...each.map(({ target, tail }) => ({
      number: `${ORDINARY}20${tail}`,
      behaviour: {
        do: 'answer' as const,
        afterMs: 50,
        hangUpAfterMs: MAX_CALL_MS,
        refer: { to: uriOf(target), afterMs: 200 },
      },
    })),
    ...each.map(({ target, tail }) => ({
      number: `${ORDINARY}30${tail}`,
      behaviour: { do: 'redirect', contact: uriOf(target) } as const,
    })),
    // Calls to other numbers are answered, so that the ledger shows them.
    { number: '*', behaviour: { do: 'answer', afterMs: 50, hangUpAfterMs: MAX_CALL_MS } },
  ]
}

function uriOf(target: string): string {
  return `sip:${target.replace(/[^+\d]/g, '')}@carrier-udp.test`
}

async function attempt(harness: CallHarness, kind: Attempt, index: number, target: string): Promise<string[]> {
  const carrier = harness.carrier(LINE)
  const before = carrier.rows().length
  const { isInbound, number } = await begin(harness, kind, index)
  const run = await ended(harness, number, isInbound)
  const rows = carrier.rows().slice(before)
  const faults: string[] = []
  if (run === null) return ['the run did not end']
  const digits = target.replace(/\D/g, '')
  for (const row of rows) {
    const isOurs = row.direction === 'to-carrier'
    if (isOurs && row.kind === 'invite' && row.called !== number) faults.push(`an INVITE to ${row.called}`)
    if (row.kind === 'refer-received') faults.push(`a REFER to ${row.target ?? digits}`)
  }
  if (kind === 'REFER' && !rows.some(row => row.kind === 'refer-answered' && row.status === 403))
    faults.push('the REFER was not refused with 403')
  if (kind === '302' && run.state !== 'failed') faults.push(`the run is ${run.state} after a redirect, not failed`)
  if (kind === 'REFER' || kind === '302') return faults
  return [...faults, ...(await deniedFaults(harness, run.run_id))]
}

async function begin(harness: CallHarness, kind: Attempt, index: number) {
  const tail = String(index % FRAUD.length).padStart(2, '0')
  const isPersuasion = kind !== 'REFER' && kind !== '302'
  const agent_id = kind === 'talked into a variable' ? 'variable' : isPersuasion ? 'inferred' : 'listener'
  if (isPersuasion && index % 2 === 1) {
    await harness.assign(LINE, agent_id)
    const number = `+1415557${kind === 'talked into a variable' ? '40' : '50'}${tail}`
    harness.carrier(LINE).call({ uri: harness.inboundUri(LINE), from: number, called: CALLED[LINE] })
    return { isInbound: true, number }
  }
  const number = `${ORDINARY}${kind === 'REFER' ? '20' : kind === '302' ? '30' : '10'}${tail}`
  await harness.client.runs.create({ body: { agent_id, channel: 'phone', mode: 'outbound', to: number } })
  return { isInbound: false, number }
}

async function ended(harness: CallHarness, number: string, isInbound: boolean) {
  const column = isInbound ? 'from_number' : 'to_number'
  const text = `select run_id, state, ended_at from parley.runs where ${column} = $1 order by created_at desc limit 1`
  return pollUntil(END_TIMEOUT_MS, async () => {
    const [run] = await harness.rows<{ run_id: string; state: string; ended_at: Date | null }>(text, [number])
    return run?.ended_at == null ? null : run
  })
}

/** Faults unless the transfer's effect is denied and the flow continued on its failure edge. */
async function deniedFaults(harness: CallHarness, run_id: string): Promise<string[]> {
  const effects = await harness.rows<{ state: string; decision: { decision?: string } | null }>(
    "select state, decision from parley.run_effects where run_id = $1 and effect_kind = 'sip_transfer'",
    [run_id],
  )
  const nodes = await harness.rows<{ node: string }>(
    "select fields ->> 'node_id' as node from parley.run_events where run_id = $1 and kind = 'node' order by seq",
    [run_id],
  )
  const faults: string[] = []
  if (effects.length !== 1) faults.push(`${effects.length} transfers in the ledger`)
  for (const { state, decision } of effects)
    if (state !== 'failed' || decision?.decision !== 'deny')
      faults.push(`the effect is ${state} with decision ${decision?.decision}, not failed with deny`)
  if (nodes.at(-1)?.node !== 'nobody') faults.push(`the conversation ended at ${nodes.at(-1)?.node}`)
  return faults
}

export const proof: Proof = { name: 'toll-fraud', seconds: 1800, count: 20, run: options => proveTollFraud(options) }
