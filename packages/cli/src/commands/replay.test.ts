import { ParleyClient } from '@parley/client'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../usage.ts'
import { replayWork } from './replay.ts'

const CHANGE = { turn: 1, kind: 'speech', before: 'We open at nine.', after: 'We open at ten.' }
const TURNS = [
  { turn: 0, source: 'replayed' },
  { turn: 1, source: 'simulated' },
]

/** Runs `parley replay` against an API whose test run has ended. */
async function parley(args: string[], verdict: string, trial: object) {
  const bodies: unknown[] = []
  const out: string[] = []
  const client = new ParleyClient({
    baseUrl: 'https://parley.example',
    key: 'parley_live_x',
    retries: 0,
    fetch: async (url, init) => {
      if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body))
      const answers: Readonly<Record<string, unknown>> = {
        'POST /runs/r-1/replay': { test_run_id: 't-1' },
        'GET /test-runs/t-1': { state: 'completed', verdict, publication: { version: 3 } },
        'GET /test-runs/t-1/results': { items: [{ trials: [{ trial_id: 'x-1' }] }], next_cursor: null },
        'GET /test-runs/t-1/trials/x-1': { error: null, ...trial },
      }
      const line = `${init?.method} ${new URL(String(url)).pathname.slice('/api/v1'.length)}`
      return Response.json(answers[line], { status: answers[line] === undefined ? 404 : 200 })
    },
  })
  const code = await replayWork(args, 1)({ client, print: (text: string) => void out.push(text) } as never)
  return { code, out: out.join(''), bodies }
}

describe('parley replay', () => {
  it('parley replay prints the turns that change against the draft, and exits with 1', async () => {
    const { code, out, bodies } = await parley(['r-1', '--draft'], 'failed', { changes: [CHANGE], turns: TURNS })
    expect(bodies).toEqual([{ draft: true, after_change: 'stop' }])
    expect(code).toBe(1)
    expect(out).toContain('version 3: 1 turns replayed, 1 simulated; 1 changes')
    expect(out).toContain('after:  We open at ten.')
  })

  it('parley replay exits with 0 when nothing changed', async () => {
    const { code, out, bodies } = await parley(['r-1', '--version', '2', '--simulate'], 'passed', {
      changes: [],
      turns: TURNS.slice(0, 1),
    })
    expect(bodies).toEqual([{ version: 2, after_change: 'simulate' }])
    expect(code).toBe(0)
    expect(out).toContain('nothing changed')
  })

  it('parley replay says why a run could not be replayed', async () => {
    const trial = { changes: null, turns: null, error: 'code_changed: another version of the program' }
    expect((await parley(['r-1'], 'errored', trial)).out).toContain('not replayed: code_changed')
  })

  it('parley replay refuses a version beside the draft', () => {
    expect(() => replayWork(['r-1', '--draft', '--version', '2'])).toThrow(UsageError)
  })
})
