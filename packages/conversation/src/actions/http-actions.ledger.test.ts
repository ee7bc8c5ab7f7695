import { describe, expect, it } from 'vitest'
import { ConversationError } from '../errors.ts'
import { httpAction, runScriptedAction } from './actions.fixture.ts'

const posts = httpAction()
const gets = httpAction({ method: 'GET' })

const away = () => Promise.reject(new ConversationError('ledger_unavailable', 'no database', { retryable: true }))
const silent = () => new Promise<never>(() => {})
const broken = () => {
  throw new Error('a fault')
}

describe.each([
  ['is unavailable', away],
  ['never answers', silent],
  ['throws', broken],
])('an HTTP action whose ledger %s', (_, fault) => {
  it.each(['intend', 'decide', 'sending'] as const)(
    'an HTTP action is not sent when the ledger step "%s" fails',
    async step => {
      const { outcome, row, egress, phases } = await runScriptedAction(posts, [{ status: 200 }], {
        ledgerFaults: () => ({ [step]: fault }),
      })
      expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'ledger_unavailable', body: null })
      expect(egress.sent).toEqual([])
      expect(outcome.effect_id).toBe(step === 'intend' ? '' : row!.effect_id)
      expect(phases).toHaveLength(step === 'intend' ? 0 : 1)
    },
  )

  it('an HTTP action that was sent succeeds even when the ledger cannot settle it', async () => {
    const { outcome, row } = await runScriptedAction(posts, [{ status: 200, body: '1' }], {
      ledgerFaults: () => ({ settle: fault }),
    })
    expect(outcome).toMatchObject({ outcome: 'succeeded', body: 1, error_code: null })
    // The sweep of the ledger finds the row later and settles it as uncertain.
    expect(row?.state).toBe('sending')
  })

  it('an HTTP action is not retried when the ledger fails between attempts, and the first attempt decides', async () => {
    let sends = 0
    const { outcome, row, egress } = await runScriptedAction(gets, [{ lost: 'x' }, { status: 200 }, { status: 200 }], {
      ledgerFaults: ledger => ({ sending: id => (sends++ === 0 ? ledger.sending(id) : fault()) }),
    })
    expect(egress.sent).toHaveLength(1)
    expect(outcome).toMatchObject({ outcome: 'uncertain', error_code: 'no_answer' })
    expect(row).toMatchObject({ state: 'uncertain', send_attempts: 1 })
  })
})

describe('the order of ledger steps and sends', () => {
  it('an HTTP action is recorded, decided and marked as sending before each send, and settled at the end', async () => {
    const steps: string[] = []
    const noted = <T>(step: string, then: T): T => {
      steps.push(step)
      return then
    }
    await runScriptedAction(gets, [{ status: 500 }, { status: 200 }], {
      ledgerFaults: ledger => ({
        intend: intent => noted('intend', ledger.intend(intent)),
        decide: (id, decision) => noted('decide', ledger.decide(id, decision)),
        sending: id => noted('sending', ledger.sending(id)),
        settle: (id, outcome) => noted('settle', ledger.settle(id, outcome)),
      }),
      onSend: () => steps.push('SEND'),
      onPhase: () => steps.push('started'),
    })
    expect(steps).toEqual(['intend', 'started', 'decide', 'sending', 'SEND', 'sending', 'SEND', 'settle'])
  })
})

describe('an HTTP action of a stopped conversation', () => {
  it('an HTTP action that starts after the conversation stopped is denied and not sent', async () => {
    const { outcome, row, egress } = await runScriptedAction(posts, [{ status: 200 }], { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'policy_denied' })
    expect(row?.decision).toEqual({ decision: 'deny', reason: 'run_not_active', policy_version: '1' })
    expect(egress.sent).toEqual([])
  })

  it('an HTTP action is not sent when the conversation stops just before the send', async () => {
    const abort = new AbortController()
    const { outcome, row, egress } = await runScriptedAction(posts, [{ status: 200 }], {
      signal: abort.signal,
      ledgerFaults: ledger => ({
        decide: (id, decision) => {
          abort.abort()
          return ledger.decide(id, decision)
        },
      }),
    })
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'run_not_active' })
    expect(row).toMatchObject({ state: 'failed', send_attempts: 0 })
    expect(egress.sent).toEqual([])
  })

  it('an HTTP action that was sent continues after the conversation stops, including its retries', async () => {
    const abort = new AbortController()
    const { outcome, row } = await runScriptedAction(gets, [{ status: 500 }, { status: 200, body: '"there"' }], {
      signal: abort.signal,
      onSend: () => abort.abort(),
    })
    expect(outcome).toMatchObject({ outcome: 'succeeded', body: 'there' })
    expect(row).toMatchObject({ state: 'succeeded', send_attempts: 2 })
  })
})

describe('unexpected exceptions during an HTTP action', () => {
  it('an unexpected exception before the send fails the action', async () => {
    for (const options of [{ onPhase: broken }, { arguments: { deep: circle() } }]) {
      const { outcome, row, egress } = await runScriptedAction(posts, [{ status: 200 }], options)
      expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'internal' })
      expect(row?.state).toBe('failed')
      expect(egress.sent).toEqual([])
    }
    const { outcome } = await runScriptedAction(posts, [{ throws: 'prepare' }])
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'internal' })
  })

  it('an unexpected exception after the send leaves the action uncertain', async () => {
    const { outcome, row } = await runScriptedAction(posts, [{ throws: 'send' }])
    expect(outcome).toMatchObject({ outcome: 'uncertain', error_code: 'no_answer' })
    expect(row?.state).toBe('uncertain')
  })
})

function circle(): object {
  const around: Record<string, unknown> = {}
  around.itself = around
  return around
}
