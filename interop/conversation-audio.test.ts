import type { CallerStep } from '@parley/phone'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ActionAnswers } from './action-server.ts'
import { expectConsistent, factsOf, linesOf, pathOf } from './call-evidence.ts'
import { formatAgents } from './conversation-flows.ts'
import { ConversationHarness, type FinishedCall, PHONE_NUMBER } from './conversation-harness.ts'
import { FormatCoverage } from './format-coverage.ts'
import { atLastTestEnd } from './recipe.ts'

const atEnd = atLastTestEnd()
const CALL_MS = 50_000
const SLOW_KITCHEN_MS = 4000

const answers: ActionAnswers = {
  '/prescriptions': ({ query }) =>
    query.number === '4711'
      ? { body: { state: 'ready', message: 'It is ready.' } }
      : { body: { state: 'waiting', message: 'It comes in on Thursday.' } },
  '/orders': ({ body }) =>
    JSON.stringify(body).includes('soup')
      ? { status: 201, body: { number: 'B17' }, afterMs: SLOW_KITCHEN_MS }
      : { status: 503, body: { message: 'The oven is broken.' } },
}

let harness: ConversationHarness
const coverage = new FormatCoverage()

beforeAll(async () => {
  harness = await ConversationHarness.open({ agents: formatAgents, answers }, atEnd)
})

const hear = (pattern: string | RegExp): CallerStep => ({ type: 'hear', pattern, withinMs: 20_000 })
const say = (text: string): CallerStep => ({ type: 'say', text })
const press = (digits: string): CallerStep => ({ type: 'press', digits })
const quiet: CallerStep = { type: 'quiet', forMs: 300 }
const hungUp: CallerStep = { type: 'hung-up', withinMs: 20_000 }

/** The phone calls and follows the steps; then transcript, recording and phone must agree. */
async function call(agent: string, ...steps: CallerStep[]): Promise<FinishedCall> {
  return checked(await harness.call(agent, steps))
}

async function checked(finished: FinishedCall): Promise<FinishedCall> {
  await expectConsistent(finished)
  coverage.note(finished)
  return finished
}

describe('an agent on a call over TLS and SRTP', { concurrent: true, timeout: CALL_MS }, () => {
  describe('a florist', () => {
    it('the agent asks for a number, extracts it from the answer and branches by it', async () => {
      const { report } = await call(
        'florist',
        hear('for you'),
        quiet,
        say('I would like some roses, please.'),
        hear('roses'),
        quiet,
        say('Twelve, please.'),
        hungUp,
      )
      expect(pathOf(report)).toEqual([
        'hello (start)',
        'count (edge flowers)',
        'read (edge go)',
        'size (else on)',
        'large (edge many)',
      ])
      expect(linesOf(report, 'agent').at(-1)).toBe('12 roses are a large order. We will call you back.')
      expect(report.run).toMatchObject({ state: 'completed', outcome: { kind: 'completed', ended_by: 'agent' } })
    })

    it('a branch node whose equations are all false takes its else edge', async () => {
      const { report } = await call(
        'florist',
        hear('for you'),
        quiet,
        say('I want flowers.'),
        hear('roses'),
        quiet,
        say('Three.'),
        hungUp,
      )
      expect(pathOf(report).at(-1)).toBe('small (else few)')
      expect(linesOf(report, 'agent').at(-1)).toBe('3 roses, very well. Goodbye.')
    })

    it('a conversation node takes its else edge when no condition of its edges holds', async () => {
      const { report } = await call('florist', hear('for you'), quiet, say('Can you repair my bicycle?'), hungUp)
      expect(pathOf(report)).toEqual(['hello (start)', 'sorry (else other)'])
    })
  })

  describe('a pharmacy whose model calls a tool', () => {
    it('the tool sends one HTTP request, and its response decides the next edge', async () => {
      const { report } = await call('pharmacy', hear('prescription'), quiet, say('It is number 4711.'), hungUp)
      const requests = harness.server.to('/prescriptions').filter(({ query }) => query.number === '4711')
      expect(requests).toMatchObject([{ method: 'GET' }])
      expect(pathOf(report)).toEqual(['desk (start)', 'collect (edge ready)'])
      expect(factsOf(report, 'action').map(({ phase }) => phase)).toEqual(['started', 'succeeded'])
    })

    it('the agent says the result of a tool, and ends the call when the caller says goodbye', async () => {
      const { report } = await call(
        'pharmacy',
        hear('prescription'),
        quiet,
        say('It is number 4712.'),
        hear('on Thursday'),
        quiet,
        say('Goodbye.'),
        hungUp,
      )
      expect(harness.server.to('/prescriptions').filter(({ query }) => query.number === '4712')).toHaveLength(1)
      expect(pathOf(report)).toEqual(['desk (start)', 'done (edge done)'])
      expect(factsOf(report, 'variables')).toMatchObject([{ source: 'action', set: ['prescription_state'] }])
    })
  })

  describe('a kitchen whose function node waits for its result', () => {
    it('the agent speaks while the request is under way, and continues when it succeeds', async () => {
      const { report } = await call('kitchen', hear('bring you'), quiet, say('I would like the soup.'), hungUp)
      const [order, ...more] = harness.server.to('/orders').filter(({ body }) => JSON.stringify(body).includes('soup'))
      expect(more).toEqual([])
      expect(order).toMatchObject({
        method: 'POST',
        body: { name: 'place_order', args: { dish: 'soup' }, call: { from_number: PHONE_NUMBER, to_number: null } },
      })
      const [started, succeeded] = factsOf(report, 'action')
      const filler = report.utterances[2]
      // A holding line may come between them.
      const result = report.utterances.find(({ text }) => text.startsWith('Your order'))
      expect(filler).toMatchObject({ text: 'One moment, I ask the kitchen.', interrupted: false })
      expect(result).toMatchObject({ text: 'Your order has number B17.' })
      expect(filler!.end_ms!).toBeLessThan(succeeded!.offset_ms!)
      expect(succeeded!.offset_ms! - started!.offset_ms!).toBeGreaterThan(SLOW_KITCHEN_MS)
      expect(result!.start_ms!).toBeGreaterThan(succeeded!.offset_ms!)
      expect(harness.effect(succeeded!.effect_id)).toMatchObject({
        state: 'succeeded',
        send_attempts: 1,
        receipts: [{ status: 201 }],
      })
    })

    it('a failed request takes the else edge and is not sent again', async () => {
      const { report } = await call('kitchen', hear('bring you'), quiet, say('The fish, please.'), hungUp)
      expect(harness.server.to('/orders').filter(({ body }) => JSON.stringify(body).includes('fish'))).toHaveLength(1)
      expect(pathOf(report).at(-1)).toBe('closed (else failed)')
      expect(linesOf(report, 'agent').at(-1)).toBe('The kitchen does not answer. Goodbye.')
      const [, failed] = factsOf(report, 'action')
      expect(harness.effect(failed!.effect_id)).toMatchObject({ state: 'failed', error_code: 'http_503' })
    })
  })

  it('an agent that calls a phone menu presses the key that the menu names', async () => {
    const finished = await harness.callPhone('menus', [
      say('For billing press 1, for support press 2.'),
      { type: 'wait', ms: 2500 },
      say('This is the support.'),
      { type: 'wait', ms: 2500 },
      say('Welcome.'),
      hungUp,
    ])
    const { report, phone } = await checked(finished)
    expect(phone.digits).toBe('242#')
    expect(pathOf(report)).toEqual(['find (start)', 'code (edge support)', 'thanks (else in)'])
    expect(factsOf(report, 'digits').map(({ direction, digits }) => `${direction} ${digits}`)).toEqual([
      'out 2',
      'out 4w2#',
    ])
  })

  it('an agent whose transfer the far end refuses continues the call with the caller', async () => {
    const { report } = await call('switchboard', hungUp)
    expect(pathOf(report)).toEqual(['hello (start)', 'shop (edge on)', 'nobody (failure failed)'])
    const [, failed] = factsOf(report, 'action')
    expect(harness.effect(failed!.effect_id)).toMatchObject({
      effect_kind: 'sip_transfer',
      state: 'failed',
      send_attempts: 1,
      receipts: [{ kind: 'sip_transfer', refer_status: 403 }],
    })
    expect(linesOf(report, 'agent')).toEqual(['I put you through to the shop.', 'Nobody is there. Goodbye.'])
  })

  describe('a restaurant with a global node for its opening hours', () => {
    it('a global node answers, returns to the earlier node on request, and is not entered again during its cool-down', async () => {
      const hours = 'When are you open?'
      const { report } = await call(
        'restaurant',
        hear('eat'),
        quiet,
        say(hours),
        hear('midnight'),
        quiet,
        say('Please go on with my order.'),
        hear('eat'),
        quiet,
        say(hours),
        hear('eat'),
        quiet,
        say(hours),
        hear('midnight'),
        quiet,
        { type: 'hang-up' },
      )
      expect(pathOf(report)).toEqual(['order (start)', 'hours (global)', 'order (return talk)', 'hours (global)'])
      expect(linesOf(report, 'agent').filter(line => line.includes('midnight'))).toHaveLength(2)
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', ended_by: 'caller' })
    })

    it('a key returns from the global node, and the order continues where it was', async () => {
      const { report } = await call(
        'restaurant',
        hear('eat'),
        quiet,
        say('What are your opening hours?'),
        hear('midnight'),
        quiet,
        press('9'),
        hear('eat'),
        quiet,
        say('I would like to order the soup.'),
        hungUp,
      )
      expect(pathOf(report)).toEqual(['order (start)', 'hours (global)', 'order (return key)', 'taken (edge dish)'])
      expect(factsOf(report, 'digits')).toMatchObject([{ direction: 'in', digits: '9' }])
      expect(report.digits).toBe('9')
    })
  })

  describe('a club whose component asks for a code', () => {
    it('a caller who keys in a known code is let in after the component returns', async () => {
      const { report } = await call('club', hear('hash key'), quiet, press('1234#'), hungUp)
      expect(pathOf(report)).toEqual([
        'identify (start)',
        'member/code (start)',
        'member/done (edge keyed)',
        'identify (return)',
        'welcome (edge known)',
        'enjoy (edge on)',
      ])
      expect(report.digits).toBe('1234#')
      expect(factsOf(report, 'digits')).toMatchObject([{ direction: 'in', digits: '1234' }])
    })

    it('a caller who keys in an unknown code takes the else edge of the component', async () => {
      const { report } = await call('club', hear('hash key'), quiet, press('99#'), hungUp)
      expect(pathOf(report).at(-1)).toBe('stranger (else unknown)')
    })
  })
})

describe('all calls together', () => {
  it('the calls of this file cover every executable node type, every kind of edge and every way in and out of a global node', () => {
    expect(coverage.nodeTypes).toEqual([
      'branch',
      'component',
      'conversation',
      'end',
      'extract_dynamic_variables',
      'function',
      'press_digit',
      'subagent',
      'transfer_call',
    ])
    expect(coverage.ways).toEqual([
      'always edge',
      'else edge',
      'equation edge',
      'failure edge',
      'global node',
      'go back by equation',
      'go back by prompt',
      'prompt edge',
      'skip-response edge',
    ])
  })
})
