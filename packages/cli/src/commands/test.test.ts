import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HelpRequested, UsageError } from '../usage.ts'
import { testWork } from './test.ts'

const RUN = {
  test_run_id: 't-1',
  agent_id: 'clinic',
  state: 'completed',
  verdict: 'failed',
  summary: { cases: 2, passed: 1, trials: 3 },
}
const trial = (verdict: string, failed_assertions: string[] = []) => ({ verdict, failed_assertions, duration_ms: 500 })
const CASES = [
  {
    case_id: 'books',
    verdict: 'passed',
    flaky: true,
    blocking: true,
    change: 'same',
    fault: null,
    trials: [trial('passed'), trial('failed', ['a'])],
  },
  {
    case_id: 'asks',
    verdict: 'failed',
    flaky: false,
    blocking: false,
    change: null,
    fault: null,
    trials: [trial('failed', ['says "<hello>"'])],
  },
]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs `parley test` against an API whose test run completes at the second look. */
async function parley(args: string[], over: object = {}) {
  const bodies: unknown[] = []
  const out: string[] = []
  let looks = 0
  const client = new ParleyClient({
    baseUrl: 'https://parley.example',
    key: 'parley_live_x',
    retries: 0,
    fetch: async (url, init) => {
      const line = `${init?.method} ${new URL(String(url)).pathname.slice('/api/v1'.length)}`
      if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body))
      const answers: Readonly<Record<string, unknown>> = {
        'GET /agents/clinic': { head: { version: 4 } },
        'GET /test-suites': { items: [{ suite_id: 's-1' }, { suite_id: 's-2' }], next_cursor: null },
        'POST /test-runs': { test_run_id: 't-1' },
        'GET /test-runs/t-1': ++looks > 0 && { ...RUN, ...(looks < 5 && { state: 'running' }), ...over },
        'GET /test-runs/t-1/results': { items: CASES, next_cursor: null },
      }
      return Response.json(answers[line], { status: answers[line] === undefined ? 404 : 200 })
    },
  })
  const exit = await testWork(args, 1)({ client, print: text => void out.push(text), remark: () => {} })
  return { exit, out: out.join(''), bodies }
}

describe('parley test', () => {
  it('the suites of the agent are run against its head, and the cases are shown as a table', async () => {
    const { exit, out, bodies } = await parley(['clinic'])
    expect(bodies).toEqual([{ agent_id: 'clinic', version: 4, suite_ids: ['s-1', 's-2'] }])
    expect(exit).toBe(1)
    const lines = out.split('\n').map(line => line.split(/ {2,}/))
    expect(lines).toEqual([
      ['CASE', 'VERDICT', 'PASSED', 'CHANGE', 'FAILED'],
      ['books', 'passed (flaky)', '1/2', 'same', 'a'],
      ['asks', 'failed (not blocking)', '0/1', '-', 'says "<hello>"'],
      [''],
      ['failed: 1 of 2 cases passed, 3 trials'],
      [''],
    ])
  })

  it('a passed test run exits 0, and --json ends with the test run as one line', async () => {
    const { exit, out } = await parley(['clinic', '--json'], { verdict: 'passed' })
    expect(exit).toBe(0)
    expect(JSON.parse(out.trimEnd().split('\n').at(-1)!)).toMatchObject({ test_run_id: 't-1', verdict: 'passed' })
  })

  it('the switches choose version, suites, cases, trials and baseline', async () => {
    const args = 'clinic --version 2 --suite s-9 --case books --trials 3 --baseline t-0'.split(' ')
    expect((await parley(args)).bodies).toEqual([
      {
        agent_id: 'clinic',
        version: 2,
        suite_ids: ['s-9'],
        case_ids: ['books'],
        trials: 3,
        baseline_test_run_id: 't-0',
      },
    ])
  })

  it('--junit writes the results as XML', async () => {
    const file = join(folder, 'results.xml')
    await parley(['clinic', '--junit', file])
    const xml = await readFile(file, 'utf8')
    expect(xml).toContain('<testsuite name="clinic" tests="2" failures="1" errors="0">')
    expect(xml).toContain('<testcase classname="clinic" name="books" time="1"/>')
    expect(xml).toContain('<failure message="says &quot;&lt;hello&gt;&quot;"/>')
  })

  it('wrong arguments show the usage', () => {
    expect(() => testWork([])).toThrow(UsageError)
    expect(() => testWork(['clinic', '--trials', 'many'])).toThrow(UsageError)
    expect(() => testWork(['--help'])).toThrow(HelpRequested)
  })
})
