import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { ParleyClient, RequestTo, ResultFrom } from '@parley/client'
import { parseCommand, UsageError } from '../usage.ts'
import { withReadableMessage } from './agents-text.ts'
import { onlyArgument, runCommand, type Work } from './api-command.ts'
import { type CaseResult, junitXml, testTable } from './test-text.ts'

const USAGE =
  'parley test AGENT [--version N] [--suite ID]… [--case ID]… [--trials N] [--baseline TEST_RUN] [--junit FILE] [--json]'
const HELP = [
  'Tests a published version with its suites: those named, or else all suites of the agent. Exit code 1 unless the verdict is passed.',
]
export const POLL_MS = 500
const MAX_SUITES = 10

const word = { type: 'string' } as const
const words = { type: 'string', multiple: true } as const

/** Exit code 0: passed; 1: failed, errored or cancelled. */
export async function test(args: string[]): Promise<number> {
  return runCommand(testWork(args))
}

export function testWork(args: string[], pollMs = POLL_MS): Work {
  const options = {
    version: word,
    suite: words,
    case: words,
    trials: word,
    baseline: word,
    junit: word,
    json: { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parseCommand(args, options, USAGE, HELP)
  const agentId = onlyArgument(positionals, USAGE)
  const version = wholeNumber('--version', values.version, USAGE)
  const trials = wholeNumber('--trials', values.trials, USAGE)
  return async ({ client, print }) => {
    try {
      const body: RequestTo<'test_runs.create'>['body'] = {
        agent_id: agentId,
        version: version ?? (await headOf(client, agentId)),
        suite_ids: values.suite ?? (await suitesOf(client, agentId)),
        ...(values.case !== undefined && { case_ids: values.case }),
        ...(trials !== undefined && { trials }),
        ...(values.baseline !== undefined && { baseline_test_run_id: values.baseline }),
      }
      const { test_run_id } = await client.testRuns.create({ body })
      const run = await completed(client, test_run_id, pollMs)
      const cases = await resultsOf(client, test_run_id)
      if (values.junit !== undefined) await writeFile(values.junit, junitXml(run, cases))
      print(testTable(run, cases))
      if (values.json) print(`${JSON.stringify(run)}\n`)
      return run.verdict === 'passed' ? 0 : 1
    } catch (error) {
      throw withReadableMessage(error)
    }
  }
}

export function wholeNumber(name: string, text: string | undefined, usage: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a whole number\nusage: ${usage}`)
  return Number(text)
}

async function headOf(client: ParleyClient, agent_id: string): Promise<number> {
  const { head } = await client.agents.get({ params: { agent_id } })
  if (head === null) throw new Error(`agent "${agent_id}" has no published version: publish it first`)
  return head.version
}

async function suitesOf(client: ParleyClient, agent_id: string): Promise<string[]> {
  const { items } = await client.testSuites.list({ query: { agent_id, limit: MAX_SUITES } })
  if (items.length === 0) throw new Error(`agent "${agent_id}" has no test suites: create one, or name it with --suite`)
  return items.map(({ suite_id }) => suite_id)
}

export async function completed(
  client: ParleyClient,
  test_run_id: string,
  pollMs: number,
): Promise<ResultFrom<'test_runs.get'>> {
  for (;;) {
    const run = await client.testRuns.get({ params: { test_run_id } })
    if (run.state === 'completed' || run.state === 'cancelled') return run
    await pause(pollMs)
  }
}

export async function resultsOf(client: ParleyClient, test_run_id: string): Promise<CaseResult[]> {
  const cases: CaseResult[] = []
  for (let cursor: string | null = null; ; ) {
    const page: ResultFrom<'test_runs.results'> = await client.testRuns.results({
      params: { test_run_id },
      query: { limit: 200, ...(cursor !== null && { cursor }) },
    })
    cases.push(...page.items)
    if (page.next_cursor === null) return cases
    cursor = page.next_cursor
  }
}
