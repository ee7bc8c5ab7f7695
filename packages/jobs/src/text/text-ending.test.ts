import { describe, expect, it } from 'vitest'
import { endingOf, failedEnding, stoppedEnding } from './text-ending.ts'

const outcome = (kind: string, ended_by: string, detail: string | null = null) => ({
  kind,
  detail,
  sip_status: null,
  ended_by,
})

describe('how a run in text ends', () => {
  it.each([
    ['completed', 'agent', 'completed', outcome('completed', 'agent')],
    ['agent_hung_up', 'agent', 'completed', outcome('agent_hung_up', 'agent')],
    ['silence', 'system', 'completed', outcome('silence', 'system')],
    ['max_duration', 'system', 'completed', outcome('max_duration', 'system')],
    ['transferred', 'agent', 'completed', outcome('transferred', 'agent')],
  ] as const)(
    'a text run that ends with %s by %s has the matching state and outcome',
    (kind, ended_by, state, ending) => {
      expect(endingOf({ outcome: kind, ended_by, code: null })).toEqual({ state, outcome: ending, disposition: kind })
    },
  )

  it.each([
    ['provider_failed', 'provider_failed'],
    ['transition_limit', 'internal'],
    ['tool_call_limit', 'internal'],
    [null, 'internal'],
  ] as const)('a text run that fails with %s has the matching outcome', (code, detail) => {
    const failed = { state: 'failed', outcome: outcome('error', 'system', detail), disposition: 'error' }
    expect(endingOf({ outcome: 'error', ended_by: 'system', code })).toEqual(failed)
    expect(failedEnding(detail)).toEqual(failed)
  })

  it('a text run that a cancel or a closing process stops has the matching state', () => {
    expect(stoppedEnding('cancelled')).toEqual({
      state: 'cancelled',
      outcome: outcome('cancelled', 'operator'),
      disposition: 'cancelled',
    })
    expect(stoppedEnding('given_up')).toEqual(failedEnding('engine_lost'))
  })
})
